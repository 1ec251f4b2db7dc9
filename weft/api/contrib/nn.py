"""tf.contrib.nn: a dropout for selu, and losses by their former order of arguments."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.nodes.operation import Tensor
from weft.ops.array.topk import nth_element as nth_element
from weft.ops.nn.conv import conv1d_transpose as conv1d_transpose
from weft.ops.nn.dropout import alpha_dropout as alpha_dropout
from weft.ops.nn.loss import sigmoid_cross_entropy_with_logits as _sigmoid
from weft.ops.nn.sampled_loss import sampled_sparse_softmax_loss as sampled_sparse_softmax_loss
from weft.ops.nn.scaled_softplus import scaled_softplus as scaled_softplus
from weft.ops.nn.softmax import softmax_cross_entropy_with_logits as _softmax
from weft.ops.nn.softmax import sparse_softmax_cross_entropy_with_logits as _sparse_softmax


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, dim: int = -1, name: str | None = None
) -> Tensor:
    """The cross-entropy of softmax: `tf.nn.softmax_cross_entropy_with_logits`, logits first.

    Args:
        logits: `[..., classes]` floats.
        labels: probabilities of the same shape and dtype, which sum up to 1.
        dim: the dimension of the classes, an int.
    """
    return _softmax(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, name: str | None = None
) -> Tensor:
    """The cross-entropy of softmax: `tf.nn.sparse_softmax_cross_entropy_with_logits`, logits first.

    Args:
        logits: `[..., classes]` floats.
        labels: `[...]` int32 or int64, class numbers.
    """
    return _sparse_softmax(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: TensorLike, targets: TensorLike, name: str | None = None
) -> Tensor:
    """The cross-entropy of sigmoid for each logit: `tf.nn.sigmoid_cross_entropy_with_logits`, logits first.

    Args:
        logits: floats of any shape.
        targets: probabilities, of the logits' shape and dtype.
    """
    return _sigmoid(labels=targets, logits=logits, name=name)
