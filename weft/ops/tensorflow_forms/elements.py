"""Forms of what finds elements of sparse and ragged tensors again, of pictures' quality, and of Fourier gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.filling import one_hot, zeros
from weft.ops.array.gather_scatter import gather, gather_nd_node
from weft.ops.array.joining import concat, split
from weft.ops.array.ranges import range_of
from weft.ops.array.sequences import upper_bound
from weft.ops.array.shape_ops import expand_dims, reshape, shape, size, squeeze
from weft.ops.array.stacking import stack
from weft.ops.array.topk import top_k
from weft.ops.image.jpeg import adjust_jpeg_quality_node, decode_jpeg, encode_jpeg_variable_quality
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import add, mul, neg, real_div, sub
from weft.ops.math.reduce_functions import reduce_max, reduce_prod, reduce_sum
from weft.ops.math.scans import cumprod, cumsum
from weft.ops.math.segment import unsorted_segment_sum
from weft.ops.ragged.nodes import select_rows_node
from weft.ops.signal.fourier import fft, fft2d, fft3d, ifft, ifft2d, ifft3d
from weft.ops.sparse.joining import sparse_concat_grad
from weft.ops.sparse.layout import reordered_gradient
from weft.ops.sparse.reductions import picked_sums
from weft.ops.tensorflow_forms.derivatives import derivative
from weft.ops.tensorflow_forms.form import form


def _in_old_order(grad: Tensor, indices: Tensor, dims: Tensor) -> Tensor:
    """Values that are in row-major order of their indices, in the order of the indices."""
    places = cumprod(dims, 0, exclusive=True, reverse=True)
    numbers = reduce_sum(mul(indices, places), axis=[1])
    # The greatest come first, equal ones in their order.
    order = top_k(neg(numbers), size(numbers)).indices
    return unsorted_segment_sum(grad, order, size(numbers))


@form(reordered_gradient)
def _reordered(node: Operation, indices: Tensor, dims: Tensor, grad: Tensor) -> Tensor:
    return _in_old_order(grad, indices, dims)


@form(sparse_concat_grad)
def _joined(node: Operation, indices: list[Tensor], shapes: list[Tensor], grad: Tensor) -> list[Tensor] | None:
    rank = shapes[0].dims[0] if shapes[0].dims else None
    if rank is None:
        return None
    axis = node.attrs["concat_dim"] % rank
    column = one_hot(axis, rank, dtype=indices[0].dtype)
    moved, begin = [], cast(0, indices[0].dtype)
    for each, dims in zip(indices, shapes, strict=True):
        moved.append(add(each, mul(column, begin)))
        begin = add(begin, dims[axis])
    whole = add(mul(reduce_max(stack(shapes), axis=[0]), 1 - column), mul(column, begin))
    flat = _in_old_order(grad, concat(moved, 0), whole)
    return list(split(flat, stack([shape(each)[0] for each in indices]), num=len(indices)))


@form(picked_sums)
def _picked(node: Operation, indices: Tensor, dims: Tensor, axes: Tensor, grad: Tensor) -> Tensor | None:
    known, rank = constant_value(node.inputs[2]), node.inputs[1].dims
    if known is None or rank is None or rank[0] is None:
        return None
    gone = {int(axis) % rank[0] for axis in known.ravel()} if known.size else set(range(rank[0]))
    rest = [axis for axis in range(rank[0]) if axis not in gone]
    if not rest:
        return gather(reshape(grad, [1]), zeros(expand_dims(shape(indices)[0], 0), indices.dtype))
    flat = reshape(grad, gather(dims, rest))
    return gather_nd_node(flat, gather(indices, rest, axis=1))


@form(select_rows_node)
def _selected(node: Operation, splits_and_rows: list[Tensor]) -> list[Tensor]:
    *nested, rows = splits_and_rows
    results = []
    for splits in nested:
        begins = gather(splits[:-1], rows)
        lengths = sub(gather(splits[1:], rows), begins)
        starts = concat([cast([0], splits.dtype), cumsum(lengths)], 0)
        results.append(starts)
        numbers = range_of(cast(0, splits.dtype), starts[-1])
        found = upper_bound(expand_dims(starts, 0), expand_dims(numbers, 0), out_type=splits.dtype)
        owner = sub(squeeze(found, [0]), cast(1, splits.dtype))
        rows = add(gather(sub(begins, starts[:-1]), owner), numbers)
    return [*results, rows]


@form(adjust_jpeg_quality_node)
def _quality(node: Operation, image: Tensor, quality: Tensor) -> Tensor | None:
    dims = node.inputs[0].dims
    if dims is None or dims[2] is None:
        return None
    made: Tensor = decode_jpeg(encode_jpeg_variable_quality(image, quality), channels=dims[2])
    return made


# The gradient of a transform is the other one, but for a factor.


def _transform(kernel: Callable[..., Tensor], back: Callable[..., Tensor], rank: int, is_inverse: bool) -> None:
    def rule(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor]:
        count = cast(reduce_prod(shape(inputs[0])[-rank:]), inputs[0].dtype)
        made = back(grads[0])
        return {0: real_div(made, count) if is_inverse else mul(made, count)}

    derivative(kernel)(rule)


for _rank, _forward, _backward in ((1, fft, ifft), (2, fft2d, ifft2d), (3, fft3d, ifft3d)):
    _transform(_forward, _backward, _rank, False)
    _transform(_backward, _forward, _rank, True)
