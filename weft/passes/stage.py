"""Stage: number the nodes so that those of one device, kind and number can run together as one unit.

A node's number is the most boundaries on any path that leads to it; a boundary is a change of device, or between compiled and
host ops, or between the pieces of a call that is cut where large values leave (`early_sends`). Where nodes with one number must
not wait for the same (`awaited`), it is divided. Edges lead only to equal or higher numbers, so stages never wait for each
other in a circle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Final

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types import dtypes
from weft.passes.awaited import awaited_sets
from weft.passes.early_sends import cut
from weft.passes.row_wise import is_read, row_wise_ops
from weft.passes.small_updates import small_update_ops
from weft.passes.static_values import StaticValues


class Kind(Enum):
    """What executes a node."""

    FREE = "free"
    """A constant, a variable's binding, or a read of one for its rows: nothing runs, it belongs to whatever stage uses it."""
    COMPILED = "compiled"
    """XLA, together with its stage."""
    ROWS = "rows"
    """NumPy: in place on rows of variables, or on many small variables at once; together with its stage."""
    HOST = "host"
    """A Python kernel on NumPy values."""


_HOST_TYPES = frozenset((dtypes.string, dtypes.variant))

FREE_ROLES: Final = frozenset((Role.CONSTANT, Role.VARIABLE))


class Staging:
    """The kinds and numbers of a run's nodes.

    `static_feeds` are the fed tensors whose values must be known when a stage is compiled.
    """

    def __init__(
        self,
        ops: Sequence[Operation],
        placement: Mapping[Operation, str],
        feeds: Iterable[Tensor],
        fetches: Iterable[Tensor] = (),
    ) -> None:
        self._placement = placement
        self._feeds = frozenset(feeds)
        self._static = StaticValues(placement, self._feeds)
        fetched = list(fetches)
        self._row_wise = row_wise_ops(ops, placement, self._feeds, fetched)
        self._small_updates = small_update_ops(ops, placement, self._feeds, fetched)
        self.kinds: dict[Operation, Kind] = {}
        for op in ops:
            self.kinds[op] = self._kind(op)
        self.static_feeds: set[Tensor] = self._static.feeds
        self._pieces: dict[Operation, int] = {}
        self.levels: dict[Operation, int] = {}
        self._number(ops)
        self._pieces = cut(self._calls(ops), placement)
        if self._pieces:
            self._number(ops)
        self._divide(ops)

    def _number(self, ops: Sequence[Operation]) -> None:
        self.levels = {}
        for op in ops:
            self.levels[op] = self._level(op)
        self._sink(ops)

    def _divide(self, ops: Sequence[Operation]) -> None:
        """Give nodes of one number that must not wait for the same new numbers; host ops are divided by `HostStages`."""
        on_host = {op for op in ops if self.kinds[op] is Kind.HOST}
        awaited = awaited_sets(ops, on_host, lambda op: _producers(op, self._feeds), _consumers)
        if awaited:
            parts = {op: awaited[op] if self.kinds[op] in (Kind.COMPILED, Kind.ROWS) else 0 for op in ops}
            ranks = sorted({(self.levels[op], parts[op]) for op in ops})
            numbers = {rank: number for number, rank in enumerate(ranks)}
            self.levels = {op: numbers[self.levels[op], parts[op]] for op in ops}

    def _calls(self, ops: Sequence[Operation]) -> Iterable[Sequence[Operation]]:
        """The nodes that run as one compiled call, in order."""
        calls: dict[tuple[int, str], list[Operation]] = {}
        for op in ops:
            if self.kinds[op] is Kind.COMPILED:
                calls.setdefault((self.levels[op], self._placement[op]), []).append(op)
        return calls.values()

    def _kind(self, op: Operation) -> Kind:
        if op.op_def.role in FREE_ROLES and not op.control_inputs:
            return Kind.FREE
        if op in self._row_wise:
            # The gather reads the variable itself, when it runs.
            is_free = is_read(op) and not op.control_inputs and not op.control_consumers
            return Kind.FREE if is_free else Kind.ROWS
        if op in self._small_updates or self._ends_rows(op):
            return Kind.ROWS
        if op.op_def.is_host or _has_host_types(op):
            return Kind.HOST
        return Kind.COMPILED if self._static.suffice(op) else Kind.HOST

    def _ends_rows(self, op: Operation) -> bool:
        """Whether a node only waits for nodes by rows of its device, as the end of a training step does."""
        waits = op.control_inputs if op.op_def.role is Role.ORDER else ()
        return bool(waits) and all(self._is_row_wise(other, op) for other in waits)

    def _is_row_wise(self, op: Operation, beside: Operation) -> bool:
        return self.kinds.get(op) is Kind.ROWS and self._placement[op] == self._placement[beside]

    def _level(self, op: Operation) -> int:
        level = 0
        for producer in _producers(op, self._feeds):
            if producer in self.levels:
                level = max(level, self.levels[producer] + self.is_boundary(producer, op))
        return level

    def is_boundary(self, producer: Operation, consumer: Operation) -> bool:
        """Whether what a node makes leaves its stage on the way to one that uses it."""
        if self._placement[producer] != self._placement[consumer]:
            return True
        kinds = self.kinds[producer], self.kinds[consumer]
        is_in_one_piece = self._pieces.get(producer, 0) == self._pieces.get(consumer, 0)
        return Kind.FREE not in kinds and not (kinds[0] is kinds[1] and is_in_one_piece)

    def _sink(self, ops: Sequence[Operation]) -> None:
        """Move pure nodes up to the first stage that uses them, so that a step makes as few calls as it can.

        So are reads of variables: a stage that reads a variable itself holds it only while it runs. A step that held a view of
        it from an earlier stage on would make every update copy the whole variable.
        """
        for op in reversed(ops):
            if self.kinds[op] is Kind.COMPILED and (is_read(op) or _is_pure(op)):
                consumers = [c for c in _consumers(op) if c in self.levels]
                if consumers and all(self._runs_beside(op, c) for c in consumers):
                    self.levels[op] = max(self.levels[op], min(self.levels[c] for c in consumers))

    def _runs_beside(self, op: Operation, consumer: Operation) -> bool:
        return self.kinds[consumer] is not Kind.FREE and not self.is_boundary(op, consumer)


def _producers(op: Operation, feeds: frozenset[Tensor]) -> Iterable[Operation]:
    yield from (t.op for t in op.inputs if t not in feeds)
    yield from op.control_inputs


def _consumers(op: Operation) -> Iterable[Operation]:
    yield from (consumer for tensor in op.outputs for consumer in tensor.consumers())
    yield from op.control_consumers


def _is_pure(op: Operation) -> bool:
    return not op.op_def.stateful and not any(tensor.dtype.is_ref for tensor in op.inputs)


def _has_host_types(op: Operation) -> bool:
    """Whether values go through the op that XLA has no type for: packing strings is work for the host, whatever the kernel."""
    return any(tensor.dtype.base_dtype in _HOST_TYPES for tensor in (*op.inputs, *op.outputs))
