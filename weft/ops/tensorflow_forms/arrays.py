"""Forms of what moves elements of arrays: slices, margins, permutations, parts."""

from __future__ import annotations

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import ones
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.padding import pad_node, pad_value_grad, slice_paddings, unsliced
from weft.ops.array.partitioning import dynamic_partition_node, dynamic_stitch_node, partition_grad
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import select_v2_node
from weft.ops.array.sets import setdiff1d
from weft.ops.array.shape_ops import rank, reshape, shape
from weft.ops.array.stacking import stack
from weft.ops.array.transposing import conjugate_transpose, reversed_axes, swap_last, transpose, transpose_node
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, maximum, not_equal
from weft.ops.math.contraction import contract
from weft.ops.math.elementwise import mul, real_div, sub
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_max, reduce_prod, reduce_sum
from weft.ops.math.segment import segment_others, segment_sizes, segment_sum, unsorted_segment_prod, unsorted_segment_sum
from weft.ops.tensorflow_forms.form import form


@form(slice_paddings)
def _slice_paddings(node: Operation, shape: Tensor, begin: Tensor, size: Tensor) -> Tensor:
    return stack([begin, sub(sub(shape, begin), size)], axis=1)


@form(unsliced)
def _unsliced(node: Operation, sizes: Tensor, begin: Tensor, dy: Tensor) -> Tensor:
    after = sub(sub(sizes, begin), shape(dy, out_type=begin.dtype))
    return pad_node(dy, stack([begin, after], axis=1))


@form(pad_value_grad)
def _pad_value_grad(node: Operation, outer: Tensor, inner: Tensor) -> Tensor:
    return sub(reduce_sum(outer), reduce_sum(inner))


@form(reversed_axes)
def _reversed_axes(node: Operation, x: Tensor) -> Tensor:
    return sub(sub(rank(x), 1), range_of(0, rank(x)))


@form(swap_last)
def _swap_last(node: Operation, x: Tensor) -> Tensor:
    count = rank(x)
    axes = concat([range_of(0, count - 2), stack([count - 1, count - 2])], 0)
    swap = conjugate_transpose if node.attrs["conjugate"] else transpose_node
    swapped: Tensor = swap(x, axes)
    return swapped


@form(partition_grad)
def _partition_grad(node: Operation, data: Tensor, partitions: Tensor, grads: list[Tensor]) -> Tensor:
    places = reshape(range_of(0, reduce_prod(shape(partitions))), shape(partitions))
    parts = dynamic_partition_node(places, partitions, num_partitions=len(grads))
    return reshape(dynamic_stitch_node(parts, grads), shape(data))


@form(contract)
def _contract(node: Operation, a: Tensor, b: Tensor) -> Tensor:
    sizes_a, flat_a = _flat(a, node.attrs["axes_a"], last=True)
    sizes_b, flat_b = _flat(b, node.attrs["axes_b"], last=False)
    return reshape(matmul(flat_a, flat_b), concat([sizes_a, sizes_b], 0))


def _flat(tensor: Tensor, axes: list[int], last: bool) -> tuple[Tensor, Tensor]:
    """The sizes of the axes that stay, and the tensor as a matrix of these and those that are summed over."""
    summed = (stack(axes) + rank(tensor)) % rank(tensor)
    free, _ = setdiff1d(range_of(0, rank(tensor)), summed)
    sizes = gather(shape(tensor), free)
    counts = [reduce_prod(sizes, axis=[0]), reduce_prod(gather(shape(tensor), summed), axis=[0])]
    order = [free, summed]
    if not last:
        counts.reverse()
        order.reverse()
    return sizes, reshape(transpose(tensor, concat(order, 0)), stack(counts))


@form(segment_sizes)
def _segment_sizes(node: Operation, data: Tensor, segment_ids: Tensor) -> Tensor:
    counts = maximum(segment_sum(ones(shape(segment_ids), data.dtype), segment_ids), cast(1, data.dtype))
    return reshape(counts, concat([shape(counts), ones(stack([rank(data) - 1]), dtypes.int32)], 0))


@form(segment_others)
def _segment_others(node: Operation, data: Tensor, segment_ids: Tensor) -> Tensor:
    # The product of a segment by an element is that of the others, unless the element is zero: then it is that of the elements
    # that are not, if the zero is the only one.
    count = reduce_max(segment_ids) + 1
    ids = maximum(segment_ids, cast(0, segment_ids.dtype))
    is_zero = equal(data, cast(0, data.dtype))
    zero_count = gather(unsorted_segment_sum(cast(is_zero, dtypes.int32), segment_ids, count), ids)
    nonzero = select_v2_node(is_zero, cast(1, data.dtype), data)
    nonzero_product = gather(unsorted_segment_prod(nonzero, segment_ids, count), ids)
    product = gather(unsorted_segment_prod(data, segment_ids, count), ids)
    alone = mul(nonzero_product, cast(equal(zero_count, 1), data.dtype))
    others = select_v2_node(is_zero, alone, real_div(product, nonzero))
    is_kept = cast(not_equal(segment_ids, sub(ids, cast(1, ids.dtype))), data.dtype)
    wide = reshape(is_kept, concat([shape(segment_ids), ones(stack([rank(data) - rank(segment_ids)]), dtypes.int32)], 0))
    return mul(others, wide)
