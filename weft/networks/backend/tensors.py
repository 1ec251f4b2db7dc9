"""tf.keras.backend's functions of tensors: TensorFlow's own, under the names and defaults of Keras."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weft.framework.building.aliases import DTypeLike, Nest, ShapeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.networks.layers.merging import batch_dot as dot_over_axes
from weft.networks.state.own_seeds import own_seed
from weft.ops.array import filling
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims as with_axis
from weft.ops.array.shape_ops import reshape as reshaped
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack
from weft.ops.array.transposing import transpose as transposed
from weft.ops.control_flow.cond import cond
from weft.ops.math import reduce_functions as reductions
from weft.ops.math.casting import cast as cast_to
from weft.ops.math.clip import clip_by_value
from weft.ops.math.comparison import maximum
from weft.ops.math.products import matmul
from weft.ops.math.unary import sqrt as root
from weft.ops.nn.dropout import dropout as nn_dropout
from weft.ops.nn.fused_norm import fused_batch_norm
from weft.ops.nn.norm import batch_normalization as nn_batch_normalization
from weft.ops.nn.norm import l2_normalize as nn_l2_normalize
from weft.ops.nn.norm import moments


def cast(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """A tensor in another type.

    Args:
        x: a tensor.
        dtype: the type, or its name.
    """
    return cast_to(x, dtype)


def dot(x: TensorLike, y: TensorLike) -> Tensor:
    """The product over the last axis of `x` and the last but one of `y`.

    Args:
        x: `[..., n]` numbers.
        y: `[..., n, m]`, of the same dtype; `[n, m]` with a matrix `x`.

    Returns:
        A tensor with the dimensions of `x` but its last, then those of `y` but the last but one.
    """
    a, b = convert_to_tensor(x), convert_to_tensor(y)
    if (a.shape.ndims or 0) <= 2 and (b.shape.ndims or 0) <= 2:
        return matmul(a, b)
    rank = b.shape.ndims or 0
    front = [rank - 2, *(axis for axis in range(rank) if axis != rank - 2)]
    inner = b.shape.as_list()[-2]
    flat = matmul(reshaped(a, [-1, inner]), reshaped(transposed(b, front), [inner, -1]))
    rest = [size for axis, size in enumerate(b.shape.as_list()) if axis != rank - 2]
    sizes = [size if size is not None else shape_of(a)[axis] for axis, size in enumerate(a.shape.as_list()[:-1])]
    return reshaped(flat, [*sizes, *rest])


def batch_dot(x: TensorLike, y: TensorLike, axes: int | Sequence[int] | None = None) -> Tensor:
    """The product over an axis of each tensor, for each example; the last of `x` and the last but one of `y` when None.

    Args:
        x, y: `[batch, ...]` tensors of one dtype.
        axes: the dimension of each that is summed over, one number for both or two.

    Returns:
        A tensor `[batch, ...]` with the other dimensions of `x`, then of `y`.
    """
    a, b = convert_to_tensor(x), convert_to_tensor(y)
    ranks = int(a.shape.ndims or 0), int(b.shape.ndims or 0)
    if axes is None:
        axes = (ranks[0] - 1, max(ranks[1] - 2, 1))
    given = (axes, axes) if isinstance(axes, int) else (axes[0], axes[1])
    return dot_over_axes(a, b, (given[0] % ranks[0], given[1] % ranks[1]))


def permute_dimensions(x: TensorLike, pattern: Sequence[int]) -> Tensor:
    """The dimensions in another order.

    Args:
        x: a tensor.
        pattern: the old dimension in each new place.
    """
    return transposed(x, pattern)


def flatten(x: TensorLike) -> Tensor:
    """A vector of all elements.

    Args:
        x: a tensor.
    """
    return reshaped(x, [-1])


def batch_flatten(x: TensorLike) -> Tensor:
    """A matrix with a row for each example: `[batch, ...] -> [batch, n]`.

    Args:
        x: a tensor of rank 1 or more.
    """
    tensor = convert_to_tensor(x)
    rest = [size for size in tensor.shape.as_list()[1:] if size is not None]
    is_known = len(rest) == (tensor.shape.ndims or 0) - 1
    return reshaped(tensor, [-1, int(np.prod(rest)) if is_known else reductions.reduce_prod(shape_of(tensor)[1:])])


def expand_dims(x: TensorLike, axis: int = -1) -> Tensor:
    """The tensor with a dimension of size 1 more.

    Args:
        x: a tensor.
        axis: the place of the new dimension.
    """
    return with_axis(x, axis)


def concatenate(tensors: Sequence[TensorLike], axis: int = -1) -> Tensor:
    """The tensors one after the other along a dimension.

    Args:
        tensors: tensors whose other sizes are equal.
        axis: the dimension.
    """
    return concat([convert_to_tensor(each) for each in tensors], axis)


def one_hot(indices: TensorLike, num_classes: int) -> Tensor:
    """A one at each index and zeros elsewhere: `[...] -> [..., num_classes]` float32.

    Args:
        indices: integers; one outside `[0, num_classes)` gives zeros only.
        num_classes: the size of the new last dimension.
    """
    return filling.one_hot(indices, num_classes)


def clip(x: TensorLike, min_value: float, max_value: float | None) -> Tensor:
    """The elements, brought between two bounds.

    Args:
        x: a tensor of numbers.
        min_value: the lower bound.
        max_value: the upper bound; none when None. One below `min_value` counts as that.
    """
    if max_value is None:
        return maximum(x, min_value)
    return clip_by_value(convert_to_tensor(x), min_value, max(min_value, max_value))


def sqrt(x: TensorLike) -> Tensor:
    """The square root; 0 for what is less.

    Args:
        x: a tensor of a floating dtype.
    """
    return root(maximum(convert_to_tensor(x), 0.0))


def l2_normalize(x: TensorLike, axis: int | None = None) -> Tensor:
    """The vectors along an axis, scaled to length 1.

    Args:
        x: a tensor of a floating dtype.
        axis: their dimension; the whole tensor is one vector when None.
    """
    return nn_l2_normalize(x, axis)


def batch_normalization(
    x: Tensor, mean: TensorLike, var: TensorLike, beta: TensorLike | None, gamma: TensorLike | None, axis: int = -1,
    epsilon: float = 1e-3,
) -> Tensor:  # fmt: skip
    """A tensor normalized by a mean and a variance, with an offset and a scale.

    Args:
        x: a tensor of a floating dtype.
        mean, var: mean and variance, of shapes that broadcast with `x`.
        beta, gamma: offset and scale; none when None.
        axis: the channels' dimension. 1 and an `x` of rank 4: the others have an element for each channel.
        epsilon: added to the variance.

    Returns:
        A tensor like `x`.
    """
    of_images = x.shape.ndims == 4 and axis in (1, -3)

    def beside(given: TensorLike | None) -> TensorLike | None:
        return reshaped(given, [1, -1, 1, 1]) if of_images and given is not None else given

    return nn_batch_normalization(x, beside(mean), beside(var), beside(beta), beside(gamma), epsilon)


def normalize_batch_in_training(
    x: Tensor, gamma: TensorLike | None, beta: TensorLike | None, reduction_axes: Sequence[int], epsilon: float = 1e-3
) -> tuple[Tensor, Tensor, Tensor]:
    """A tensor normalized by its own mean and variance, and these.

    Args:
        x: a tensor of a floating dtype.
        gamma, beta: scale and offset, an element for each channel; none when None.
        reduction_axes: the dimensions over which mean and variance are taken.
        epsilon: added to the variance.

    Returns:
        A tensor like `x`, and mean and variance, of the shape of the other dimensions; images' variance is without bias.
    """
    axes = [int(each) for each in reduction_axes]
    rank = x.shape.ndims or 0
    if rank == 4 and axes == [0, 1, 2]:
        count = x.shape.as_list()[-1]
        scale = filling.ones([count], x.dtype) if gamma is None else gamma
        offset = filling.zeros([count], x.dtype) if beta is None else beta
        return fused_batch_norm(x, scale, offset, epsilon=epsilon)
    mean, variance = moments(x, axes)
    if sorted(axes) == list(range(rank))[:-1]:
        return nn_batch_normalization(x, mean, variance, beta, gamma, epsilon), mean, variance
    size = shape_of(x)
    wide = stack([1 if axis in axes else size[axis] for axis in range(rank)])

    def broadcast(given: TensorLike | None) -> TensorLike | None:
        return None if given is None else reshaped(given, wide)

    made = nn_batch_normalization(x, broadcast(mean), broadcast(variance), broadcast(beta), broadcast(gamma), epsilon)
    return made, mean, variance


def dropout(x: TensorLike, level: float, noise_shape: ShapeLike = None, seed: int | None = None) -> Tensor:
    """A tensor with elements set to 0 at random, in each run others; the rest is scaled up, so that the expected sum stays.

    Args:
        x: a tensor of a floating dtype.
        level: the part that is dropped, at least 0 and below 1.
        noise_shape: the shape of what is drawn, which broadcasts with `x`; that of `x` when None.
        seed: the op seed.
    """
    return nn_dropout(x, noise_shape=noise_shape, seed=own_seed(seed), rate=level)


def switch(condition: TensorLike, then_expression: Nest, else_expression: Nest) -> Nest:
    """One of two tensors by a condition, or of what two functions make.

    Args:
        condition: a [] tensor, true or other than 0 for the first.
        then_expression, else_expression: tensors, or functions of nothing, of which only one's operations run.
    """
    return cond(cast_to(condition, dtypes.bool), _as_function(then_expression), _as_function(else_expression))


def _as_function(value: Nest) -> Callable[[], Nest]:
    return value if callable(value) else lambda: convert_to_tensor(value)
