"""Comparisons, the greater and the lesser of two, and logic on booleans and on bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, broadcast_dims
from weft.ops.array.filling import zeros_like
from weft.ops.array.selection import select_node
from weft.ops.declaration import broadcast, not_differentiable, one_shape, op, same_as_input
from weft.ops.dispatch import dispatchable
from weft.ops.gradient_nodes import always
from weft.ops.input_scope import input_scope
from weft.ops.math.elementwise import NUMBERS, REAL, unbroadcast

INTEGERS = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.uint32,
            dtypes.uint64)  # fmt: skip


@op("Less", "x: T, y: T -> z: bool", infer=broadcast, gradient=not_differentiable, types={"T": REAL})
def less(xp: ArrayModule, x: Array, y: Array) -> Result:
    """Whether `x < y`: `[...], [...] -> [...] bool`, broadcast.

    Args:
        x, y: [...] tensors of one floating or integer dtype, whose shapes broadcast.
    """
    return x < y


@op("LessEqual", "x: T, y: T -> z: bool", infer=broadcast, gradient=not_differentiable, types={"T": REAL})
def less_equal(xp: ArrayModule, x: Array, y: Array) -> Result:
    """Whether `x <= y`: `[...], [...] -> [...] bool`, broadcast.

    Args:
        x, y: [...] tensors of one floating or integer dtype, whose shapes broadcast.
    """
    return x <= y


@op("Greater", "x: T, y: T -> z: bool", infer=broadcast, gradient=not_differentiable, types={"T": REAL})
def greater(xp: ArrayModule, x: Array, y: Array) -> Result:
    """Whether `x > y`: `[...], [...] -> [...] bool`, broadcast.

    Args:
        x, y: [...] tensors of one floating or integer dtype, whose shapes broadcast.

    Returns:
        [...] bool tensor, of the shape to which both are broadcast.

    Raises:
        TypeError: the dtypes differ, or are others than these.
        ValueError: known shapes don't broadcast.
        InvalidArgumentError: in a run, shapes don't broadcast that only the run tells.
    """
    return x > y


@op("GreaterEqual", "x: T, y: T -> z: bool", infer=broadcast, gradient=not_differentiable, types={"T": REAL})
def greater_equal(xp: ArrayModule, x: Array, y: Array) -> Result:
    """Whether `x >= y`: `[...], [...] -> [...] bool`, broadcast.

    Args:
        x, y: [...] tensors of one floating or integer dtype, whose shapes broadcast.

    Returns:
        [...] bool tensor, of the shape to which both are broadcast.

    Raises:
        TypeError: the dtypes differ, or are others than these.
        ValueError: known shapes don't broadcast.
        InvalidArgumentError: in a run, shapes don't broadcast that only the run tells.
    """
    return x >= y


def _compared(node: Operation) -> list[Dims]:
    x, y = node.inputs[0].dims, node.inputs[1].dims
    if node.attrs["incompatible_shape_error"]:
        return [broadcast_dims(x, y)]
    try:
        dims = broadcast_dims(x, y)
    except ValueError:
        return [()]
    return [dims if dims is not None and None not in dims else None]


def _fit(x: Array, y: Array) -> bool:
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return True


@op("Equal", "x: T, y: T -> z: bool", infer=_compared, gradient=not_differentiable, told_while_building=True)
def equal(xp: ArrayModule, x: Array, y: Array, *, incompatible_shape_error: bool = True) -> Result:
    """Whether `x == y`; shapes that don't fit are unequal when they are no error.

    `[...], [...] -> [...] bool`, broadcast.

    >>> sess.run(tf.equal([1, 2], [1, 3]))
    array([ True, False])

    Args:
        x, y: [...] tensors of one dtype, of any kind, strings and booleans too, whose shapes broadcast.

    Returns:
        [...] bool tensor, of the shape to which both are broadcast.

    Raises:
        TypeError: the dtypes differ.
        ValueError: known shapes don't broadcast, unless `incompatible_shape_error` is false.
        InvalidArgumentError: in a run, shapes don't broadcast that only the run tells.
    """
    return np.array(False) if not incompatible_shape_error and not _fit(x, y) else xp.asarray(x == y).astype(bool)


@op("NotEqual", "x: T, y: T -> z: bool", infer=_compared, gradient=not_differentiable, told_while_building=True)
def not_equal(xp: ArrayModule, x: Array, y: Array, *, incompatible_shape_error: bool = True) -> Result:
    """Whether `x != y`; shapes that don't fit are unequal when they are no error.

    `[...], [...] -> [...] bool`, broadcast.

    Args:
        x, y: [...] tensors of one dtype, of any kind, strings and booleans too, whose shapes broadcast.

    Returns:
        [...] bool tensor, of the shape to which both are broadcast.

    Raises:
        TypeError: the dtypes differ.
        ValueError: known shapes don't broadcast, unless `incompatible_shape_error` is false.
        InvalidArgumentError: in a run, shapes don't broadcast that only the run tells.
    """
    return np.array(True) if not incompatible_shape_error and not _fit(x, y) else xp.asarray(x != y).astype(bool)


@op("ApproximateEqual", "x: T, y: T -> z: bool", infer=one_shape, gradient=not_differentiable, types={"T": NUMBERS})
def approximate_equal(xp: ArrayModule, x: Array, y: Array, *, tolerance: float = 1e-5) -> Result:
    """Whether `|x - y| < tolerance`: `[...], [...] -> [...] bool`, broadcast."""
    return xp.abs(x - y) < tolerance


# The greater and the lesser.


def _chosen(compare: Callable[..., Tensor]) -> Callable[[Operation, Tensor], Gradients]:
    def gradient(node: Operation, grad: Tensor) -> Gradients:
        x, y = node.inputs
        is_x, zeros = compare(x, y), zeros_like(grad)
        return [
            unbroadcast(select_node(is_x, grad, zeros), x, y),
            unbroadcast(select_node(is_x, zeros, grad), y, x, name="Reshape_1"),
        ]

    return gradient


@op(
    "Maximum",
    "x: T, y: T -> z: T",
    infer=broadcast,
    gradient=_chosen(greater_equal),
    gradient_nodes=always(13),
    types={"T": REAL},
)
def maximum(xp: ArrayModule, x: Array, y: Array) -> Result:
    """The greater of `x` and `y`: `[...], [...] -> [...]`, broadcast.

    >>> sess.run(tf.maximum([1, 5], 3))
    array([3, 5], dtype=int32)

    Args:
        x, y: [...] tensors of one floating or integer dtype, whose shapes broadcast.

    Returns:
        A tensor of the type of both, of the shape to which they are broadcast.

    Raises:
        TypeError: the dtypes differ, or are others than these.
        ValueError: known shapes don't broadcast.
        InvalidArgumentError: in a run, shapes don't broadcast that only the run tells.
    """
    return xp.maximum(x, y)


@op(
    "Minimum", "x: T, y: T -> z: T", infer=broadcast, gradient=_chosen(less_equal), gradient_nodes=always(13), types={"T": REAL}
)
def minimum(xp: ArrayModule, x: Array, y: Array) -> Result:
    """The lesser of `x` and `y`: `[...], [...] -> [...]`, broadcast.

    >>> sess.run(tf.minimum([1, 5], 3))
    array([1, 3], dtype=int32)

    Args:
        x, y: [...] tensors of one floating or integer dtype, whose shapes broadcast.

    Returns:
        A tensor of the type of both, of the shape to which they are broadcast.

    Raises:
        TypeError: the dtypes differ, or are others than these.
        ValueError: known shapes don't broadcast.
        InvalidArgumentError: in a run, shapes don't broadcast that only the run tells.
    """
    return xp.minimum(x, y)


# Logic.


@op("LogicalAnd", "x: bool, y: bool -> z: bool", infer=broadcast, gradient=not_differentiable)
def logical_and(xp: ArrayModule, x: Array, y: Array) -> Result:
    """Whether both hold: `[...], [...] -> [...]`, broadcast.

    Args:
        x, y: [...] bool tensors, whose shapes broadcast.
    """
    return x & y


@op("LogicalOr", "x: bool, y: bool -> z: bool", infer=broadcast, gradient=not_differentiable)
def logical_or(xp: ArrayModule, x: Array, y: Array) -> Result:
    """Whether one of the two holds, or both: `[...], [...] -> [...]`, broadcast.

    Args:
        x, y: [...] bool tensors, whose shapes broadcast.
    """
    return x | y


@op("LogicalNot", "x: bool -> y: bool", infer=same_as_input, gradient=not_differentiable)
def logical_not(xp: ArrayModule, x: Array) -> Result:
    """Whether the element is false: `[...] -> [...]`.

    Args:
        x: [...] bool tensor.

    Returns:
        [...] bool tensor of its shape.

    Raises:
        TypeError: `x` is of another dtype.
    """
    return ~x


@dispatchable
def logical_xor(x: TensorLike, y: TensorLike, name: str = "LogicalXor") -> Tensor:
    """Whether exactly one of the two holds.

    Args:
        x, y: [...] bool tensors, whose shapes broadcast.
    """
    either = logical_or(x, y)
    return logical_and(either, logical_not(logical_and(x, y)), name=name)


def scoped_xor(x: TensorLike, y: TensorLike, name: str = "xor") -> Tensor:
    """`logical_xor` with its nodes in one name scope, as the operator `^` names them."""
    with input_scope(name, "xor", (x, y)) as scope:
        return logical_xor(x, y, name=scope)


# Logic on bits.


@op("BitwiseAnd", "x: T, y: T -> z: T", infer=broadcast, gradient=not_differentiable, types={"T": INTEGERS})
def bitwise_and(xp: ArrayModule, x: Array, y: Array) -> Result:
    """The bits that are set in both: `[...], [...] -> [...]`, broadcast.

    Args:
        x, y: [...] tensors of one integer dtype, whose shapes broadcast.
    """
    return x & y


@op("BitwiseOr", "x: T, y: T -> z: T", infer=broadcast, gradient=not_differentiable, types={"T": INTEGERS})
def bitwise_or(xp: ArrayModule, x: Array, y: Array) -> Result:
    """The bits that are set in one of the two, or both: `[...], [...] -> [...]`, broadcast.

    Args:
        x, y: [...] tensors of one integer dtype, whose shapes broadcast.
    """
    return x | y


@op("BitwiseXor", "x: T, y: T -> z: T", infer=broadcast, gradient=not_differentiable, types={"T": INTEGERS})
def bitwise_xor(xp: ArrayModule, x: Array, y: Array) -> Result:
    """The bits that differ: `[...], [...] -> [...]`, broadcast.

    Args:
        x, y: [...] tensors of one integer dtype, whose shapes broadcast.
    """
    return x ^ y


@op("Invert", "x: T -> y: T", infer=same_as_input, gradient=not_differentiable, types={"T": INTEGERS})
def invert(xp: ArrayModule, x: Array) -> Result:
    """The bits that are not set: `[...] -> [...]`.

    Args:
        x: [...] tensor of an integer dtype; the result has its shape and dtype.
    """
    return ~x


@op("LeftShift", "x: T, y: T -> z: T", infer=broadcast, gradient=not_differentiable, types={"T": INTEGERS})
def left_shift(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x << y`, with `y` brought to the number of bits: `[...], [...] -> [...]`, broadcast.

    Args:
        x, y: [...] tensors of one integer dtype, whose shapes broadcast: the integers, and by how many bits each is shifted.
    """
    return x << _bit_count(xp, y)


@op("RightShift", "x: T, y: T -> z: T", infer=broadcast, gradient=not_differentiable, types={"T": INTEGERS})
def right_shift(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x >> y`, which keeps the sign, with `y` brought to the number of bits: `[...], [...] -> [...]`, broadcast.

    Args:
        x, y: [...] tensors of one integer dtype, whose shapes broadcast: the integers, and by how many bits each is shifted.
    """
    return x >> _bit_count(xp, y)


def _bit_count(xp: ArrayModule, y: Array) -> Array:
    return xp.clip(y, 0, 8 * y.dtype.itemsize - 1)


@op("PopulationCount", "x: T -> y: uint8", infer=same_as_input, gradient=not_differentiable, types={"T": INTEGERS})
def population_count(xp: ArrayModule, x: Array) -> Result:
    """The number of bits that are set: `[...] -> [...] uint8`."""
    return xp.bitwise_count(x.view(f"u{x.dtype.itemsize}"))
