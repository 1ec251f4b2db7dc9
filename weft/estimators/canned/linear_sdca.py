"""LinearSDCA: trains linear estimators by stochastic dual coordinate ascent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from weft.estimators.aliases import Features, Labels
from weft.estimators.canned.class_heads import BinaryClassHead
from weft.estimators.canned.head import Head
from weft.estimators.canned.regression_head import RegressionHead
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.mode_keys import ModeKeys
from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.models.feature_columns.column import FeatureColumn, is_categorical, is_dense
from weft.models.feature_columns.lazy_builder import are_later_columns
from weft.models.feature_columns.numeric import NumericColumn, numeric_column
from weft.models.feature_columns.scope_state import ScopeStateManager
from weft.models.feature_columns.transformation_cache import FeatureTransformationCache
from weft.models.layer_columns.column import LayerColumn
from weft.models.sdca.sdca_model import LinearSdcaModel, SdcaModel
from weft.models.sdca.sparse_feature_column import SparseFeatureColumn, entries_of
from weft.ops.array.filling import ones
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.math.casting import cast
from weft.ops.variables.scopes import get_variable_scope
from weft.ops.variables.variable_scope import variable_scope
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook
from weft.training.training_util import get_global_step

# Variables of a column: the linear weights, whole or a part of them; others are its own, such as an embedding's table.
_WEIGHTS: Final = re.compile(r"(.*)/weights(/part_\d+)?")


class LinearSDCA:
    """The `optimizer` of LinearClassifier with two classes, or of LinearRegressor with one number for each example.

    It takes the dual of the loss by one example after the other, and so has no learning rate. The examples' states are kept by
    their names, in a table that is part of checkpoints.

    >>> optimizer = tf.estimator.experimental.LinearSDCA("id", symmetric_l2_regularization=2.0)
    >>> model = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], optimizer=optimizer)

    Args:
        example_id_column: the feature with the names of examples, strings `[batch]`, by which the ascent knows them again.
        num_loss_partitions: how many tasks train at a time, one at least.
        num_table_shards: into how many tables the examples' state is spread; 1 when None.
        symmetric_l1_regularization: the strength of L1, 0 or more.
        symmetric_l2_regularization: the strength of L2, above 0; 1 or more converges better.
        adaptive: whether examples that lack most come more often.
    """

    __repr__ = printed("tf.estimator.experimental")

    def __init__(
        self, example_id_column: str, num_loss_partitions: int = 1, num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0, symmetric_l2_regularization: float = 1.0, adaptive: bool = False,
    ) -> None:  # fmt: skip
        self._example_id_column = example_id_column
        self._options: dict[str, Nest] = {
            "num_loss_partitions": num_loss_partitions,
            "num_table_shards": num_table_shards,
            "symmetric_l1_regularization": symmetric_l1_regularization,
            "symmetric_l2_regularization": symmetric_l2_regularization,
            "adaptive": adaptive,
        }

    def example_ids(self, features: Features) -> Tensor:
        """The names of a batch's examples, `[batch]` strings.

        Args:
            features: tensors by the features' names.

        Raises:
            KeyError: there is no feature of the column.
        """
        if self._example_id_column not in features:
            raise KeyError(
                f"LinearSDCA: the features have no {self._example_id_column!r}, its example_id_column, only "
                f"{', '.join(sorted(map(str, features)))}: let the input_fn give each example's name as a string"
            )
        return reshape(convert_to_tensor(features[self._example_id_column]), [-1])

    def options(self, loss_type: str) -> dict[str, Nest]:
        """What a model of the ascent is told.

        Args:
            loss_type: one of SdcaModel's.
        """
        return {**self._options, "loss_type": loss_type}


class _UpdateWeights(SessionRunHook):
    """Gives the weights, in each step of the chief, what the ascent has found."""

    def __init__(self, model: SdcaModel, train_op: Operation) -> None:
        self._model, self._train_op = model, train_op

    def begin(self) -> None:
        self._update: Operation = self._model.update_weights(self._train_op)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._update)


def check_use(columns: Sequence[object], sparse_combiner: str) -> None:
    """Raise ValueError where a linear estimator cannot be trained by the ascent.

    Args:
        columns: the estimator's columns.
        sparse_combiner: how it makes the weights of one example's ids one.
    """
    if sparse_combiner != "sum":
        raise ValueError(f'sparse_combiner must be "sum" when optimizer is a LinearSDCA object, not {sparse_combiner!r}.')
    if not are_later_columns(columns) or any(isinstance(each, LayerColumn) for each in columns):
        raise ValueError(
            "V2 feature columns required when optimizer is a LinearSDCA object: those of tf.feature_column, not of "
            "tf.contrib.layers."
        )


def dual_spec(
    optimizer: LinearSDCA, head: Head, features: Features, labels: Labels, mode: str, logits: Tensor,
    columns: Mapping[FeatureColumn, Sequence[VariableLike]], bias: Sequence[VariableLike],
) -> EstimatorSpec:  # fmt: skip
    """The whole of a linear model that the ascent trains; call it in the variable scope that the model was made in.

    Args:
        optimizer: the optimizer.
        head: the task.
        features, labels: a batch.
        mode: one of ModeKeys.
        logits: the model's, `[batch, 1]`.
        columns: the variables of each column.
        bias: the bias, whole or its part.

    Raises:
        ValueError: the head has no loss of the ascent, or a column is neither of ids nor of vectors.
        KeyError: the features lack the examples' names.
    """
    loss_type = _loss_type(head)
    if mode != ModeKeys.TRAIN:
        return head.create_estimator_spec(features, mode, logits, labels)
    model = _model(optimizer, loss_type, head, features, labels, columns, bias)
    train_op = model.minimize(get_global_step())
    spec = head.create_estimator_spec(features, mode, logits, labels, train_op_fn=lambda _: train_op)
    hooks = (*spec.training_chief_hooks, _UpdateWeights(model, train_op))
    return spec._replace(training_chief_hooks=hooks)


def _loss_type(head: Head) -> str:
    if isinstance(head, BinaryClassHead):
        return "logistic_loss"
    if isinstance(head, RegressionHead) and head.logits_dimension == 1:
        return "squared_loss"
    raise ValueError(
        f"Unsupported head type: {head}: LinearSDCA trains for two classes, or for one number by its squared error."
    )


def _model(
    optimizer: LinearSDCA, loss_type: str, head: Head, features: Features, labels: Labels,
    columns: Mapping[FeatureColumn, Sequence[VariableLike]], bias: Sequence[VariableLike],
) -> SdcaModel:  # fmt: skip
    cache, state = FeatureTransformationCache(features), ScopeStateManager((), True)
    dense: list[tuple[Tensor, Nest]] = []
    sparse: list[tuple[SparseFeatureColumn, Nest]] = []
    for column in sorted(columns, key=lambda each: each.name):
        scope, weights = _linear_weights(columns[column])
        if is_categorical(column):
            sparse.append((entries_of(*column.get_sparse_tensors(cache, state)), weights))
            continue
        assert is_dense(column)
        if column.variable_shape.ndims != 1:
            raise ValueError(
                f"Column {type(column).__name__} has rank {column.variable_shape.ndims}, larger than 1. LinearSDCA takes "
                f"columns of ids or of vectors; {column.name!r} has {column.variable_shape} for each example."
            )
        # A column of a table has made it with the logits, by this name.
        with variable_scope(scope, reuse=True):
            dense.append((column.get_dense_tensor(cache, state), weights))
    targets = cast(reshape(_numbers(head, labels), [-1]), dtypes.float32)
    # The bias is the weight of one more feature, which all examples have.
    dense.append((ones([shape(targets)[0], 1]), list(bias)))
    examples = {
        "sparse_features": [entries for entries, _ in sparse],
        "dense_features": [rows for rows, _ in dense],
        "example_labels": targets,
        "example_weights": _example_weights(head.weight_column, cache, state, targets),
        "example_ids": optimizer.example_ids(features),
    }
    variables = {
        "sparse_features_weights": [weights for _, weights in sparse],
        "dense_features_weights": [weights for _, weights in dense],
    }
    return LinearSdcaModel(examples, variables, optimizer.options(loss_type))


def _linear_weights(variables: Sequence[VariableLike]) -> tuple[str, list[VariableLike]]:
    """The variable scope of a column below the open one, and the parts of its linear weights."""
    found = [(match[1], each) for each in variables if (match := _WEIGHTS.fullmatch(each.op.name))]
    return found[0][0].removeprefix(f"{get_variable_scope().name}/"), [each for _, each in found]


def _numbers(head: Head, labels: Labels) -> Tensor:
    tensor = convert_to_tensor(labels)
    return head.label_numbers(tensor) if isinstance(head, BinaryClassHead) else tensor


def _example_weights(
    column: str | NumericColumn | None, cache: FeatureTransformationCache, state: ScopeStateManager, targets: Tensor
) -> Tensor:
    if column is None:
        return ones([shape(targets)[0]])
    numbers = numeric_column(column) if isinstance(column, str) else column
    return cast(reshape(numbers.get_dense_tensor(cache, state), [-1]), dtypes.float32)
