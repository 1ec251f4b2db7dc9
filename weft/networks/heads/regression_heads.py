"""The heads of tf.estimator that tell numbers: by squared error, counts by Poisson, probabilities by logistic regression."""

from __future__ import annotations

from collections.abc import Callable

from weft.estimators.canned import regression_head as plain
from weft.estimators.canned.head import LossSpec
from weft.estimators.canned.head_inputs import LossFn
from weft.estimators.canned.keys import MetricKeys, PredictionKeys
from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.numeric import NumericColumn
from weft.networks.heads.simple_head import SimpleHead, mean_with_weights, plain_reduction
from weft.networks.losses import Reduction
from weft.networks.metrics.metric import Mean, Metric
from weft.ops.math.unary import exp, sigmoid


class RegressionHead(SimpleHead):
    """Numbers, by squared error.

    Args:
        label_dimension: how many numbers an example has; labels are `[..., label_dimension]`, or `[...]` for one.
        weight_column, loss_reduction, loss_fn: see BinaryClassHead.
        inverse_link_fn: makes the predictions of the logits; the logits themselves when None.
        name: see BinaryClassHead.

    Raises:
        ValueError: there are no numbers, or the reduction or the function is none.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: str | NumericColumn | None = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        inverse_link_fn: Callable[[Tensor], Tensor] | None = None,
        name: str | None = None,
    ) -> None:
        reduction = plain_reduction(loss_reduction)
        known = plain.RegressionHead(weight_column, label_dimension, reduction, loss_fn, inverse_link_fn, name)
        super().__init__(known, loss_reduction, (PredictionKeys.PREDICTIONS, PredictionKeys.LOGITS))

    def kinds(self) -> dict[str, Callable[..., Metric]]:
        """The means of predictions and labels."""
        return {MetricKeys.PREDICTION_MEAN: Mean, MetricKeys.LABEL_MEAN: Mean}

    def update_own(self, metrics: dict[str, Metric], predictions: dict[str, Tensor], loss: LossSpec) -> None:
        """Let the means take in a batch."""
        found = predictions[PredictionKeys.PREDICTIONS]
        mean_with_weights(metrics[MetricKeys.PREDICTION_MEAN], found, loss.weights)
        mean_with_weights(metrics[MetricKeys.LABEL_MEAN], loss.processed_labels, loss.weights)


class PoissonRegressionHead(RegressionHead):
    """Counts: the logits are the logarithms of Poisson distributions' means.

    Args:
        label_dimension, weight_column, loss_reduction: see RegressionHead.
        compute_full_loss: whether the loss has Stirling's approximation of the labels' factorials.
        name: see BinaryClassHead.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: str | NumericColumn | None = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        compute_full_loss: bool = True,
        name: str | None = None,
    ) -> None:
        loss_fn = plain.poisson_loss_fn(compute_full_loss)
        super().__init__(label_dimension, weight_column, loss_reduction, loss_fn, exp, name)


class LogisticRegressionHead(RegressionHead):
    """Probabilities, whose labels are numbers in [0, 1].

    Args:
        weight_column, loss_reduction, name: see BinaryClassHead.
    """

    def __init__(
        self,
        weight_column: str | NumericColumn | None = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        name: str | None = None,
    ) -> None:
        super().__init__(1, weight_column, loss_reduction, plain.logistic_loss, sigmoid, name)
