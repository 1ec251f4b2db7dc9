"""HotLoop: lets a loop that turns out to be long, while it is interpreted, go on as compiled code.

A loop is interpreted for its first iterations, which costs tens of microseconds each. When there are many, the rest runs as XLA
loops, from the values that the loop variables have by then; each takes a tenth of a second or so, and between two of them the
step may end. Where a kernel in it would refuse a value, the loop is
interpreted after all, from the same values, and raises its error.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeAlias

import numpy as np

from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.ops.traced_checks import collected
from weft.passes.bodies import loop_constants
from weft.platform.imports.jax_modules import jax, jnp, lax
from weft.platform.process.interrupts import deferred_interrupts
from weft.runtime.compiled.stoppable import Check, Stops, next_count
from weft.runtime.compiled.traced.loop import Carry, TracedLoop
from weft.runtime.compiled.traced.state import CarriedState
from weft.runtime.compiled.traced.streams import TracedStream
from weft.runtime.compiled.traced.tracing import trace_body
from weft.runtime.program.program import ControlFlow
from weft.runtime.state.random_streams import Draws, RandomStream
from weft.runtime.state.variable_slot import VariableSlot
from weft.runtime.state.variable_values import value_of
from weft.runtime.xla.calls_at_exit import calls_at_exit
from weft.runtime.xla.compiler_options import jit
from weft.runtime.xla.xla_process import ForkedProcessError, start

# Compiling a small loop takes as long as interpreting some hundreds of its iterations.
HOT_ITERATIONS: Final = 256
_CHUNK_BYTES: Final = 32 << 20
_CHUNK_ITERATIONS: Final = 4096

_FIRST_ITERATIONS: Final = 1024

_LongCarry: TypeAlias = tuple[Carry, Array, Array, list[Array]]
"""What the loop carries, how many iterations this piece has had, whether a kernel refused a value, the recorded values."""

Finished: TypeAlias = tuple[list[Array], list[list[Array]]]
"""The loop variables as the loop leaves them, and the recorded values in pieces."""


class HotLoop:
    """The compiled form of one While node that is interpreted; made when the node first needs it. Safe from any thread.

    Args:
        control_flow: the node's condition and body, which write no variable.
        slots: the variables of the program around.
    """

    def __init__(self, control_flow: ControlFlow, slots: Sequence[VariableSlot]) -> None:
        self._bodies = control_flow.bodies
        self._types = control_flow.types
        self._randoms = control_flow.randoms
        self._numbers = sorted({slot for body in control_flow.bodies for slot in body.slots})
        self._slots = [slots[number] for number in self._numbers]
        self._constants = loop_constants(control_flow.op)
        self._functions: dict[Hashable, Callable[..., Array]] = {}
        self._ready: set[Hashable] = set()
        # Of loops in the body.
        self._stops = Stops([body.program for body in control_flow.bodies], is_inside=True)
        self._piece = _FIRST_ITERATIONS

    def is_ready(self, values: Sequence[Array]) -> bool:
        """Whether there is code for loop variables of these shapes already."""
        return bool(self._ready) and self._signature(values) in self._ready

    def run_rest(
        self, values: Sequence[Array], streams: Sequence[RandomStream], iteration: int, check: Check
    ) -> Finished | None:
        """Run the rest of the loop; returns the node's inputs as the loop leaves them, and the recorded values in pieces.

        None when the loop cannot be compiled, or must be interpreted because a kernel refuses a value.

        Raises:
            OpError: what `check` raised, which is called now and then.
        """
        if self._constants is None:
            return None
        reads = [value_of(slot) for slot in self._slots]
        if any(value is None for value in reads):
            return None
        signature = self._signature(values)
        own = streams[self._randoms]
        try:
            start()
            with (
                calls_at_exit,
                jax.enable_x64(True),
                self._stops.watched(check) as looks,
                Draws(own, [0] * len(own), range(len(own))) as draws,
            ):
                finished = self._run(list(values), reads, draws, np.uint64(iteration), looks, check)
        except (OpError, TypeError, ValueError, ForkedProcessError):
            check()
            # XLA cannot have it, or this process cannot have XLA.
            self._constants = None
            return None
        self._ready.add(signature)
        return finished

    def _run(
        self,
        values: list[Array],
        reads: list[Array],
        draws: Draws,
        iteration: Array,
        looks: Array,
        check: Check,
    ) -> Finished | None:
        records: list[list[Array]] = [[] for _ in self._types[len(values) :]]
        draws.moved = places = draws.starts
        while True:
            constants = {place: np.asarray(values[place]) for place in sorted(self._constants or ())}
            dynamic = [None if place in constants else value for place, value in enumerate(values)]
            began_s, begun = time.monotonic(), int(iteration)
            until = np.uint64(begun + self._piece)
            function = self._function(constants)
            with deferred_interrupts():  # It may compile.
                made, pieces, iteration, places, count, is_full, failed = function(
                    dynamic, reads, places, iteration, until, looks
                )
            if failed:
                return None
            values = [constants.get(place, value) for place, value in enumerate(np.asarray(v) for v in made)]
            for record, piece in zip(records, pieces, strict=True):
                record.append(np.asarray(piece)[: int(count)])
            if not is_full:
                draws.moved = places
                return values, records
            check()
            self._adapt(int(count), time.monotonic() - began_s)

    def _adapt(self, count: int, took_s: float) -> None:
        """Have pieces take as long as slices of compiled loops do."""
        self._piece = next_count(count, took_s)

    def _function(self, constants: dict[int, Array]) -> Callable[..., Array]:
        key = tuple((place, value.shape, value.dtype.str, value.tobytes()) for place, value in constants.items())
        if key not in self._functions:
            self._functions[key] = jit(lambda *arguments: self._traced(constants, *arguments))
        return self._functions[key]

    def _traced(
        self,
        constants: dict[int, Array],
        dynamic: list[Array],
        reads: list[Array],
        places: list[Array],
        iteration: Array,
        until: Array,
        looks: Array,
    ) -> Array:
        with self._stops.traced(looks):
            return self._traced_piece(constants, dynamic, reads, places, iteration, until)

    def _traced_piece(
        self,
        constants: dict[int, Array],
        dynamic: list[Array],
        reads: list[Array],
        places: list[Array],
        iteration: Array,
        until: Array,
    ) -> Array:
        arguments = [constants.get(place, value) for place, value in enumerate(dynamic)]
        state = CarriedState(None, dict(zip(self._numbers, reads, strict=True)))
        # The bodies number their random nodes among those of the program around.
        streams = [TracedStream(np.uint64(0)) for _ in range(self._randoms.start)] + [TracedStream(place) for place in places]
        loop = TracedLoop(self._bodies, self._types, (), arguments, state, streams, trace_body)
        first = loop.initial(iteration)
        shapes = jax.eval_shape(loop.step, first)[1]
        size = _chunk(shapes)
        buffers = [jnp.zeros((size, *shape.shape), shape.dtype) for shape in shapes]

        def test(carry: _LongCarry) -> Array:
            inner, count, failed, _ = carry
            with collected():
                more = loop.test(inner)
            has_room = jnp.logical_and(inner[2] < until, count < size if shapes else True)
            return jnp.logical_and(more, jnp.logical_and(~failed, has_room))

        def step(carry: _LongCarry) -> _LongCarry:
            inner, count, failed, buffers = carry
            with collected() as wrong:
                inner, recorded = loop.step(inner)
            buffers = [buffer.at[count].set(value) for buffer, value in zip(buffers, recorded, strict=True)]
            return inner, count + 1, _any(failed, wrong), buffers

        inner, count, failed, buffers = lax.while_loop(test, step, (first, 0, jnp.asarray(False), buffers))
        with collected() as wrong:
            is_full = loop.test(inner)
        # A piece that is full goes on before its condition, which then is tested anew.
        left = [jnp.where(is_full, here, behind) for here, behind in zip(inner[3], loop.places_behind(inner), strict=True)]
        return loop.merged(inner[0]), buffers, inner[2], left, count, is_full, _any(failed, wrong)

    def _signature(self, values: Sequence[Array]) -> Hashable:
        return tuple((np.shape(value), np.asarray(value).dtype.str) for value in values)


def _chunk(shapes: Sequence[Array]) -> int:
    """For how many iterations there is room for the recorded values."""
    each: int = sum(math.prod(shape.shape) * shape.dtype.itemsize for shape in shapes)
    return max(16, min(_CHUNK_ITERATIONS, _CHUNK_BYTES // max(each, 1)))


def _any(failed: Array, wrong: Sequence[Array]) -> Array:
    for each in wrong:
        failed = jnp.logical_or(failed, jnp.any(each))
    return failed
