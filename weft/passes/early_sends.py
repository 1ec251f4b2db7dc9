"""Early sends: cut a compiled stage where large values are ready to leave, so that sending them overlaps computing the rest.

A stage is one call, and what it makes is there when all of it is. In a backward pass the last layer's gradients are ready
first: cut behind them, they travel while the earlier layers' are computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from weft.framework.devices import device_spec
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import resource

PIECE_BYTES: Final = 4 << 20
"""What leaves early is at least so much, and so is what is left: it takes a millisecond to send, a further call a tenth."""
MAX_PIECES: Final = 4


def cut(stages: Iterable[Sequence[Operation]], placement: Mapping[Operation, str]) -> dict[Operation, int]:
    """Number the pieces of each stage; nodes of first pieces, and so of stages that stay whole, are left out.

    `stages` are the nodes of one compiled call each, in topological order. A piece needs nothing of a later one.
    """
    pieces: dict[Operation, int] = {}
    for nodes in stages:
        leaving = {op: size for op in nodes if (size := _leaving_bytes(op, placement))}
        if sum(leaving.values()) >= 2 * PIECE_BYTES and not any(map(_uses_variables, nodes)):
            pieces.update(_Cut(nodes, leaving).pieces())
    return pieces


def _leaving_bytes(op: Operation, placement: Mapping[Operation, str]) -> int:
    """The bytes that other tasks get from an op, as far as its shapes are known."""
    return sum(_size_bytes(tensor) for tensor in op.outputs if _leaves(tensor, placement))


def _leaves(tensor: Tensor, placement: Mapping[Operation, str]) -> bool:
    here = device_spec.task_name(placement[tensor.op])
    return any(device_spec.task_name(placement[c]) != here for c in tensor.consumers() if c in placement)


def _size_bytes(tensor: Tensor) -> int:
    count = tensor.shape.num_elements()
    return 0 if count is None else int(count) * int(tensor.dtype.size)


def _uses_variables(op: Operation) -> bool:
    # A piece that reads a variable for a later one would hold a view of it, and updates meanwhile would copy the variable.
    return any(tensor.dtype.is_ref or tensor.dtype is resource for tensor in op.inputs)


def _only_moves(op: Operation) -> bool:
    """Whether an op computes nothing: a piece of such ops has nothing to overlap with."""
    return op.op_def.hands_on or op.op_def.reshapes or op.op_def.role is Role.ORDER


class _Cut:
    def __init__(self, nodes: Sequence[Operation], leaving: Mapping[Operation, int]) -> None:
        self._nodes = nodes
        self._inside = frozenset(nodes)
        self._leaving = leaving
        self._piece_of: dict[Operation, int] = {}

    def pieces(self) -> dict[Operation, int]:
        """Take what leaves in the order in which it is ready, each with all that it needs, until a piece is large enough."""
        depths = self._depths()
        piece, taken, left = 0, 0, sum(self._leaving.values())
        for op in sorted(self._leaving, key=lambda op: depths[op]):
            needed = self._needed(op)
            is_large_enough = taken >= PIECE_BYTES and left >= PIECE_BYTES
            if is_large_enough and piece < MAX_PIECES - 1 and not all(map(_only_moves, needed)):
                piece, taken = piece + 1, 0
            self._piece_of.update(dict.fromkeys(needed, piece))
            taken += self._leaving[op]
            left -= self._leaving[op]
        return {op: self._piece_of.get(op, piece) for op in self._nodes if self._piece_of.get(op, piece)}

    def _depths(self) -> dict[Operation, int]:
        depths: dict[Operation, int] = {}
        for op in self._nodes:
            depths[op] = max((depths[p] + 1 for p in self._producers(op)), default=0)
        return depths

    def _producers(self, op: Operation) -> list[Operation]:
        return [p for p in (*(t.op for t in op.inputs), *op.control_inputs) if p in self._inside]

    def _needed(self, op: Operation) -> list[Operation]:
        """What has to run for an op, itself included, beyond what the pieces have already."""
        needed: dict[Operation, None] = {}
        waiting = [op]
        while waiting:
            node = waiting.pop()
            if node not in needed and node not in self._piece_of:
                needed[node] = None
                waiting.extend(self._producers(node))
        return list(needed)
