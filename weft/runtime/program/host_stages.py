"""HostStages: which host ops run as one stage.

A stage begins when all that its nodes take is there, and what they make is there when all of them have run. So that no node
waits for another one's inputs, or while that one blocks, these run together and no others:

- siblings: pure nodes that wait for the same, and the nodes that only name a resource, such as a queue;
- a chain: a node, and the only one that uses what it makes, such as the reading of a record and its decoding. Of two that may
  block, such as a record's reading and its enqueueing, each is in a stage of its own: `weft.runtime.step.rounds` reads
  several records before it puts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_role import Role
from weft.passes.awaited import may_block, names_resource
from weft.passes.partition import Partition

_Sibling: TypeAlias = tuple[int, str, bool, frozenset[object]]
"""Level, device, whether it only names a resource, and what it waits for."""


class HostStages:
    """Gives each host op the stage that it belongs to; asked in topological order, but first of those that are `is_first`.

    Args:
        partition: what the ops are of.
    """

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._nodes = frozenset(partition.nodes)
        self._leaving = {edge.producer for edge in partition.sends}
        self._siblings: dict[_Sibling, int] = {}
        self._of_siblings: dict[int, _Sibling] = {}
        self._ends: dict[int, list[Operation]] = {}
        self._awaited: dict[int, frozenset[object]] = {}
        self._blocking: set[int] = set()

    def place(self, op: Operation, position: int, awaited: frozenset[object]) -> int:
        """The position of the first node of a node's stage.

        Args:
            op: the node.
            position: its own.
            awaited: what its inputs come from, stages of host ops by their positions.
        """
        place = self._end_of_chain(op, awaited)
        if place is not None and not (place in self._blocking and may_block(op)):
            # Siblings of its first nodes would now wait for this one too.
            sibling = self._of_siblings.pop(place, None)
            if sibling is not None:
                del self._siblings[sibling]
            self._ends[place] = [op]
            self._note(op, place)
            return place
        names = names_resource(op)
        if op.op_def.stateful and not names:
            place = position
        else:
            sibling = self._partition.levels[op], self._partition.devices[op], names, awaited
            place = self._siblings.setdefault(sibling, position)
            self._of_siblings[place] = sibling
        self._ends.setdefault(place, []).append(op)
        self._awaited[place] = awaited
        self._note(op, place)
        return place

    def _note(self, op: Operation, place: int) -> None:
        if may_block(op):
            self._blocking.add(place)

    def is_first(self, op: Operation) -> bool:
        """Whether a node names a resource and waits for nothing."""
        return names_resource(op) and not op.control_inputs

    def _end_of_chain(self, op: Operation, awaited: frozenset[object]) -> int | None:
        """The stage that this node alone waits for, and for nothing else that this stage does not wait for."""
        for place in awaited:
            if isinstance(place, int) and awaited - {place} <= self._awaited[place] and self._is_all_for(place, op):
                return place
        return None

    def _is_all_for(self, place: int, op: Operation) -> bool:
        partition, ends = self._partition, self._ends[place]
        if partition.levels[ends[0]] != partition.levels[op] or partition.devices[ends[0]] != partition.devices[op]:
            return False
        return self._leaving.isdisjoint(ends) and all(
            taker is op or taker not in self._nodes for each in ends for taker in _takers(each)
        )


def parking_of(nodes: Sequence[Operation]) -> Operation | None:
    """The node at which a stage can wait without a thread: what it does before may be done again, and nothing else blocks."""
    blocking = [op for op in nodes if may_block(op)]
    if len(blocking) != 1 or not blocking[0].op_def.parks:
        return None
    before = nodes[: nodes.index(blocking[0])]
    return blocking[0] if all(op.op_def.role is Role.CONSTANT or names_resource(op) for op in before) else None


def _takers(op: Operation) -> Iterator[Operation]:
    for tensor in op.outputs:
        yield from tensor.consumers()
    yield from op.control_consumers
