"""Which dense updates of variables are better made together on the host than one by one in compiled code.

XLA spends 4 µs or more on each array that goes into a call and each that comes out, whatever its size. A parameter server that
gets gradients for a hundred biases spends nearly all of its time so. On NumPy such updates are one operation on all of their
elements (`runtime/host/joint_updates.py`). That pays for small variables, whose gradients come from another device anyway.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from weft.framework.devices import device_spec
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.nodes.variable_node import declared_dims

MAX_ELEMENTS: Final = 2048
"""The largest variable that counts as small: there the passes of NumPy over the elements cost what XLA's call does."""

MIN_UPDATES: Final = 16
"""So many on one device are worth a stage of their own."""


def small_update_ops(
    ops: Sequence[Operation], placement: Mapping[Operation, str], feeds: Iterable[Tensor], fetches: Iterable[Tensor]
) -> set[Operation]:
    """The updates of small variables by gradients from elsewhere, where there are many of them."""
    finder = _Finder(frozenset(ops), placement, frozenset(feeds), frozenset(fetches))
    by_device: dict[str, list[Operation]] = {}
    for op in ops:
        if op.op_def.by_element and finder.is_small(op):
            by_device.setdefault(placement[op], []).append(op)
    return {op for found in by_device.values() if len(found) >= MIN_UPDATES for op in found}


class _Finder:
    def __init__(
        self,
        ops: frozenset[Operation],
        placement: Mapping[Operation, str],
        feeds: frozenset[Tensor],
        fetches: frozenset[Tensor],
    ) -> None:
        self._ops = ops
        self._placement = placement
        self._feeds = feeds
        self._fetches = fetches

    def is_small(self, op: Operation) -> bool:
        """Whether an update is one of a small variable, by a gradient from elsewhere, and nobody wants its output."""
        if device_spec.device_type(self._placement[op]) != "CPU":
            return False
        states = len(op.op_def.updates)
        gradients = [
            tensor for tensor, arg in zip(op.inputs, op.op_def.inputs, strict=True) if arg.name in op.op_def.by_element
        ]
        shapes = {*(declared_dims(tensor.op) for tensor in op.inputs[:states]), *(tensor.dims for tensor in gradients)}
        dims = shapes.pop()
        if shapes or dims is None or _elements(dims) > MAX_ELEMENTS:
            return False
        is_used = any(t in self._fetches or any(c in self._ops for c in t.consumers()) for t in op.outputs)
        return not is_used and all(self._is_from_elsewhere(tensor, op) for tensor in gradients)

    def _is_from_elsewhere(self, tensor: Tensor, op: Operation) -> bool:
        return tensor in self._feeds or self._placement.get(tensor.op) != self._placement[op]


def _elements(dims: tuple[int | None, ...]) -> float:
    """How many elements there are; infinity where that is not known."""
    return math.prod(math.inf if size is None else size for size in dims)
