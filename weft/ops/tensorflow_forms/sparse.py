"""Forms of what works on the elements of SparseTensors, RaggedTensors and IndexedSlices."""

from __future__ import annotations

from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.gather_scatter import gather
from weft.ops.array.identity import identity_node
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.sequences import upper_bound
from weft.ops.array.sets import unique_node
from weft.ops.array.shape_ops import expand_dims, size, squeeze
from weft.ops.array.stacking import stack
from weft.ops.control_flow.assertion import assert_that
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater_equal
from weft.ops.math.elementwise import mul, sub
from weft.ops.math.reduce_functions import reduce_all, reduce_max, reduce_sum
from weft.ops.math.scans import cumprod
from weft.ops.math.segment import unsorted_segment_sum
from weft.ops.ragged.nodes import row_ids_node
from weft.ops.sparse.joining import widened_shapes
from weft.ops.sparse.layout import checked_shape, tight_shape
from weft.ops.sparse.reductions import sparse_softmax_grad
from weft.ops.tensorflow_forms.form import form


@form(tight_shape)
def _tight_shape(node: Operation, indices: Tensor, shape: Tensor) -> Tensor:
    # The maximum over no position is less than any.
    return reduce_max(concat([indices + 1, expand_dims(shape * 0, 0)], 0), axis=[0])


@form(checked_shape)
def _checked_shape(node: Operation, shape: Tensor, new_shape: Tensor) -> Tensor:
    fits = assert_that(
        reduce_all(greater_equal(new_shape, shape)), ["The new shape must be at least the shape", shape, new_shape]
    )
    with get_default_graph().control_dependencies([fits]):
        return identity_node(new_shape)


@form(widened_shapes)
def _widened_shapes(node: Operation, shapes: list[Tensor]) -> list[Tensor]:
    axis = node.attrs["axis"]
    greatest = reduce_max(stack(shapes), axis=[0])
    return [concat([greatest[:axis], each[axis : axis + 1], greatest[axis + 1 :]], 0) for each in shapes]


@form(sparse_softmax_grad)
def _sparse_softmax_grad(node: Operation, indices: Tensor, shape: Tensor, output: Tensor, grad: Tensor) -> Tensor:
    places = cumprod(shape[:-1], 0, exclusive=True, reverse=True)
    _, rows = unique_node(reduce_sum(mul(indices[:, :-1], places), axis=[1]))
    sums = unsorted_segment_sum(mul(output, grad), rows, size(rows))
    return mul(output, sub(grad, gather(sums, rows)))


@form(row_ids_node)
def _row_ids(node: Operation, splits: Tensor) -> Tensor:
    values = range_of(cast(0, splits.dtype), splits[-1])
    found = upper_bound(expand_dims(splits, 0), expand_dims(values, 0), out_type=splits.dtype)
    return sub(squeeze(found, [0]), cast(1, splits.dtype))
