"""Baselines, which do not look at the features: BaselineClassifier, BaselineRegressor, BaselineEstimator."""

from __future__ import annotations

import os
from collections.abc import Sequence

from weft.estimators.aliases import Features, Labels
from weft.estimators.canned.class_heads import binary_or_multi_class_head
from weft.estimators.canned.head import Head
from weft.estimators.canned.optimizers import OptimizerLike, get_optimizer_instance
from weft.estimators.canned.regression_head import RegressionHead
from weft.estimators.estimator import Estimator
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.run_config import RunConfig
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.models.feature_columns.numeric import NumericColumn
from weft.models.losses import Reduction
from weft.ops.array.filling import ones
from weft.ops.array.shape_ops import shape
from weft.ops.debugging.checks import assert_equal
from weft.ops.math.elementwise import mul
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.variable_scope import variable_scope
from weft.training.training_util import get_global_step

_LEARNING_RATE = 0.3


class BaselineEstimator(Estimator):
    """Logits that are the same for all examples, with any head.

    Args:
        head: the task.
        model_dir: see Estimator.
        optimizer: an Optimizer, its name, or a function that makes it.
        config: see Estimator.
        weight_column: the feature with the weights of examples, which tells nothing of the batch's size.
    """

    def __init__(
        self,
        head: Head,
        model_dir: str | os.PathLike[str] | None = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
        weight_column: str | NumericColumn | None = None,
    ) -> None:
        weight_key = weight_column.key if isinstance(weight_column, NumericColumn) else weight_column

        def model_fn(features: Features, labels: Labels, mode: str) -> EstimatorSpec:
            logits = _logits(features, weight_key, head.logits_dimension)

            def train_op(loss: Tensor) -> Operation:
                chosen = get_optimizer_instance(optimizer, _LEARNING_RATE)
                return chosen.minimize(loss, global_step=get_global_step())

            return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train_op)

        super().__init__(model_fn, model_dir, config)


class BaselineClassifier(BaselineEstimator):
    """Tells how frequent the classes are.

    Args:
        model_dir: see Estimator.
        n_classes: how many classes there are; labels are their numbers.
        weight_column: the feature with the weights of examples.
        label_vocabulary: the classes' names, if labels are names.
        optimizer, config: see BaselineEstimator.
        loss_reduction: how the losses of examples become one.
    """

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        n_classes: int = 2,
        weight_column: str | NumericColumn | None = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        head = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, model_dir, optimizer, config, weight_column)


class BaselineRegressor(BaselineEstimator):
    """Tells the mean of the labels.

    Args:
        model_dir: see Estimator.
        label_dimension: how many numbers an example has.
        weight_column: the feature with the weights of examples.
        optimizer, config: see BaselineEstimator.
        loss_reduction: how the losses of examples become one.
    """

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        label_dimension: int = 1,
        weight_column: str | NumericColumn | None = None,
        optimizer: OptimizerLike = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        super().__init__(
            RegressionHead(weight_column, label_dimension, loss_reduction), model_dir, optimizer, config, weight_column
        )


def _logits(features: Features, weight_key: str | None, units: int) -> Tensor:
    sizes = [shape(feature)[0] for key, feature in features.items() if key != weight_key]
    checks = [assert_equal(sizes[0], each) for each in sizes[1:]]
    with get_default_graph().control_dependencies(checks), variable_scope("baseline"):
        bias = get_variable("bias", shape=[units], initializer=Zeros())
        return mul(bias, ones([sizes[0], units]))
