"""All metrics by name, and what stands for them in `compile`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

from weft.framework.building.aliases import DTypeLike, Nest
from weft.framework.nodes.operation import Tensor
from weft.networks import loss_functions, losses
from weft.networks.config import Config, Options
from weft.networks.metrics import confusion, functions, metric
from weft.networks.metrics.metric import MeanMetricWrapper, Metric
from weft.networks.objects import registry

_COMMON_ARGS: Final = """\
    name: the name of the metric and the prefix of its variables.
    dtype: the dtype of values and variables; `floatx()` when None.
"""
_OPTIONS: Final = {
    "axis": "the dimension of the vectors, or of the classes.",
    "from_logits": "whether predictions are logits, not probabilities.",
    "k": "how many of the likeliest classes count.",
    "label_smoothing": "how far, from 0 to 1, targets go towards even ones.",
    "threshold": "above it a prediction counts as 1.",
}


def _mean_of(what: str, fn: Callable[..., Tensor], label: str, doc: str) -> type[MeanMetricWrapper]:
    def __init__(self: MeanMetricWrapper, name: str | None = label, dtype: DTypeLike | None = None) -> None:
        MeanMetricWrapper.__init__(self, fn, name, dtype)

    return _metric_class(what, f"{doc}\n\nArgs:\n{_COMMON_ARGS}", __init__)


def _with_option(what: str, fn: Callable[..., Tensor], label: str, doc: str, **options: Any) -> type[MeanMetricWrapper]:
    common = {"name": label, "dtype": None}
    defaults = {**options, **common} if "k" in options else {**common, **options}
    anywhere = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [inspect.Parameter("self", anywhere), *(inspect.Parameter(each, anywhere, default=defaults[each]) for each in defaults)]
    )

    def __init__(*args: Any, **kwargs: Options) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        MeanMetricWrapper.__init__(given.pop("self"), fn, **given)

    __init__.__signature__ = signature  # type: ignore[attr-defined]

    told = "".join(f"    {each}: {_OPTIONS[each]}\n" for each in options)
    return _metric_class(what, f"{doc}\n\nArgs:\n{told}{_COMMON_ARGS}", __init__)


def _metric_class(what: str, doc: str, init: Callable[..., None]) -> type[MeanMetricWrapper]:
    return type(what, (MeanMetricWrapper,), {"__init__": init, "__doc__": doc, "__module__": __name__})


Accuracy = _mean_of("Accuracy", functions.accuracy, "accuracy", "How often predictions equal targets.")
BinaryAccuracy = _with_option(
    "BinaryAccuracy", functions.binary_accuracy, "binary_accuracy",
    "How often elements are on the right side of `threshold`.", threshold=0.5,
)  # fmt: skip
CategoricalAccuracy = _mean_of(
    "CategoricalAccuracy", functions.categorical_accuracy, "categorical_accuracy", "How often the likeliest class is right."
)
SparseCategoricalAccuracy = _mean_of(
    "SparseCategoricalAccuracy", functions.sparse_categorical_accuracy, "sparse_categorical_accuracy",
    "How often the likeliest class has the number that is the target.",
)  # fmt: skip
TopKCategoricalAccuracy = _with_option(
    "TopKCategoricalAccuracy", functions.top_k_categorical_accuracy, "top_k_categorical_accuracy",
    "How often the right class is among the `k` likeliest.", k=5,
)  # fmt: skip
SparseTopKCategoricalAccuracy = _with_option(
    "SparseTopKCategoricalAccuracy", functions.sparse_top_k_categorical_accuracy, "sparse_top_k_categorical_accuracy",
    "How often the number that is the target is among the `k` likeliest classes.", k=5,
)  # fmt: skip
CosineSimilarity = _with_option(
    "CosineSimilarity", loss_functions.cosine_proximity, "cosine_similarity",
    "The mean cosine of the angle between targets and predictions.", axis=-1,
)  # fmt: skip
MeanAbsoluteError = _mean_of(
    "MeanAbsoluteError", loss_functions.mean_absolute_error, "mean_absolute_error", "The mean of the magnitudes of differences."
)
MeanAbsolutePercentageError = _mean_of(
    "MeanAbsolutePercentageError", loss_functions.mean_absolute_percentage_error, "mean_absolute_percentage_error",
    "The mean of differences by targets, in percent.",
)  # fmt: skip
MeanSquaredError = _mean_of(
    "MeanSquaredError", loss_functions.mean_squared_error, "mean_squared_error", "The mean of squared differences."
)
MeanSquaredLogarithmicError = _mean_of(
    "MeanSquaredLogarithmicError", loss_functions.mean_squared_logarithmic_error, "mean_squared_logarithmic_error",
    "The mean of squared differences of `log(x + 1)`.",
)  # fmt: skip
Hinge = _mean_of("Hinge", loss_functions.hinge, "hinge", "The mean hinge loss.")
SquaredHinge = _mean_of("SquaredHinge", loss_functions.squared_hinge, "squared_hinge", "The mean squared hinge loss.")
CategoricalHinge = _mean_of(
    "CategoricalHinge", loss_functions.categorical_hinge, "categorical_hinge", "The mean hinge loss of classes."
)
LogCoshError = _mean_of("LogCoshError", loss_functions.logcosh, "logcosh", "The mean log-cosh error.")
Poisson = _mean_of("Poisson", loss_functions.poisson, "poisson", "The mean Poisson loss.")
KLDivergence = _mean_of(
    "KLDivergence", loss_functions.kullback_leibler_divergence, "kullback_leibler_divergence", "The mean divergence."
)
BinaryCrossentropy = _with_option(
    "BinaryCrossentropy", loss_functions.binary_crossentropy, "binary_crossentropy", "The mean binary cross-entropy.",
    from_logits=False, label_smoothing=0,
)  # fmt: skip
CategoricalCrossentropy = _with_option(
    "CategoricalCrossentropy", loss_functions.categorical_crossentropy, "categorical_crossentropy",
    "The mean cross-entropy of distributions.", from_logits=False, label_smoothing=0,
)  # fmt: skip
SparseCategoricalCrossentropy = _with_option(
    "SparseCategoricalCrossentropy", loss_functions.sparse_categorical_crossentropy, "sparse_categorical_crossentropy",
    "The mean cross-entropy of the right classes' numbers.", from_logits=False, axis=-1,
)  # fmt: skip

_CLASSES: Final = (
    Accuracy, BinaryAccuracy, BinaryCrossentropy, CategoricalAccuracy, CategoricalCrossentropy, CategoricalHinge,
    CosineSimilarity, Hinge, KLDivergence, LogCoshError, MeanAbsoluteError, MeanAbsolutePercentageError, MeanSquaredError,
    MeanSquaredLogarithmicError, Poisson, SparseCategoricalAccuracy, SparseCategoricalCrossentropy,
    SparseTopKCategoricalAccuracy, SquaredHinge, TopKCategoricalAccuracy, confusion.AUC, confusion.FalseNegatives,
    confusion.FalsePositives, confusion.MeanIoU, confusion.Precision, confusion.Recall, confusion.SensitivityAtSpecificity,
    confusion.SpecificityAtSensitivity, confusion.TrueNegatives, confusion.TruePositives, metric.Mean,
    metric.MeanRelativeError, metric.MeanTensor, metric.RootMeanSquaredError, metric.Sum,
)  # fmt: skip
_FUNCTIONS: Final = (
    functions.accuracy, functions.binary_accuracy, functions.categorical_accuracy, functions.sparse_categorical_accuracy,
    functions.sparse_top_k_categorical_accuracy, functions.top_k_categorical_accuracy,
)  # fmt: skip
OBJECTS: Final[Config] = {
    **losses.FUNCTIONS, **{each.__name__: each for each in (*_CLASSES, *_FUNCTIONS)},
}  # fmt: skip

deserialize = registry.deserializer(OBJECTS, "metric function")
serialize = registry.serializer("metric")


def get(identifier: Nest) -> Nest:
    """The metric that a name, a config, or itself stands for.

    Args:
        identifier: a name such as "accuracy", a config, a function or Metric.

    Raises:
        ValueError: nobody knows it.
    """
    if isinstance(identifier, str | dict):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret metric function identifier: {identifier}")


def metric_name(given: Nest, is_weighted: bool) -> str:
    """The name under which a metric of `compile` is reported."""
    prefix = "weighted_" if is_weighted else ""
    if isinstance(given, str) and given in ("accuracy", "acc"):
        return f"{prefix}acc"
    if isinstance(given, str) and given in ("crossentropy", "ce"):
        return f"{prefix}ce"
    found = get(given)
    return prefix + str(getattr(found, "name", None) or found.__name__)


def metric_object(given: Nest, is_weighted: bool, output: Tensor, loss: Nest) -> Metric:
    """The metric that `compile` means: "accuracy" and "crossentropy" go by the loss and the output's shape."""
    name = metric_name(given, is_weighted)
    found = _by_loss(given, output, loss) if isinstance(given, str) and given in _SHORT else get(given)
    return found if isinstance(found, Metric) else MeanMetricWrapper(found, name=name)


_SHORT: Final = ("accuracy", "acc", "crossentropy", "ce")


def _by_loss(given: str, output: Tensor, loss: Nest) -> Callable[..., Tensor]:
    fn = getattr(loss, "fn", None)
    is_accuracy = given in ("accuracy", "acc")
    if output.shape.as_list()[-1] == 1 or fn is loss_functions.binary_crossentropy:
        return functions.binary_accuracy if is_accuracy else loss_functions.binary_crossentropy
    if fn is loss_functions.sparse_categorical_crossentropy:
        return functions.sparse_categorical_accuracy if is_accuracy else loss_functions.sparse_categorical_crossentropy
    return functions.categorical_accuracy if is_accuracy else loss_functions.categorical_crossentropy
