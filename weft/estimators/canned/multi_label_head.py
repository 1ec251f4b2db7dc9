"""MultiLabelHead: any of several classes for each example, by a logit and sigmoid cross entropy for each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weft.estimators.aliases import Features, Labels, MetricOps
from weft.estimators.canned import head_metrics
from weft.estimators.canned.class_heads import ClassHead, checked_thresholds, metrics_at
from weft.estimators.canned.head import LossSpec
from weft.estimators.canned.head_inputs import LossFn, as_floats, called_loss_fn, checked_labels, checked_range
from weft.estimators.canned.keys import MetricKeys, PredictionKeys
from weft.estimators.export.export_output import ExportOutput, PredictOutput
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.feature_columns.numeric import NumericColumn
from weft.models.losses import Reduction
from weft.ops.math.casting import cast
from weft.ops.math.reduce_functions import reduce_mean
from weft.ops.math.unary import sigmoid
from weft.ops.nn.loss import sigmoid_cross_entropy_with_logits
from weft.ops.sparse.tensors import sparse_to_indicator
from weft.training.saved_model import layout


class ClassMetrics(NamedTuple):
    """The keys of one class's metrics: its mean probability, and the areas under its two curves."""

    mean: str
    area: str
    area_pr: str


class MultiLabelHead(ClassHead):
    """Any of several classes.

    Args:
        n_classes: how many there are; labels are ones and zeros `[..., n_classes]`, or a SparseTensor of numbers or names.
        weight_column: see Head.
        thresholds: probabilities within (0, 1) at which to tell accuracy, precision and recall.
        label_vocabulary: the classes' names, if labels are names.
        loss_reduction, loss_fn: see Head.
        classes_for_class_based_metrics: numbers or names of classes that get metrics of their own.
        name: see Head.

    Raises:
        ValueError: there are too few classes, or a threshold, the vocabulary or a class is none.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: str | NumericColumn | None = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        classes_for_class_based_metrics: Sequence[int | str] | None = None,
        name: str | None = None,
    ) -> None:
        if n_classes is None or n_classes < 2:
            raise ValueError(f"n_classes must be > 1 for multi-label classification. Given: {n_classes}")
        if label_vocabulary is not None and not isinstance(label_vocabulary, list | tuple):
            raise ValueError(f"label_vocabulary must be a list or tuple. Given type: {type(label_vocabulary)}")
        if label_vocabulary is not None and len(label_vocabulary) != n_classes:
            raise ValueError(f"Length of label_vocabulary must equal n_classes. Given: {len(label_vocabulary)} != {n_classes}")
        self._thresholds = checked_thresholds(thresholds)
        self._told_classes = _class_numbers(classes_for_class_based_metrics or (), n_classes, label_vocabulary)
        super().__init__(n_classes, label_vocabulary, weight_column, loss_reduction, loss_fn, name)

    @property
    def logits_dimension(self) -> int:
        """The number of classes."""
        return self._n_classes

    def create_loss(self, features: Features, mode: str, logits: Tensor, labels: Labels) -> LossSpec:
        """The mean of the classes' cross entropies of each example."""
        ones = checked_labels(self._ones(labels), logits, self._n_classes)
        if self._loss_fn is not None:
            losses = called_loss_fn(self._loss_fn, ones, logits, features)
        else:
            by_class = sigmoid_cross_entropy_with_logits(labels=as_floats(ones), logits=logits)
            losses = reduce_mean(by_class, axis=-1, keepdims=True)
        return self.loss_spec(features, logits, ones, losses)

    def _ones(self, labels: Labels) -> Labels:
        if labels is None:
            return None
        if not isinstance(labels, SparseTensor):
            return checked_range(labels, 2)
        numbers = labels.values
        if numbers.dtype == dtypes.string:
            numbers = self.label_numbers(numbers)
        elif not numbers.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {numbers.dtype}.")
        known = SparseTensor(labels.indices, checked_range(numbers, self._n_classes), labels.dense_shape)
        return cast(sparse_to_indicator(known, self._n_classes), dtypes.int64)

    def predictions(self, logits: Tensor) -> dict[str, Tensor]:
        """Logits and probabilities."""
        return {
            PredictionKeys.LOGITS: logits,
            PredictionKeys.PROBABILITIES: sigmoid(logits, name=PredictionKeys.PROBABILITIES),
        }

    def export_outputs(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        """The probabilities of all classes, which are the default, and all predictions."""
        classification = self.classification(predictions)
        return {
            layout.DEFAULT_SERVING_SIGNATURE_DEF_KEY: classification,
            "classification": classification,
            "predict": PredictOutput(predictions),
        }

    def metrics(self, predictions: dict[str, Tensor], loss: LossSpec) -> MetricOps:
        """Areas under curves, what thresholds ask for, and what classes have of their own."""
        keys, labels, weights = MetricKeys, loss.processed_labels, loss.weights
        found = predictions[PredictionKeys.PROBABILITIES]
        metrics: MetricOps = {
            keys.AUC: head_metrics.weighted_auc(labels, found, weights, "ROC", keys.AUC),
            keys.AUC_PR: head_metrics.weighted_auc(labels, found, weights, "PR", keys.AUC_PR),
        }
        for threshold in self._thresholds:
            metrics.update(metrics_at(threshold, labels, found, weights))
        for number, own in self.told_classes().items():
            own_found, own_labels = found[:, number : number + 1], labels[:, number : number + 1]
            metrics[own.mean] = head_metrics.weighted_mean(own_found, weights, own.mean)
            metrics[own.area] = head_metrics.weighted_auc(own_labels, own_found, weights, "ROC", own.area)
            metrics[own.area_pr] = head_metrics.weighted_auc(own_labels, own_found, weights, "PR", own.area_pr)
        return metrics

    def told_classes(self) -> dict[int, ClassMetrics]:
        """The keys of the metrics of the classes that have some of their own, by the classes' numbers."""
        vocabulary = self._label_vocabulary
        names = {each: f"class{each}" if vocabulary is None else vocabulary[each] for each in self._told_classes}
        return {
            number: ClassMetrics(f"probability_mean/{name}", f"auc/{name}", f"auc_precision_recall/{name}")
            for number, name in names.items()
        }


def _class_numbers(classes: Sequence[int | str], n_classes: int, label_vocabulary: Sequence[str] | None) -> tuple[int, ...]:
    numbers = []
    for each in classes:
        if isinstance(each, str):
            if label_vocabulary is None:
                raise ValueError("label_vocabulary must be provided when classes_for_class_based_metrics are sting.")
            numbers.append(label_vocabulary.index(each))
        elif 0 <= each < n_classes:
            numbers.append(each)
        else:
            raise ValueError(f"All classes_for_class_based_metrics must be in range [0, {n_classes - 1}]. Given: {each}")
    return tuple(numbers)
