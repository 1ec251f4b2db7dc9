"""Stacks: what the loops of TensorFlow's own gradient graphs keep of each iteration for the way back.

A stack lives as long as something holds its handle, which is the stack itself: a step's end frees it, however the step ends.
weft's own loops return what they recorded instead (`RecordingWhile`), so only graphs made by TensorFlow have these nodes.
"""

from __future__ import annotations

import threading

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.types.dtypes import DType
from weft.ops.declaration import no_outputs, op, scalar_shape, unknown
from weft.ops.held_objects import handle_of, held


class _Stack:
    """Values of one type, the last one first. Safe from any thread."""

    def __init__(self, name: str, dtype: DType, max_size: int) -> None:
        self._name = name
        self._dtype = dtype
        self._max_size = max_size
        self._lock = threading.Lock()
        self._values: list[Array] = []

    def push(self, value: Array, dtype: DType) -> None:
        if dtype is not self._dtype:
            raise InvalidArgumentError.of(f"Must have type {self._dtype.name} but got {dtype.name}: stack {self._name!r}")
        with self._lock:
            if 0 <= self._max_size <= len(self._values):
                raise InvalidArgumentError.of(f"Stack[{self._name}] overflowed its max_size ({self._max_size})")
            self._values.append(value)

    def pop(self) -> Array:
        with self._lock:
            if not self._values:
                raise InvalidArgumentError.of(f"Stack[{self._name}] is empty when calling Pop().")
            return self._values.pop()


@op("StackV2", "max_size: int32 -> handle: resource", infer=scalar_shape, gradient=None, stateful=True, at_once=True)
def stack_v2(ctx: OpContext, max_size: Array, *, elem_type: DType, stack_name: str = "") -> Result:
    """An empty stack of at most `max_size` values, of any number when that is negative: `scalar int32 -> scalar resource`."""
    return handle_of(_Stack(stack_name or ctx.node_name, elem_type, int(max_size)))


@op("StackPushV2", "handle: resource, elem: T -> output: T", infer=lambda node: [node.inputs[1].dims], gradient=None,
    stateful=True, at_once=True)  # fmt: skip
def stack_push_v2(ctx: OpContext, handle: Array, elem: Array, *, T: DType, swap_memory: bool = False) -> Result:
    """Push a value and hand it on: `scalar resource, [*value] -> [*value]`."""
    # A variable may be updated in place before the value is popped.
    held(handle, _Stack).push(elem.copy() if isinstance(elem, np.ndarray) else elem, T)
    return elem


@op("StackPopV2", "handle: resource -> elem: elem_type", infer=unknown, gradient=None, stateful=True, at_once=True)
def stack_pop_v2(ctx: OpContext, handle: Array, *, elem_type: DType) -> Result:
    """The value that was pushed last, which the stack no longer has: `scalar resource -> [*value]`."""
    return held(handle, _Stack).pop()


@op("StackCloseV2", "handle: resource ->", infer=no_outputs, gradient=None, stateful=True, at_once=True)
def stack_close_v2(ctx: OpContext, handle: Array) -> tuple[()]:
    """Nothing: a stack ends with the last holder of its handle. `scalar resource ->`"""
    return ()
