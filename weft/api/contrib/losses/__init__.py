"""tf.contrib.losses (and slim.losses): tf.losses by their former names, predictions first."""

from __future__ import annotations

from typing import Any

from weft.api.contrib.losses import metric_learning as metric_learning
from weft.framework.building.aliases import TensorLike
from weft.framework.nodes.operation import Tensor
from weft.models import logit_losses, prediction_losses
from weft.models.losses import Reduction
from weft.models.losses import add_loss as add_loss
from weft.models.losses import compute_weighted_loss as compute_weighted_loss
from weft.models.losses import get_losses as get_losses
from weft.models.losses import get_regularization_losses as get_regularization_losses
from weft.models.losses import get_total_loss as get_total_loss


def absolute_difference(
    predictions: TensorLike, labels: Any = None, weights: TensorLike = 1.0, scope: str | None = None
) -> Tensor:
    """The mean absolute difference: `tf.losses.absolute_difference`, predictions first.

    Args:
        predictions, labels: `[batch, ...]` of one shape, any number type; both are computed with as float32. The labels are
            needed.
        weights: [] or of the losses' rank with each dimension 1 or that of the losses: what each loss is multiplied by; 0
            leaves it out.
        scope: the name scope.

    Returns:
        A [] float32: the weighted sum, divided by the number of weights that are not zero; it is in the collection LOSSES.

    Raises:
        ValueError: the labels are None, or the shapes don't fit.
    """
    return prediction_losses.absolute_difference(labels, predictions, weights, scope)


def sigmoid_cross_entropy(
    logits: TensorLike,
    multi_class_labels: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """The mean cross-entropy of sigmoid: `tf.losses.sigmoid_cross_entropy`, logits first.

    Args:
        logits: `[batch, classes]` floats.
        multi_class_labels: `[batch, classes]` of 0 and 1, or probabilities.
        weights: [], `[batch, 1]` or `[batch, classes]`: what each loss is multiplied by; 0 leaves it out.
        label_smoothing: from 0 to 1; a label becomes `label * (1 - label_smoothing) + label_smoothing / 2`.
        scope: the name scope.

    Returns:
        A [] float32: the weighted sum, divided by the number of weights that are not zero; it is in the collection LOSSES.

    Raises:
        ValueError: the labels are None, or the shapes don't fit.
    """
    return logit_losses.sigmoid_cross_entropy(multi_class_labels, logits, weights, label_smoothing, scope)


def softmax_cross_entropy(
    logits: TensorLike,
    onehot_labels: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """The mean cross-entropy of softmax: `tf.losses.softmax_cross_entropy`, logits first.

    Args:
        logits: `[batch, classes]` floats.
        onehot_labels: `[batch, classes]`, probabilities that sum up to 1.
        weights: [] or `[batch]`: what each example's loss is multiplied by; 0 leaves it out.
        label_smoothing: from 0 to 1; a label becomes `label * (1 - label_smoothing) + label_smoothing / classes`.
        scope: the name scope.

    Returns:
        A [] float32: the weighted sum, divided by the number of weights that are not zero; it is in the collection LOSSES.

    Raises:
        ValueError: the labels are None, or the shapes don't fit.
    """
    return logit_losses.softmax_cross_entropy(onehot_labels, logits, weights, label_smoothing, scope)


def sparse_softmax_cross_entropy(
    logits: TensorLike, labels: TensorLike, weights: TensorLike = 1.0, scope: str | None = None
) -> Tensor:
    """The mean cross-entropy of softmax with class numbers: `tf.losses.sparse_softmax_cross_entropy`, logits first.

    Args:
        logits: `[batch, classes]` floats.
        labels: `[batch]` or `[batch, 1]` int32 or int64, class numbers.
        weights: [], `[batch]` or `[batch, 1]`: what each example's loss is multiplied by; 0 leaves it out.
        scope: the name scope.

    Returns:
        A [] float32: the weighted sum, divided by the number of weights that are not zero; it is in the collection LOSSES.

    Raises:
        ValueError: the labels are None, or the shapes don't fit.
    """
    return logit_losses.sparse_softmax_cross_entropy(labels, logits, weights, scope)


def log_loss(
    predictions: TensorLike,
    labels: Any = None,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Tensor:
    """The mean cross-entropy of probabilities: `tf.losses.log_loss`, predictions first.

    Args:
        predictions: `[batch, ...]` probabilities, from 0 to 1.
        labels: 0 and 1, or probabilities, of the same shape; needed.
        weights: [] or of the losses' rank with each dimension 1 or that of the losses: what each loss is multiplied by; 0
            leaves it out.
        epsilon: a small float that is added inside of the logarithms.
        scope: the name scope.

    Returns:
        A [] float32: the weighted sum, divided by the number of weights that are not zero; it is in the collection LOSSES.

    Raises:
        ValueError: the labels are None, or the shapes don't fit.
    """
    return prediction_losses.log_loss(labels, predictions, weights, epsilon, scope)


def hinge_loss(logits: TensorLike, labels: Any = None, scope: str | None = None) -> Tensor:
    """The hinge loss of each element, float32 in the shape of the logits; it is in no collection.

    Args:
        logits: `[batch, ...]` floats.
        labels: 0 and 1, of the same shape; needed.
        scope: the name scope.

    Raises:
        ValueError: the labels are None, or of another shape.
    """
    return prediction_losses.hinge_loss(labels, logits, scope=scope, reduction=Reduction.NONE, loss_collection=None)


def mean_squared_error(
    predictions: TensorLike, labels: Any = None, weights: TensorLike = 1.0, scope: str | None = None
) -> Tensor:
    """The mean squared difference: `tf.losses.mean_squared_error`, predictions first.

    Args:
        predictions, labels, weights, scope: as for `absolute_difference`.

    Returns:
        A [] float32: the weighted mean; it is in the collection LOSSES.

    Raises:
        ValueError: the labels are None, or the shapes don't fit.
    """
    return prediction_losses.mean_squared_error(labels, predictions, weights, scope)


def mean_pairwise_squared_error(
    predictions: TensorLike, labels: Any = None, weights: TensorLike = 1.0, scope: str | None = None
) -> Tensor:
    """The mean squared difference of pairs: `tf.losses.mean_pairwise_squared_error`, predictions first.

    Args:
        predictions, labels: `[batch, ...]` of one shape, any number type; both are computed with as float32. The labels are
            needed.
        weights: [] or `[batch]` with dimensions of 1 up to the labels' rank: what each example's loss is multiplied by.
        scope: the name scope.

    Returns:
        A [] float32, which is in the collection LOSSES.
    """
    return prediction_losses.mean_pairwise_squared_error(labels, predictions, weights, scope)


def cosine_distance(
    predictions: TensorLike, labels: Any = None, axis: int | None = None, weights: TensorLike = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean cosine distance: `tf.losses.cosine_distance`, predictions first.

    Args:
        predictions, labels: `[batch, ...]` of one shape, of length one along `axis`, which nothing checks. The labels are
            needed.
        axis: the dimension along which the vectors lie, an int.
        weights: [] or of the losses' rank with each dimension 1 or that of the losses: what each loss is multiplied by; 0
            leaves it out.
        scope: the name scope.
        dim: the former name of `axis`, which goes before it.

    Returns:
        A [] float32: the weighted sum, divided by the number of weights that are not zero; it is in the collection LOSSES.

    Raises:
        ValueError: the labels are None, or the shapes don't fit.
    """
    return prediction_losses.cosine_distance(
        labels, predictions, axis=axis if dim is None else dim, weights=weights, scope=scope
    )
