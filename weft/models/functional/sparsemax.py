"""contrib.sparsemax: a softmax whose small probabilities are zero (Martins and Astudillo, 2016, arXiv:1602.02068)."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.ops.array.batch_gather import gather_nd
from weft.ops.array.filling import zeros_like
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import shape
from weft.ops.array.stacking import stack
from weft.ops.array.topk import top_k
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, logical_and, logical_or, maximum
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.scans import cumsum
from weft.ops.math.unary import is_inf, is_nan


def sparsemax(logits: TensorLike, name: str | None = None) -> Tensor:
    """The probabilities nearest to the logits in Euclidean distance, of which small ones are zero.

    Args:
        logits: `[batch, classes]`, of a float dtype.
        name: a name for the nodes' scope.

    Returns:
        `[batch, classes]`, of the same dtype, whose rows sum to one; a row with NaN, or infinite in a way that leaves no
        probabilities, is NaN.
    """
    with input_scope(name, "sparsemax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        rows, classes = shape(logits)[0], shape(logits)[1]
        ordered, _ = top_k(logits, k=classes)
        sums = cumsum(ordered, axis=1)
        ranks = range_of(1, cast(classes, logits.dtype) + 1, dtype=logits.dtype)
        # The support: as many of the largest logits as stay above the threshold that they have together.
        support = reduce_sum(cast(1 + ranks * ordered > sums, "int32"), axis=1)
        last = stack([range_of(0, rows), maximum(support, 1) - 1], axis=1)
        threshold = (gather_nd(sums, last) - 1) / cast(support, logits.dtype)
        probabilities = maximum(cast(0, logits.dtype), logits - threshold[:, None])
        is_invalid = logical_or(equal(support, 0), is_nan(sums[:, -1]))
        return where(is_invalid, zeros_like(probabilities) + float("nan"), probabilities)


def sparsemax_loss(logits: TensorLike, sparsemax: TensorLike, labels: TensorLike, name: str | None = None) -> Tensor:
    """The loss whose gradient by the logits is `sparsemax - labels`.

    Args:
        logits: `[batch, classes]`, of a float dtype.
        sparsemax: `sparsemax(logits)`.
        labels: the probabilities wanted, of the same shape and dtype.
        name: a name for the nodes' scope.

    Returns:
        `[batch]`: a loss for each example.
    """
    with input_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits = convert_to_tensor(logits, name="logits")
        found = convert_to_tensor(sparsemax, name="sparsemax")
        wanted = convert_to_tensor(labels, dtype=logits.dtype, name="labels")
        # Chosen, not multiplied: nothing times an infinite logit would be NaN.
        in_support = logical_or(found > 0, is_nan(found))
        supported = where(in_support, found * (logits - 0.5 * found), zeros_like(found))
        is_free = logical_and(equal(wanted, 0), is_inf(logits))
        missed = where(is_free, zeros_like(logits), wanted * (0.5 * wanted - logits))
        return reduce_sum(supported + missed, axis=1)
