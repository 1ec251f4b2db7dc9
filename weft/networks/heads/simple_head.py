"""SimpleHead: one task, whose mathematics a head of the canned estimators knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from weft.estimators.aliases import Features, Labels
from weft.estimators.canned.head import Head as PlainHead
from weft.estimators.canned.head import LossSpec
from weft.estimators.canned.head_inputs import as_floats, checked_logits
from weft.estimators.canned.keys import MetricKeys
from weft.estimators.export.export_output import ExportOutput
from weft.estimators.mode_keys import ModeKeys
from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.models.losses import Reduction as LossReduction
from weft.models.weights_broadcast import broadcast_weights
from weft.networks.heads.head import Head
from weft.networks.losses import Reduction
from weft.networks.metrics.catalog import BinaryAccuracy
from weft.networks.metrics.confusion import Precision, Recall
from weft.networks.metrics.metric import Mean, Metric

_PLAIN_REDUCTIONS = {
    Reduction.AUTO: LossReduction.SUM_OVER_BATCH_SIZE,
    Reduction.SUM: LossReduction.SUM,
    Reduction.SUM_OVER_BATCH_SIZE: LossReduction.SUM_OVER_BATCH_SIZE,
}


class SimpleHead(Head):
    """One task.

    Args:
        plain: knows losses, predictions and outputs of it.
        loss_reduction: of `tf.keras.losses.Reduction`.
        prediction_keys: the names of all predictions.
    """

    def __init__(self, plain: PlainHead, loss_reduction: str, prediction_keys: Sequence[str]) -> None:
        self._plain, self._loss_reduction, self._prediction_keys = plain, loss_reduction, tuple(prediction_keys)

    @property
    def name(self) -> str | None:
        """What keys of metrics and summaries end in."""
        return self._plain.name

    @property
    def logits_dimension(self) -> int:
        """The size of the logits' last dimension."""
        return self._plain.logits_dimension

    @property
    def loss_reduction(self) -> str:
        """How the losses of examples become one."""
        return self._loss_reduction

    def predictions(self, logits: Nest, keys: Sequence[str] | None = None) -> dict[Any, Tensor]:
        """The predictions by name: those that `keys` lists, or all; ValueError for a name that is none of them."""
        for key in keys or ():
            if key not in self._prediction_keys:
                raise ValueError(
                    f"Prediction key must be in PredictionKeys, given: {key}."
                    f"Valid prediction keys include {list(self._prediction_keys)}."
                )
        found = self._plain.predictions(checked_logits(logits, self.logits_dimension))
        return {key: value for key, value in found.items() if not keys or key in keys}

    def training_loss(self, features: Features, logits: Nest, labels: Labels) -> Tensor:
        """The loss without that of regularization."""
        return self._loss_of(features, logits, labels).training_loss

    def new_metrics(self) -> dict[str, Metric]:
        """New metrics by their whole keys: the mean loss, and those of the task."""
        kinds = {MetricKeys.LOSS_MEAN: Mean, **self.kinds()}
        return {self.key(key): kind(name=key) for key, kind in kinds.items()}

    def take_in(self, metrics: dict[str, Metric], features: Features, logits: Nest, labels: Labels) -> None:
        """Let the metrics take in a batch."""
        loss = self._loss_of(features, logits, labels)
        own = {key: metrics[self.key(key)] for key in [MetricKeys.LOSS_MEAN, *self.kinds()]}
        own[MetricKeys.LOSS_MEAN].update_state(loss.unreduced_loss, sample_weight=loss.weights)
        self.update_own(own, self.predictions(logits), loss)

    def export_outputs(self, predictions: dict[Any, Tensor]) -> dict[str, ExportOutput]:
        """The outputs of an exported model."""
        return self._plain.export_outputs(predictions)

    def kinds(self) -> dict[str, Callable[..., Metric]]:
        """What makes the metrics of the task but that of the loss, by their keys without the head's name."""
        raise NotImplementedError(f"kinds is not implemented for {type(self).__name__}.")

    def update_own(self, metrics: dict[str, Metric], predictions: dict[str, Tensor], loss: LossSpec) -> None:
        """Let the metrics of the task take in a batch.

        Args:
            metrics: metrics by key, those that `new_metrics` made.
            predictions: all predictions by key.
            loss: the batch's labels, weights and losses.
        """
        raise NotImplementedError(f"update_own is not implemented for {type(self).__name__}.")

    def _loss_of(self, features: Features, logits: Nest, labels: Labels) -> LossSpec:
        return self._plain.create_loss(features, ModeKeys.EVAL, checked_logits(logits, self.logits_dimension), labels)


def plain_reduction(loss_reduction: str) -> str:
    """The reduction of `tf.losses` that is one of Keras's; ValueError for others."""
    if loss_reduction not in _PLAIN_REDUCTIONS:
        raise ValueError(
            f"Invalid loss_reduction: {loss_reduction}. See `tf.losses.Reduction` for valid options. "
            "tf.estimator's heads take 'sum_over_batch_size' or 'sum'."
        )
    return _PLAIN_REDUCTIONS[loss_reduction]


def mean_with_weights(metric: Metric, values: Tensor, weights: Tensor | float) -> None:
    """Let a mean take in values with the weights of their examples."""
    values = as_floats(values)
    metric.update_state(values, sample_weight=broadcast_weights(weights, values))


def kinds_at(thresholds: Sequence[float]) -> dict[str, Callable[..., Metric]]:
    """What makes accuracy, precision and recall of answering yes above each probability, by key."""
    found: dict[str, Callable[..., Metric]] = {}
    for threshold in thresholds:
        found[MetricKeys.ACCURACY_AT_THRESHOLD % threshold] = partial(BinaryAccuracy, threshold=threshold)
        found[MetricKeys.PRECISION_AT_THRESHOLD % threshold] = partial(Precision, thresholds=threshold)
        found[MetricKeys.RECALL_AT_THRESHOLD % threshold] = partial(Recall, thresholds=threshold)
    return found
