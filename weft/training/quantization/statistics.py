"""The statistics of a batch norm that is folded into its layer, and what training corrects by them.

Weights are rounded after they were scaled by the moving variance, which changes slowly; the outputs are corrected to be those
that the batch's own statistics give, until the averages are frozen.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.array.filling import ones, zeros
from weft.ops.array.identity import identity
from weft.ops.control_flow.cond import cond
from weft.ops.math.comparison import greater_equal
from weft.ops.math.division import divide
from weft.ops.math.elementwise import mul, reciprocal
from weft.ops.math.unary import rsqrt
from weft.training.quantization.edges import rewire
from weft.training.quantization.quantization_step import quantization_step


@dataclass(frozen=True)
class Average:
    """A moving average of a batch norm.

    Attributes:
        value: what it was before the step.
        decay: how far it moves, the second factor of what is taken from it.
    """

    value: Tensor
    decay: Tensor


@dataclass(frozen=True)
class Statistics:
    """What a batch norm that is training normalizes by, a number for each channel each.

    Attributes:
        gamma: the factor.
        mean, variance: the batch's own.
        moving_mean, moving_variance: their averages.
        epsilon: what is added to a variance.
    """

    gamma: Tensor
    mean: Tensor
    variance: Tensor
    moving_mean: Average
    moving_variance: Average
    epsilon: float | Tensor


@dataclass(frozen=True)
class Corrections:
    """What training does beside scaling by the moving variance.

    Attributes:
        scale: the factor of the weights, from the batch's deviation to the average's.
        back: the factor of the outputs, which undoes it until the averages are frozen.
        offset: what is added to the outputs from then on.
    """

    scale: Tensor
    back: Tensor
    offset: Tensor


def corrections(statistics: Statistics, freeze_delay: int | None, context: str = "") -> Corrections:
    """Make the corrections, and have the averages stand still from when they are frozen.

    Args:
        statistics: what the batch norm normalizes by.
        freeze_delay: the run from which on the averages are frozen; never when None.
        context: the scope of the layer, ending in `/`; empty for the one that is open.
    """
    with get_default_graph().name_scope(f"{context}batch_norm_correction"):
        average_inverse = rsqrt(statistics.moving_variance.value + statistics.epsilon)
        inverse = rsqrt(statistics.variance + statistics.epsilon)
        scale = identity(divide(average_inverse, inverse, name="scale_compute"), name="correction_scale")
        back = reciprocal(scale, name="reciprocal_compute")
        shift = statistics.mean * inverse - statistics.moving_mean.value * average_inverse
        offset = mul(statistics.gamma, shift, name="offset_compute")
        if freeze_delay is None:
            return Corrections(scale, back, zeros(offset.shape))
        is_frozen = greater_equal(quantization_step(), freeze_delay, name="use_moving_average")
        _freeze(statistics.moving_mean, is_frozen, "freeze_moving_mean")
        _freeze(statistics.moving_variance, is_frozen, "freeze_moving_var")
        return Corrections(
            scale,
            cond(is_frozen, lambda: ones(scale.shape), lambda: back, name="correction_recip"),
            cond(is_frozen, lambda: offset, lambda: zeros(offset.shape), name="correction_offset"),
        )


def _freeze(average: Average, is_frozen: Tensor, name: str) -> None:
    decay, takers = average.decay, average.decay.consumers()
    rewire(cond(is_frozen, lambda: 0.0, lambda: decay, name=name), decay, takers)
