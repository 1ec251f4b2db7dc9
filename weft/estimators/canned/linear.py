"""Linear models over feature columns: LinearClassifier, LinearRegressor, LinearEstimator."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence

from weft.estimators.aliases import Features, Labels
from weft.estimators.canned.class_heads import binary_or_multi_class_head
from weft.estimators.canned.dnn import check_features, input_partitioner
from weft.estimators.canned.head import Head
from weft.estimators.canned.linear_sdca import LinearSDCA, check_use, dual_spec
from weft.estimators.canned.optimizers import OptimizerLike, get_optimizer_instance
from weft.estimators.canned.regression_head import RegressionHead
from weft.estimators.estimator import Estimator
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.run_config import RunConfig
from weft.estimators.warm_start_settings import WarmStartSettings
from weft.framework.building.aliases import Partitioner, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.feature_columns.column import FeatureColumn, FeatureColumns
from weft.models.feature_columns.linear_model import linear_model
from weft.models.feature_columns.numeric import NumericColumn
from weft.models.losses import Reduction
from weft.ops.array.shape_ops import size
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import add_n
from weft.ops.nn.norm import zero_fraction
from weft.ops.summary.nodes import histogram, scalar
from weft.ops.variables.variable_scope import variable_scope
from weft.training.optimizers.ftrl import FtrlOptimizer

_LEARNING_RATE = 0.2


def linear_logit_fn_builder(
    units: int, feature_columns: FeatureColumns, sparse_combiner: str = "sum"
) -> Callable[[Features], Tensor]:
    """A function from features to a linear model's logits.

    Args:
        units: the size of the logits.
        feature_columns: dense and categorical columns.
        sparse_combiner: how the weights of one example's ids in a column become one: "sum", "mean" or "sqrtn".
    """
    columns = tuple(feature_columns)

    def linear_logit_fn(features: Features) -> Tensor:
        return _linear(features, columns, units, sparse_combiner)[0]

    return linear_logit_fn


def _linear(
    features: Features, columns: FeatureColumns, units: int, sparse_combiner: str
) -> tuple[Tensor, dict[FeatureColumn, list[VariableLike]], list[VariableLike]]:
    """The logits, the variables of each column, and the parts of the bias; with summaries."""
    variables: dict[FeatureColumn | str, list[VariableLike]] = {}
    logits = linear_model(features, columns, units, sparse_combiner, cols_to_vars=variables)
    bias = variables.pop("bias")
    if units > 1:
        histogram("bias", bias)
    else:
        scalar("bias", bias[0][0])
    scalar("fraction_of_zero_weights", _zeros_among([each for found in variables.values() for each in found]))
    return logits, {column: found for column, found in variables.items() if not isinstance(column, str)}, bias


def _zeros_among(variables: Sequence[VariableLike]) -> Tensor:
    with get_default_graph().name_scope("zero_fraction"):
        sizes = [cast(size(each), dtypes.float32) for each in variables]
        zeros = [zero_fraction(each) * count for each, count in zip(variables, sizes, strict=True)]
        return add_n(zeros) / add_n(sizes)


class LinearEstimator(Estimator):
    """A linear model with any head.

    Args:
        head: the task.
        feature_columns: dense and categorical columns.
        model_dir: see Estimator.
        optimizer: an Optimizer, its name, or a function that makes it; "Ftrl" with a learning rate of 0.2 at most when None. A
            LinearSDCA trains for two classes, or for one number, over the columns of tf.feature_column.
        config: see Estimator.
        partitioner: cuts the weights; parts of 64 MB for each parameter server when None.
        sparse_combiner: how the weights of one example's ids in a column become one.
        warm_start_from: see Estimator.

    Raises:
        ValueError: the optimizer is a LinearSDCA, and the combiner is not "sum" or a column is not of tf.feature_column.
    """

    def __init__(
        self,
        head: Head,
        feature_columns: FeatureColumns | None,
        model_dir: str | os.PathLike[str] | None = None,
        optimizer: OptimizerLike | LinearSDCA | None = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Partitioner | None = None,
        sparse_combiner: str = "sum",
        warm_start_from: str | WarmStartSettings | None = None,
    ) -> None:
        columns = tuple(feature_columns or ())
        if isinstance(optimizer, LinearSDCA):
            check_use(columns, sparse_combiner)

        def model_fn(features: Features, labels: Labels, mode: str, config: RunConfig) -> EstimatorSpec:
            check_features(features)
            with variable_scope(
                "linear", values=tuple(features.values()), partitioner=partitioner or input_partitioner(config)
            ):
                logits, weights, bias = _linear(features, columns, head.logits_dimension, sparse_combiner)
                if isinstance(optimizer, LinearSDCA):
                    return dual_spec(optimizer, head, features, labels, mode, logits, weights, bias)
                chosen = get_optimizer_instance(optimizer or _default_optimizer(len(columns)), _LEARNING_RATE)
                return head.create_estimator_spec(features, mode, logits, labels, chosen)

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearClassifier(LinearEstimator):
    """A linear model that tells classes: logistic regression.

    Args:
        feature_columns, model_dir: see LinearEstimator.
        n_classes: how many classes there are; labels are their numbers.
        weight_column: the feature with the weights of examples.
        label_vocabulary: the classes' names, if labels are names.
        optimizer, config, partitioner, warm_start_from: see LinearEstimator.
        loss_reduction: how the losses of examples become one.
        sparse_combiner: see LinearEstimator.

    Raises:
        ValueError: the optimizer is a LinearSDCA, and there are more than two classes, or LinearEstimator raises it.
    """

    def __init__(
        self,
        feature_columns: FeatureColumns | None,
        model_dir: str | os.PathLike[str] | None = None,
        n_classes: int = 2,
        weight_column: str | NumericColumn | None = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: OptimizerLike | LinearSDCA | None = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Partitioner | None = None,
        warm_start_from: str | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        if isinstance(optimizer, LinearSDCA) and n_classes > 2:
            raise ValueError(f"LinearSDCA cannot be used in a multi-class setting: n_classes is {n_classes}, not 2.")
        head = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, feature_columns, model_dir, optimizer, config, partitioner, sparse_combiner, warm_start_from)


class LinearRegressor(LinearEstimator):
    """A linear model that tells numbers.

    Args:
        feature_columns, model_dir: see LinearEstimator.
        label_dimension: how many numbers an example has.
        weight_column: the feature with the weights of examples.
        optimizer, config, partitioner, warm_start_from: see LinearEstimator.
        loss_reduction: how the losses of examples become one.
        sparse_combiner: see LinearEstimator.

    Raises:
        ValueError: the optimizer is a LinearSDCA, and there is more than one number, or LinearEstimator raises it.
    """

    def __init__(
        self,
        feature_columns: FeatureColumns | None,
        model_dir: str | os.PathLike[str] | None = None,
        label_dimension: int = 1,
        weight_column: str | NumericColumn | None = None,
        optimizer: OptimizerLike | LinearSDCA | None = "Ftrl",
        config: RunConfig | None = None,
        partitioner: Partitioner | None = None,
        warm_start_from: str | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        if isinstance(optimizer, LinearSDCA) and label_dimension > 1:
            raise ValueError(f"LinearSDCA can only be used with one-dimensional label: label_dimension is {label_dimension}.")
        head = RegressionHead(weight_column, label_dimension, loss_reduction)
        super().__init__(head, feature_columns, model_dir, optimizer, config, partitioner, sparse_combiner, warm_start_from)


def _default_optimizer(columns: int) -> FtrlOptimizer:
    return FtrlOptimizer(learning_rate=min(_LEARNING_RATE, 1.0 / math.sqrt(columns)))
