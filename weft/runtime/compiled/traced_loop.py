"""TracedLoop: a While node's condition and body as functions of what the loop carries, for `lax` to call.

Carried are the loop variables that change, the variables that the bodies write, and the number of the iteration. Everything
else, such as captured weights, is closed over, so what is known while tracing stays known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from weft.framework.aliases import Array
from weft.platform.jax_modules import jax, jnp
from weft.runtime.compiled.traced_state import CarriedState, State
from weft.runtime.compiled.traced_values import as_array, mixed, truth
from weft.runtime.program.program import Body

Carry: TypeAlias = tuple[list[Array], list[Array], Array]
"""The loop variables that change, the variables that the bodies write, and the number of the iteration."""
TraceBody: TypeAlias = Callable[[Body, Sequence[Array], State, Sequence[Array]], list[Array]]


class TracedLoop:
    """One loop that is being traced.

    Args:
        bodies: the condition and the body.
        types: the NumPy types of the node's outputs, those of recorded values after those of the loop variables.
        written: the numbers of the variables that the bodies write.
        arguments: the node's inputs.
        state: the variables around.
        run_indices: for each random node of the bodies how often it has run.
        trace: traces a body on the node's arguments.
    """

    def __init__(
        self, bodies: Sequence[Body], types: Sequence[np.dtype], written: Sequence[int], arguments: Sequence[Array],
        state: State | None, run_indices: Sequence[Array], trace: TraceBody,
    ) -> None:  # fmt: skip
        self._condition, self._body = bodies
        self._types = types
        self._written = written
        self._arguments = arguments
        self._state = state
        self._run_indices = run_indices
        self._trace = trace
        self._varying = [place for place in range(len(arguments)) if place not in self._body.invariant]

    def initial(self, iteration: Array) -> Carry:
        """What the loop carries before its first iteration."""
        values = self._typed(self._arguments)
        slots = [as_array(self._state.read(slot)) for slot in self._written] if self._state is not None else []
        values, slots = settled(lambda carry: self.step(carry)[0], values, slots)
        return values, slots, iteration

    def test(self, carry: Carry) -> Array:
        """Whether there is a further iteration."""
        values, slots, iteration = carry
        state = CarriedState(self._state, dict(zip(self._written, slots, strict=True)))
        indices = mixed(self._run_indices, iteration)
        return truth(self._trace(self._condition, self.merged(values), state, indices)[0])

    def step(self, carry: Carry) -> tuple[Carry, list[Array]]:
        """What the loop carries after an iteration, and the values to record of it."""
        values, slots, iteration = carry
        state = CarriedState(self._state, dict(zip(self._written, slots, strict=True)))
        results = self._trace(self._body, self.merged(values), state, mixed(self._run_indices, iteration))
        count = len(self._arguments)
        recorded = [as_array(value, dtype) for value, dtype in zip(results[count:], self._types[count:], strict=True)]
        return (
            self._typed(results),
            [as_array(state.values[slot]) for slot in self._written],
            iteration + np.uint64(1),
        ), recorded

    def merged(self, values: Sequence[Array]) -> list[Array]:
        """The node's inputs with the loop variables that change replaced."""
        result = list(self._arguments)
        for place, value in zip(self._varying, values, strict=True):
            result[place] = value
        return result

    def _typed(self, values: Sequence[Array]) -> list[Array]:
        return [as_array(values[place], self._types[place]) for place in self._varying]


def settled(step: Callable[[Carry], Carry], start: list[Array], slots: list[Array]) -> tuple[list[Array], list[Array]]:
    """The carried values at the start, those of arrays that have no element shape yet brought to the shape they get.

    An unwritten TensorArray is `[size, 0]` until the first write tells the shape of its elements.
    """
    if not any(_is_unshaped(value) for value in start):
        return start, slots
    made, _, _ = jax.eval_shape(step, (start, slots, jnp.uint64(0)))
    return [
        jnp.zeros(to.shape, to.dtype) if _is_unshaped(value) and to.shape != value.shape else value
        for value, to in zip(start, made, strict=True)
    ], slots


def _is_unshaped(value: Array) -> bool:
    return bool(value.ndim == 2 and value.shape[1] == 0)
