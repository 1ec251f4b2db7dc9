"""Losses of logits: cross-entropies, whose sigmoid or softmax is part of the loss."""

from __future__ import annotations

from typing import Final

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.nodes.node_errors import naming
from weft.framework.nodes.operation import Tensor
from weft.models.losses import (
    DEFAULT_REDUCTION,
    ONE_SHAPE,
    check_given,
    compute_weighted_loss,
)
from weft.models.metrics.confusion_matrix import remove_squeezable_dimensions, squeezed_weights
from weft.ops.array.identity import stop_gradient
from weft.ops.array.shape_ops import shape_internal
from weft.ops.array.slicing import slice_helper
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.nn.loss import sigmoid_cross_entropy_with_logits
from weft.ops.nn.softmax import softmax_cross_entropy_with_logits_v2, sparse_softmax_cross_entropy_with_logits

_CLASS_NUMBERS: Final = (
    "Labels are one-hot, of the logits' shape: tf.one_hot(labels, classes), or tf.losses.sparse_softmax_cross_entropy for "
    "class numbers."
)


def sigmoid_cross_entropy(
    multi_class_labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, label_smoothing: float = 0,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES, reduction: str = DEFAULT_REDUCTION,
) -> Tensor:  # fmt: skip
    """The cross-entropy of sigmoid, weighted and reduced; `label_smoothing` draws labels towards one half.

    Args:
        multi_class_labels: `[batch, classes]` of 0 and 1, or probabilities, any number type; several classes may be 1.
        logits: `[batch, classes]` floats.
        weights: [], `[batch, 1]` or `[batch, classes]`: what each loss is multiplied by; 0 leaves it out.
        label_smoothing: from 0 to 1; a label becomes `label * (1 - label_smoothing) + label_smoothing / 2`.
        scope: the name scope.
        loss_collection: the collection that the result is added to; None for none.
        reduction: one of tf.losses.Reduction; the default divides the weighted sum by the number of weights that are not
            zero.

    Returns:
        A [] of the logits' type, or the weighted losses in their shape with `Reduction.NONE`.

    Raises:
        ValueError: labels or logits are None or of different shapes, the weights don't broadcast to the losses, or the
            reduction is unknown.
    """
    check_given(multi_class_labels=multi_class_labels, logits=logits)
    with input_scope(scope, "sigmoid_cross_entropy_loss", (logits, multi_class_labels, weights)) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(multi_class_labels, logits.dtype.base_dtype)
        with naming(ONE_SHAPE, multi_class_labels=multi_class_labels, logits=logits):
            logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, label_smoothing: float = 0,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES, reduction: str = DEFAULT_REDUCTION,
) -> Tensor:  # fmt: skip
    """The cross-entropy of softmax, weighted and reduced; `label_smoothing` draws labels towards equal shares.

    Labels and logits are `[batch, classes]`; the losses, and weights that are no scalar, `[batch]`.

    Args:
        onehot_labels: `[batch, classes]`, probabilities that sum up to 1; no gradient goes through them.
        logits: `[batch, classes]` floats.
        weights: [] or `[batch]`: what each example's loss is multiplied by; 0 leaves it out.
        label_smoothing: from 0 to 1; a label becomes `label * (1 - label_smoothing) + label_smoothing / classes`.
        scope: the name scope.
        loss_collection: the collection that the result is added to; None for none.
        reduction: one of tf.losses.Reduction; the default divides the weighted sum by the number of weights that are not
            zero.

    Returns:
        A [] of the logits' type, or the weighted losses in their shape with `Reduction.NONE`.

    Raises:
        ValueError: labels or logits are None or of different shapes, the weights don't broadcast to the losses, or the
            reduction is unknown.
    """
    check_given(onehot_labels=onehot_labels, logits=logits)
    with input_scope(scope, "softmax_cross_entropy_loss", (logits, onehot_labels, weights)) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(onehot_labels, logits.dtype.base_dtype)
        with naming(_CLASS_NUMBERS, onehot_labels=onehot_labels, logits=logits):
            logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            classes = cast(slice_helper(shape_internal(labels), -1), logits.dtype.base_dtype)
            share = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + share
        labels = stop_gradient(labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = DEFAULT_REDUCTION,
) -> Tensor:  # fmt: skip
    """The cross-entropy of softmax with labels that are class numbers, weighted and reduced.

    Labels are `[batch]` or `[batch, 1]`, logits `[batch, classes]`, weights a scalar, `[batch]` or `[batch, 1]`.

    >>> loss = tf.losses.sparse_softmax_cross_entropy(labels=[1], logits=[[0.0, 0.0]])
    >>> print(sess.run(loss))
    0.6931472

    Args:
        labels: `[batch]` or `[batch, 1]` int32 or int64, class numbers below the number of logits.
        logits: `[batch, classes]` floats.
        weights: [], `[batch]` or `[batch, 1]`: what each example's loss is multiplied by; 0 leaves it out.
        scope: the name scope.
        loss_collection: the collection that the result is added to; None for none.
        reduction: one of tf.losses.Reduction; the default divides the weighted sum by the number of weights that are not
            zero.

    Returns:
        A [] of the logits' type, or the weighted losses in their shape with `Reduction.NONE`.

    Raises:
        ValueError: labels or logits are None, their ranks don't fit, the weights don't broadcast to the losses, or the
            reduction is unknown.
    """
    check_given(labels=labels, logits=logits)
    with input_scope(scope, "sparse_softmax_cross_entropy_loss", (logits, labels, weights)) as scope:
        labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        weights = squeezed_weights(convert_to_tensor(weights), labels)
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)
