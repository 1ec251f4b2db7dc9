"""tf.contrib.losses (and slim.losses): tf.losses by their former names, predictions first."""

from __future__ import annotations

from typing import Any

from weft.api.contrib.losses import metric_learning as metric_learning
from weft.framework.aliases import TensorLike
from weft.framework.operation import Tensor
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
    """The mean absolute difference; see `tf.losses.absolute_difference`."""
    return prediction_losses.absolute_difference(labels, predictions, weights, scope)


def sigmoid_cross_entropy(
    logits: TensorLike,
    multi_class_labels: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """The mean sigmoid cross-entropy; see `tf.losses.sigmoid_cross_entropy`."""
    return logit_losses.sigmoid_cross_entropy(multi_class_labels, logits, weights, label_smoothing, scope)


def softmax_cross_entropy(
    logits: TensorLike,
    onehot_labels: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """The mean softmax cross-entropy; see `tf.losses.softmax_cross_entropy`."""
    return logit_losses.softmax_cross_entropy(onehot_labels, logits, weights, label_smoothing, scope)


def sparse_softmax_cross_entropy(
    logits: TensorLike, labels: TensorLike, weights: TensorLike = 1.0, scope: str | None = None
) -> Tensor:
    """The mean softmax cross-entropy with class numbers; see `tf.losses.sparse_softmax_cross_entropy`."""
    return logit_losses.sparse_softmax_cross_entropy(labels, logits, weights, scope)


def log_loss(
    predictions: TensorLike,
    labels: Any = None,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Tensor:
    """The mean log loss; see `tf.losses.log_loss`."""
    return prediction_losses.log_loss(labels, predictions, weights, epsilon, scope)


def hinge_loss(logits: TensorLike, labels: Any = None, scope: str | None = None) -> Tensor:
    """The hinge loss of each element."""
    return prediction_losses.hinge_loss(labels, logits, scope=scope, reduction=Reduction.NONE, loss_collection=None)


def mean_squared_error(
    predictions: TensorLike, labels: Any = None, weights: TensorLike = 1.0, scope: str | None = None
) -> Tensor:
    """The mean squared difference; see `tf.losses.mean_squared_error`."""
    return prediction_losses.mean_squared_error(labels, predictions, weights, scope)


def mean_pairwise_squared_error(
    predictions: TensorLike, labels: Any = None, weights: TensorLike = 1.0, scope: str | None = None
) -> Tensor:
    """The mean squared difference of pairs; see `tf.losses.mean_pairwise_squared_error`."""
    return prediction_losses.mean_pairwise_squared_error(labels, predictions, weights, scope)


def cosine_distance(
    predictions: TensorLike, labels: Any = None, axis: int | None = None, weights: TensorLike = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean cosine distance; see `tf.losses.cosine_distance`."""
    return prediction_losses.cosine_distance(
        labels, predictions, axis=axis if dim is None else dim, weights=weights, scope=scope
    )
