"""The hinge loss of several classes.

K. Crammer and Y. Singer, "On the Algorithmic Implementation of Multiclass Kernel-based Vector Machines", JMLR 2 (2001).
"""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.losses import DEFAULT_REDUCTION, compute_weighted_loss
from weft.ops.array.batch_gather import gather_nd
from weft.ops.array.filling import one_hot
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import reshape, shape_internal
from weft.ops.debugging.checks import assert_less
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.reduce_functions import reduce_max
from weft.ops.nn.activation import relu


def sparse_multiclass_hinge_loss(
    labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = DEFAULT_REDUCTION,
) -> Tensor:  # fmt: skip
    """The most by which another class comes within 1 of the right one: `max(0, logits[c] - logits[label] + 1)` over these c.

    Args:
        labels: class numbers, int32 or int64, `[batch]` or `[batch, 1]`.
        logits: `[batch, classes]` floats.
        weights: a scalar, `[batch]` or `[batch, 1]`.
        scope: the name scope.
        loss_collection: the collection that the result is added to; None for none.
        reduction: one of tf.losses.Reduction.

    Returns:
        A scalar of float32, or the weighted losses, `[batch]`, with `Reduction.NONE`.

    Raises:
        ValueError: logits, labels or weights have other shapes, or labels are no integers.
        InvalidArgumentError: from the run, when a label is no class.
    """
    with input_scope(scope, "sparse_multiclass_hinge_loss", (logits, labels)) as scope:
        logits, labels, weights = convert_to_tensor(logits), convert_to_tensor(labels), convert_to_tensor(weights)
        _check(labels, logits, weights)
        sizes = shape_internal(logits)
        batch, classes = sizes[0], sizes[1]
        logits = cast(logits, dtypes.float32)
        with control_dependencies([assert_less(labels, cast(classes, labels.dtype.base_dtype))]):
            labels = reshape(labels, [-1])
        if weights.shape.ndims:
            weights = reshape(weights, [-1])
            weights.shape.assert_is_compatible_with(labels.shape)
        rows = reshape(range_of(batch), [batch, 1])
        places = concat([rows, reshape(cast(labels, rows.dtype), [batch, 1])], axis=1)
        of_labels = reshape(gather_nd(logits, places), [batch, 1])
        others = one_hot(labels, depth=classes, on_value=0.0, off_value=1.0)
        losses = reduce_max(relu(logits - of_labels + others), axis=1)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def _check(labels: Tensor, logits: Tensor, weights: Tensor) -> None:
    if logits.shape.ndims != 2:
        raise ValueError(
            f"logits should have rank 2 ([batch_size, num_classes]). Given rank is {logits.shape.ndims}: {logits.name} has "
            f"shape {logits.shape}"
        )
    if labels.dtype.base_dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(
            f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and int64; tf.cast({labels.name}, tf.int32)"
        )
    if labels.shape.ndims not in (1, 2):
        raise ValueError(
            "labels should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). "
            f"Given rank is {labels.shape.ndims}: {labels.name} has shape {labels.shape}"
        )
    if weights.shape.ndims not in (0, 1, 2):
        raise ValueError(
            "non-scalar weights should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). "
            f"Given rank is {weights.shape.ndims}: {weights.name} has shape {weights.shape}"
        )
