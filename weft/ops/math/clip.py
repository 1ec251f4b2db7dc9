"""Keeping tensors within bounds: by value, by the norm of each, by the norm of all together. IndexedSlices stay that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, overload

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims, brackets, merge_dims
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.identity import identity
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import select_node
from weft.ops.array.shape_ops import rank, size
from weft.ops.declaration import op
from weft.ops.dispatch import dispatchable
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater, less, logical_or, maximum, minimum
from weft.ops.math.elementwise import NUMBERS, mul, real_div, unbroadcast
from weft.ops.math.norms import global_norm
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import rsqrt, sqrt

# Dense values, or rows of them.
_Values: TypeAlias = "TensorLike | IndexedSlices"


def _values(t: _Values) -> Tensor:
    return convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name="t")


def _like(t: _Values, values: Tensor) -> Tensor | IndexedSlices:
    return IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values


@overload
def clip_by_value(t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None) -> Tensor: ...
@overload
def clip_by_value(
    t: IndexedSlices, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> IndexedSlices: ...
@dispatchable
def clip_by_value(
    t: _Values, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Tensor | IndexedSlices:
    """`t` with smaller elements set to `clip_value_min` and greater ones to `clip_value_max`.

    Args:
        t: [...] tensor of a floating or integer dtype, or IndexedSlices of it; the result is of the same kind and shape.
        clip_value_min, clip_value_max: of the dtype of `t`, scalars or tensors that broadcast to its shape.

    Returns:
        A tensor of the type and shape of `t`, or IndexedSlices of IndexedSlices.

    Raises:
        ValueError: the bounds would broadcast `t` to a larger shape.

    >>> sess.run(tf.clip_by_value([-5, 0, 5], -1, 1))
    array([-1,  0,  1], dtype=int32)
    """
    with input_scope(name, "clip_by_value", (t, clip_value_min, clip_value_max)) as scope:
        values = _values(t)
        lowered = minimum(values, clip_value_max)
        TensorShape(values.dims).assert_is_compatible_with(lowered.shape)
        clipped = maximum(lowered, clip_value_min, name=scope)
        TensorShape(values.dims).assert_is_compatible_with(clipped.shape)
        return _like(t, clipped)


def _clip_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, low, high = node.inputs
    is_low, is_high = less(x, low), greater(x, high)
    zeros = zeros_like(grad)
    return [
        select_node(logical_or(is_low, is_high), zeros, grad),
        unbroadcast(select_node(is_low, grad, zeros), low),
        unbroadcast(select_node(is_high, grad, zeros), high),
    ]


def _clipped_shape(node: Operation) -> list[Dims]:
    values = node.inputs[0].dims
    for bound in node.inputs[1:]:
        if values is not None and bound.dims and not _could_be(bound.dims, values):
            raise ValueError(
                "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. "
                f"input shape: {brackets(values)}, {brackets(bound.dims)}"
            )
    return [values]


def _could_be(a: Dims, b: Dims) -> bool:
    try:
        merge_dims(a, b)
    except ValueError:
        return False
    return True


@op("ClipByValue", "t: T, clip_value_min: T, clip_value_max: T -> output: T", infer=_clipped_shape,
    gradient=_clip_gradient, types={"T": NUMBERS})  # fmt: skip
def clip_by_value_node(xp: ArrayModule, t: Array, clip_value_min: Array, clip_value_max: Array) -> Result:
    """The elements brought between two bounds, as one node; graphs of newer programs have it.

    `[...], scalar, scalar -> [...]`, or with bounds of the shape of `t`.
    """
    return xp.maximum(xp.minimum(t, clip_value_max), clip_value_min)


@overload
def clip_by_norm(t: TensorLike, clip_norm: TensorLike, axes: TensorLike | None = None, name: str | None = None) -> Tensor: ...
@overload
def clip_by_norm(
    t: IndexedSlices, clip_norm: TensorLike, axes: TensorLike | None = None, name: str | None = None
) -> IndexedSlices: ...
def clip_by_norm(
    t: _Values, clip_norm: TensorLike, axes: TensorLike | None = None, name: str | None = None
) -> Tensor | IndexedSlices:
    """`t` scaled down so that its Euclidean norm over `axes` (all when None) is at most `clip_norm`.

    Args:
        t: [...] tensor of a floating dtype, or IndexedSlices of it; the result is of the same kind and shape.
        clip_norm: scalar of its dtype, positive.
        axes: the dimensions over which a norm is taken, a list of int32; None for all.

    Returns:
        What `t` is, of its shape and dtype.

    Raises:
        ValueError: the shape of `clip_norm` does not broadcast to that of `t`.
    """
    with input_scope(name, "clip_by_norm", (t, clip_norm)) as scope:
        values = _values(t)
        squares = reduce_sum(mul(values, values, name="mul"), axes, keepdims=True)
        # The square root of 0 has no gradient; 0 itself is right there.
        is_positive = greater(squares, 0)
        safe = select_node(is_positive, squares, ones_like(squares))
        length = select_node(is_positive, sqrt(safe), squares)
        scaled = mul(values, clip_norm, name="mul")
        TensorShape(values.dims).assert_is_compatible_with(scaled.shape)
        clipped = identity(real_div(scaled, maximum(length, clip_norm), name="truediv"), name=scope)
        return _like(t, clipped)


def clip_by_average_norm(t: TensorLike, clip_norm: TensorLike, name: str | None = None) -> Tensor:
    """`t` scaled down so that its Euclidean norm over the number of its elements is at most `clip_norm`.

    Args:
        t: [...] tensor of a floating dtype; the result has its shape and dtype.
        clip_norm: scalar of its dtype, positive.
    """
    with input_scope(name, "clip_by_average_norm", (t, clip_norm)) as scope:
        tensor = convert_to_tensor(t, name="t")
        count = cast(size(tensor), tensor.dtype)
        inverse = rsqrt(reduce_sum(mul(tensor, tensor, name="mul"), range_of(rank(tensor))))
        scaled = mul(tensor, clip_norm, name="mul")
        inverse_mean = mul(inverse, count, name="mul")
        limit = real_div(constant(1, tensor.dtype), clip_norm, name="truediv")
        return identity(mul(scaled, minimum(inverse_mean, limit), name="mul"), name=scope)


def clip_by_global_norm(
    t_list: Sequence[_Values | None], clip_norm: TensorLike, use_norm: TensorLike | None = None, name: str | None = None
) -> tuple[list[Tensor | Any], Tensor]:
    """Scale all tensors down together so that their global norm is at most `clip_norm`; also returns the norm before.

    An infinite or NaN norm makes all of them NaN, which is easier to notice than zeros.

    Args:
        t_list: tensors, IndexedSlices or None.
        clip_norm: the limit.
        use_norm: the global norm, when it is known already.
        name: the name scope.

    Returns:
        A list in the order of `t_list`, with None where that has None, and the global norm, a [] tensor.

    Raises:
        TypeError: `t_list` is no sequence, or one of (gradient, variable) pairs.

    >>> clipped, norm = tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], 2.5)
    >>> sess.run([clipped, norm])
    [[array([1.5], dtype=float32), array([2.], dtype=float32)], np.float32(5.0)]
    """
    if not isinstance(t_list, list | tuple):
        raise TypeError(f"t_list should be a sequence, not {t_list!r}: of one tensor it is [tensor].")
    _refuse_pairs(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with input_scope(name, "clip_by_global_norm", [*t_list, clip_norm]) as scope:
        use_norm = convert_to_tensor(use_norm, name="use_norm")
        one = constant(1, use_norm.dtype)
        factor: Array = clip_norm * minimum(1.0 / use_norm, one / clip_norm)
        scale = factor + (use_norm - use_norm)
        get_default_graph().node_count.total += 1  # As many as in TensorFlow: later random nodes get their seeds by the count.
        clipped = [None if each is None else _scaled(each, index, scale, scope) for index, each in enumerate(t_list)]
    return clipped, use_norm


def _refuse_pairs(t_list: Sequence[object]) -> None:
    """Pack no gradient with its variable: no optimizer takes what comes of it."""
    for index, each in enumerate(t_list):
        if isinstance(each, tuple) and len(each) == 2 and hasattr(each[1], "initializer"):
            raise TypeError(
                f"t_list[{index}] is a pair (gradient, variable), of variable {each[1].op.name!r}, and gradients alone are "
                "wanted: gradients, variables = zip(*pairs), and the optimizer is given zip(clipped, variables)."
            )


def _scaled(t: _Values, index: int, scale: Tensor, scope: str) -> Tensor | IndexedSlices:
    values = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name=f"t_{index}")
    with get_default_graph().colocate_with(values):
        scaled = mul(values, cast(scale, values.dtype), name="mul")
        return _like(t, identity(scaled, name=f"{scope}_{index}"))
