"""Heads that tell numbers: by squared error, counts by Poisson regression, probabilities by logistic regression."""

from __future__ import annotations

from collections.abc import Callable

from weft.estimators.aliases import Features, Labels, MetricOps
from weft.estimators.canned import head_metrics
from weft.estimators.canned.head import Head, LossSpec
from weft.estimators.canned.head_inputs import LossFn, as_floats, called_loss_fn, checked_labels, checked_weights
from weft.estimators.canned.keys import MetricKeys, PredictionKeys
from weft.estimators.export.export_output import ExportOutput, PredictOutput, RegressionOutput
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.numeric import NumericColumn
from weft.models.losses import Reduction, compute_weighted_loss
from weft.models.prediction_losses import mean_squared_error
from weft.ops.control_flow.assertion import assert_that
from weft.ops.math.comparison import greater_equal, less_equal, logical_and
from weft.ops.math.reduce_functions import reduce_all
from weft.ops.math.unary import exp, sigmoid
from weft.ops.nn.loss import log_poisson_loss, sigmoid_cross_entropy_with_logits
from weft.training.saved_model import layout


class RegressionHead(Head):
    """Numbers, by squared error.

    Args:
        weight_column: see Head.
        label_dimension: how many numbers an example has; labels are `[..., label_dimension]`, or `[...]` for one.
        loss_reduction, loss_fn: see Head.
        inverse_link_fn: makes the predictions of the logits; the logits themselves when None.
        name: see Head.

    Raises:
        ValueError: there are no numbers.
    """

    def __init__(
        self,
        weight_column: str | NumericColumn | None = None,
        label_dimension: int = 1,
        loss_reduction: str = Reduction.SUM,
        loss_fn: LossFn | None = None,
        inverse_link_fn: Callable[[Tensor], Tensor] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self._label_dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn

    @property
    def logits_dimension(self) -> int:
        """How many numbers an example has."""
        return self._label_dimension

    def create_loss(self, features: Features, mode: str, logits: Tensor, labels: Labels) -> LossSpec:
        """The squared error of each number."""
        known = as_floats(checked_labels(labels, logits, self._label_dimension))
        if self._loss_fn is not None:
            losses = called_loss_fn(self._loss_fn, known, logits, features, self._label_dimension)
        else:
            losses = mean_squared_error(known, logits, reduction=Reduction.NONE)
        weights = checked_weights(features, self._weight_column, logits, per_logit=True)
        training_loss = compute_weighted_loss(losses, weights, reduction=self._loss_reduction)
        return LossSpec(training_loss, losses, weights, known)

    def predictions(self, logits: Tensor) -> dict[str, Tensor]:
        """The numbers, and the logits where they are others."""
        if self._inverse_link_fn is None:
            return {PredictionKeys.PREDICTIONS: logits}
        return {PredictionKeys.PREDICTIONS: self._inverse_link_fn(logits), PredictionKeys.LOGITS: logits}

    def export_outputs(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        """The regression, which is the default, and all predictions."""
        regression = RegressionOutput(predictions[PredictionKeys.PREDICTIONS])
        return {
            layout.DEFAULT_SERVING_SIGNATURE_DEF_KEY: regression,
            "regression": regression,
            "predict": PredictOutput(predictions),
        }

    def metrics(self, predictions: dict[str, Tensor], loss: LossSpec) -> MetricOps:
        """The means of predictions and labels."""
        found = predictions[PredictionKeys.PREDICTIONS]
        return {
            MetricKeys.PREDICTION_MEAN: head_metrics.weighted_mean(found, loss.weights, MetricKeys.PREDICTION_MEAN),
            MetricKeys.LABEL_MEAN: head_metrics.weighted_mean(loss.processed_labels, loss.weights, MetricKeys.LABEL_MEAN),
        }


def poisson_regression_head(
    weight_column: str | NumericColumn | None,
    label_dimension: int,
    loss_reduction: str,
    compute_full_loss: bool,
    name: str | None,
) -> RegressionHead:
    """The head of counts: the logits are the logarithms of Poisson distributions' means."""
    loss_fn = poisson_loss_fn(compute_full_loss)
    return RegressionHead(weight_column, label_dimension, loss_reduction, loss_fn, exp, name)


def poisson_loss_fn(compute_full_loss: bool) -> LossFn:
    """The loss of counts for the logarithms of their means."""

    def poisson_loss(labels: Tensor, logits: Tensor) -> Tensor:
        return log_poisson_loss(labels, logits, compute_full_loss)

    return poisson_loss


def logistic_regression_head(
    weight_column: str | NumericColumn | None, loss_reduction: str, name: str | None
) -> RegressionHead:
    """The head of probabilities, whose labels are numbers in [0, 1]."""
    return RegressionHead(weight_column, 1, loss_reduction, logistic_loss, sigmoid, name)


def logistic_loss(labels: Tensor, logits: Tensor) -> Tensor:
    """The loss of probabilities; a run with labels outside [0, 1] fails."""
    with get_default_graph().name_scope("assert_range"):
        in_range = reduce_all(logical_and(greater_equal(labels, 0.0), less_equal(labels, 1.0)))
        check = assert_that(in_range, ["labels of a logistic regression are in [0, 1], found", labels])
    with get_default_graph().control_dependencies([check]):
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
