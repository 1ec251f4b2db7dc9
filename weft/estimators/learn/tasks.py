"""The tasks of contrib.learn's canned estimators: predictions, mean loss and metrics from logits."""

from __future__ import annotations

from typing import NamedTuple

from weft.estimators.aliases import Features, MetricOps
from weft.estimators.canned.head_inputs import as_floats, checked_labels, checked_weights
from weft.estimators.learn.keys import MetricKey, PredictionKey
from weft.framework.nodes.operation import Tensor
from weft.models.logit_losses import sparse_softmax_cross_entropy
from weft.models.losses import Reduction, compute_weighted_loss
from weft.models.metrics.mean import accuracy, mean
from weft.models.metrics.thresholds import auc, precision_at_thresholds, recall_at_thresholds
from weft.ops.array.filling import zeros_like
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, squeeze
from weft.ops.math.casting import to_float
from weft.ops.math.comparison import greater_equal
from weft.ops.math.elementwise import square
from weft.ops.math.reduce_functions import argmax
from weft.ops.math.unary import sigmoid
from weft.ops.nn.loss import sigmoid_cross_entropy_with_logits
from weft.ops.nn.softmax import softmax

_THRESHOLD = 0.5


class TaskLoss(NamedTuple):
    """The mean loss of a batch, the labels as it takes them, and the weights of examples."""

    loss: Tensor
    labels: Tensor
    weights: Tensor | float


class Classes:
    """One of some classes, whose numbers labels are.

    Args:
        n_classes: how many there are.
        weight_column_name: the feature with the weights of examples.

    Raises:
        ValueError: there are too few.
    """

    dual_loss = "logistic_loss"

    def __init__(self, n_classes: int, weight_column_name: str | None) -> None:
        if n_classes < 2:
            raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
        self._n_classes = n_classes
        self.weight_column_name = weight_column_name

    @property
    def logits_dimension(self) -> int:
        """One for two classes, else the number of classes."""
        return 1 if self._n_classes == 2 else self._n_classes

    def predictions(self, logits: Tensor) -> dict[str, Tensor]:
        """The class, its number, the probabilities and the logits."""
        by_class = concat([zeros_like(logits), logits], axis=1) if self._n_classes == 2 else logits
        found = {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: softmax(by_class, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: argmax(by_class, axis=1, name=PredictionKey.CLASSES),
        }
        if self._n_classes == 2:
            found[PredictionKey.LOGISTIC] = sigmoid(logits, name=PredictionKey.LOGISTIC)
        return found

    def loss(self, features: Features, logits: Tensor, labels: Tensor) -> TaskLoss:
        """The mean cross entropy."""
        known = checked_labels(labels, logits, 1)
        weights = checked_weights(features, self.weight_column_name, logits)
        if self._n_classes == 2:
            losses = sigmoid_cross_entropy_with_logits(labels=as_floats(known), logits=logits)
        else:
            losses = expand_dims(sparse_softmax_cross_entropy(known, logits, reduction=Reduction.NONE), -1)
        return TaskLoss(compute_weighted_loss(losses, weights, reduction=Reduction.MEAN), known, weights)

    def metrics(self, predictions: dict[str, Tensor], made: TaskLoss) -> MetricOps:
        """The accuracy; for two classes also means, areas under curves, and what a probability of one half gives."""
        keys, weights = MetricKey, made.weights
        classes = expand_dims(predictions[PredictionKey.CLASSES], -1)
        found: MetricOps = {keys.ACCURACY: accuracy(made.labels, classes, weights=weights, name=keys.ACCURACY)}
        if self._n_classes != 2:
            return found
        labels, logistic = as_floats(made.labels), predictions[PredictionKey.LOGISTIC]
        yes = to_float(greater_equal(logistic, _THRESHOLD))
        found[keys.PREDICTION_MEAN] = mean(logistic, weights=weights)
        found[keys.LABEL_MEAN] = mean(labels, weights=weights)
        found[keys.ACCURACY_BASELINE] = mean(labels, weights=weights)
        found[keys.AUC] = auc(labels, logistic, weights=weights)
        found[keys.AUC_PR] = auc(labels, logistic, weights=weights, curve="PR")
        found[keys.ACCURACY_MEAN % _THRESHOLD] = accuracy(labels, yes, weights=weights)
        for key, metric in ((keys.PRECISION_MEAN, precision_at_thresholds), (keys.RECALL_MEAN, recall_at_thresholds)):
            value, update = metric(labels, logistic, (_THRESHOLD,), weights=weights)
            found[key % _THRESHOLD] = squeeze(value), squeeze(update)
        return found


class Numbers:
    """Numbers, by squared error.

    Args:
        label_dimension: how many an example has.
        weight_column_name: the feature with the weights of examples.
    """

    dual_loss = "squared_loss"

    def __init__(self, label_dimension: int, weight_column_name: str | None) -> None:
        self._label_dimension = label_dimension
        self.weight_column_name = weight_column_name

    @property
    def logits_dimension(self) -> int:
        """How many numbers an example has."""
        return self._label_dimension

    def predictions(self, logits: Tensor) -> dict[str, Tensor]:
        """The numbers."""
        return {PredictionKey.SCORES: squeeze(logits, axis=[1]) if self._label_dimension == 1 else logits}

    def loss(self, features: Features, logits: Tensor, labels: Tensor) -> TaskLoss:
        """The mean squared error."""
        known = as_floats(checked_labels(labels, logits, self._label_dimension))
        weights = checked_weights(features, self.weight_column_name, logits, per_logit=True)
        return TaskLoss(compute_weighted_loss(square(logits - known), weights, reduction=Reduction.MEAN), known, weights)

    def metrics(self, predictions: dict[str, Tensor], made: TaskLoss) -> MetricOps:
        """None besides the loss."""
        return {}
