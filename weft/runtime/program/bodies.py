"""Bodies of If and While nodes at run time: programs of their own, bound to the program that has the node, and their state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import jax
import jax.numpy as jnp
import numpy as np

_GOLDEN: Final = 0x9E3779B97F4A7C15


class BodyProgram(Protocol):
    """What a body's Program offers here."""

    written_slots: set[int]
    slots: list[Any]
    size: int

    def run(self, xp: Any, inputs: Sequence[Any], state: Any, run_indices: Sequence[Any], context: Any = None) -> list[Any]:
        """Run the body once."""
        ...


class Body:
    """One function of a node, bound to the program that the node is part of.

    `inputs` are the places of the arguments that are plain values, `outputs` those of the results that are. `slots` are the
    outer program's numbers of the body's variables, `randoms` those of its random nodes. `invariant` are the arguments that a
    loop's body never changes, `absent` the results for which only the other branch has a value.
    """

    def __init__(
        self,
        program: BodyProgram,
        inputs: Sequence[int],
        outputs: Sequence[int],
        slots: Sequence[int],
        randoms: slice,
        invariant: frozenset[int],
        absent: frozenset[int] = frozenset(),
    ) -> None:
        self.program = program
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.slots = tuple(slots)
        self.randoms = randoms
        self.invariant = invariant
        self.absent = absent
        self.written = sorted(slots[number] for number in program.written_slots)

    def run(self, xp: Any, arguments: Sequence[Any], state: Any, run_indices: Sequence[Any], context: Any) -> list[Any]:
        """Run the body on the node's arguments and the outer program's state."""
        values = [arguments[place] for place in self.inputs]
        made = self.program.run(xp, values, _Window(state, self.slots), run_indices[self.randoms], context)
        if len(self.outputs) == (self.outputs[-1] + 1 if self.outputs else 0):
            return made
        results: list[Any] = [None] * (self.outputs[-1] + 1)
        for place, value in zip(self.outputs, made, strict=True):
            results[place] = value
        return results


class _Window:
    """The variables of a body, seen in the state of the program around it."""

    def __init__(self, state: Any, slots: Sequence[int]) -> None:
        self._state = state
        self._slots = slots

    @property
    def compiles_loops(self) -> bool:
        """Whether long loops of the program around may go on compiled."""
        return getattr(self._state, "compiles_loops", False)

    def read(self, index: int) -> Any:
        """The current value, None when there is none."""
        return self._state.read(self._slots[index])

    def update(self, indices: Sequence[int], function: Callable[[list[Any]], Sequence[Any]]) -> None:
        """Replace values of the state around."""
        self._state.update([self._slots[index] for index in indices], function)


class CarriedState:
    """The state inside a traced branch or loop: the variables that it writes are its own, others those around it."""

    def __init__(self, outer: Any, values: dict[int, Any]) -> None:
        self._outer = outer
        self.values = values

    def read(self, index: int) -> Any:
        """The traced value."""
        return self.values[index] if index in self.values else self._outer.read(index)

    def update(self, indices: Sequence[int], function: Callable[[list[Any]], Sequence[Any]]) -> None:
        """Replace the traced values."""
        for index, value in zip(indices, function([self.read(index) for index in indices]), strict=True):
            self.values[index] = value


def mixed(run_indices: Sequence[Any], iteration: Any) -> Sequence[Any]:
    """Indices for the random nodes of one iteration: others than those of any other iteration or run."""
    if not run_indices:
        return run_indices
    with np.errstate(all="ignore"):
        step = iteration + 1 if isinstance(iteration, int) else iteration + np.uint64(1)
        step = np.uint64(step) if isinstance(step, int) else step
        return [index * np.uint64(_GOLDEN) + step for index in run_indices]


def is_true(value: Any) -> bool:
    """A predicate's value; as in TensorFlow, a number is true unless it is zero, anything else when it is not empty."""
    array = np.asarray(value)
    if array.ndim:
        return array.size > 0
    return bool(array)


def truth(value: Any) -> Any:
    """A predicate as a traced bool, or as a Python bool where it is known."""
    if not is_traced(value):
        return is_true(value)
    return jnp.asarray(value.size > 0) if value.ndim else value != 0 if value.dtype != np.bool_ else value


def is_traced(value: Any) -> bool:
    """Whether a value is not known while tracing."""
    return isinstance(value, jax.core.Tracer)


def as_array(value: Any, dtype: Any = None) -> Any:
    """A JAX array of the type given, or of its own."""
    return jnp.asarray(value, value.dtype if dtype is None else dtype)
