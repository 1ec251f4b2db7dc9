"""TracedLoop: a While node's condition and body as functions of what the loop carries, for `lax` to call.

Carried are the loop variables that change, the variables that the bodies write, the number of the iteration, and the places in
the streams of the bodies' random nodes. Everything else, such as captured weights, is closed over, so what is known while
tracing stays known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from weft.framework.building.aliases import Array
from weft.platform.imports.jax_modules import jax, jnp
from weft.runtime.compiled.traced.state import CarriedState, State
from weft.runtime.compiled.traced.streams import TracedStream, places_of, replaced
from weft.runtime.compiled.traced.values import as_array, truth
from weft.runtime.program.program import Body

Carry: TypeAlias = tuple[list[Array], list[Array], Array, list[Array]]
"""The loop variables that change, the variables that the bodies write, the iteration's number, and the places in streams."""
TraceBody: TypeAlias = Callable[[Body, Sequence[Array], State, Sequence[TracedStream]], list[Array]]


class TracedLoop:
    """One loop that is being traced.

    Args:
        bodies: the condition and the body.
        types: the NumPy types of the node's outputs, those of recorded values after those of the loop variables.
        written: the numbers of the variables that the bodies write.
        arguments: the node's inputs.
        state: the variables around.
        streams: of the random nodes around.
        trace: traces a body on the node's arguments.
    """

    def __init__(
        self, bodies: Sequence[Body], types: Sequence[np.dtype], written: Sequence[int], arguments: Sequence[Array],
        state: State | None, streams: Sequence[TracedStream], trace: TraceBody,
    ) -> None:  # fmt: skip
        self._condition, self._body = bodies
        self._types = types
        self._written = written
        self._arguments = arguments
        self._state = state
        self._streams = streams
        self._owned = slice(bodies[0].randoms.start, bodies[1].randoms.stop)
        self._trace = trace
        self._varying = [place for place in range(len(arguments)) if place not in self._body.invariant]

    def initial(self, iteration: Array) -> Carry:
        """What the loop carries before its first iteration."""
        values = self._typed(self._arguments)
        slots = [as_array(self._state.read(slot)) for slot in self._written] if self._state is not None else []
        places = places_of(self._streams[self._owned])
        values, slots = settled(lambda carry: self.step(carry)[0], values, slots, places)
        return values, slots, iteration, places

    def test(self, carry: Carry) -> Array:
        """Whether there is a further iteration."""
        return self._tested(carry)[0]

    def _tested(self, carry: Carry) -> tuple[Array, list[TracedStream]]:
        values, slots, _, places = carry
        state = CarriedState(self._state, dict(zip(self._written, slots, strict=True)))
        streams = replaced(self._streams, self._owned, places)
        return truth(self._trace(self._condition, self.merged(values), state, streams)[0]), streams

    def _streams_behind_test(self, carry: Carry) -> list[TracedStream]:
        """The streams behind the test, which is traced once more for that: `lax` takes nothing of a test but its answer."""
        if self._condition.program.random_nodes:
            return self._tested(carry)[1]
        return replaced(self._streams, self._owned, carry[3])

    def places_behind(self, carry: Carry) -> list[Array]:
        """Where the loop leaves the streams of its random nodes, when it has ended with this."""
        return places_of(self._streams_behind_test(carry)[self._owned])

    def step(self, carry: Carry) -> tuple[Carry, list[Array]]:
        """What the loop carries after an iteration, and the values to record of it."""
        values, slots, iteration, _ = carry
        streams = self._streams_behind_test(carry)
        state = CarriedState(self._state, dict(zip(self._written, slots, strict=True)))
        results = self._trace(self._body, self.merged(values), state, streams)
        count = len(self._arguments)
        recorded = [as_array(value, dtype) for value, dtype in zip(results[count:], self._types[count:], strict=True)]
        return (
            self._typed(results),
            [as_array(state.values[slot]) for slot in self._written],
            iteration + np.uint64(1),
            places_of(streams[self._owned]),
        ), recorded

    def merged(self, values: Sequence[Array]) -> list[Array]:
        """The node's inputs with the loop variables that change replaced."""
        result = list(self._arguments)
        for place, value in zip(self._varying, values, strict=True):
            result[place] = value
        return result

    def _typed(self, values: Sequence[Array]) -> list[Array]:
        return [as_array(values[place], self._types[place]) for place in self._varying]


def settled(
    step: Callable[[Carry], Carry], start: list[Array], slots: list[Array], places: list[Array]
) -> tuple[list[Array], list[Array]]:
    """The carried values at the start, those of arrays that have no element shape yet brought to the shape they get.

    An unwritten TensorArray is `[size, 0]` until the first write tells the shape of its elements.
    """
    if not any(_is_unshaped(value) for value in start):
        return start, slots
    made = jax.eval_shape(step, (start, slots, jnp.uint64(0), places))[0]
    return [
        jnp.zeros(to.shape, to.dtype) if _is_unshaped(value) and to.shape != value.shape else value
        for value, to in zip(start, made, strict=True)
    ], slots


def _is_unshaped(value: Array) -> bool:
    return bool(value.ndim == 2 and value.shape[1] == 0)
