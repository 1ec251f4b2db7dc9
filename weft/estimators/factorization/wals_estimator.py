"""WALSMatrixFactorization: the factors of a sparse matrix, as an estimator."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from weft.estimators.aliases import Features, InputFn
from weft.estimators.factorization import sweeps
from weft.estimators.factorization.shards import RANDOM, Weights
from weft.estimators.factorization.sweeps import CountStepsHook, StopAtSweepHook, SweepHook, SweepState, side_sweep
from weft.estimators.factorization.wals_model import WALSModel
from weft.estimators.learn.estimator import Estimator
from weft.estimators.learn.model_fn_ops import ModeKeys, ModelFnOps
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Array, Nest
from weft.framework.nodes.operation import Tensor
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import no_op
from weft.ops.summary.nodes import scalar
from weft.training.hooks.session_run_hook import SessionRunHook


class WALSMatrixFactorization(Estimator):
    """Factors a matrix into `U V^T` by weighted alternating least squares, as `WALSModel` does.

        wals = tf.contrib.factorization.WALSMatrixFactorization(rows, columns, 10, max_sweeps=20)
        wals.fit(input_fn=input_fn)
        wals.get_row_factors()

    The input has no labels, and features by these names: `INPUT_ROWS`, a SparseTensor of some rows of the matrix, and
    `INPUT_COLS`, one of some columns, transposed. A sweep updates all rows, or all columns, and each has to be in a batch at
    least once. To predict or to evaluate, `PROJECT_ROW` says whether it is the rows, `[] bool`, and `PROJECTION_WEIGHTS`, if it
    is there, has their weights.

    Args:
        num_rows, num_cols: the matrix's size.
        embedding_dimension: how many factors each row and column has.
        unobserved_weight: the weight of what the matrix does not have.
        regularization_coeff: that of the factors' squares in the loss; none when None.
        row_init, col_init: the first factors: `random`, for normal numbers; a value; for several shards a list of values; or a
            function that gives one of these.
        num_row_shards, num_col_shards: in how many variables the factors are kept.
        row_weights, col_weights: one weight for all, a list of one for each, or such a list for each shard; both None where
            every entry weighs `unobserved_weight`.
        use_factors_weights_cache_for_training, use_gramian_cache_for_training: whether training copies factors and weights, and
            the products of factors.
        max_sweeps: after how many sweeps training ends; not by their number when None.
        model_dir: where the model is kept.
        config: how it is run.

    Raises:
        ValueError: there are several workers.
    """

    INPUT_ROWS: Final = "input_rows"
    INPUT_COLS: Final = "input_cols"
    PROJECT_ROW: Final = "project_row"
    PROJECTION_WEIGHTS: Final = "projection_weights"
    PROJECTION_RESULT: Final = "projection"
    COMPLETED_SWEEPS: Final = sweeps.COMPLETED_SWEEPS
    LOSS: Final = sweeps.LOSS
    RWSE: Final = sweeps.RWSE

    def __init__(
        self, num_rows: int, num_cols: int, embedding_dimension: int, unobserved_weight: float = 0.1,
        regularization_coeff: float | None = None, row_init: Nest = RANDOM, col_init: Nest = RANDOM, num_row_shards: int = 1,
        num_col_shards: int = 1, row_weights: Weights = 1, col_weights: Weights = 1,
        use_factors_weights_cache_for_training: bool = True, use_gramian_cache_for_training: bool = True,
        max_sweeps: int | None = None, model_dir: str | os.PathLike[str] | None = None, config: RunConfig | None = None,
    ) -> None:  # fmt: skip
        def model(mode: str) -> WALSModel:
            is_training = mode == ModeKeys.TRAIN
            return WALSModel(
                num_rows, num_cols, embedding_dimension, unobserved_weight, regularization_coeff, row_init, col_init,
                num_row_shards, num_col_shards, row_weights, col_weights,
                use_factors_weights_cache_for_training and is_training, use_gramian_cache_for_training and is_training,
            )  # fmt: skip

        def model_fn(features: Features, labels: Nest, mode: str) -> ModelFnOps:
            if labels is not None:
                raise ValueError(f"A matrix that is factored has no labels; the input gives {labels}.")
            match mode:
                case ModeKeys.TRAIN:
                    return _training(model(mode), features, (num_rows, num_cols), max_sweeps)
                case ModeKeys.EVAL:
                    return ModelFnOps(mode, {}, _loss(model(mode), features), no_op())
                case _:
                    return ModelFnOps(mode, {self.PROJECTION_RESULT: _projection(model(mode), features)}, train_op=no_op())

        super().__init__(model_fn, model_dir, config)
        if self._config.num_worker_replicas > 1:
            raise ValueError("WALSMatrixFactorization must be run on a single worker replica.")
        self._shards = num_row_shards, num_col_shards

    def get_row_factors(self) -> list[Array]:
        """The rows' factors in the last checkpoint: for each shard `[rows, embedding_dimension] float32`."""
        return [self.get_variable_value(f"row_factors_shard_{number}") for number in range(self._shards[0])]

    def get_col_factors(self) -> list[Array]:
        """The columns' factors in the last checkpoint: for each shard `[columns, embedding_dimension] float32`."""
        return [self.get_variable_value(f"col_factors_shard_{number}") for number in range(self._shards[1])]

    def get_projections(self, input_fn: InputFn) -> Iterator[Nest]:
        """The best factors of rows or columns, which need not be the model's.

        Args:
            input_fn: gives the features that the class tells of.

        Returns:
            An iterator of arrays `[embedding_dimension] float32`.
        """
        return (each[self.PROJECTION_RESULT] for each in self.predict(input_fn=input_fn))


def _training(model: WALSModel, features: Nest, sizes: tuple[int, int], max_sweeps: int | None) -> ModelFnOps:
    state = SweepState()
    scalar("loss", state.loss)
    scalar("root_weighted_squared_error", state.root_error)
    scalar("completed_sweeps", state.completed)
    rows = side_sweep(
        state, (model.row_update_prep_gramian_op, model.initialize_row_update_op), features[WALSMatrixFactorization.INPUT_ROWS],
        sizes[0], model.update_row_factors, "rows",
    )  # fmt: skip
    columns = side_sweep(
        state, (model.col_update_prep_gramian_op, model.initialize_col_update_op), features[WALSMatrixFactorization.INPUT_COLS],
        sizes[1], lambda entries: model.update_col_factors(entries, transpose_input=True), "cols",
    )  # fmt: skip
    hooks: list[SessionRunHook] = [SweepHook(state, model.worker_init, rows, columns), CountStepsHook()]
    if max_sweeps is not None:
        hooks.append(StopAtSweepHook(state.completed, max_sweeps))
    return ModelFnOps(ModeKeys.TRAIN, {}, state.loss, no_op(), training_hooks=hooks)


def _loss(model: WALSModel, features: Nest) -> Tensor:
    names = WALSMatrixFactorization

    def of_rows() -> Tensor:
        found = model.update_row_factors(features[names.INPUT_ROWS])
        return found.loss + found.regularization

    def of_columns() -> Tensor:
        found = model.update_col_factors(features[names.INPUT_COLS], transpose_input=True)
        return found.loss + found.regularization

    found: Tensor = cond(features[names.PROJECT_ROW], of_rows, of_columns)
    return found


def _projection(model: WALSModel, features: Nest) -> Tensor:
    names = WALSMatrixFactorization
    weights = features.get(names.PROJECTION_WEIGHTS)
    found: Tensor = cond(
        features[names.PROJECT_ROW],
        lambda: model.project_row_factors(features[names.INPUT_ROWS], projection_weights=weights),
        lambda: model.project_col_factors(features[names.INPUT_COLS], transpose_input=True, projection_weights=weights),
    )
    return found
