"""Dropout masks of recurrent cells: one for each gate, which all steps of a call share."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.networks.state.own_seeds import own_seed
from weft.networks.state.phase import in_train_phase
from weft.ops.array.filling import ones_like
from weft.ops.array.joining import concat, split
from weft.ops.nn.dropout import dropout as nn_dropout

# One for all gates, or one for each; None where nothing is dropped.
Masks = tuple[Tensor, ...] | None


def dropout_masks(like: Tensor, rate: float, gates: int, training: TensorLike | None) -> Masks:
    """Masks of what is dropped of inputs or states.

    Args:
        like: what they are for, of any step.
        rate: the part that is dropped.
        gates: how many masks.
        training: whether to drop; Keras' learning phase when None.

    Returns:
        As many tensors of the shape and dtype of `like`; None for a rate of 0.
    """
    if not rate:
        return None
    ones = ones_like(like)

    def drop() -> Tensor:
        return nn_dropout(ones, rate=rate, seed=own_seed())

    return tuple(in_train_phase(drop, lambda: ones, training) for _ in range(gates))


def masked(values: Tensor, masks: Masks, gate: int = 0) -> Tensor:
    """What a gate gets of the values.

    Args:
        values: inputs or a state.
        masks: what they are multiplied by.
        gate: its number, in the order of the kernel's columns.
    """
    return values if masks is None else values * masks[gate if len(masks) > 1 else 0]


def gates_product(
    product: Callable[[Tensor, Tensor], Tensor], values: Tensor, kernel: Tensor, masks: Masks, axis: int = -1
) -> Tensor:
    """The product of values and kernel for all gates, each with its own part of the values dropped.

    Args:
        product: of values and a kernel, or some of its columns.
        values: inputs or a state.
        kernel: the columns of one gate after the other.
        masks: what the values are multiplied by.
        axis: the dimension of the product that has the kernel's columns.
    """
    if masks is None or len(masks) == 1:
        return product(masked(values, masks), kernel)
    # What TensorFlow has beside the products with the values: it has one for each gate in any case, and joins none.
    get_default_graph().node_count.total -= len(masks) + 4
    parts = split(kernel, len(masks), axis=-1)
    return concat([product(values * mask, part) for mask, part in zip(masks, parts, strict=True)], axis)
