"""tf.keras.losses: objects that make one number of targets and predictions, and what stands for them in `compile`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Self

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.printed import printed
from weft.models.weights_broadcast import broadcast_weights
from weft.networks import loss_functions as functions
from weft.networks.config import Config, Options
from weft.networks.objects import registry
from weft.ops.array.shape_ops import expand_dims, size, squeeze
from weft.ops.math.casting import cast
from weft.ops.math.division import div_no_nan
from weft.ops.math.elementwise import mul
from weft.ops.math.reduce_functions import reduce_sum


class Reduction:
    """How the losses of a batch become one."""

    AUTO: Final = "auto"
    NONE: Final = "none"
    SUM: Final = "sum"
    SUM_OVER_BATCH_SIZE: Final = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them."""
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key: str) -> None:
        """Check that a key is one of them.

        Args:
            key: a way of reducing losses.

        Raises:
            ValueError: it is none.
        """
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. Keys are {', '.join(sorted(set(cls.all())))}.")


def fitted_weights(weights: TensorLike, values: Tensor) -> Tensor:
    """Weights with as many dimensions as the values, where one is missing or one of size 1 too many at the end."""
    given = cast(convert_to_tensor(weights), values.dtype)
    if given.shape.ndims is None or values.shape.ndims is None or given.shape.ndims == 0:
        return given
    if given.shape.ndims - values.shape.ndims == 1:
        return squeeze(given, [-1])
    return expand_dims(given, -1) if values.shape.ndims - given.shape.ndims == 1 else given


def compute_weighted_loss(
    losses: TensorLike, sample_weight: TensorLike | None = None, reduction: str = Reduction.SUM_OVER_BATCH_SIZE
) -> Tensor:
    """Losses times their weights, reduced to one number: their sum, or their sum by their count."""
    Reduction.validate(reduction)
    with get_default_graph().name_scope("weighted_loss"):
        values = convert_to_tensor(losses)
        weights = fitted_weights(1.0 if sample_weight is None else sample_weight, values)
        weighted = mul(values, broadcast_weights(weights, values), name="Mul")
    if reduction == Reduction.NONE:
        return weighted
    total = reduce_sum(weighted)
    if reduction == Reduction.SUM:
        return total
    count = cast(size(weighted, name="num_elements"), total.dtype)
    return div_no_nan(reduce_sum(total), count, name="value")


class Loss:
    """The base of losses: subclasses say in `call(y_true, y_pred)` what each example loses.

    Args:
        reduction: a Reduction.
        name: the name scope.
    """

    __repr__ = printed("tf.keras.losses")

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = None) -> None:
        Reduction.validate(reduction)
        self.reduction, self.name = reduction, name

    def call(self, y_true: Nest, y_pred: Nest) -> Tensor:
        """What each example loses.

        Args:
            y_true: `[batch, ...]`, what is right.
            y_pred: `[batch, ...]`, what the model says.

        Returns:
            `[batch]`, or `[batch, ...]` without the last dimension.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement `call`")

    def __call__(self, y_true: Nest, y_pred: Nest, sample_weight: TensorLike | None = None) -> Tensor:
        """The loss of a batch."""
        scope = "lambda" if self.name == "<lambda>" else self.name
        with get_default_graph().name_scope(scope or type(self).__name__):
            reduction = Reduction.SUM_OVER_BATCH_SIZE if self.reduction == Reduction.AUTO else self.reduction
            return compute_weighted_loss(self.call(y_true, y_pred), sample_weight, reduction)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """A loss of its config.

        Args:
            config: the constructor's arguments by name, as `get_config` gives them.
        """
        return cls(**config)


class LossFunctionWrapper(Loss):
    """A function of targets and predictions as a loss."""

    def __init__(
        self, fn: Callable[..., Tensor], reduction: str = Reduction.AUTO, name: str | None = None, **kwargs: Options
    ) -> None:
        super().__init__(reduction, name)
        self.fn, self.options = fn, kwargs

    def call(self, y_true: Nest, y_pred: Nest) -> Tensor:
        """What each example loses."""
        found: Tensor | None = self.fn(*_fitted(y_true, y_pred), **self.options)
        if found is None:
            name = getattr(self.fn, "__name__", repr(self.fn))
            raise ValueError(
                f"None values not supported. The loss function {name!r} has returned None: is its `return` lacking?"
            )
        return found

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        return {**super().get_config(), **self.options}


def _fitted(y_true: Nest, y_pred: Nest) -> tuple[Nest, Nest]:
    """Targets and predictions, one without a last size of 1 that the other lacks."""
    if not isinstance(y_true, Tensor) or not isinstance(y_pred, Tensor):
        return y_true, y_pred
    difference = (y_pred.shape.ndims or 0) - (y_true.shape.ndims or 0)
    if y_pred.shape.ndims is None or y_true.shape.ndims is None:
        return y_true, y_pred
    if difference == -1 and y_true.shape.as_list()[-1] == 1:
        return squeeze(y_true, [-1]), y_pred
    if difference == 1 and y_pred.shape.as_list()[-1] == 1:
        return y_true, squeeze(y_pred, [-1])
    return y_true, y_pred


_COMMON_ARGS: Final = """\
    reduction: how the losses of a batch become one, a `tf.keras.losses.Reduction`; "auto" is their mean.
    name: the name scope of the loss.
"""


def _plain(what: str, fn: Callable[..., Tensor], label: str, doc: str) -> type[LossFunctionWrapper]:
    def __init__(self: LossFunctionWrapper, reduction: str = Reduction.AUTO, name: str | None = label) -> None:
        LossFunctionWrapper.__init__(self, fn, reduction, name)

    told = f"{doc}\n\nArgs:\n{_COMMON_ARGS}"
    return type(what, (LossFunctionWrapper,), {"__init__": __init__, "__doc__": told, "__module__": __name__})


MeanSquaredError = _plain(
    "MeanSquaredError", functions.mean_squared_error, "mean_squared_error", "The mean of squared differences."
)
MeanAbsoluteError = _plain(
    "MeanAbsoluteError", functions.mean_absolute_error, "mean_absolute_error", "The mean of the magnitudes of differences."
)
MeanAbsolutePercentageError = _plain(
    "MeanAbsolutePercentageError", functions.mean_absolute_percentage_error, "mean_absolute_percentage_error",
    "The mean of differences by targets, in percent.",
)  # fmt: skip
MeanSquaredLogarithmicError = _plain(
    "MeanSquaredLogarithmicError", functions.mean_squared_logarithmic_error, "mean_squared_logarithmic_error",
    "The mean of squared differences of `log(x + 1)`.",
)  # fmt: skip
SquaredHinge = _plain("SquaredHinge", functions.squared_hinge, "squared_hinge", "The mean of squared hinge losses.")
Hinge = _plain("Hinge", functions.hinge, "hinge", "The mean of hinge losses.")
CategoricalHinge = _plain("CategoricalHinge", functions.categorical_hinge, "categorical_hinge", "The hinge loss of classes.")
Poisson = _plain("Poisson", functions.poisson, "poisson", "The Poisson loss.")
LogCosh = _plain("LogCosh", functions.logcosh, "logcosh", "The mean of the logarithm of hyperbolic cosines of differences.")
KLDivergence = _plain(
    "KLDivergence", functions.kullback_leibler_divergence, "kullback_leibler_divergence", "The divergence of distributions."
)


class BinaryCrossentropy(LossFunctionWrapper):
    """The cross-entropy of elements that are each true or false.

    Args:
        from_logits: whether predictions are logits, not probabilities.
        label_smoothing: how far, from 0 to 1, the targets go towards 0.5.
        reduction: how the losses of a batch become one, a `tf.keras.losses.Reduction`; "auto" is their mean.
        name: the name scope of the loss.
    """

    def __init__(
        self, from_logits: bool = False, label_smoothing: float = 0, reduction: str = Reduction.AUTO,
        name: str | None = "binary_crossentropy",
    ) -> None:  # fmt: skip
        super().__init__(
            functions.binary_crossentropy, reduction, name, from_logits=from_logits, label_smoothing=label_smoothing
        )


class CategoricalCrossentropy(LossFunctionWrapper):
    """The cross-entropy of distributions.

    Args:
        from_logits: whether predictions are logits, not probabilities.
        label_smoothing: the part, from 0 to 1, of each target that goes to all classes alike.
        reduction: how the losses of a batch become one, a `tf.keras.losses.Reduction`; "auto" is their mean.
        name: the name scope of the loss.
    """

    def __init__(
        self, from_logits: bool = False, label_smoothing: float = 0, reduction: str = Reduction.AUTO,
        name: str | None = "categorical_crossentropy",
    ) -> None:  # fmt: skip
        super().__init__(
            functions.categorical_crossentropy, reduction, name, from_logits=from_logits, label_smoothing=label_smoothing
        )


class SparseCategoricalCrossentropy(LossFunctionWrapper):
    """The cross-entropy of the right classes' numbers.

    Args:
        from_logits: whether predictions are logits, not probabilities.
        reduction: how the losses of a batch become one, a `tf.keras.losses.Reduction`; "auto" is their mean.
        name: the name scope of the loss.
    """

    def __init__(
        self, from_logits: bool = False, reduction: str = Reduction.AUTO, name: str | None = "sparse_categorical_crossentropy"
    ) -> None:
        super().__init__(functions.sparse_categorical_crossentropy, reduction, name, from_logits=from_logits)


class CosineSimilarity(LossFunctionWrapper):
    """The cosine of the angle between target and prediction: TensorFlow 1.15 has it positive, so minimize its negative.

    Args:
        axis: the dimension of the vectors.
        reduction: how the losses of a batch become one, a `tf.keras.losses.Reduction`; "auto" is their mean.
        name: the name scope of the loss.
    """

    def __init__(self, axis: int = -1, reduction: str = Reduction.AUTO, name: str | None = "cosine_similarity") -> None:
        super().__init__(functions.cosine_proximity, reduction, name, axis=axis)


class Huber(LossFunctionWrapper):
    """Half the squared difference up to `delta`, linear beyond.

    Args:
        delta: the difference from which the loss is linear.
        reduction: how the losses of a batch become one, a `tf.keras.losses.Reduction`; "auto" is their mean.
        name: the name scope of the loss.
    """

    def __init__(self, delta: float = 1.0, reduction: str = Reduction.AUTO, name: str | None = "huber_loss") -> None:
        super().__init__(functions.huber_loss, reduction, name, delta=delta)


FUNCTIONS: Final[dict[str, Callable[..., Tensor]]] = {
    "mean_squared_error": functions.mean_squared_error, "mse": functions.mean_squared_error,
    "MSE": functions.mean_squared_error,
    "mean_absolute_error": functions.mean_absolute_error, "mae": functions.mean_absolute_error,
    "MAE": functions.mean_absolute_error,
    "mean_absolute_percentage_error": functions.mean_absolute_percentage_error,
    "mape": functions.mean_absolute_percentage_error, "MAPE": functions.mean_absolute_percentage_error,
    "mean_squared_logarithmic_error": functions.mean_squared_logarithmic_error,
    "msle": functions.mean_squared_logarithmic_error, "MSLE": functions.mean_squared_logarithmic_error,
    "squared_hinge": functions.squared_hinge, "hinge": functions.hinge, "categorical_hinge": functions.categorical_hinge,
    "huber_loss": functions.huber_loss, "logcosh": functions.logcosh,
    "categorical_crossentropy": functions.categorical_crossentropy,
    "sparse_categorical_crossentropy": functions.sparse_categorical_crossentropy,
    "binary_crossentropy": functions.binary_crossentropy,
    "kullback_leibler_divergence": functions.kullback_leibler_divergence, "kld": functions.kullback_leibler_divergence,
    "KLD": functions.kullback_leibler_divergence,
    "poisson": functions.poisson, "cosine_similarity": functions.cosine_proximity,
    "cosine_proximity": functions.cosine_proximity, "cosine": functions.cosine_proximity,
}  # fmt: skip
_CLASSES: Final = (
    BinaryCrossentropy, CategoricalCrossentropy, CategoricalHinge, CosineSimilarity, Hinge, Huber, KLDivergence, LogCosh,
    MeanAbsoluteError, MeanAbsolutePercentageError, MeanSquaredError, MeanSquaredLogarithmicError, Poisson,
    SparseCategoricalCrossentropy, SquaredHinge,
)  # fmt: skip
OBJECTS: Final[Config] = {**FUNCTIONS, **{each.__name__: each for each in _CLASSES}}

deserialize = registry.deserializer(OBJECTS, "loss function", "name")
serialize = registry.serializer("loss")


def get(identifier: Nest) -> Nest:
    """The loss that a name, a config, or itself stands for.

    Args:
        identifier: a name such as "mse", a config, a function or Loss, or None for None.

    Raises:
        ValueError: nobody knows it.
    """
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, str):
        return deserialize(identifier)
    if isinstance(identifier, dict):
        return deserialize(identifier)
    raise ValueError("Could not interpret loss function identifier:", identifier)


def loss_object(identifier: Nest) -> Nest:
    """What `compile` makes of a loss: an object that takes targets, predictions and weights."""
    found = get(identifier)
    if found is None or isinstance(found, Loss) or not hasattr(found, "__name__"):
        return found
    return LossFunctionWrapper(found, Reduction.SUM_OVER_BATCH_SIZE, found.__name__)
