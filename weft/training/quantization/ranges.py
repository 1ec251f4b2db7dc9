"""Fake quantization with a range that follows the values: the last ones', or a moving average of theirs."""

from __future__ import annotations

from dataclasses import dataclass

from weft.framework.building.aliases import VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.nodes.operation import Tensor
from weft.ops.math.comparison import maximum, minimum
from weft.ops.math.fake_quantization import fake_quant_with_min_max_vars
from weft.ops.math.reduce_functions import reduce_max, reduce_min
from weft.ops.variables.assign import assign
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Constant
from weft.ops.variables.moving_average import assign_moving_average
from weft.ops.variables.options import VariableAggregation
from weft.ops.variables.variable_scope import variable_scope


@dataclass(frozen=True)
class Levels:
    """How values are rounded.

    Attributes:
        bits: how many bits a level has.
        is_symmetric: whether the range reaches as far below zero as above it.
        is_narrow: whether the lowest level is left out, as for weights.
    """

    bits: int
    is_symmetric: bool = False
    is_narrow: bool = False


def quantized(
    values: Tensor, levels: Levels, scope: str, is_training: bool, decay: float | None = None, least: float = -6.0
) -> Tensor:
    """Values rounded to the levels of a range, whose ends are the variables `min` and `max` of a scope.

    Args:
        values: the values.
        levels: how they are rounded.
        scope: the scope, below the one that is open; it gets a number where it is there already.
        is_training: whether the range follows the values; it stays as it is otherwise.
        decay: how slowly a range that is a moving average moves; it is the last values' when None.
        least: what the lower end is at first; the upper one is 6.
    """
    with variable_scope(None, scope, [values]) as opened:
        opened.set_partitioner(None)
        low, high = _end("min", least), _end("max", 6.0)
        if is_training:
            ends = _ends(values, levels)
            if decay is None:
                low = assign(low, ends[0], name="AssignMinLast")
                high = assign(high, ends[1], name="AssignMaxLast")
            else:
                low = assign_moving_average(low, ends[0], decay, name="AssignMinEma")
                high = assign_moving_average(high, ends[1], decay, name="AssignMaxEma")
        return fake_quant_with_min_max_vars(values, low, high, num_bits=levels.bits, narrow_range=levels.is_narrow)


def _end(name: str, value: float) -> VariableLike:
    # TensorFlow has the variable twice in the collection.
    return get_variable(
        name, [], initializer=Constant(value), trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES] * 2,
        aggregation=VariableAggregation.MEAN,
    )  # fmt: skip


def _ends(values: Tensor, levels: Levels) -> tuple[Tensor, Tensor]:
    """The least and the most of values, with zero between them: converters need it as a level."""
    least, most = reduce_min(values, name="BatchMin"), reduce_max(values, name="BatchMax")
    if not levels.is_symmetric:
        return minimum(least, 0.0), maximum(most, 0.0)
    # Two's complement has one level more below zero.
    ratio = -1 if levels.is_narrow else -((1 << levels.bits) - 2) / (1 << levels.bits)
    return minimum(least, most / ratio), maximum(most, least * ratio)
