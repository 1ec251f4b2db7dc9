"""The metric that a plain tensor stands for among those of contrib.learn: what it was in the last batch."""

from __future__ import annotations

from weft.framework.building.aliases import VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.nodes.operation import Tensor
from weft.ops.array.filling import zeros
from weft.ops.variables.assign import assign
from weft.ops.variables.variable import Variable


def latest(value: Tensor) -> tuple[VariableLike, Tensor]:
    """Make a metric of a tensor, without another batch for its value at the end, which TensorFlow takes.

    Args:
        value: of any shape and type.

    Returns:
        A local variable with the value of the last update, and the update.
    """
    kept: VariableLike = Variable(
        zeros([0], value.dtype), trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], validate_shape=False,
        name=f"latest_{value.op.name.rpartition('/')[2]}",
    )  # fmt: skip
    return kept, convert_to_tensor(assign(kept, value, validate_shape=False))
