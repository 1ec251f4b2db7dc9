"""Metrics of right and wrong decisions at thresholds: positives and negatives, precision, recall, areas under curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from weft.framework.building.aliases import DTypeLike, Nest, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.models.metrics.confusion_matrix import confusion_matrix
from weft.models.weights_broadcast import broadcast_weights
from weft.networks.config import Config
from weft.networks.metrics.metric import Metric, paired
from weft.networks.state.defaults import epsilon
from weft.ops.array.filling import one_hot
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import reshape
from weft.ops.array.topk import top_k
from weft.ops.control_flow.ordering import group
from weft.ops.debugging.checks import assert_greater_equal, assert_less_equal
from weft.ops.linalg.matrix_parts import tensor_diag_part
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater, logical_and, logical_not, maximum, minimum, not_equal
from weft.ops.math.division import div_no_nan
from weft.ops.math.reduce_functions import argmin, reduce_sum
from weft.ops.math.unary import log

_LEAST: Final = -1e10
_COUNTS: Final = ("true_positives", "true_negatives", "false_positives", "false_negatives")
_CALLED_NEGATIVE: Final = frozenset({"true_negatives", "false_negatives"})
_NEGATIVE: Final = frozenset({"true_negatives", "false_positives"})
_Thresholds = float | Sequence[float] | None


def _checked(thresholds: _Thresholds, default: float) -> list[float]:
    given = [default] if thresholds is None else [thresholds] if isinstance(thresholds, int | float) else list(thresholds)
    wrong = [each for each in given if each is None or ((each < 0 or each > 1) and each != _LEAST)]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")
    return given


def _only_top(predictions: Tensor, k: int) -> Tensor:
    """The predictions, all but the `k` greatest of each row made as small as no threshold is."""
    _, places = top_k(predictions, k, sorted=False)
    kept = reduce_sum(one_hot(places, int(predictions.shape.as_list()[-1] or 0), axis=-1), axis=-2)
    return predictions * kept + _LEAST * (1 - kept)


def _are_probabilities(predictions: Tensor) -> list[Operation]:
    """What fails in a step whose predictions are none."""
    return [
        assert_greater_equal(predictions, 0.0, message="predictions must be >= 0"),
        assert_less_equal(predictions, 1.0, message="predictions must be <= 1"),
    ]


class _Counting(Metric):
    """A metric that counts decisions: which of the four kinds it keeps, one number for each threshold."""

    kinds: tuple[str, ...] = ()
    weight_name: str | None = None

    def __init__(self, thresholds: Sequence[float], name: str | None, dtype: DTypeLike | None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.threshold_values = list(thresholds)
        self.top_k: int | None = None
        self.class_id: int | None = None
        self.counters: dict[str, VariableLike] = {
            kind: self.add_weight(self.weight_name or kind, (len(self.threshold_values),)) for kind in self.kinds
        }

    def _count(self, y_true: Nest, y_pred: Nest, sample_weight: TensorLike | None) -> Nest:
        wanted, predicted = paired(y_true, y_pred, self._dtype)
        with get_default_graph().control_dependencies(_are_probabilities(predicted)):
            if self.top_k is not None:
                predicted = _only_top(predicted, self.top_k)
            if self.class_id is not None:
                wanted, predicted = wanted[..., self.class_id], predicted[..., self.class_id]
            is_positive = reshape(cast(wanted, dtypes.bool), [1, -1])
            limits = reshape(convert_to_tensor(self.threshold_values, dtype=predicted.dtype), [-1, 1])
            says_positive = greater(reshape(predicted, [1, -1]), limits)
            # TensorFlow repeats all of them for each threshold; later random nodes get their seeds by the count.
            get_default_graph().node_count.total += 8 if sample_weight is None else 10
            return group(*self._counted(says_positive, is_positive, self._weights_for(predicted, sample_weight)))

    def _weights_for(self, predicted: Tensor, sample_weight: TensorLike | None) -> Tensor | None:
        if sample_weight is None:
            return None
        weights = _as_wide(cast(convert_to_tensor(sample_weight), self._dtype), predicted)
        return reshape(broadcast_weights(weights, predicted), [1, -1])

    def _counted(self, says_positive: Tensor, is_positive: Tensor, weights: Tensor | None) -> Iterator[Operation]:
        kinds = self.counters.keys()
        says = {True: says_positive, False: logical_not(says_positive) if kinds & _CALLED_NEGATIVE else says_positive}
        is_ = {True: is_positive, False: logical_not(is_positive) if kinds & _NEGATIVE else is_positive}
        for kind, counter in self.counters.items():
            found = cast(logical_and(says[kind not in _CALLED_NEGATIVE], is_[kind not in _NEGATIVE]), self._dtype)
            yield counter.assign_add(reduce_sum(found if weights is None else found * weights, axis=1)).op

    def update_state(self, y_true: Nest, y_pred: Nest, sample_weight: TensorLike | None = None) -> Nest:
        """Count the decisions of a batch.

        Args:
            y_true: `[batch, ...]`, what is right.
            y_pred: what the model says, of the same shape.
            sample_weight: what each example counts, or each element, a shape that broadcasts; 1 when None.
        """
        return self._count(y_true, y_pred, sample_weight)

    def _single(self, value: Tensor) -> Tensor:
        return value[0] if len(self.threshold_values) == 1 else value


def _as_wide(weights: Tensor, values: Tensor) -> Tensor:
    missing = (values.shape.ndims or 0) - (weights.shape.ndims or 0)
    if missing == 1 and weights.shape.ndims:
        return (
            reshape(weights, [-1, *([1] * (values.shape.ndims or 1))][: values.shape.ndims])
            if weights.shape.ndims == 1
            else weights
        )
    return weights


class _OneKind(_Counting):
    weight_name = "accumulator"

    def __init__(self, thresholds: _Thresholds = None, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        self.init_thresholds = thresholds
        super().__init__(_checked(thresholds, 0.5), name, dtype)

    def result(self) -> Nest:
        """The number of decisions of this kind."""
        return self._single(convert_to_tensor(self.counters[self.kinds[0]]))

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        return {**super().get_config(), "thresholds": self.init_thresholds}


class TruePositives(_OneKind):
    """How many positives were found."""

    kinds = ("true_positives",)


class FalsePositives(_OneKind):
    """How many negatives were taken for positives."""

    kinds = ("false_positives",)


class TrueNegatives(_OneKind):
    """How many negatives were found."""

    kinds = ("true_negatives",)


class FalseNegatives(_OneKind):
    """How many positives were taken for negatives."""

    kinds = ("false_negatives",)


class _Rate(_Counting):
    """A rate of true positives among them and another kind."""

    def __init__(
        self, thresholds: _Thresholds = None, top_k: int | None = None, class_id: int | None = None,
        name: str | None = None, dtype: DTypeLike | None = None,
    ) -> None:  # fmt: skip
        super().__init__(_checked(thresholds, 0.5 if top_k is None else _LEAST), name, dtype)
        self.init_thresholds, self.top_k, self.class_id = thresholds, top_k, class_id

    def result(self) -> Nest:
        """The rate; 0 of nothing."""
        found, other = (self.counters[kind] for kind in self.kinds)
        return self._single(div_no_nan(found, found + other))

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        given = {"thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id}
        return {**super().get_config(), **given}


class Precision(_Rate):
    """How many of those taken for positives are."""

    kinds = ("true_positives", "false_positives")


class Recall(_Rate):
    """How many of the positives were found."""

    kinds = ("true_positives", "false_negatives")


def _grid(count: int) -> list[float]:
    """Thresholds from a little below 0 to a little above 1."""
    inner = [(each + 1) / (count - 1) for each in range(count - 2)]
    return [0.0 - epsilon(), *inner, 1.0 + epsilon()]


class _AtBest(_Counting):
    """A rate at the threshold where another rate is nearest to a value."""

    kinds = _COUNTS

    def __init__(self, value: float, num_thresholds: int, name: str | None, dtype: DTypeLike | None) -> None:
        if not 0 <= value <= 1:
            raise ValueError(f"`{type(self).__name__}`: the rate must be in the range [0, 1], but is {value}")
        if num_thresholds <= 0:
            raise ValueError("`num_thresholds` must be > 0.")
        self.value, self.num_thresholds = value, num_thresholds
        inner = [(each + 1) / (num_thresholds - 1) for each in range(num_thresholds - 2)]
        super().__init__([0.5] if num_thresholds == 1 else [0.0, *inner, 1.0], name, dtype)

    def _rates(self) -> tuple[Tensor, Tensor]:
        get_default_graph().node_count.total += 12  # TensorFlow takes the three counts at one threshold each.
        positives, negatives = self.counters["true_positives"], self.counters["true_negatives"]
        return (
            div_no_nan(positives, positives + self.counters["false_negatives"]),
            div_no_nan(negatives, negatives + self.counters["false_positives"]),
        )


class SensitivityAtSpecificity(_AtBest):
    """The part of positives found, at the threshold where the part of negatives found is nearest to `specificity`.

    Args:
        specificity: the part of negatives to be found, 0 to 1.
        num_thresholds: how many thresholds are tried, evenly from 0 to 1.
        name: the name of the metric and the prefix of its variables.
        dtype: the dtype of values and variables; `floatx()` when None.
    """

    def __init__(
        self, specificity: float, num_thresholds: int = 200, name: str | None = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(specificity, num_thresholds, name, dtype)

    def result(self) -> Nest:
        """The rate so far."""
        sensitivities, specificities = self._rates()
        return sensitivities[cast(argmin(abs(specificities - self.value), axis=0), dtypes.int32)]

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        return {**super().get_config(), "num_thresholds": self.num_thresholds, "specificity": self.value}


class SpecificityAtSensitivity(_AtBest):
    """The part of negatives found, at the threshold where the part of positives found is nearest to `sensitivity`.

    Args:
        sensitivity: the part of positives to be found, 0 to 1.
        num_thresholds: how many thresholds are tried, evenly from 0 to 1.
        name: the name of the metric and the prefix of its variables.
        dtype: the dtype of values and variables; `floatx()` when None.
    """

    def __init__(
        self, sensitivity: float, num_thresholds: int = 200, name: str | None = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(sensitivity, num_thresholds, name, dtype)

    def result(self) -> Nest:
        """The rate so far."""
        sensitivities, specificities = self._rates()
        return specificities[cast(argmin(abs(sensitivities - self.value), axis=0), dtypes.int32)]

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        return {**super().get_config(), "num_thresholds": self.num_thresholds, "sensitivity": self.value}


class AUC(_Counting):
    """The area under the ROC or precision-recall curve, from counts at many thresholds.

    Args:
        num_thresholds: how many.
        curve: "ROC" or "PR".
        summation_method: "interpolation", "minoring" or "majoring".
        name: its name.
        dtype: the type of its variables.
        thresholds: the inner thresholds, instead of `num_thresholds` even ones.

    Raises:
        ValueError: another curve or method, fewer than two thresholds, or some outside [0, 1].
    """

    kinds = _COUNTS

    def __init__(
        self, num_thresholds: int = 200, curve: str = "ROC", summation_method: str = "interpolation",
        name: str | None = None, dtype: DTypeLike | None = None, thresholds: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        if curve not in ("ROC", "PR"):
            raise ValueError(f'Invalid curve: "{curve}". Valid options are: "[ROC, PR]"')
        if summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError(f"Invalid AUC summation method value: {summation_method}: interpolation, minoring or majoring")
        if thresholds is None:
            if num_thresholds <= 1:
                raise ValueError("`num_thresholds` must be > 1.")
            values = _grid(num_thresholds)
        else:
            values = [0.0 - epsilon(), *sorted(_checked(thresholds, 0.5)), 1.0 + epsilon()]
        super().__init__(values, name, dtype)
        self.num_thresholds, self.curve, self.summation_method = len(values), curve, summation_method
        self.init_thresholds = values[1:-1]

    def _interpolated_pr(self) -> Tensor:
        """The area under precision and recall, interpolated as Davis and Goadrich (2006) say."""
        true, false = self.counters["true_positives"], self.counters["false_positives"]
        positives = true + self.counters["false_negatives"]
        last = self.num_thresholds - 1
        d_true = true[:last] - true[1:]
        taken = true + false
        d_taken = taken[:last] - taken[1:]
        slope = div_no_nan(d_true, maximum(d_taken, 0.0))
        start = true[1:] - slope * taken[1:]
        both = logical_and(greater(taken[:last], 0.0), greater(taken[1:], 0.0))
        ratio = where(both, div_no_nan(taken[:last], maximum(taken[1:], 0.0)), taken[1:] * 0.0 + 1.0)
        get_default_graph().node_count.total += 3  # Each read of a slice has a node there.
        return reduce_sum(div_no_nan(slope * (d_true + start * log(ratio)), maximum(positives[1:], 0.0)))

    def result(self) -> Nest:
        """The area so far."""
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self._interpolated_pr()
        true, false = self.counters["true_positives"], self.counters["false_positives"]
        recall = div_no_nan(true, true + self.counters["false_negatives"])
        if self.curve == "ROC":
            x, y = div_no_nan(false, false + self.counters["true_negatives"]), recall
        else:
            x, y = recall, div_no_nan(true, true + false)
        last = self.num_thresholds - 1
        if self.summation_method == "interpolation":
            heights = (y[:last] + y[1:]) / 2.0
        else:
            heights = (minimum if self.summation_method == "minoring" else maximum)(y[:last], y[1:])
        return reduce_sum((x[:last] - x[1:]) * heights)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        given = {"num_thresholds": self.num_thresholds, "curve": self.curve, "summation_method": self.summation_method}
        return {**super().get_config(), **given, "thresholds": self.init_thresholds}


class MeanIoU(Metric):
    """The mean over classes of what prediction and target share by what either has.

    Args:
        num_classes: the number of classes; targets and predictions are from 0 up to it.
        name: the name of the metric and the prefix of its variables.
        dtype: the dtype of values and variables; `floatx()` when None.
    """

    def __init__(self, num_classes: int, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight("total_confusion_matrix", (num_classes, num_classes), dtype=dtypes.float64)

    def update_state(self, y_true: Nest, y_pred: Nest, sample_weight: TensorLike | None = None) -> Nest:
        """Count a batch.

        Args:
            y_true: `[batch, ...]`, what is right.
            y_pred: what the model says, of the same shape.
            sample_weight: what each example counts, or each element, a shape that broadcasts; 1 when None.
        """
        flat = [_flat(each) for each in (y_true, y_pred)]
        weights = None if sample_weight is None else _flat(sample_weight)
        counts = confusion_matrix(flat[0], flat[1], num_classes=self.num_classes, weights=weights, dtype=dtypes.float64)
        return self.total_cm.assign_add(counts).op

    def result(self) -> Nest:
        """The mean over the classes that occurred."""
        rows = cast(reduce_sum(self.total_cm, axis=0), self._dtype)
        columns = cast(reduce_sum(self.total_cm, axis=1), self._dtype)
        shared = cast(tensor_diag_part(self.total_cm), self._dtype)
        either = rows + columns - shared
        known = reduce_sum(cast(not_equal(either, 0.0), self._dtype))
        return div_no_nan(reduce_sum(div_no_nan(shared, either)), known)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        return {**super().get_config(), "num_classes": self.num_classes}


def _flat(values: TensorLike) -> Tensor:
    tensor = convert_to_tensor(values)
    return tensor if tensor.shape.ndims == 1 else reshape(tensor, [-1])
