"""Weights: the variable of one group of features, whole or in parts, and the slot with its value before L1 shrinks it."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import zeros_like
from weft.ops.array.joining import concat, split
from weft.ops.array.selection import boolean_mask
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater_equal, less, logical_and, maximum
from weft.ops.math.complex_numbers import sign
from weft.ops.math.elementwise import square
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.variables.assign import assign, assign_add
from weft.ops.variables.variable import Variable


class Weights:
    """The weights of a group of features.

    Args:
        variable: a Variable, a partitioned one, or a list of the parts; parts are rows in their order.
        slot: what the slots' names add to those of the parts.
    """

    def __init__(self, variable: Nest, slot: str) -> None:
        self._parts: list[Nest] = list(variable) if not isinstance(variable, Variable) else [variable]
        self._slots: list[Nest] = []
        make_variable: Nest = Variable
        for part in self._parts:
            with get_default_graph().device(part.device):
                first = zeros_like(part.initialized_value(), dtypes.float32)
                self._slots.append(make_variable(first, name=f"{part.op.name}{slot}"))

    def value(self) -> Tensor:
        """The weights: `[features]`."""
        return _joined(self._parts)

    def unshrunk(self) -> Tensor:
        """The weights before L1 has shrunk them: `[features]`."""
        return _joined(self._slots)

    def add(self, update: Tensor) -> list[Tensor]:
        """Add to all unshrunk weights."""
        if len(self._slots) == 1:
            return [assign_add(self._slots[0], update)]
        parts = split(update, self._sizes())
        return [assign_add(slot, part) for slot, part in zip(self._slots, parts, strict=True)]

    def add_to(self, features: Tensor, update: Tensor) -> list[Tensor]:
        """Add to the unshrunk weights of some features: `[m]` int64, `[m]`."""
        if len(self._slots) == 1:
            return [self._slots[0].scatter_add(IndexedSlices(update, features))]
        made, begin = [], 0
        for slot, size in zip(self._slots, self._sizes(), strict=True):
            own = logical_and(greater_equal(features, begin), less(features, begin + size))
            part = IndexedSlices(boolean_mask(update, own), boolean_mask(features - begin, own))
            made.append(slot.scatter_add(part))
            begin += size
        return made

    def shrink(self, threshold: float) -> list[Tensor]:
        """Make the weights those of the slots, all nearer to zero by the threshold."""
        return [
            assign(part, sign(slot) * maximum(abs(slot) - threshold, 0.0))
            for part, slot in zip(self._parts, self._slots, strict=True)
        ]

    def absolutes(self) -> Tensor:
        """The sum of their absolute values, in float64."""
        return reduce_sum(abs(cast(self.value(), dtypes.float64)))

    def squares(self) -> Tensor:
        """The sum of their squares, in float64."""
        return reduce_sum(square(cast(self.value(), dtypes.float64)))

    def _sizes(self) -> list[int]:
        return [int(slot.shape.as_list()[0]) for slot in self._slots]


def _joined(parts: Sequence[Nest]) -> Tensor:
    whole: Tensor = parts[0].read_value() if len(parts) == 1 else concat(list(parts), 0)
    return whole
