"""Normalization: moments, batch normalization by formula, L2 normalization, the share of zeros."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft.framework.building.aliases import AxisLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.identity import identity, stop_gradient
from weft.ops.array.shape_ops import shape_internal, size_internal, squeeze
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum, not_equal
from weft.ops.math.elementwise import add, mul, reciprocal, square, squared_difference, sub
from weft.ops.math.reduce_functions import keeps_dims, reduce_mean, reduce_prod, reduce_sum
from weft.ops.math.unary import rsqrt
from weft.platform.logs.deprecation import deprecated_argument_lookup

_HALVES = (dtypes.float16, dtypes.bfloat16)


def moments(
    x: TensorLike,
    axes: AxisLike,
    shift: TensorLike | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance over the dimensions in `axes`; `shift` has no effect.

    Args:
        x: [...] tensor of a floating dtype.
        axes: the dimensions to reduce, a list of ints.
        shift: has no effect.
        keep_dims, keepdims: two names of whether they stay, with size 1.

    Returns:
        Two tensors of the dtype of `x`.

    Raises:
        ValueError: `x` has not these dimensions.
    """
    keep = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    with input_scope(name, "moments", (x, axes)):
        x = convert_to_tensor(x)
        kind = x.dtype.base_dtype
        # Sums of squares leave the range of half precision soon.
        wide = cast(x, dtypes.float32) if kind is dtypes.float16 else x
        mean = reduce_mean(wide, axes, keepdims=True, name="mean")
        distances = squared_difference(wide, stop_gradient(mean))
        variance = reduce_mean(distances, axes, keepdims=True, name="variance")
        if not keep:
            mean, variance = squeeze(mean, axes), squeeze(variance, axes)
        return (cast(mean, kind), cast(variance, kind)) if kind is dtypes.float16 else (mean, variance)


def sufficient_statistics(
    x: TensorLike,
    axes: Sequence[int],
    shift: TensorLike | None = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Any]:
    """The numbers that moments of data in parts can be computed from: the count, the sum, the sum of squares, and `shift`.

    Args:
        x: the data.
        axes: the dimensions that are summed over.
        shift: what is subtracted first, near the mean for exactness; nothing when None.
        keep_dims: the older form of `keepdims`.
        name: the name scope.
        keepdims: whether the dimensions stay with size 1.
    """
    axes = list(set(axes))
    keep = keeps_dims(keepdims, keep_dims)
    with input_scope(name, "sufficient_statistics", (x, shift)):
        x = convert_to_tensor(x, name="x")
        dims = x.dims
        if dims is not None and all(dims[axis] is not None for axis in axes):
            counts: Any = constant(math.prod(dims[axis] or 0 for axis in axes), x.dtype.base_dtype)
        else:
            counts = reduce_prod(gather(cast(shape_internal(x), x.dtype.base_dtype), axes), name="count")
        if shift is None:
            sums, squares = x, square(x)
        else:
            shift = convert_to_tensor(shift, name="shift")
            sums, squares = sub(x, shift), squared_difference(x, shift)
        return (
            counts,
            reduce_sum(sums, axes, keepdims=keep, name="mean_ss"),
            reduce_sum(squares, axes, keepdims=keep, name="var_ss"),
            shift,
        )


def normalize_moments(
    counts: TensorLike, mean_ss: TensorLike, variance_ss: TensorLike, shift: TensorLike | None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The mean and the variance that follow from sufficient statistics.

    Args:
        counts: scalar of a floating dtype: how many elements there were.
        mean_ss, variance_ss: [...] tensors of that dtype: the sum of the elements and that of their squares, each less the
            shift.
        shift: [...] tensor of that dtype that was subtracted from the elements, or None.
    """
    with input_scope(name, "normalize", (counts, mean_ss, variance_ss, shift)):
        divisor = reciprocal(counts, name="divisor")
        if shift is None:
            mean = shifted = mul(mean_ss, divisor, name="mean")
        else:
            shifted = mul(mean_ss, divisor, name="shifted_mean")
            mean = add(shifted, shift, name="mean")
        return mean, sub(mul(variance_ss, divisor), square(shifted), name="variance")


def weighted_moments(
    x: TensorLike,
    axes: AxisLike,
    frequency_weights: TensorLike,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance of data that counts as often as the weights, broadcast to `x`, say.

    Args:
        x: [...] tensor of a floating dtype.
        axes: the dimensions to reduce, a list of ints.
        frequency_weights: a tensor that broadcasts with `x`.
        keep_dims, keepdims: two names of whether the dimensions stay, with size 1.

    Returns:
        Two tensors of the dtype of `x`.
    """
    keep = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    with input_scope(name, "weighted_moments", (x, frequency_weights, axes)):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        kind = x.dtype.base_dtype
        wide = cast(x, dtypes.float32) if kind is dtypes.float16 else x
        weights = cast(weights, wide.dtype.base_dtype)
        total = reduce_sum(weights * wide, axes, name="weighted_input_sum", keepdims=True)
        count = reduce_sum(weights + zeros_like(wide), axes, name="sum_of_weights", keepdims=True)
        divisor = reciprocal(count, name="inv_weight_sum")
        mean = mul(total, divisor)
        squares = reduce_sum(weights * squared_difference(wide, mean), axes, name="weighted_distsq", keepdims=True)
        variance = mul(squares, divisor)
        if not keep:
            mean, variance = squeeze(mean, axis=axes), squeeze(variance, axis=axes)
        return cast(mean, kind), cast(variance, kind)


def l2_normalize(
    x: TensorLike,
    axis: int | None = None,
    epsilon: float = 1e-12,
    name: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """`x` over its Euclidean norm along `axis` (all when None), which counts as at least the root of `epsilon`.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
        axis: a dimension or a list of them.
        epsilon: the least square of the norm.
        dim: the older name of `axis`.

    Returns:
        A tensor of the shape and dtype of the input.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    with input_scope(name, "l2_normalize", (x,)) as scope:
        x = convert_to_tensor(x, name="x")
        squares = reduce_sum(square(x), axis, keepdims=True)
        return mul(x, rsqrt(maximum(squares, epsilon)), name=scope)


def batch_normalization(
    x: TensorLike | None,
    mean: TensorLike | None,
    variance: TensorLike | None,
    offset: TensorLike | None,
    scale: TensorLike | None,
    variance_epsilon: float | None,
    name: str | None = None,
) -> Tensor:
    """`(x - mean) / sqrt(variance + variance_epsilon) * scale + offset`; scale and offset may be None.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
        mean, variance: tensors that broadcast to `x`, such as `moments` gives.
        offset, scale: tensors that broadcast to `x`, or None.
        variance_epsilon: a small number that is added to the variance.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        ValueError: known shapes don't broadcast.
    """
    with input_scope(name, "batchnorm", (x, mean, variance, scale, offset)):
        x, mean, variance = (convert_to_tensor(each) for each in (x, mean, variance))
        inverse = rsqrt(variance + variance_epsilon)
        if scale is not None:
            inverse *= scale
        kind = x.dtype.base_dtype
        scaled = x * cast(inverse, kind)
        return scaled + cast(-mean * inverse if offset is None else offset - mean * inverse, kind)


def batch_norm_with_global_normalization(
    t: TensorLike | None = None, m: TensorLike | None = None, v: TensorLike | None = None,
    beta: TensorLike | None = None, gamma: TensorLike | None = None, variance_epsilon: float | None = None,
    scale_after_normalization: bool | None = None, name: str | None = None, input: TensorLike | None = None,
    mean: TensorLike | None = None, variance: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """Batch normalization of `t` with mean `m`, variance `v`, offset `beta` and, if asked for, scale `gamma`.

    Args:
        t, input: two names of the [batch, height, width, depth] tensor of a floating dtype.
        m, mean: two names of the [depth] means.
        v, variance: two names of the [depth] variances.
        beta: [depth] offsets.
        gamma: [depth] scales.
        variance_epsilon: a small number that is added to the variance.
        scale_after_normalization: whether to multiply by `gamma`.

    Returns:
        A tensor of the shape and dtype of `t`.
    """
    t = deprecated_argument_lookup("input", input, "t", t)
    m = deprecated_argument_lookup("mean", mean, "m", m)
    v = deprecated_argument_lookup("variance", variance, "v", v)
    scale = gamma if scale_after_normalization else None
    return batch_normalization(t, m, v, beta, scale, variance_epsilon, name)


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """The share of elements that are zero.

    >>> sess.run(tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0]))
    np.float32(0.5)

    Args:
        value: [...] tensor of numbers, or of texts, of which the empty one is counted.

    Returns:
        [] float32 tensor.
    """
    with input_scope(name, "zero_fraction", (value,)):
        value = convert_to_tensor(value, name="value")
        kind = value.dtype.base_dtype
        zero = "" if kind is dtypes.string else kind.as_numpy_dtype(0)
        # TensorFlow counts by int32 or int64, in two branches.
        with get_default_graph().node_count.as_many_as(26):
            count = size_internal(value, out_type=dtypes.int64)
            others = reduce_sum(cast(not_equal(value, zero), dtypes.int64))
            with input_scope(None, "counts_to_fraction"):
                share = cast(count - others, dtypes.float32) / cast(count, dtypes.float32)
            return identity(share, name="fraction")
