"""Putting fake quantization between an operation and those that take its output."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.control_flow.cond import cond
from weft.ops.math.comparison import greater_equal
from weft.training.quantization.edges import rewire
from weft.training.quantization.quantization_step import quantization_step
from weft.training.quantization.ranges import Levels, quantized

_ROUNDING: Final = frozenset(("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVarsPerChannel"))
_PASSING_ON: Final = frozenset(("Reshape", "Identity"))
_DECAY: Final = 0.999


@dataclass(frozen=True)
class Settings:
    """What holds for a whole rewrite.

    Attributes:
        is_training: whether ranges follow the values.
        weight_bits, activation_bits: how many bits a level has.
        is_symmetric: whether ranges reach as far below zero as above it.
        delay: the run from which on there is quantization; the first when None or 0.
        scope: the scope, ending in `/`, outside of which nothing is changed; none when empty.
    """

    is_training: bool
    weight_bits: int = 8
    activation_bits: int = 8
    is_symmetric: bool = False
    delay: int | None = None
    scope: str = ""

    @property
    def weights(self) -> Levels:
        """How weights are rounded."""
        return Levels(self.weight_bits, self.is_symmetric, is_narrow=True)

    @property
    def activations(self) -> Levels:
        """How the outputs of layers are rounded."""
        return Levels(self.activation_bits, self.is_symmetric)

    def holds(self, ops: Iterable[Operation]) -> bool:
        """Whether all of some operations may be changed.

        Args:
            ops: the operations.
        """
        return all(op.name.startswith(self.scope) for op in ops)


def insert(
    settings: Settings, producer: Operation, consumers: list[Operation], name: str, levels: Levels, moving: bool = True,
    least: float = -6.0,
) -> None:  # fmt: skip
    """Round what an operation gives to others, where that is not done yet.

    Args:
        settings: what holds for the whole rewrite.
        producer: the operation.
        consumers: those that take the rounded values from now on.
        name: the scope of the new nodes.
        levels: how values are rounded.
        moving: whether the range is a moving average, and not the last values'.
        least: what the range's lower end is at first.

    Raises:
        ValueError: a consumer does not take the output.
    """
    values = producer.outputs[0]
    if _is_rounded(values):
        return
    opened = get_default_graph().get_name_scope()
    scope = name.removeprefix(f"{opened}/") if opened else name
    made = quantized(values, levels, scope, settings.is_training, _DECAY if moving else None, least)
    if settings.delay and settings.delay > 0:
        made = _delayed(made, values, settings.delay, scope)
    if rewire(made, values, consumers) < len(consumers):
        taking = ", ".join(op.name for op in consumers)
        raise ValueError(
            f"No inputs quantized for ops: [{taking}]. They were to take {made.name} in the place of {values.name}."
        )


def _delayed(made: Tensor, values: Tensor, delay: int, scope: str) -> Tensor:
    is_time = greater_equal(quantization_step(), delay, name=f"{scope}/activate_quant")
    chosen: Tensor = cond(is_time, lambda: made, lambda: values, name=f"{scope}/delayed_quant")
    return chosen


def _is_rounded(values: Tensor) -> bool:
    """Whether an operation takes values to round them, as they are or in another shape."""
    waiting = values.consumers()
    while waiting:
        op = waiting.pop()
        if op.type in _ROUNDING:
            return True
        if op.type in _PASSING_ON:
            waiting.extend(taker for tensor in op.outputs for taker in tensor.consumers())
    return False
