"""Cross-entropies of probabilities or logits; where probabilities came from a softmax or sigmoid, of its logits."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.networks.state.defaults import epsilon
from weft.ops.array.shape_ops import reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.transposing import transpose
from weft.ops.math.casting import cast
from weft.ops.math.clip import clip_by_value
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import log
from weft.ops.nn.loss import sigmoid_cross_entropy_with_logits
from weft.ops.nn.softmax import softmax as nn_softmax
from weft.ops.nn.softmax import softmax_cross_entropy_with_logits_v2, sparse_softmax_cross_entropy_with_logits


def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Softmax over an axis, of tensors of any rank.

    Args:
        x: a tensor of a floating dtype.
        axis: the dimension whose elements come to a sum of 1.

    Returns:
        A tensor of the same shape and dtype.
    """
    return nn_softmax(x, axis=axis)


def _logits_behind(output: Tensor, kind: str) -> Tensor | None:
    """What a softmax or sigmoid was made of: the loss of the logits stays finite where that of probabilities vanishes."""
    return output.op.inputs[0] if output.op.type == kind else None


def _clipped(output: Tensor) -> Tensor:
    get_default_graph().node_count.total += 2  # TensorFlow has a node for the epsilon and one for the difference.
    return clip_by_value(output, epsilon(), 1.0 - epsilon())


def categorical_crossentropy(target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1) -> Tensor:
    """The cross-entropy of distributions along `axis`: `[..., classes], [..., classes] -> [...]`.

    Args:
        target: the right distributions, `[..., classes]`.
        output: the predictions, of the same shape and a floating dtype.
        from_logits: whether `output` has logits, not probabilities; probabilities are scaled to a sum of 1.
        axis: the dimension of the classes.
    """
    given, wanted = convert_to_tensor(output), convert_to_tensor(target)
    if not from_logits:
        logits = _logits_behind(given, "Softmax")
        if logits is None:
            scaled = given / reduce_sum(given, axis=axis, keepdims=True)
            return -reduce_sum(wanted * log(_clipped(scaled)), axis=axis)
        given = logits
    return softmax_cross_entropy_with_logits_v2(labels=wanted, logits=given, axis=axis)


def sparse_categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """The cross-entropy of the right classes' numbers: `[...], [..., classes] -> [...]`; the labels may have a last
    size of 1.

    Args:
        target: the numbers of the right classes, integers.
        output: the predictions, `[..., classes]` of a floating dtype.
        from_logits: whether `output` has logits, not probabilities.
        axis: the dimension of the classes.

    Raises:
        ValueError: `axis` is not -1, and the rank of `output` is not known.
    """
    given = convert_to_tensor(output)
    if not from_logits:
        logits = _logits_behind(given, "Softmax")
        given = log(_clipped(given)) if logits is None else logits
    rank = given.shape.ndims
    if rank is None and axis != -1:
        raise ValueError(
            f"Cannot compute sparse categorical crossentropy with `axis={axis}` on an output tensor with unknown rank"
        )
    if rank is not None and axis % rank != rank - 1:
        place = axis % rank
        given = transpose(given, [*(each for each in range(rank) if each != place), place])
    labels = cast(convert_to_tensor(target), dtypes.int64)
    if labels.shape.ndims is None or rank is None or labels.shape.ndims == rank - 1:
        return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=given)
    sizes = shape_of(given)
    flat = sparse_softmax_cross_entropy_with_logits(
        labels=reshape(labels, [-1]), logits=reshape(given, [-1, given.shape.as_list()[-1] or sizes[-1]])
    )
    return reshape(flat, sizes[:-1]) if rank >= 3 else flat


def binary_crossentropy(target: TensorLike, output: TensorLike, from_logits: bool = False) -> Tensor:
    """The cross-entropy of each element by itself, of probabilities or logits.

    Args:
        target: the right values, any shape, 0 to 1.
        output: the predictions, of the same shape and a floating dtype.
        from_logits: whether `output` has logits, not probabilities; probabilities are kept an epsilon away from 0 and 1.

    Returns:
        A tensor of the same shape and dtype as `output`.
    """
    given, wanted = convert_to_tensor(output), convert_to_tensor(target)
    if not from_logits:
        logits = _logits_behind(given, "Sigmoid")
        if logits is None:
            kept = _clipped(given)
            return -(wanted * log(kept + epsilon()) + (1.0 - wanted) * log(1.0 - kept + epsilon()))
        given = logits
    return sigmoid_cross_entropy_with_logits(labels=wanted, logits=given)
