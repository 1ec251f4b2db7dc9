"""Losses of examples as their mean over the batches of all replicas."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.losses import Reduction, compute_weighted_loss
from weft.models.weights_broadcast import aligned_weights
from weft.ops.array.shape_ops import shape
from weft.ops.math.casting import cast
from weft.ops.math.reduce_functions import reduce_sum
from weft.strategies.access import get_strategy, has_strategy, in_cross_replica_context


def _replicas(function: str) -> int:
    if has_strategy() and in_cross_replica_context():
        raise RuntimeError(
            f"You are calling `{function}` in cross replica context, while it was expected to be called in replica context: "
            "in the function that strategy.experimental_run_v2 runs."
        )
    return int(get_strategy().num_replicas_in_sync)


def compute_average_loss(
    per_example_loss: TensorLike, sample_weight: TensorLike | None = None, global_batch_size: TensorLike | None = None
) -> Tensor:
    """The sum of losses over the number of examples that all replicas have together, a scalar.

    Args:
        per_example_loss: `[batch, ...]`.
        sample_weight: by what each loss is multiplied, perhaps broadcast: `[batch]`, or of the rank of the losses.
        global_batch_size: the number of examples; that of this replica times the number of replicas when None.

    Raises:
        RuntimeError: the number is to be found out in the context of all replicas.
        ValueError: the loss is a scalar.
    """
    losses = convert_to_tensor(per_example_loss, name="per_example_loss")
    if losses.dims == ():
        raise ValueError(
            f"Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1, received: {losses}"
        )
    if sample_weight is not None:
        weights = aligned_weights(sample_weight, losses)
        losses = compute_weighted_loss(losses, weights, loss_collection=None, reduction=Reduction.NONE)
    if global_batch_size is None:
        global_batch_size = _replicas("compute_average_loss") * shape(losses)[0]
    return reduce_sum(losses) / cast(convert_to_tensor(global_batch_size), losses.dtype)


def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """The sum of losses over the number of replicas, whose gradients are summed.

    Args:
        regularization_loss: losses of any shape.

    Raises:
        RuntimeError: it is called in the context of all replicas.
    """
    total = reduce_sum(convert_to_tensor(regularization_loss))
    return total / cast(convert_to_tensor(_replicas("scale_regularization_loss")), total.dtype)
