"""Awaited: which nodes may run as one although they wait for different nodes that block, such as the takes from two queues.

A stage begins when all that its nodes take is there. If one of them, or what follows it, fills a queue, then whoever waits for
that queue would also wait for what the stage's other nodes take; and if that comes only afterwards, both wait for ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_role import Role
from weft.framework.types import dtypes

_ALL: Final = -1

Beside: TypeAlias = Callable[[Operation], Iterable[Operation]]


def names_resource(op: Operation) -> bool:
    """Whether a node only finds or makes a resource of the task, such as a queue: it waits for nothing."""
    if op.inputs or not op.outputs or op.op_def.role is Role.VARIABLE:
        return False
    return all(output.dtype == dtypes.resource or output.dtype.is_ref for output in op.outputs)


def may_block(op: Operation) -> bool:
    """Whether a host op may wait for something that is not its input, or run code of the program."""
    return _reaches_out(op) and not op.op_def.at_once


def may_wait(op: Operation) -> bool:
    """Whether a host op may wait for anything, its files included, or run code of the program or functions of the graph."""
    return op.op_def.is_host and (may_block(op) or op.op_def.may_wait or bool(op.op_def.calls))


def only_looks(op: Operation) -> bool:
    """Whether a node leaves all that others see as it is; its own stream of random numbers nobody else sees."""
    return not (op.op_def.is_host and op.op_def.stateful) or op.op_def.only_looks or op.op_def.is_random


def awaited_sets(
    ops: Sequence[Operation], on_host: Container[Operation], producers: Beside, consumers: Beside
) -> Mapping[Operation, int]:
    """For each node the set of blocking nodes, as bits, that its stage may wait for; empty where at most one may block.

    A set is what all wait for that the node leads to and others notice: host ops with effects, and the ends of paths, whose
    values come with the end of the step. Nodes of one set may be one stage. An edge leads to no smaller set.

    Args:
        ops: the nodes of a run, in topological order.
        on_host: those that run as Python kernels.
        producers, consumers: the nodes before and behind one, also of other runs.
    """
    blocking = [op for op in ops if op in on_host and may_block(op)]
    if len(blocking) < 2:
        return {}
    bits = {op: 1 << number for number, op in enumerate(blocking)}
    before: dict[Operation, int] = {}
    for op in ops:
        before[op] = 0
        for each in producers(op):
            before[op] |= before.get(each, 0) | bits.get(each, 0)
    found: dict[Operation, int] = {}
    for op in reversed(ops):
        found[op] = _ALL
        followers = [found[each] for each in consumers(op) if each in found]
        for awaited in followers:
            found[op] &= awaited
        if (op in on_host and _reaches_out(op)) or (before[op] and not followers):
            found[op] &= before[op]
    # What waits for nothing, and leads to nothing that others notice, may run with any, but not before its producers.
    most = Counter(each for each in found.values() if each != _ALL).most_common(1)[0][0]
    for op in ops:
        if found[op] == _ALL:
            found[op] = most
            for each in producers(op):
                found[op] |= found.get(each, 0)
    return found


def _reaches_out(op: Operation) -> bool:
    """Whether what a host op does may end another node's wait."""
    return op.op_def.stateful and not names_resource(op)
