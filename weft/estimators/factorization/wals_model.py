"""WALSModel: the graph that factors a sparse matrix by weighted alternating least squares (Hu, Koren and Volinsky 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from weft.estimators.factorization.cache import cached
from weft.estimators.factorization.shards import RANDOM, Weights, factor_shards, weight_shards
from weft.estimators.factorization.side import Costs, Side, Update, solve
from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.building.graph_functions import name_scope
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.filling import zeros
from weft.ops.control_flow.ordering import group
from weft.ops.math.elementwise import add_n
from weft.ops.math.products import matmul
from weft.ops.variables.assign import assign
from weft.ops.variables.collections import variables_initializer
from weft.ops.variables.variable import Variable

_SIDES: Final = ("row", "col")


class WALSModel:
    """Factors a matrix `A` of rows and columns into `U V^T` by weighted alternating least squares.

    An entry that `A` has weighs `unobserved_weight + row_weights[row] * col_weights[column]`, all others, which are zeros,
    `unobserved_weight`. With the columns' factors `V` fixed, the best `U` solves one linear system for each row; and the other
    way round.

        model = tf.contrib.factorization.WALSModel(rows, columns, 10, row_weights=1.0, col_weights=1.0)
        _, row_op, *_ = model.update_row_factors(sp_input=matrix)
        _, column_op, *_ = model.update_col_factors(sp_input=matrix)
        session.run([model.initialize_op]); session.run(model.worker_init)
        for _ in range(sweeps):
            for each in model.row_update_prep_gramian_op, model.initialize_row_update_op, row_op:
                session.run(each)
            for each in model.col_update_prep_gramian_op, model.initialize_col_update_op, column_op:
                session.run(each)

    With several workers one of them runs `initialize_op` and the `prep_gramian` operations, and all others wait for it; each
    runs `worker_init`, the operations that begin an update, and its own part of the matrix.

    Args:
        input_rows, input_cols: the matrix's size.
        n_components: how many factors each row and column has.
        unobserved_weight: the weight of what the matrix does not have.
        regularization: that of the factors' squares in the loss; none when None.
        row_init, col_init: the first factors: `random`, for normal numbers; a value; for several shards a list of values; or a
            function that gives one of these.
        num_row_shards, num_col_shards: in how many variables the factors are kept.
        row_weights, col_weights: one weight for all, a list of one for each, or such a list for each shard; both None where
            every entry weighs `unobserved_weight`.
        use_factors_weights_cache: whether a worker copies factors and weights before an update.
        use_gramian_cache: whether it copies the products of factors.
        use_scoped_vars: whether the variables are in name scopes of their own.

    Raises:
        ValueError: one of the weights is None alone, or weights or first factors do not fit the shards.
    """

    def __init__(
        self, input_rows: int, input_cols: int, n_components: int, unobserved_weight: float = 0.1,
        regularization: float | None = None, row_init: Nest = RANDOM, col_init: Nest = RANDOM, num_row_shards: int = 1,
        num_col_shards: int = 1, row_weights: Weights = 1, col_weights: Weights = 1, use_factors_weights_cache: bool = True,
        use_gramian_cache: bool = True, use_scoped_vars: bool = False,
    ) -> None:  # fmt: skip
        if (row_weights is None) != (col_weights is None):
            raise ValueError(
                f"row_weights and col_weights are both None, or neither: {row_weights} and {col_weights} are given."
            )
        self._costs = Costs(unobserved_weight, regularization, n_components)
        sizes, shards = (input_rows, input_cols), (num_row_shards, num_col_shards)

        def scope(name: str) -> AbstractContextManager[object]:
            return name_scope(name) if use_scoped_vars else nullcontext()

        weights, factors = [], []
        for name, given, size, count in zip(_SIDES, (row_weights, col_weights), sizes, shards, strict=True):
            with scope(f"{name}_weights"):
                weights.append(weight_shards(given, size, count, f"{name}_weights"))
        for name, first, size, count in zip(_SIDES, (row_init, col_init), sizes, shards, strict=True):
            with scope(f"{name}_factors"):
                factors.append(factor_shards(size, n_components, count, first, f"{name}_factors"))
        gramians: list[VariableLike] = [Variable(zeros([n_components] * 2), name=f"{name}_gramian") for name in _SIDES]
        with name_scope("row_prepare_gramian"):
            self._row_prepared = _product(factors[1], gramians[1])
        with name_scope("col_prepare_gramian"):
            self._col_prepared = _product(factors[0], gramians[0])
        with name_scope("transient_vars"):
            kept = use_factors_weights_cache
            own_factors = [
                cached(_named(each, f"{name}_factors_cache"), is_kept=kept) for name, each in zip(_SIDES, factors, strict=True)
            ]
            own_weights = [
                None if each is None else cached(_named(each, f"{name}_wt_cache"), is_kept=kept)
                for name, each in zip(_SIDES, weights, strict=True)
            ]
            own_gramians = [
                cached({f"{name}_gramian_cache": each}, is_kept=use_gramian_cache)
                for name, each in zip(_SIDES, gramians, strict=True)
            ]
            self._rows, self._columns = map(Side, sizes, factors, weights, gramians, own_factors, own_weights, own_gramians)
            self._row_begin, self._col_begin = (
                self._columns.begin_update_of(self._rows),
                self._rows.begin_update_of(self._columns),
            )
            self._worker_init = group(*(each.fill for each in own_weights if each is not None), name="worker_init")

    def __repr__(self) -> str:
        return f"<tf.contrib.factorization.WALSModel of {self._rows.count} rows and {self._columns.count} columns>"

    @property
    def row_factors(self) -> Sequence[VariableLike]:
        """The variables of the rows' factors, `[rows of the shard, n_components] float32`."""
        return self._rows.factors

    @property
    def col_factors(self) -> Sequence[VariableLike]:
        """The variables of the columns' factors, `[columns of the shard, n_components] float32`."""
        return self._columns.factors

    @property
    def row_weights(self) -> Sequence[VariableLike] | None:
        """The variables of the rows' weights, `[rows of the shard] float32`, or None."""
        return self._rows.weights

    @property
    def col_weights(self) -> Sequence[VariableLike] | None:
        """The variables of the columns' weights, `[columns of the shard] float32`, or None."""
        return self._columns.weights

    @property
    def initialize_op(self) -> Operation:
        """Gives factors, their products and the weights their first values; one worker runs it, once."""
        sides = (self._rows, self._columns)
        weights = [each for side in sides for each in side.weights or ()]
        return variables_initializer(
            [*(each for side in sides for each in side.factors), *(side.gramian for side in sides), *weights]
        )

    @property
    def worker_init(self) -> Operation:
        """Copies the weights to the worker; each worker runs it, once, and again when the weights have changed."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self) -> Operation:
        """Makes the product of the columns' factors, before all others of an update of the rows; one worker runs it."""
        return self._row_prepared

    @property
    def col_update_prep_gramian_op(self) -> Operation:
        """Makes the product of the rows' factors, before all others of an update of the columns; one worker runs it."""
        return self._col_prepared

    @property
    def initialize_row_update_op(self) -> Operation:
        """Copies what an update of the rows reads to the worker, and lets go what it does not."""
        return self._row_begin

    @property
    def initialize_col_update_op(self) -> Operation:
        """Copies what an update of the columns reads to the worker, and lets go what it does not."""
        return self._col_begin

    def update_row_factors(self, sp_input: SparseTensor | None = None, transpose_input: bool = False) -> Update:
        """The best factors of some rows, and what writes them.

        Args:
            sp_input: a SparseTensor `[rows, columns] float32`: all entries of the rows that are updated.
            transpose_input: whether it is `[columns, rows]`.

        Returns:
            The factors, `[n, n_components]`, in the order in which their rows first occur; the operation that writes them; the
            loss of these rows, made up to all of them, without that of the regularization; that of the regularization; the sum
            of all weights, made up likewise.

        Raises:
            TypeError: `sp_input` is no SparseTensor.
        """
        return self._solve("row", sp_input, transpose_input, None)

    def update_col_factors(self, sp_input: SparseTensor | None = None, transpose_input: bool = False) -> Update:
        """The best factors of some columns, and what writes them.

        Args:
            sp_input: a SparseTensor `[rows, columns] float32`: all entries of the columns that are updated.
            transpose_input: whether it is `[columns, rows]`.

        Returns:
            Those of `update_row_factors`, of columns.

        Raises:
            TypeError: `sp_input` is no SparseTensor.
        """
        return self._solve("col", sp_input, transpose_input, None)

    def project_row_factors(
        self, sp_input: SparseTensor | None = None, transpose_input: bool = False, projection_weights: TensorLike | None = None
    ) -> Tensor:
        """The best factors of rows that need not be the model's.

        Args:
            sp_input: a SparseTensor `[n, columns] float32`.
            transpose_input: whether it is `[columns, n]`.
            projection_weights: the rows' weights, one or one for each; 1 when None.

        Returns:
            The factors, `[n, n_components]`, in the order in which the rows first occur.

        Raises:
            TypeError: `sp_input` is no SparseTensor.
        """
        return self._solve("row", sp_input, transpose_input, 1.0 if projection_weights is None else projection_weights).values

    def project_col_factors(
        self, sp_input: SparseTensor | None = None, transpose_input: bool = False, projection_weights: TensorLike | None = None
    ) -> Tensor:
        """The best factors of columns that need not be the model's.

        Args:
            sp_input: a SparseTensor `[rows, n] float32`.
            transpose_input: whether it is `[n, rows]`.
            projection_weights: the columns' weights, one or one for each; 1 when None.

        Returns:
            The factors, `[n, n_components]`, in the order in which the columns first occur.

        Raises:
            TypeError: `sp_input` is no SparseTensor.
        """
        return self._solve("col", sp_input, transpose_input, 1.0 if projection_weights is None else projection_weights).values

    def _solve(self, name: str, entries: SparseTensor | None, is_transposed: bool, weights: TensorLike | None) -> Update:
        if not isinstance(entries, SparseTensor):
            raise TypeError(f"sp_input must be a SparseTensor, but is {entries!r}")
        is_row = name == "row"
        sides = (self._rows, self._columns) if is_row else (self._columns, self._rows)
        axis = int(is_row == is_transposed)
        return solve(*sides, entries, axis, self._costs, weights, f"{name}_update")


def _named(variables: Sequence[VariableLike], name: str) -> dict[str, VariableLike]:
    return {f"{name}_shard_{number}": each for number, each in enumerate(variables)}


def _product(factors: Sequence[VariableLike], gramian: VariableLike) -> Operation:
    graph = get_default_graph()
    parts = []
    for each in factors:
        with graph.colocate_with(each):
            parts.append(matmul(each, each, transpose_a=True))
    with graph.colocate_with(gramian):
        return assign(gramian, add_n(parts)).op
