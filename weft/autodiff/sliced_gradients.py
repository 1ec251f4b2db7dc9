"""IndexedSlices out of branches and loops: the gradient of rows that a body gathers is rows again, as in TensorFlow.

A branch that does not run gives zeros for all rows where the other one gives slices. A loop gives the slices of its iterations,
the last one's first, behind a row of zeros; where all iterations have as many, they are stacked, else joined one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeGuard

from weft.autodiff.aggregation import Gradient, joined
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import add
from weft.ops.state.resource_state import variable_shape


def is_sliced(gradient: object) -> TypeGuard[IndexedSlices]:
    """Whether a gradient is slices that know what they are slices of."""
    return isinstance(gradient, IndexedSlices) and gradient.dense_shape is not None


def sum_of(first: Gradient | None, second: Gradient) -> Gradient:
    """The sum of two gradients: slices where both are."""
    if first is None:
        return second
    if isinstance(first, IndexedSlices) and isinstance(second, IndexedSlices):
        return joined([first, second])
    total: Tensor = add(convert_to_tensor(first), convert_to_tensor(second))
    return total


def whole_shape(tensor: Tensor, kind: DType) -> Tensor:
    """The shape of a tensor, or of the variable behind a handle, of the given integer type."""
    sizes = variable_shape(tensor) if tensor.dtype is dtypes.resource else shape(tensor)
    return sizes if sizes.dtype is kind else cast(sizes, kind)


def slices_of_zeros(whole: Tensor, like: IndexedSlices) -> IndexedSlices:
    """All rows of a tensor of zeros, of the types that other slices have."""
    assert like.dense_shape is not None
    sizes = whole_shape(whole, like.dense_shape.dtype)
    rows = whole.dims[0] if whole.dims else None
    count = constant(rows) if rows is not None else cast(sizes[0], dtypes.int32)
    return IndexedSlices(whole, cast(range_of(0, count), like.indices.dtype), sizes)


class SlicedSum:
    """The slices of one captured tensor in a backward loop, from the body that makes them to the gradient outside.

    Args:
        body: the loop's body.
        step: the slices that an iteration makes, of the body.
        source: the tensor outside that they are slices of.
    """

    def __init__(self, body: FuncGraph, step: IndexedSlices, source: Tensor) -> None:
        assert step.dense_shape is not None
        self._source, self._shape_kind = source, step.dense_shape.dtype
        self.values, self.indices = body.output(step.values), body.output(step.indices)
        self._row: Dims = None if self.values.dims is None else self.values.dims[1:]

    @property
    def is_even(self) -> bool:
        """Whether all iterations have slices of one number and size."""
        return None not in (self.values.dims or (None,)) and None not in (self.indices.dims or (None,))

    def begin(self) -> list[Tensor]:
        """The row of zeros that comes first, and its index; made outside of the loop."""
        row, kind = self._row, self.values.dtype
        if row is None or None in row:
            first = zeros(concat([[1], whole_shape(self._source, dtypes.int32)[1:]], 0), kind)
        else:
            first = zeros((1, *row), kind)
        return [first, constant([0], self.indices.dtype)]

    def grown(self, body: FuncGraph) -> list[Tensor]:
        """What the iterations before have made, for which the body gets arguments, and behind it the iteration's own."""
        values = body.add_argument("values", self.values.dtype, None if self._row is None else (None, *self._row))
        indices = body.add_argument("indices", self.indices.dtype, (None,))
        return [concat([values, self.values], 0), concat([indices, self.indices], 0)]

    def of_stacks(self, values: Tensor, indices: Tensor) -> IndexedSlices:
        """The gradient by the stacks of all iterations."""
        assert self._row is not None
        first_values, first_indices = self.begin()
        flat = reshape(values, [-1, *self._row])
        return self.of_rows(concat([first_values, flat], 0), concat([first_indices, reshape(indices, [-1])], 0))

    def of_rows(self, values: Tensor, indices: Tensor) -> IndexedSlices:
        """The gradient by the rows of all iterations."""
        return IndexedSlices(values, indices, whole_shape(self._source, self._shape_kind))


def is_sliced_by_branches(found: Sequence[Gradient | None]) -> bool:
    """Whether the gradient by an If is slices: where both branches that have one give slices."""
    given = [each for each in found if each is not None]
    return bool(given) and all(map(is_sliced, given))


def kind_of_shape(found: Sequence[Gradient | None]) -> DType:
    """The integer type in which slices by branches tell the shape of the whole."""
    return next(each.dense_shape.dtype for each in found if is_sliced(each) and each.dense_shape is not None)


def merged_slices(found: Sequence[Gradient | None], number: int, zeros: Callable[[], Tensor]) -> IndexedSlices:
    """What one branch gives for both: its own slices, and zeros in the place of the other's.

    Args:
        found: the gradients by the two branches; slices, or None.
        number: the branch that this is built in.
        zeros: makes zeros in the shape of the whole, in this branch.
    """
    given = [(place, each) for place, each in reversed([*enumerate(found)]) if isinstance(each, IndexedSlices)]
    # As they arrive in TensorFlow: that of the branch for False first, but what comes out of further branches and loops behind.
    given.sort(key=lambda one: bool(one[1].op.op_def.bodies))
    made = [each if place == number else slices_of_zeros(zeros(), each) for place, each in given]
    return made[0] if len(made) == 1 else joined(made)


def shape_of_both(first: Dims, second: Dims) -> Dims:
    """What is known of a shape that is either of two."""
    if first is None or second is None or len(first) != len(second):
        return None
    return tuple(a if a == b else None for a, b in zip(first, second, strict=True))
