"""Patterns of operations: types of an operation, and patterns of those that its inputs come from."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor

# The operation that fits a pattern, and which of its outputs the pattern around takes; none at the root.
_Place = tuple[Operation, Tensor | None]


class Found:
    """What fits a pattern and those in it."""

    def __init__(self) -> None:
        self._places: dict[Pattern, _Place] = {}

    def add(self, pattern: Pattern, place: _Place) -> None:
        """Note what fits a pattern.

        Args:
            pattern: the pattern.
            place: the operation, and the output that is used.
        """
        self._places[pattern] = place

    def update(self, other: Found) -> None:
        """Take over what fits the patterns of an input.

        Args:
            other: what was found there.
        """
        self._places.update(other._places)

    def op(self, *patterns: Pattern) -> Operation | None:
        """The operation that fits the first of the patterns which is there at all; None where none is."""
        return next((self._places[each][0] for each in patterns if each in self._places), None)

    def tensor(self, *patterns: Pattern) -> Tensor | None:
        """The output that the pattern around takes, of what fits the first pattern which is there; None where none is."""
        return next((self._places[each][1] for each in patterns if each in self._places), None)


@dataclass(frozen=True, eq=False)
class Pattern:
    """An operation of some types whose inputs fit patterns.

    Attributes:
        types: the types; any fits when it is empty.
        inputs: a pattern, or several of which one has to fit, for each input; any inputs fit when it is empty.
        in_any_order: whether the inputs may stand in another order.
    """

    types: frozenset[str] = frozenset()
    inputs: tuple[Input, ...] = ()
    in_any_order: bool = False

    def match(self, op: Operation, tensor: Tensor | None = None) -> Found | None:
        """What fits this pattern and those in it; None where something does not.

        Args:
            op: the operation.
            tensor: its output that the pattern around takes.
        """
        if (self.types and op.type not in self.types) or (self.inputs and len(self.inputs) != len(op.inputs)):
            return None
        orders = itertools.permutations(self.inputs) if self.in_any_order else iter([self.inputs])
        for order in orders:
            found = _inputs_found(op, order)
            if found is not None:
                found.add(self, (op, tensor))
                return found
        return None


# A pattern, or some of which the first that fits counts.
Input = Pattern | tuple[Pattern, ...]
ANYTHING: Final = Pattern()


def _inputs_found(op: Operation, patterns: tuple[Input, ...]) -> Found | None:
    found = Found()
    for tensor, pattern in zip(op.inputs, patterns, strict=False):  # there is none where any inputs fit
        inner = first_match(pattern, tensor.op, tensor)
        if inner is None:
            return None
        found.update(inner)
    return found


def first_match(patterns: Input, op: Operation, tensor: Tensor | None = None) -> Found | None:
    """What fits the first pattern that an operation fits; None where it fits none.

    Args:
        patterns: a pattern, or several.
        op: the operation.
        tensor: its output that the pattern around takes.
    """
    several = patterns if isinstance(patterns, tuple) else (patterns,)
    return next((found for each in several if (found := each.match(op, tensor)) is not None), None)


def matches(patterns: Input, graph: Graph) -> Iterator[Found]:
    """What fits, for each operation of a graph that fits one of the patterns, in the graph's order.

    Args:
        patterns: a pattern, or several of which the first that fits counts.
        graph: the graph; what is added meanwhile is not looked at.
    """
    for op in graph.get_operations():
        found = first_match(patterns, op)
        if found is not None:
            yield found


def of_type(types: str, *inputs: Input, in_any_order: bool = False) -> Pattern:
    """A pattern of some types.

    Args:
        types: the types, with blanks between them; any when empty.
        *inputs: what the inputs fit.
        in_any_order: whether the inputs may stand in another order.
    """
    return Pattern(frozenset(types.split()), inputs, in_any_order)
