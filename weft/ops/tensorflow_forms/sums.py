"""Forms of what gradients of broadcasting and of reductions are made of."""

from __future__ import annotations

from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import ones, ones_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.partitioning import dynamic_stitch
from weft.ops.array.ranges import range_of
from weft.ops.array.sets import setdiff1d
from weft.ops.array.shape_ops import rank, reshape, shape, size
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import broadcast_gradient_args, broadcast_to, tile_grad
from weft.ops.array.transposing import invert_permutation, transpose
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import broadcast_like, mul, sum_to_like
from weft.ops.math.reduce_functions import reduce_prod
from weft.ops.math.reductions import expand_reduced, products_of_others, reduced_count, sum_node
from weft.ops.math.scans import cumprod
from weft.ops.math.segment import widened_to_rank
from weft.ops.tensorflow_forms.form import form


@form(sum_to_like)
def _sum_to_like(node: Operation, x: Tensor, like: Tensor) -> Tensor:
    sizes = shape(like)
    axes, _ = broadcast_gradient_args(sizes, shape(x))
    return reshape(sum_node(x, axes), sizes)


@form(broadcast_like)
def _broadcast_like(node: Operation, x: Tensor, like: Tensor) -> Tensor:
    return broadcast_to(x, shape(like))


def counted_axes(node: Operation, tensor: Tensor, axes: Tensor) -> Tensor:
    """The axes of a reduction, the last input of the node, counted from the first dimension: a vector."""
    known, dims = constant_value(node.inputs[-1]), tensor.dims
    flat = reshape(axes, [-1])
    if known is not None and (known >= 0).all():
        return flat
    return (flat + cast(rank(tensor), axes.dtype)) % cast(rank(tensor), axes.dtype) if dims is None else flat % len(dims)


@form(expand_reduced)
def _expand_reduced(node: Operation, reduced: Tensor, like: Tensor, reduction_indices: Tensor) -> Tensor:
    sizes = shape(like)
    if node.attrs["keep_dims"]:
        return broadcast_to(reduced, sizes)
    axes = cast(counted_axes(node, like, reduction_indices), dtypes.int32)
    kept = dynamic_stitch([range_of(rank(like)), axes], [sizes, ones_like(axes)])
    return broadcast_to(reshape(reduced, kept), sizes)


@form(reduced_count)
def _reduced_count(node: Operation, input: Tensor, reduction_indices: Tensor) -> Tensor:
    sizes = gather(shape(input), counted_axes(node, input, reduction_indices))
    return cast(reduce_prod(sizes, axis=[0]), node.attrs["dtype"])


@form(products_of_others)
def _products_of_others(node: Operation, x: Tensor, reduction_indices: Tensor) -> Tensor:
    axes = cast(counted_axes(node, x, reduction_indices), dtypes.int32)
    rest, _ = setdiff1d(range_of(rank(x)), axes)
    permutation = concat([axes, rest], 0)
    moved = transpose(x, permutation)
    flat = reshape(moved, stack([reduce_prod(gather(shape(x), axes), axis=[0]), reduce_prod(gather(shape(x), rest), axis=[0])]))
    others = mul(cumprod(flat, 0, exclusive=True), cumprod(flat, 0, exclusive=True, reverse=True))
    return transpose(reshape(others, shape(moved)), invert_permutation(permutation))


@form(tile_grad)
def _tile_grad(node: Operation, input: Tensor, multiples: Tensor, like: Tensor) -> Tensor:
    parts = reshape(transpose(stack([cast(multiples, dtypes.int32), shape(like)])), [-1])
    return sum_node(reshape(input, parts), range_of(0, size(parts), 2))


@form(widened_to_rank)
def _widened(node: Operation, x: Tensor, like: Tensor) -> Tensor:
    return reshape(x, concat([shape(x), ones(stack([rank(like) - rank(x)]), dtypes.int32)], 0))
