"""Choosing elements by conditions: Where, Select, boolean masks."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, broadcast_dims, merge_dims
from weft.ops.array.filling import zeros_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.padding import slice_node
from weft.ops.array.shape_ops import brackets, reshape, shape_internal, squeeze
from weft.ops.declaration import op, rank_of
from weft.ops.dispatch import dispatchable
from weft.ops.math.elementwise import unbroadcast

_MANY: Final = 1 << 12
_BITS: Final = {size: np.dtype(f"i{size}") for size in (2, 4, 8)}


def _where_shape(node: Operation) -> list[Dims]:
    return [(None, rank_of(node.inputs[0]))]


@op("Where", "input: T -> index: int64", infer=_where_shape, gradient=None, defaults={"T": dtypes.bool})
def where_node(ctx: OpContext, input: Array) -> Result:
    """The positions of the elements that are not zero, in row-major order: `[...] -> [n, rank] int64`."""
    if not input.ndim:
        raise InvalidArgumentError.of("WhereOp : Unhandled input dimensions: 0")
    return input.nonzero()[0][:, np.newaxis] if input.ndim == 1 else np.argwhere(input)


def _selected(node: Operation) -> list[Dims]:
    condition, x, y = (tensor.dims for tensor in node.inputs)
    dims = merge_dims(x, y)
    if dims is None or condition is None or len(condition) == 0:
        return [dims]
    if len(condition) == 1 and len(dims) > 1:
        merge_dims(condition, dims[:1])
        return [dims]
    return [merge_dims(condition, dims)]


def _chosen(condition: Array, t: Array, e: Array) -> Array:
    """What np.where makes, for many elements by their bits.

    np.where goes one way or the other for each element, which processors guess wrong half of the time where conditions follow
    no pattern, as those of activations: 200,000 numbers took 0.72 ms, and take 0.1 so (two loaded cores, December 2026).
    """
    bits = _BITS.get(t.dtype.itemsize)
    if condition.size < _MANY or bits is None or t.dtype != e.dtype or t.dtype.hasobject:
        return np.where(condition, t, e)
    if not condition.shape == t.shape == e.shape:
        return np.where(condition, t, e)
    mask, own, other = condition.astype(bits), t.view(bits), e.view(bits)
    np.negative(mask, out=mask)
    made = own ^ other
    made &= mask
    made ^= other
    return made.view(t.dtype)


def _select_gradient(node: Operation, grad: Tensor) -> Gradients:
    condition = node.inputs[0]
    zeros = zeros_like(grad)
    return [None, select_node(condition, grad, zeros), select_node(condition, zeros, grad)]


@op("Select", "condition: bool, t: T, e: T -> output: T", infer=_selected, gradient=_select_gradient)
def select_node(xp: ArrayModule, condition: Array, t: Array, e: Array) -> Result:
    """`t` where the condition holds, else `e`; a vector of conditions chooses rows.

    `[...], [...], [...] -> [...]`, or `[n], [n, *inner], [n, *inner] -> [n, *inner]`, or a scalar condition.
    """
    if len(condition.shape) == 1 and len(t.shape) > 1:
        condition = condition.reshape((-1,) + (1,) * (len(t.shape) - 1))
    return _chosen(condition, t, e) if xp is np else xp.where(condition, t, e)


def _select_v2_gradient(node: Operation, grad: Tensor) -> Gradients:
    condition, x, y = node.inputs
    zeros = zeros_like(grad)
    return [
        None,
        unbroadcast(select_v2_node(condition, grad, zeros), x),
        unbroadcast(select_v2_node(condition, zeros, grad), y),
    ]


def _broadcast_all(node: Operation) -> list[Dims]:
    condition, x, y = (tensor.dims for tensor in node.inputs)
    return [broadcast_dims(broadcast_dims(condition, x), y)]


@op("SelectV2", "condition: bool, t: T, e: T -> output: T", infer=_broadcast_all, gradient=_select_v2_gradient)
def select_v2_node(xp: ArrayModule, condition: Array, t: Array, e: Array) -> Result:
    """`t` where the condition holds, else `e`: `[...], [...], [...] -> [...]`, all three broadcast."""
    if xp is np and not condition.ndim and t.shape == e.shape:
        # One condition for an image, as random flips have it: its elements are not looked at.
        return t if condition else e
    return _chosen(condition, t, e) if xp is np else xp.where(condition, t, e)


@dispatchable
def where(condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None) -> Tensor:
    """`x` where the condition holds and `y` elsewhere; without both, the positions `[n, rank]` where it holds.

    >>> sess.run(tf.where([True, False], [1, 2], [10, 20]))
    array([ 1, 20], dtype=int32)

    Args:
        condition: [...] bool tensor; without `x` and `y` also a tensor of numbers, which hold unless zero.
        x, y: [...] tensors of one dtype and of the shape of `condition`; or [n, ...] for a condition of shape [n], which
            chooses rows.

    Returns:
        [count, rank] int64 tensor of places, or a tensor of the type and shape of `x`.

    Raises:
        ValueError: only one of `x` and `y` is given.
    """
    if x is None and y is None:
        return where_node(convert_to_tensor(condition, name="condition"), name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return select_node(condition, x, y, name=name)


def where_v2(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """As `where`, with all three broadcast.

    Args:
        condition: bool tensor whose shape broadcasts with those of the other two.
        x, y: tensors of one dtype, both or none of them.

    Returns:
        A tensor of the shape that they broadcast to; without the two, [n, rank] int64.

    Raises:
        ValueError: only one of `x` and `y` is given.
    """
    if x is None and y is None:
        return where_node(convert_to_tensor(condition, name="condition"), name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return select_v2_node(condition, x, y, name=name)


def boolean_mask(tensor: TensorLike, mask: TensorLike, name: str = "boolean_mask", axis: int | None = None) -> Tensor:
    """The slices of `tensor` at which `mask` is true.

    Args:
        tensor: `[..., d_axis, ..., d_(axis+k-1), ...]`, of any dtype.
        mask: `[d_axis, ..., d_(axis+k-1)] bool`, of known rank k >= 1.
        name: a name scope for the nodes.
        axis: where the masked dimensions begin, by default the first.

    Raises:
        ValueError: `mask` is a scalar or of unknown rank, or its shape is not that of the masked dimensions.
    """
    with get_default_graph().name_scope(name or "boolean_mask"):
        values, mask = convert_to_tensor(tensor, name="tensor"), convert_to_tensor(mask, name="mask")
        count, dims = rank_of(mask), values.dims
        if count == 0:
            raise ValueError("mask cannot be scalar.")
        if count is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None.  E.g. shape=[None] "
                f"is ok, but shape=None is not. The mask is {described(mask)}: mask.set_shape([None]) tells of a vector."
            )
        start = 0 if axis is None else axis
        if start < 0 and dims is not None:
            start %= len(dims)
        if dims is not None:
            _check_mask(dims[start : start + count], mask.dims)
        # TensorFlow flattens in any case, by the shapes' parts.
        with get_default_graph().node_count.as_many_as(27):
            flat = values if count == 1 else _flattened(values, start, count)
            chosen = squeeze(where_node(mask if count == 1 else reshape(mask, [-1])), axis=[1])
            return gather(flat, chosen, axis=start)


def _flattened(values: Tensor, start: int, count: int) -> Tensor:
    """The tensor with `count` dimensions from `start` made one."""
    sizes, dims = shape_internal(values), values.dims
    lead, tail = slice_node(sizes, [0], [start]), slice_node(sizes, [start + count], [-1])
    flat = reshape(values, concat([lead, [-1], tail], 0))
    if dims is not None:
        masked = dims[start : start + count]
        total = None if None in masked else int(np.prod(masked, dtype=np.int64))  # type: ignore[arg-type]
        flat.set_shape((*dims[:start], total, *dims[start + count :]))
    return flat


def _check_mask(found: tuple[int | None, ...], mask: Dims) -> None:
    try:
        merge_dims(found, mask)
    except ValueError as error:
        raise ValueError(f"Shapes {brackets(found)} and {brackets(mask)} are incompatible") from error
