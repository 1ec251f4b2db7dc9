"""The functions that reduce tensors: reduce_sum and its kin, reduce_logsumexp, count_nonzero, argmax ...

`reduction_indices`, `keep_dims` and `dimension` are the older names of `axis` and `keepdims`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.framework.building.aliases import Axes, DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros_like
from weft.ops.array.identity import stop_gradient
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import select_node
from weft.ops.array.shape_ops import rank, reshape, shape_internal
from weft.ops.dispatch import dispatchable
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import not_equal
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import add, square, sub
from weft.ops.math.reductions import (
    all_node,
    any_node,
    arg_max_node,
    arg_min_node,
    euclidean_norm_node,
    max_node,
    mean_node,
    min_node,
    prod_node,
    sum_node,
)
from weft.ops.math.unary import exp, is_finite, log, sqrt
from weft.platform.logs.deprecation import deprecated_argument_lookup


def keeps_dims(keepdims: bool | None, keep_dims: bool | None) -> bool:
    """Whether the dimensions stay, by an argument and its older name; TypeError for what is no bool."""
    wanted = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    if wanted is not None and not isinstance(wanted, bool | np.bool_):
        raise TypeError(f"Expected bool for argument 'keep_dims' not {wanted!r}: keepdims is True or False.")
    return bool(wanted)


def _reduce(
    node: Callable[..., Tensor],
    tensor: TensorLike,
    axis: Axes,
    keepdims: bool | None,
    name: str | None,
    reduction_indices: Axes = None,
    keep_dims: bool | None = None,
) -> Tensor:
    axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
    keepdims = keeps_dims(keepdims, keep_dims)
    if axis is not None:
        return node(tensor, axis, keep_dims=keepdims, name=name)
    # As in TensorFlow, which makes `Rank` and `range` for what is none yet, a variable or a list.
    dims = tensor.dims if isinstance(tensor, Tensor) else None
    if dims is not None:
        return node(tensor, constant(np.arange(len(dims), dtype=np.int32)), keep_dims=keepdims, name=name)
    result = node(tensor, range_of(0, rank(tensor)), keep_dims=keepdims, name=name)
    if not keepdims:
        result.set_shape(())
    return result


@dispatchable
def reduce_sum(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool | None = None, name: str | None = None,
    reduction_indices: Axes = None, keep_dims: bool | None = None,
) -> Tensor:  # fmt: skip
    """The sum over the dimensions in `axis` (all when None), which stay with size 1 if `keepdims`.

    >>> sess.run(tf.reduce_sum([[1, 2], [3, 4]], axis=1))
    array([3, 7], dtype=int32)

    Args:
        input_tensor: [...] tensor of a numeric dtype (the greatest and the least are of real numbers only, logsumexp of
            floating ones).
        axis: the dimensions to reduce: a number, a list or a tensor of int32 or int64; None for all. One below zero counts
            from the end.
        keepdims: whether they stay, with size 1.
        reduction_indices, keep_dims: older names of `axis` and `keepdims`.

    Returns:
        A tensor of the dtype of `input_tensor`, without the dimensions of `axis` unless `keepdims`.

    Raises:
        ValueError: an argument is given by both its names, or `axis` is outside the rank.
    """
    return _reduce(sum_node, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@dispatchable
def reduce_mean(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool | None = None, name: str | None = None,
    reduction_indices: Axes = None, keep_dims: bool | None = None,
) -> Tensor:  # fmt: skip
    """The mean over the dimensions in `axis` (all when None); integers are rounded towards zero.

    >>> sess.run(tf.reduce_mean([[1.0, 3.0], [5.0, 7.0]], axis=0))
    array([3., 5.], dtype=float32)

    Args: those of `tf.math.reduce_sum`.

    Returns:
        A tensor of the same type, without the dimensions of `axis`, or with ones in their place.
    """
    return _reduce(mean_node, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@dispatchable
def reduce_max(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool | None = None, name: str | None = None,
    reduction_indices: Axes = None, keep_dims: bool | None = None,
) -> Tensor:  # fmt: skip
    """The greatest element over the dimensions in `axis` (all when None).

    >>> sess.run(tf.reduce_max([[1, 5], [7, 3]], axis=1))
    array([5, 7], dtype=int32)

    Args: those of `tf.math.reduce_sum`.

    Returns:
        A tensor of the same type, without the dimensions of `axis`, or with ones in their place.
    """
    return _reduce(max_node, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@dispatchable
def reduce_min(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool | None = None, name: str | None = None,
    reduction_indices: Axes = None, keep_dims: bool | None = None,
) -> Tensor:  # fmt: skip
    """The least element over the dimensions in `axis` (all when None).

    Args: those of `tf.math.reduce_sum`.

    Returns:
        A tensor of the same type, without the dimensions of `axis`, or with ones in their place.
    """
    return _reduce(min_node, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@dispatchable
def reduce_prod(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool | None = None, name: str | None = None,
    reduction_indices: Axes = None, keep_dims: bool | None = None,
) -> Tensor:  # fmt: skip
    """The product over the dimensions in `axis` (all when None).

    Args: those of `tf.math.reduce_sum`.
    """
    return _reduce(prod_node, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@dispatchable
def reduce_all(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool | None = None, name: str | None = None,
    reduction_indices: Axes = None, keep_dims: bool | None = None,
) -> Tensor:  # fmt: skip
    """Whether all elements over the dimensions in `axis` (all when None) are true.

    Args:
        input_tensor: [...] bool tensor.
        axis: the dimensions to reduce: a number, a list or a tensor of int32 or int64; None for all. One below zero counts
            from the end.
        keepdims: whether they stay, with size 1.
        reduction_indices, keep_dims: older names of `axis` and `keepdims`.

    Returns:
        A bool tensor, without the dimensions of `axis` unless `keepdims`.
    """
    return _reduce(all_node, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@dispatchable
def reduce_any(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool | None = None, name: str | None = None,
    reduction_indices: Axes = None, keep_dims: bool | None = None,
) -> Tensor:  # fmt: skip
    """Whether an element over the dimensions in `axis` (all when None) is true.

    Args: those of `tf.math.reduce_all`.
    """
    return _reduce(any_node, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The square root of the sum of squares over the dimensions in `axis` (all when None).

    Args:
        input_tensor: [...] tensor of a numeric dtype.
        axis: the dimensions to reduce: a number, a list or a tensor of int32 or int64; None for all. One below zero counts
            from the end.
        keepdims: whether they stay, with size 1.

    Returns:
        A tensor of the dtype of `input_tensor`.
    """
    return _reduce(euclidean_norm_node, input_tensor, axis, keepdims, name)


def reduce_logsumexp(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool | None = None, name: str | None = None,
    reduction_indices: Axes = None, keep_dims: bool | None = None,
) -> Tensor:  # fmt: skip
    """`log(sum(exp(x)))` over the dimensions in `axis` (all when None), without overflow.

    Args: those of `tf.math.reduce_sum`.
    """
    axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
    keepdims = keeps_dims(keepdims, keep_dims)
    with input_scope(name, "ReduceLogSumExp", (input_tensor,)):
        tensor = convert_to_tensor(input_tensor, name="input")
        greatest = reduce_max(tensor, axis, keepdims=True)
        # An infinite maximum would make NaN of the difference.
        offset = stop_gradient(select_node(is_finite(greatest), greatest, zeros_like(greatest)))
        result = log(reduce_sum(exp(sub(tensor, offset)), axis, keepdims=keepdims))
        if not keepdims:
            offset = reshape(offset, shape_internal(result))
        return add(result, offset, name="Add")


def reduce_variance(input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The mean square of the distances from the mean over the dimensions in `axis` (all when None).

    Args:
        input_tensor: [...] tensor of a floating or complex dtype.
        axis: the dimensions to reduce: a number, a list or a tensor of int32 or int64; None for all. One below zero counts
            from the end.
        keepdims: whether they stay, with size 1.

    Returns:
        A tensor of the dtype of `input_tensor`; real for a complex one.

    Raises:
        TypeError: the elements are integers.
    """
    with input_scope(name, "reduce_variance", (input_tensor,)):
        tensor = convert_to_tensor(input_tensor)
        means = reduce_mean(tensor, axis, keepdims=True)
        if means.dtype.is_integer:
            raise TypeError(f"Input must be either real or complex. Received integer type {means.dtype}.")
        distance = sub(tensor, means, name="sub")
        squared = square(absolute(distance)) if distance.dtype.is_complex else square(distance)
        return reduce_mean(squared, axis, keepdims=keepdims)


def reduce_std(input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The square root of `reduce_variance`.

    Args: those of `tf.math.reduce_variance`.
    """
    with input_scope(name, "reduce_std", (input_tensor,)):
        return sqrt(reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input_tensor: TensorLike | None = None,
    axis: Axes = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
    reduction_indices: Axes = None,
    keep_dims: bool | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """How many elements over the dimensions in `axis` (all when None) are not zero (not empty, of strings).

    Args:
        input_tensor: [...] tensor of a numeric, bool or string dtype.
        axis: the dimensions to reduce: a number, a list or a tensor of int32 or int64; None for all. One below zero counts
            from the end.
        keepdims: whether they stay, with size 1.
        dtype: the numeric dtype of the result.
        reduction_indices, keep_dims, input: older names of `axis`, `keepdims` and `input_tensor`.
    """
    keepdims = keeps_dims(keepdims, keep_dims)
    axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
    with input_scope(name, "count_nonzero", (input_tensor,)):
        tensor = convert_to_tensor(deprecated_argument_lookup("input", input, "input_tensor", input_tensor), name="input")
        kind = tensor.dtype.base_dtype
        zero = constant(b"" if kind is dtypes.string else kind.as_numpy_dtype(0), kind, name="zeros")
        counted = cast(not_equal(tensor, zero), dtypes.int64)
        return cast(reduce_sum(counted, axis, keepdims), dtype)


def argmax(
    input: TensorLike,
    axis: Axes = None,
    name: str | None = None,
    dimension: Axes = None,
    output_type: DTypeLike = dtypes.int64,
) -> Tensor:
    """The position of the greatest element along `axis` (0 when None), the first one if there are several.

    >>> sess.run(tf.argmax([[1, 9, 3], [4, 2, 0]], axis=1))
    array([1, 0])

    Args:
        input: [...] tensor of a floating, integer, quantized or bool dtype.
        axis: int32 scalar, the dimension that goes; one below zero counts from the end.
        dimension: an older name of `axis`.
        output_type: int32 or int64 (the greatest also int16 and uint16), the dtype of the result.

    Returns:
        A tensor of `output_type`, of the input's shape without that dimension.

    Raises:
        ValueError: both `axis` and `dimension` are given.
    """
    axis = deprecated_argument_lookup("axis", axis, "dimension", dimension)
    return arg_max_node(input, 0 if axis is None else axis, output_type=output_type, name=name)


def argmin(
    input: TensorLike,
    axis: Axes = None,
    name: str | None = None,
    dimension: Axes = None,
    output_type: DTypeLike = dtypes.int64,
) -> Tensor:
    """The position of the least element along `axis` (0 when None), the first one if there are several.

    Args: those of `tf.argmax`.

    Raises:
        ValueError: both `axis` and `dimension` are given.
    """
    axis = deprecated_argument_lookup("axis", axis, "dimension", dimension)
    return arg_min_node(input, 0 if axis is None else axis, output_type=output_type, name=name)


arg_max = arg_max_node
arg_min = arg_min_node
