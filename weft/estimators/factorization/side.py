"""The rows of a matrix that is factored, or its columns, and the solution of their factors with the other side's fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from weft.estimators.factorization.cache import Cache
from weft.estimators.factorization.shards import update_rows
from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.filling import fill
from weft.ops.array.gather_scatter import gather
from weft.ops.array.sets import unique
from weft.ops.array.shape_ops import expand_dims, rank, shape, squeeze
from weft.ops.array.stacking import stack
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.ordering import group
from weft.ops.debugging.checks import assert_less_equal
from weft.ops.linalg.decompositions import matrix_solve
from weft.ops.linalg.matrix_parts import eye, trace
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import square
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.segment import unsorted_segment_sum
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.sparse.least_squares import wals_compute_partial_lhs_and_rhs


@dataclass(frozen=True)
class Side:
    """The rows or the columns.

    Args:
        count: how many there are.
        factors: the variables of their factors.
        weights: those of their weights, or None.
        gramian: that of the factors' product with themselves, `[size, size]`.
        own_factors, own_weights, own_gramian: the worker's copies of factors, weights and the factors' product; the weights' is
            None where there are none.
    """

    count: int
    factors: Sequence[VariableLike]
    weights: Sequence[VariableLike] | None
    gramian: VariableLike
    own_factors: Cache
    own_weights: Cache | None
    own_gramian: Cache

    def begin_update_of(self, other: Side) -> Operation:
        """Copy this side's factors and product, which an update of the other one reads, and let go the other one's."""
        return group(self.own_factors.fill, other.own_factors.empty, self.own_gramian.fill, other.own_gramian.empty)


class Costs(NamedTuple):
    """What entries that are not there weigh, and what the squares of factors cost, if anything."""

    unobserved: float
    regularization: float | None
    size: int


class Update(NamedTuple):
    """New factors `[rows, size]`, what writes them, the loss without and of the regularization, the sum of weights."""

    values: Tensor
    write: Operation
    loss: Tensor
    regularization: Tensor
    sum_weights: Tensor


class _Entries(NamedTuple):
    """The entries of a part of the matrix: values `[n]`, and numbers of their rows and columns among those that occur."""

    values: Tensor
    rows: Tensor
    columns: Tensor


def solve(
    left: Side, right: Side, entries: SparseTensor, axis: int, costs: Costs, weights: TensorLike | None, name: str
) -> Update:
    """The best factors of a side's rows for the other side's, and the loss that they leave.

    Args:
        left: the side whose factors are sought.
        right: the side whose factors are fixed.
        entries: a part of the matrix: all entries of some rows.
        axis: which of its axes is the sought side's.
        costs: of the model.
        weights: the rows' weights, one or one for each; the model's when None.
        name: of the operation that writes the factors.
    """
    indices = entries.indices
    sought, rows = unique(indices[:, axis])
    fixed, columns = unique(indices[:, 1 - axis])
    own = _Entries(entries.values, rows, columns)
    factors = embedding_lookup(right.own_factors.copies, fixed, partition_strategy="div")
    (gramian,) = (convert_to_tensor(each) for each in right.own_gramian.copies)
    count = shape(sought)[0]
    matrix = costs.unobserved * gramian
    if costs.regularization is not None:
        matrix = matrix + costs.regularization * eye(costs.size)
    if left.own_weights is None or right.own_weights is None:
        values, added = _even_solution(matrix, factors, own, count, costs), constant(0.0)
    else:
        of_rows = _of_rows(left.own_weights, sought, weights)
        of_columns = embedding_lookup(right.own_weights.copies, fixed, partition_strategy="div")
        values = _weighted_solution(matrix, factors, own, (of_rows, of_columns), costs)
        added = gather(of_rows, rows) * gather(of_columns, columns)
    values.set_shape([None, costs.size])
    write = update_rows(left.factors, left.count, sought, values, name)
    loss = _loss(values, factors, own, gramian, added, costs)
    share = left.count / cast(count, dtypes.float32)
    regularization = constant(0.0)
    if costs.regularization is not None:
        squares = reduce_sum(square(values)) * share + trace(gramian)
        regularization = costs.regularization * squares
    every = costs.unobserved * float(left.count * right.count)
    sum_weights = every + (reduce_sum(added) * share if left.own_weights is not None else added)
    return Update(values, write, loss * share, regularization, sum_weights)


def _of_rows(known: Cache, sought: Tensor, given: TensorLike | None) -> Tensor:
    if given is None:
        return embedding_lookup(known.copies, sought, partition_strategy="div")
    weights = convert_to_tensor(given, dtypes.float32)
    with control_dependencies([assert_less_equal(rank(weights), 1)]):
        return fill(shape(sought), 1.0) * weights


def _even_solution(matrix: Tensor, factors: Tensor, entries: _Entries, count: Tensor, costs: Costs) -> Tensor:
    """Where all entries weigh the same, one matrix serves all rows."""
    parts = expand_dims(entries.values, 1) * gather(factors, entries.columns)
    sides = costs.unobserved * unsorted_segment_sum(parts, entries.rows, count)
    return transpose(matrix_solve(matrix, transpose(sides)))


def _weighted_solution(
    matrix: Tensor, factors: Tensor, entries: _Entries, weights: tuple[Tensor, Tensor], costs: Costs
) -> Tensor:
    of_rows, of_columns = weights
    places = cast(stack([entries.rows, entries.columns], 1), dtypes.int64)
    count = cast(shape(of_rows)[0], dtypes.int64)
    parts: Nest = wals_compute_partial_lhs_and_rhs(
        factors, of_columns, costs.unobserved, of_rows, places, entries.values, fill([0], 0.0), count, False,
        name="wals_compute_partial_lhs_rhs",
    )  # fmt: skip
    matrices, sides = parts
    return squeeze(matrix_solve(expand_dims(matrix, 0) + matrices, expand_dims(sides, -1)), [2])


def _loss(values: Tensor, factors: Tensor, entries: _Entries, gramian: Tensor, added: Tensor, costs: Costs) -> Tensor:
    """The weighted squares of what is left, with the products of all rows and columns by their Gramians alone."""
    near = reduce_sum(gather(values, entries.rows) * gather(factors, entries.columns), 1)
    left = square(entries.values - near)
    everywhere = trace(matmul(matmul(values, values, transpose_a=True), gramian))
    return costs.unobserved * (reduce_sum(left) - reduce_sum(square(near)) + everywhere) + reduce_sum(added * left)
