"""Heads that tell classes: one of two, one of several, or any of several."""

from __future__ import annotations

from collections.abc import Sequence

from weft.estimators.aliases import Features, Labels, MetricOps
from weft.estimators.canned import head_metrics
from weft.estimators.canned.head import Head, LossSpec
from weft.estimators.canned.head_inputs import (
    LossFn,
    as_floats,
    called_loss_fn,
    checked_labels,
    checked_range,
    checked_weights,
)
from weft.estimators.canned.keys import MetricKeys, PredictionKeys
from weft.estimators.export.export_output import ClassificationOutput, ExportOutput, PredictOutput, RegressionOutput
from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.feature_columns.numeric import NumericColumn
from weft.models.logit_losses import sparse_softmax_cross_entropy
from weft.models.losses import Reduction, compute_weighted_loss
from weft.models.metrics.counts import precision, recall
from weft.models.metrics.mean import accuracy
from weft.ops.array.filling import zeros_like
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import expand_dims, shape
from weft.ops.array.tiling import tile
from weft.ops.lookup.vocabularies import index_table_from_tensor, index_to_string_table_from_tensor
from weft.ops.math.reduce_functions import argmax
from weft.ops.math.unary import sigmoid
from weft.ops.nn.loss import sigmoid_cross_entropy_with_logits
from weft.ops.nn.softmax import softmax
from weft.ops.strings.elementwise import as_string
from weft.training.saved_model import layout


class ClassHead(Head):
    """The common part of heads that choose one of some classes.

    Args:
        n_classes: how many there are.
        label_vocabulary: the classes' names, if labels are names.
        weight_column, loss_reduction, loss_fn, name: see Head.

    Raises:
        ValueError, TypeError: the vocabulary is no list.
    """

    def __init__(
        self,
        n_classes: int,
        label_vocabulary: Sequence[str] | None,
        weight_column: str | NumericColumn | None,
        loss_reduction: str,
        loss_fn: LossFn | None,
        name: str | None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._n_classes = n_classes
        self._label_vocabulary = label_vocabulary

    def class_logits(self, logits: Tensor) -> Tensor:
        """A logit for each class.

        Args:
            logits: those of the model; a binary head has one for both classes.
        """
        raise NotImplementedError(f"class_logits is not implemented for {type(self).__name__}.")

    def chosen(self, logits: Tensor) -> dict[str, Tensor]:
        """Probabilities, the class that is chosen and all classes, from logits as the model has them.

        Args:
            logits: those of the model.

        Returns:
            By the keys of PredictionKeys tensors `[n, ...]`: probabilities float32, class ids int64, classes string.
        """
        keys = PredictionKeys
        by_class = self.class_logits(logits)
        ids = expand_dims(argmax(by_class, axis=-1, name=keys.CLASS_IDS), -1)
        if self._label_vocabulary:
            table = index_to_string_table_from_tensor(list(self._label_vocabulary), name="class_string_lookup")
            classes: Nest = table.lookup(ids)
        else:
            classes = as_string(ids, name="str_classes")
        return {
            keys.PROBABILITIES: softmax(by_class, name=keys.PROBABILITIES),
            keys.CLASS_IDS: ids,
            keys.CLASSES: classes,
            keys.ALL_CLASS_IDS: _for_each(logits, range_of(self._n_classes)),
            keys.ALL_CLASSES: _for_each(logits, self._class_names()),
        }

    def classification(self, predictions: dict[str, Tensor]) -> ClassificationOutput:
        """The probabilities of all classes.

        Args:
            predictions: what `predictions` gave.
        """
        scores = predictions[PredictionKeys.PROBABILITIES]
        return ClassificationOutput(scores, _for_each(scores, self._class_names()))

    def loss_spec(self, features: Features, logits: Tensor, labels: Tensor, losses: Tensor) -> LossSpec:
        """The loss from that of each example.

        Args:
            features: the batch, in which the weights are.
            logits: those of the model.
            labels: the classes' numbers.
            losses: the loss of each example.
        """
        weights = checked_weights(features, self._weight_column, logits)
        training_loss = compute_weighted_loss(losses, weights, reduction=self._loss_reduction)
        return LossSpec(training_loss, losses, weights, labels)

    def label_numbers(self, labels: Tensor) -> Tensor:
        """The numbers of labels: the labels themselves without a vocabulary.

        Args:
            labels: names of the vocabulary if there is one, or numbers.
        """
        if self._label_vocabulary is None:
            return labels
        numbers: Nest = index_table_from_tensor(list(self._label_vocabulary), name="class_id_lookup").lookup(labels)
        return numbers  # type: ignore[no-any-return]

    def _class_names(self) -> Tensor | list[str]:
        return list(self._label_vocabulary) if self._label_vocabulary else as_string(range_of(self._n_classes))


class MultiClassHead(ClassHead):
    """One of more than two classes, by softmax and cross entropy.

    Args:
        n_classes: how many; labels are their numbers, `[..., 1]` or `[...]`.
        weight_column: see Head.
        label_vocabulary: the classes' names, if labels are names.
        loss_reduction, loss_fn, name: see Head.

    Raises:
        ValueError: there are too few classes, or the vocabulary is no list.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: str | NumericColumn | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM,
        loss_fn: LossFn | None = None,
        name: str | None = None,
    ) -> None:
        if label_vocabulary is not None and not isinstance(label_vocabulary, list | tuple):
            raise ValueError(f"label_vocabulary should be a list or a tuple. Given type: {type(label_vocabulary)}")
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        if n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        super().__init__(n_classes, label_vocabulary, weight_column, loss_reduction, loss_fn, name)

    @property
    def logits_dimension(self) -> int:
        """The number of classes."""
        return self._n_classes

    def class_logits(self, logits: Tensor) -> Tensor:
        """The logits themselves."""
        return logits

    def create_loss(self, features: Features, mode: str, logits: Tensor, labels: Labels) -> LossSpec:
        """The cross entropy of each example."""
        numbers = checked_range(self._numbers(checked_labels(labels, logits, 1)), self._n_classes, self._label_vocabulary)
        if self._loss_fn is not None:
            losses = called_loss_fn(self._loss_fn, numbers, logits, features)
        else:
            losses = expand_dims(sparse_softmax_cross_entropy(numbers, logits, reduction=Reduction.NONE), -1)
        return self.loss_spec(features, logits, numbers, losses)

    def _numbers(self, labels: Tensor) -> Tensor:
        if self._label_vocabulary is None:
            if not labels.dtype.is_integer:
                raise ValueError(
                    f"Labels dtype should be integer. Instead got {labels.dtype}. They are numbers of "
                    "classes: tf.cast(labels, tf.int32); of texts, `label_vocabulary` lists the classes."
                )
            return labels
        if labels.dtype != dtypes.string:
            raise ValueError(f"Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype}")
        return self.label_numbers(labels)

    def predictions(self, logits: Tensor) -> dict[str, Tensor]:
        """Logits, probabilities, the class and all classes."""
        with get_default_graph().name_scope("predictions"):
            return {PredictionKeys.LOGITS: logits, **self.chosen(logits)}

    def export_outputs(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        """The classification, which is the default, and all predictions."""
        classification = self.classification(predictions)
        return {
            layout.DEFAULT_SERVING_SIGNATURE_DEF_KEY: classification,
            "classification": classification,
            "predict": PredictOutput(predictions),
        }

    def metrics(self, predictions: dict[str, Tensor], loss: LossSpec) -> MetricOps:
        """The accuracy."""
        ids = predictions[PredictionKeys.CLASS_IDS]
        return {MetricKeys.ACCURACY: accuracy(loss.processed_labels, ids, weights=loss.weights, name=MetricKeys.ACCURACY)}


class BinaryClassHead(ClassHead):
    """One of two classes, by a single logit and sigmoid cross entropy.

    Args:
        weight_column: see Head.
        thresholds: probabilities within (0, 1) at which to tell accuracy, precision and recall.
        label_vocabulary: the two classes' names, if labels are names; else labels are 0 and 1, `[..., 1]` or `[...]`.
        loss_reduction, loss_fn, name: see Head.

    Raises:
        TypeError: the vocabulary is no list.
        ValueError: a threshold is none.
    """

    def __init__(
        self,
        weight_column: str | NumericColumn | None = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM,
        loss_fn: LossFn | None = None,
        name: str | None = None,
    ) -> None:
        if label_vocabulary is not None and not isinstance(label_vocabulary, list | tuple):
            raise TypeError(f"label_vocabulary should be a list or tuple. Given type: {type(label_vocabulary)}")
        self._thresholds = checked_thresholds(thresholds)
        super().__init__(2, label_vocabulary, weight_column, loss_reduction, loss_fn, name)

    @property
    def logits_dimension(self) -> int:
        """One."""
        return 1

    def class_logits(self, logits: Tensor) -> Tensor:
        """Zero for the first class, the logit for the second."""
        return concat([zeros_like(logits), logits], axis=-1, name="two_class_logits")

    def create_loss(self, features: Features, mode: str, logits: Tensor, labels: Labels) -> LossSpec:
        """The cross entropy of each example."""
        known = self.label_numbers(checked_labels(labels, logits, 1))
        numbers = checked_range(as_floats(known), 2, self._label_vocabulary)
        if self._loss_fn is not None:
            losses = called_loss_fn(self._loss_fn, numbers, logits, features)
        else:
            losses = sigmoid_cross_entropy_with_logits(labels=numbers, logits=logits)
        return self.loss_spec(features, logits, numbers, losses)

    def predictions(self, logits: Tensor) -> dict[str, Tensor]:
        """Logits, the second class's probability, both probabilities, the class and both classes."""
        with get_default_graph().name_scope("predictions"):
            logistic = sigmoid(logits, name=PredictionKeys.LOGISTIC)
            return {PredictionKeys.LOGITS: logits, PredictionKeys.LOGISTIC: logistic, **self.chosen(logits)}

    def export_outputs(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        """The classification, which is the default, the second class's probability, and all predictions."""
        classification = self.classification(predictions)
        return {
            layout.DEFAULT_SERVING_SIGNATURE_DEF_KEY: classification,
            "classification": classification,
            "regression": RegressionOutput(predictions[PredictionKeys.LOGISTIC]),
            "predict": PredictOutput(predictions),
        }

    def metrics(self, predictions: dict[str, Tensor], loss: LossSpec) -> MetricOps:
        """Accuracy and its baseline, precision, recall, means, areas under curves, and what thresholds ask for."""
        keys, labels, weights = MetricKeys, loss.processed_labels, loss.weights
        ids, logistic = predictions[PredictionKeys.CLASS_IDS], predictions[PredictionKeys.LOGISTIC]
        labels_mean = head_metrics.weighted_mean(labels, weights, keys.LABEL_MEAN)
        found: MetricOps = {
            keys.ACCURACY: accuracy(labels, ids, weights=weights, name=keys.ACCURACY),
            keys.PRECISION: precision(labels, ids, weights=weights, name=keys.PRECISION),
            keys.RECALL: recall(labels, ids, weights=weights, name=keys.RECALL),
            keys.PREDICTION_MEAN: head_metrics.weighted_mean(logistic, weights, keys.PREDICTION_MEAN),
            keys.LABEL_MEAN: labels_mean,
            keys.ACCURACY_BASELINE: head_metrics.accuracy_baseline(labels_mean),
            keys.AUC: head_metrics.weighted_auc(labels, logistic, weights, "ROC", keys.AUC),
            keys.AUC_PR: head_metrics.weighted_auc(labels, logistic, weights, "PR", keys.AUC_PR),
        }
        for threshold in self._thresholds:
            found.update(metrics_at(threshold, labels, logistic, weights))
        return found


def checked_thresholds(thresholds: Sequence[float] | None) -> tuple[float, ...]:
    """Thresholds as a tuple; ValueError when one is not within (0, 1)."""
    found = tuple(thresholds or ())
    if not all(0 < each < 1 for each in found):
        raise ValueError(f"thresholds not in (0, 1): {(found,)}.")
    return found


def metrics_at(threshold: float, labels: Tensor, probabilities: Tensor, weights: Tensor | float) -> MetricOps:
    """Accuracy, precision and recall of answering yes above a probability."""
    return {
        key % threshold: metric(labels, probabilities, weights, threshold, key % threshold)
        for key, metric in (
            (MetricKeys.ACCURACY_AT_THRESHOLD, head_metrics.accuracy_at),
            (MetricKeys.PRECISION_AT_THRESHOLD, head_metrics.precision_at),
            (MetricKeys.RECALL_AT_THRESHOLD, head_metrics.recall_at),
        )
    }


def binary_or_multi_class_head(
    n_classes: int,
    weight_column: str | NumericColumn | None,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
) -> ClassHead:
    """The head for a number of classes."""
    if n_classes == 2:
        return BinaryClassHead(weight_column, None, label_vocabulary, loss_reduction)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)


def _for_each(logits: Tensor, classes: Tensor | list[str]) -> Tensor:
    return tile(expand_dims(classes, 0), [shape(logits)[0], 1])
