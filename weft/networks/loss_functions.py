"""The losses of tf.keras as functions of targets and predictions: `[batch, ..., size] -> [batch, ...]`."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.layers.core import either_branch
from weft.networks.backend import crossentropy
from weft.networks.state.defaults import epsilon, floatx
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, logical_or, maximum, minimum
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import square, squared_difference
from weft.ops.math.reduce_functions import reduce_all, reduce_max, reduce_mean, reduce_sum
from weft.ops.math.unary import log
from weft.ops.nn.activation import softplus
from weft.ops.nn.norm import l2_normalize


def _pair(y_true: TensorLike, y_pred: TensorLike) -> tuple[Tensor, Tensor]:
    predicted = convert_to_tensor(y_pred)
    return cast(convert_to_tensor(y_true), predicted.dtype), predicted


def _at_least_epsilon(x: Tensor) -> Tensor:
    get_default_graph().node_count.total += 2  # TensorFlow clips at both ends, infinity above.
    return maximum(x, epsilon())


def mean_squared_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of squared differences.

    Args:
        y_true: the targets, `[batch, ..., size]`; they are cast to the dtype of `y_pred`.
        y_pred: the predictions, of the same shape and a floating dtype.

    Returns:
        A tensor `[batch, ...]`: one number for each example.
    """
    wanted, predicted = _pair(y_true, y_pred)
    return reduce_mean(squared_difference(predicted, wanted), axis=-1)


def mean_absolute_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of the magnitudes of differences.

    Args: those of `tf.keras.losses.mean_squared_error`.
    """
    wanted, predicted = _pair(y_true, y_pred)
    return reduce_mean(absolute(predicted - wanted), axis=-1)


def mean_absolute_percentage_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of differences by targets, in percent.

    Args: those of `tf.keras.losses.mean_squared_error`.
    """
    wanted, predicted = _pair(y_true, y_pred)
    return 100.0 * reduce_mean(absolute((wanted - predicted) / _at_least_epsilon(absolute(wanted))), axis=-1)


def mean_squared_logarithmic_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of squared differences of `log(x + 1)`.

    Args: those of `tf.keras.losses.mean_squared_error`.
    """
    wanted, predicted = _pair(y_true, y_pred)
    logs = [log(_at_least_epsilon(each) + 1.0) for each in (predicted, wanted)]
    return reduce_mean(squared_difference(*logs), axis=-1)


def _signs(wanted: Tensor) -> Tensor:
    """Targets of 0 and 1 as -1 and 1; others as they are."""
    is_binary = reduce_all(logical_or(equal(wanted, 0.0), equal(wanted, 1.0)))
    return either_branch(is_binary, lambda: 2.0 * wanted - 1.0, lambda: wanted)


def squared_hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of `max(1 - target * prediction, 0) ** 2`; targets are -1 and 1, or 0 and 1.

    Args: those of `tf.keras.losses.mean_squared_error`.
    """
    wanted, predicted = _pair(y_true, y_pred)
    return reduce_mean(square(maximum(1.0 - _signs(wanted) * predicted, 0.0)), axis=-1)


def hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of `max(1 - target * prediction, 0)`; targets are -1 and 1, or 0 and 1.

    Args: those of `tf.keras.losses.mean_squared_error`.
    """
    wanted, predicted = _pair(y_true, y_pred)
    return reduce_mean(maximum(1.0 - _signs(wanted) * predicted, 0.0), axis=-1)


def categorical_hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """`max(0, 1 + greatest wrong prediction - right one)`.

    Args: those of `tf.keras.losses.mean_squared_error`.

    Returns:
        A tensor `[batch, ...]`: one number for each example.
    """
    wanted, predicted = _pair(y_true, y_pred)
    right = reduce_sum(wanted * predicted, axis=-1)
    wrong = reduce_max((1.0 - wanted) * predicted, axis=-1)
    return maximum(0.0, wrong - right + 1.0)


def huber_loss(y_true: TensorLike, y_pred: TensorLike, delta: float = 1.0) -> Tensor:
    """Half the squared difference up to `delta`, linear beyond; one number for each element."""
    wanted, predicted = (cast(convert_to_tensor(each), floatx()) for each in (y_true, y_pred))
    size = absolute(predicted - wanted)
    quadratic = minimum(size, delta)
    return 0.5 * quadratic * quadratic + delta * (size - quadratic)


def logcosh(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of the logarithm of the hyperbolic cosine of differences.

    Args: those of `tf.keras.losses.mean_squared_error`.
    """
    wanted, predicted = _pair(y_true, y_pred)
    x = predicted - wanted
    return reduce_mean(x + softplus(-2.0 * x) - log(convert_to_tensor(2.0, dtype=x.dtype)), axis=-1)


def categorical_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, label_smoothing: float = 0
) -> Tensor:
    """The cross-entropy of distributions; `label_smoothing` moves that part of each target to all classes alike.

    Args:
        y_true: the targets, `[batch, ..., classes]`.
        y_pred: the predictions, of the same shape and a floating dtype.
        from_logits: whether `y_pred` has logits, not probabilities.
        label_smoothing: from 0 to 1.

    Returns:
        A tensor `[batch, ...]`: one number for each example.
    """
    wanted, predicted = _pair(y_true, y_pred)
    if label_smoothing:
        classes = cast(convert_to_tensor(predicted.shape.as_list()[1]), predicted.dtype)
        wanted = wanted * (1.0 - label_smoothing) + label_smoothing / classes
    return crossentropy.categorical_crossentropy(wanted, predicted, from_logits=from_logits)


def sparse_categorical_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """The cross-entropy of the right classes' numbers.

    Args:
        y_true: the numbers of the right classes, `[batch, ...]`, or with a last size of 1.
        y_pred: the predictions, `[batch, ..., classes]` of a floating dtype.
        from_logits: whether `y_pred` has logits, not probabilities.
        axis: the dimension of the classes.

    Returns:
        A tensor `[batch, ...]`: one number for each example.
    """
    wanted, predicted = _pair(y_true, y_pred)
    return crossentropy.sparse_categorical_crossentropy(wanted, predicted, from_logits=from_logits, axis=axis)


def binary_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, label_smoothing: float = 0
) -> Tensor:
    """The mean of the cross-entropies of the elements.

    Args:
        y_true: the targets, `[batch, ..., size]` from 0 to 1.
        y_pred: the predictions, of the same shape and a floating dtype.
        from_logits: whether `y_pred` has logits, not probabilities.
        label_smoothing: how far, from 0 to 1, the targets go towards 0.5.

    Returns:
        A tensor `[batch, ...]`: one number for each example.
    """
    wanted, predicted = _pair(y_true, y_pred)
    if label_smoothing:
        wanted = wanted * (1.0 - label_smoothing) + 0.5 * label_smoothing
    return reduce_mean(crossentropy.binary_crossentropy(wanted, predicted, from_logits=from_logits), axis=-1)


def kullback_leibler_divergence(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The divergence of distributions.

    Args: those of `tf.keras.losses.mean_squared_error`.
    """
    wanted, predicted = (clip(each) for each in _pair(y_true, y_pred))
    return reduce_sum(wanted * log(wanted / predicted), axis=-1)


def clip(x: Tensor) -> Tensor:
    """Probabilities no nearer to 0 than epsilon, and at most 1."""
    return minimum(maximum(x, epsilon()), 1.0)


def poisson(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """The mean of `prediction - target * log(prediction)`.

    Args: those of `tf.keras.losses.mean_squared_error`.
    """
    wanted, predicted = _pair(y_true, y_pred)
    return reduce_mean(predicted - wanted * log(predicted + epsilon()), axis=-1)


def cosine_proximity(y_true: TensorLike, y_pred: TensorLike, axis: int = -1) -> Tensor:
    """The cosine of the angle between target and prediction.

    Args:
        y_true: the targets, `[batch, ..., size]`.
        y_pred: the predictions, of the same shape and a floating dtype.
        axis: the dimension of the vectors.
    """
    wanted, predicted = _pair(y_true, y_pred)
    return reduce_sum(l2_normalize(wanted, axis) * l2_normalize(predicted, axis), axis=axis)
