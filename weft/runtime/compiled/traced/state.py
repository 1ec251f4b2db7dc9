"""The variables of a program that is being traced: values that the trace reads and replaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from weft.framework.building.aliases import Array


class State(Protocol):
    """The variables of a program, by its numbers."""

    def read(self, index: int) -> Array:
        """The value now; None when there is none."""
        ...

    def write(self, index: int, value: Array) -> None:
        """Replace the value."""
        ...


class TracedState:
    """The variables of a stage."""

    def __init__(self, values: list[Array]) -> None:
        self.values = values

    def read(self, index: int) -> Array:
        """The traced value."""
        return self.values[index]

    def write(self, index: int, value: Array) -> None:
        """Replace the traced value."""
        self.values[index] = value


class CarriedState:
    """The state inside a traced branch or loop: the variables that it writes are its own, others those around it."""

    def __init__(self, outer: State | None, values: dict[int, Array]) -> None:
        self._outer = outer
        self.values = values

    def read(self, index: int) -> Array:
        """The traced value."""
        if self._outer is None or index in self.values:
            return self.values[index]
        return self._outer.read(index)

    def write(self, index: int, value: Array) -> None:
        """Replace the traced value."""
        self.values[index] = value


class BodyState:
    """The variables of a body, seen in the state of the program around it."""

    def __init__(self, outer: State, slots: Sequence[int]) -> None:
        self._outer = outer
        self._slots = slots

    def read(self, index: int) -> Array:
        """The traced value."""
        return self._outer.read(self._slots[index])

    def write(self, index: int, value: Array) -> None:
        """Replace the value in the state around."""
        self._outer.write(self._slots[index], value)
