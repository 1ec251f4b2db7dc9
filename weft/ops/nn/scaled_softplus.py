"""scaled_softplus: a softplus whose bend is as wide as one likes."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.graph_functions import name_scope
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.ops.math.comparison import minimum
from weft.ops.nn.activation import softplus


def scaled_softplus(x: TensorLike, alpha: TensorLike, clip: TensorLike | None = None, name: str | None = None) -> Tensor:
    """`alpha * softplus(x / alpha)`, which is near relu for a small alpha; at most `clip`.

    Args:
        x: a tensor of a floating dtype.
        alpha: a positive number or tensor of the same dtype, whose shape broadcasts.
        clip: the greatest value, likewise; none when None.

    Returns:
        A tensor of the shape that both broadcast to.
    """
    with name_scope(name, "scaled_softplus", [x, alpha]):
        x = convert_to_tensor(x, name="x")
        alpha = convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        made: Tensor = alpha * softplus(x / alpha)
        return made if clip is None else minimum(made, convert_to_tensor(clip, dtype=x.dtype, name="clip"))
