"""Sequences of numbers: Range and LinSpace."""

from __future__ import annotations

import math

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, DTypeLike, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import not_differentiable, op
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import FLOATS

_INDEX = (dtypes.int32, dtypes.int64)
# The types that numbers of several types become; the last one present wins.
_HIERARCHY = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)
_INTEGERS = (dtypes.int8, dtypes.int16, *_INDEX, dtypes.uint16, dtypes.uint32, dtypes.uint64)


def _length(start: Array, limit: Array, delta: Array) -> int:
    if isinstance(delta, np.integer):
        return max(0, -(-(int(limit) - int(start)) // int(delta)))
    return max(0, math.ceil(abs((float(limit) - float(start)) / float(delta))))


def _check_range(start: Array, limit: Array, delta: Array) -> str | None:
    if delta == 0:
        return "Requires delta != 0"
    if start > limit and delta > 0:
        return f"Requires start <= limit when delta > 0: {start}/{limit}"
    if start < limit and delta < 0:
        return f"Requires start >= limit when delta < 0: {start}/{limit}"
    return None


def _range_shape(node: Operation) -> list[Dims]:
    values = [constant_value(tensor) for tensor in node.inputs]
    for tensor in node.inputs:
        if tensor.dims not in (None, ()):
            raise ValueError(f"Shape must be rank 0 but is rank {len(tensor.dims)}")
    if any(value is None for value in values):
        return [(None,)]
    start, limit, delta = (value[()] for value in values)
    problem = _check_range(start, limit, delta)
    if problem:
        raise ValueError(problem)
    return [(_length(start, limit, delta),)]


@op("Range", "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx", infer=_range_shape, gradient=not_differentiable,
    static=("start", "limit", "delta"), types={"Tidx": (*FLOATS, *_INTEGERS)}, told_while_building=True,
    defaults={"Tidx": dtypes.int32})  # fmt: skip
def range_node(xp: ArrayModule, start: Array, limit: Array, delta: Array) -> Result:
    """The numbers from `start` up to, not including, `limit` in steps of `delta`: `scalar, scalar, scalar -> [n]`."""
    first, last, step = (np.asarray(value)[()] for value in (start, limit, delta))
    problem = _check_range(first, last, step)
    if problem:
        raise InvalidArgumentError.of(problem)
    positions = np.arange(_length(first, last, step))
    wide = positions.astype(first.dtype) if first.dtype.kind in "iuf" else positions.astype(np.float32)
    return (first + wide * step).astype(first.dtype)


def range_of(
    start: TensorLike,
    limit: TensorLike | None = None,
    delta: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str = "range",
) -> Tensor:
    """The numbers from `start` up to, not including, `limit` in steps of `delta`; from 0 when only one is given.

    >>> sess.run(tf.range(2, 10, 3))
    array([2, 5, 8], dtype=int32)

    Args:
        start: scalar of a real dtype; the limit when it is the only one.
        limit: scalar; it is not among the numbers itself.
        delta: scalar, the step, not zero; below zero to count down.
        dtype: of the result; when None, that in which all three have room.

    Returns:
        [n] tensor.

    Raises:
        TypeError: an end or the step is a bool.
    """
    if limit is None:
        start, limit = 0, start
    wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    with input_scope(name, "Range", (start, limit, delta)) as scope:
        given = (("start", start), ("limit", limit), ("delta", delta))
        tensors = [_number(value, wanted, key) for key, value in given]
        for (key, _), tensor in zip(given, tensors, strict=True):
            if tensor.dtype.base_dtype in (dtypes.bool, dtypes.string):
                remedy = "; tf.string_to_number reads numbers" if tensor.dtype.base_dtype is dtypes.string else ""
                raise TypeError(f"range: {key} is {described(tensor)}, and a number is wanted{remedy}")
        if wanted is None:
            found = [tensor.dtype.base_dtype for tensor in tensors]
            wanted = max(found, key=_HIERARCHY.index) if all(kind in _HIERARCHY for kind in found) else found[0]
        return range_node(*(cast(tensor, wanted) for tensor in tensors), name=scope)


def _number(value: TensorLike, wanted: DType | None, name: str) -> Tensor:
    return value if isinstance(value, Tensor) else convert_to_tensor(value, dtype=wanted, name=name)


def _line_shape(node: Operation) -> list[Dims]:
    for tensor in node.inputs:
        if tensor.dims not in (None, ()):
            raise ValueError(f"Shape must be rank 0 but is rank {len(tensor.dims)}")
    count = constant_value(node.inputs[2])
    if count is not None and count <= 0:
        raise ValueError(f"Requires num > 0: {int(count)}")
    return [(None if count is None else int(count),)]


@op("LinSpace", "start: T, stop: T, num: Tidx -> output: T",
    ranks={"start": 0, "stop": 0, "num": 0},
    infer=_line_shape, gradient=not_differentiable, static=("num",),
    types={"T": FLOATS, "Tidx": _INDEX}, defaults={"Tidx": dtypes.int32})  # fmt: skip
def lin_space(xp: ArrayModule, start: Array, stop: Array, num: Array) -> Result:
    """`num` numbers at equal distances from `start` to `stop`, both included: `scalar, scalar, scalar -> [num]`."""
    count = int(num)
    if count <= 0:
        raise InvalidArgumentError.of(f"Requires num > 0: {count}")
    if count == 1:
        return xp.reshape(start, (1,))
    positions = np.arange(count).astype(start.dtype)
    values = start + (stop - start) / np.array(count - 1, start.dtype) * positions
    return xp.concatenate([values[:-1], xp.reshape(stop, (1,))])


def linspace(start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = None) -> Tensor:
    """`num` numbers at equal distances from `start` to `stop`, both included.

    Args:
        start, stop: scalars of one floating dtype.
        num: scalar of int32 or int64, positive: how many.

    Returns:
        [num] tensor of the dtype of `start`.
    """
    return lin_space(start, stop, num, name=name)
