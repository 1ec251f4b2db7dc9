"""MetricSpec: a metric function, and which predictions, labels and weights it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.compat.function_signatures import fn_args, get_func_name
from weft.framework.types.printed import printed
from weft.platform.logs import tf_logging

_LABELS: Final = ("labels", "label", "targets", "target")
_PREDICTIONS: Final = ("predictions", "prediction", "logits", "logit")
_WEIGHTS: Final = ("weights", "weight")


class MetricSpec:
    """A metric for `evaluate(metrics={name: MetricSpec(...)})`.

    Args:
        metric_fn: takes predictions and labels, by these or like names or in this order, and perhaps weights; returns a pair of
            value and update.
        prediction_key: which of several predictions it takes.
        label_key: which of several labels.
        weight_key: the feature with the weights.

    Raises:
        ValueError: the function does not take what a key names, or takes it under two names.
    """

    __repr__ = printed("tf.contrib.learn")

    def __init__(
        self,
        metric_fn: Callable[..., Nest],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ) -> None:
        self._metric_fn_name = get_func_name(metric_fn)
        self._fn = metric_fn
        taken = fn_args(metric_fn)
        self._names = {
            "labels": _taken(self._metric_fn_name, taken, _LABELS, label_key is not None),
            "predictions": _taken(self._metric_fn_name, taken, _PREDICTIONS, False),
            "weights": _taken(self._metric_fn_name, taken, _WEIGHTS, weight_key is not None),
        }
        self._prediction_key = prediction_key
        self._label_key = label_key
        self._weight_key = weight_key

    @property
    def prediction_key(self) -> str | None:
        """Which of several predictions the metric takes."""
        return self._prediction_key

    @property
    def label_key(self) -> str | None:
        """Which of several labels."""
        return self._label_key

    @property
    def weight_key(self) -> str | None:
        """The feature with the weights."""
        return self._weight_key

    @property
    def metric_fn(self) -> Callable[..., Nest]:
        """The function with the arguments `labels`, `predictions` and `weights`."""

        def named(labels: Nest = None, predictions: Nest = None, weights: Nest = None) -> Nest:
            given = {"labels": labels, "weights": weights, "predictions": predictions}
            named_arguments = {
                name: given[part]
                for part, name in self._names.items()
                if name is not None and not (part == "weights" and weights is None)
            }
            # A function whose predictions have no name of their own takes them first.
            return self._fn(**named_arguments) if self._names["predictions"] else self._fn(predictions, **named_arguments)

        return named

    def __str__(self) -> str:
        return (
            f"MetricSpec(metric_fn={self._metric_fn_name}, prediction_key={self.prediction_key}, label_key={self.label_key}, "
            f"weight_key={self.weight_key})"
        )

    def create_metric_ops(self, inputs: Mapping[str, Nest], labels: Nest, predictions: Nest) -> Nest:
        """The pair of value and update.

        Args:
            inputs: features; the weights are among them.
            labels, predictions: one tensor, or several by name.

        Raises:
            ValueError: there are several and no key, or a key and one.
            KeyError: there are none of this key.
        """
        prediction = _chosen("prediction", predictions, self.prediction_key)
        label = _chosen("label", labels, self.label_key)
        weights = inputs[self.weight_key] if self.weight_key else None
        return self.metric_fn(labels=label, predictions=prediction, weights=weights)


def _taken(function: str, arguments: tuple[str, ...], candidates: tuple[str, ...], is_required: bool) -> str | None:
    found = [name for name in candidates if name in arguments]
    if len(found) > 1:
        raise ValueError(f"Ambiguous arguments {set(found)}, must provide only one of {set(candidates)}.")
    if not found:
        if is_required:
            raise ValueError(f"{set(candidates)} missing from {function}({arguments}).")
        return None
    if found[0] != candidates[0]:
        tf_logging.warning("Canonical arg %s missing from %s(%s), using %s.", candidates[0], function, arguments, found[0])
    return found[0]


def _chosen(name: str, tensors: Nest, key: str | None) -> Nest:
    if key is not None:
        if not isinstance(tensors, dict):
            raise ValueError(
                f"MetricSpec with {name}_key specified requires {name}s dict, got {tensors}.\nYou must not provide a "
                f"{name}_key if you only have a single Tensor as {name}s."
            )
        if key not in tensors:
            raise KeyError(f"Key '{key}' missing from {tensors.keys()}.")
        return tensors[key]
    if not isinstance(tensors, dict):
        return tensors
    if len(tensors) != 1:
        raise ValueError(
            f"MetricSpec without specified {name}_key requires {name}s tensor or single element dict, got {tensors}"
        )
    return next(iter(tensors.values()))
