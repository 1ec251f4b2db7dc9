"""The heads of tf.estimator that tell classes: one of two, one of several, or any of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from weft.estimators.canned import class_heads as plain
from weft.estimators.canned import multi_label_head as plain_multi_label
from weft.estimators.canned.head import LossSpec
from weft.estimators.canned.head_inputs import LossFn
from weft.estimators.canned.keys import MetricKeys, PredictionKeys
from weft.framework.building.aliases import DTypeLike, Nest
from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.numeric import NumericColumn
from weft.models.weights_broadcast import broadcast_weights
from weft.networks.heads.simple_head import SimpleHead, kinds_at, mean_with_weights, plain_reduction
from weft.networks.losses import Reduction
from weft.networks.metrics.catalog import Accuracy
from weft.networks.metrics.confusion import AUC, Precision, Recall
from weft.networks.metrics.metric import Mean, Metric
from weft.ops.control_flow.ordering import no_op
from weft.ops.math.comparison import maximum
from weft.ops.math.division import div_no_nan

_OF_CLASSES = (
    PredictionKeys.PROBABILITIES, PredictionKeys.CLASS_IDS, PredictionKeys.CLASSES, PredictionKeys.ALL_CLASS_IDS,
    PredictionKeys.ALL_CLASSES,
)  # fmt: skip


class AccuracyBaseline(Metric):
    """The accuracy of always answering the more frequent one of two classes.

    It has no state of its own: it is told the mean of the labels, and reads what that gathers.
    """

    def __init__(self, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self._label_means: list[Mean] = []

    def update_state(self, label_mean: Mean) -> Nest:
        """Tell whose values it reads; they come by that metric's own update."""
        self.__dict__["_label_means"] = [label_mean]
        return no_op()

    def result(self) -> Nest:
        """The share of the more frequent class; 0 of no labels."""
        (label_mean,) = self.__dict__["_label_means"]
        total, count = label_mean.total, label_mean.count
        return div_no_nan(maximum(total, count - total), count)


class BinaryClassHead(SimpleHead):
    """One of two classes, by a single logit and sigmoid cross entropy.

        head = tf.estimator.BinaryClassHead()
        spec = head.create_estimator_spec(features, mode, logits, labels, tf.keras.optimizers.Adam(), tf.trainable_variables())

    Args:
        weight_column: the feature with the weights of examples, or its numeric column.
        thresholds: probabilities within (0, 1) at which to tell accuracy, precision and recall.
        label_vocabulary: the two classes' names, if labels are names; else labels are 0 and 1, `[..., 1]` or `[...]`.
        loss_reduction: of `tf.keras.losses.Reduction`, but NONE.
        loss_fn: makes the losses of examples from `labels`, `logits` and perhaps `features`, instead of the head's own.
        name: added to the keys of summaries and metrics.

    Raises:
        ValueError: the vocabulary is no list, or a threshold, the reduction or the function is none.
    """

    def __init__(
        self,
        weight_column: str | NumericColumn | None = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        name: str | None = None,
    ) -> None:
        _check_vocabulary(label_vocabulary)
        reduction = plain_reduction(loss_reduction)
        known = plain.BinaryClassHead(weight_column, thresholds, label_vocabulary, reduction, loss_fn, name)
        super().__init__(known, loss_reduction, (PredictionKeys.LOGITS, PredictionKeys.LOGISTIC, *_OF_CLASSES))
        self._thresholds = tuple(thresholds or ())

    def kinds(self) -> dict[str, Callable[..., Metric]]:
        """Accuracy and its baseline, precision, recall, means, areas under curves, and what thresholds ask for."""
        keys = MetricKeys
        return {
            keys.ACCURACY: Accuracy, keys.PRECISION: Precision, keys.RECALL: Recall, keys.PREDICTION_MEAN: Mean,
            keys.LABEL_MEAN: Mean, keys.ACCURACY_BASELINE: AccuracyBaseline, keys.AUC: AUC,
            keys.AUC_PR: partial(AUC, curve="PR"), **kinds_at(self._thresholds),
        }  # fmt: skip

    def update_own(self, metrics: dict[str, Metric], predictions: dict[str, Tensor], loss: LossSpec) -> None:
        """Let the metrics take in a batch."""
        keys, labels, weights = MetricKeys, loss.processed_labels, loss.weights
        ids, logistic = predictions[PredictionKeys.CLASS_IDS], predictions[PredictionKeys.LOGISTIC]
        for key in (keys.ACCURACY, keys.PRECISION, keys.RECALL):
            metrics[key].update_state(labels, ids, sample_weight=weights)
        mean_with_weights(metrics[keys.PREDICTION_MEAN], logistic, weights)
        mean_with_weights(metrics[keys.LABEL_MEAN], labels, weights)
        metrics[keys.ACCURACY_BASELINE].update_state(metrics[keys.LABEL_MEAN])
        for key in (keys.AUC, keys.AUC_PR):
            metrics[key].update_state(labels, logistic, sample_weight=broadcast_weights(weights, logistic))
        for key in kinds_at(self._thresholds):
            metrics[key].update_state(labels, logistic, sample_weight=weights)


class MultiClassHead(SimpleHead):
    """One of more than two classes, by softmax and cross entropy.

    Args:
        n_classes: how many; labels are their numbers, `[..., 1]` or `[...]`.
        weight_column: see BinaryClassHead.
        label_vocabulary: the classes' names, if labels are names.
        loss_reduction, loss_fn, name: see BinaryClassHead.

    Raises:
        ValueError: there are too few classes, the vocabulary has more or fewer, or the reduction or the function is none.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: str | NumericColumn | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        name: str | None = None,
    ) -> None:
        _check_vocabulary(label_vocabulary)
        reduction = plain_reduction(loss_reduction)
        known = plain.MultiClassHead(n_classes, weight_column, label_vocabulary, reduction, loss_fn, name)
        if label_vocabulary is not None and len(label_vocabulary) != n_classes:
            raise ValueError(
                f'"label_vocabulary" does not have "n_classes" items. len(label_vocabulary)={len(label_vocabulary)}, '
                f"n_classes={n_classes}, label_vocabulary={label_vocabulary}"
            )
        super().__init__(known, loss_reduction, (PredictionKeys.LOGITS, *_OF_CLASSES))

    def kinds(self) -> dict[str, Callable[..., Metric]]:
        """The accuracy."""
        return {MetricKeys.ACCURACY: Accuracy}

    def update_own(self, metrics: dict[str, Metric], predictions: dict[str, Tensor], loss: LossSpec) -> None:
        """Let the accuracy take in a batch."""
        ids = predictions[PredictionKeys.CLASS_IDS]
        metrics[MetricKeys.ACCURACY].update_state(loss.processed_labels, ids, sample_weight=loss.weights)


class MultiLabelHead(SimpleHead):
    """Any of several classes, by a logit and sigmoid cross entropy for each.

    Args:
        n_classes: how many there are; labels are ones and zeros `[..., n_classes]`, or a SparseTensor of numbers or names.
        weight_column, thresholds: see BinaryClassHead.
        label_vocabulary: the classes' names, if labels are names.
        loss_reduction, loss_fn: see BinaryClassHead.
        classes_for_class_based_metrics: numbers or names of classes that get metrics of their own.
        name: see BinaryClassHead.

    Raises:
        ValueError: there are too few classes, or a threshold, the vocabulary, a class, the reduction or the function is none.
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
        known = plain_multi_label.MultiLabelHead(
            n_classes, weight_column, thresholds, label_vocabulary, plain_reduction(loss_reduction), loss_fn,
            classes_for_class_based_metrics, name,
        )  # fmt: skip
        super().__init__(known, loss_reduction, (PredictionKeys.LOGITS, PredictionKeys.PROBABILITIES))
        self._thresholds, self._told_classes = tuple(thresholds or ()), known.told_classes()

    def kinds(self) -> dict[str, Callable[..., Metric]]:
        """Areas under curves, what thresholds ask for, and what classes have of their own."""
        keys = MetricKeys
        made: dict[str, Callable[..., Metric]] = {
            keys.AUC: AUC, keys.AUC_PR: partial(AUC, curve="PR"), **kinds_at(self._thresholds),
        }  # fmt: skip
        for own in self._told_classes.values():
            made.update({own.mean: Mean, own.area: AUC, own.area_pr: partial(AUC, curve="PR")})
        return made

    def update_own(self, metrics: dict[str, Metric], predictions: dict[str, Tensor], loss: LossSpec) -> None:
        """Let the metrics take in a batch."""
        labels, weights = loss.processed_labels, loss.weights
        found = predictions[PredictionKeys.PROBABILITIES]
        for key in (MetricKeys.AUC, MetricKeys.AUC_PR, *kinds_at(self._thresholds)):
            metrics[key].update_state(labels, found, sample_weight=weights)
        for number, own in self._told_classes.items():
            own_found, own_labels = found[..., number : number + 1], labels[..., number : number + 1]
            mean_with_weights(metrics[own.mean], own_found, weights)
            for key in (own.area, own.area_pr):
                metrics[key].update_state(own_labels, own_found, sample_weight=weights)


def _check_vocabulary(label_vocabulary: Sequence[str] | None) -> None:
    if label_vocabulary is not None and not isinstance(label_vocabulary, list | tuple):
        raise ValueError(f"label_vocabulary should be a list or a tuple. Given type: {type(label_vocabulary)}")
