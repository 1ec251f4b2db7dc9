"""HotLoop: the compiled form of a loop whose stage is interpreted.

A loop is interpreted for its first iterations, which costs tens of microseconds each. When there are many, the rest runs as XLA
loops, from the values that the loop variables have by then; each takes a tenth of a second or so, and between two of them the
step may end. Where a kernel in it would refuse a value, the loop is
interpreted after all, from the same values, and raises its error.

Where the sizes of a stage's inputs keep changing, so that there may never be code of all of it, the loop's own is made beside
the steps once its runs have taken as long as that takes. Of what the loop reads and writes row by row, such as TensorArrays,
the code has more rows than a run needs (`longer_inputs`), so that a few serve all lengths of sequences.
"""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeAlias

import numpy as np

from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.ops.traced_checks import collected, lengthened
from weft.passes.bodies import loop_constants
from weft.platform.imports.jax_modules import jax, jnp, lax
from weft.platform.process.interrupts import deferred_interrupts
from weft.runtime.compiled.code_price import code_price
from weft.runtime.compiled.stoppable import Check, Stops, next_count
from weft.runtime.compiled.traced.loop import Carry, TracedLoop
from weft.runtime.compiled.traced.state import CarriedState
from weft.runtime.compiled.traced.streams import TracedStream
from weft.runtime.compiled.traced.tracing import trace_body
from weft.runtime.host.hot_loops.loop_form import LEAST_ROWS, LoopForm, LoopForms, rounded
from weft.runtime.program.program import ControlFlow
from weft.runtime.state.random_streams import Draws, RandomStream
from weft.runtime.state.variable_slot import VariableSlot
from weft.runtime.state.variable_values import value_of
from weft.runtime.xla.calls_at_exit import calls_at_exit
from weft.runtime.xla.compile_thread import compile_thread
from weft.runtime.xla.compiler_options import jit
from weft.runtime.xla.turns import turns
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
        self._varying = [p for p in range(len(control_flow.op.inputs)) if p not in control_flow.bodies[1].invariant]
        self._forms = LoopForms(control_flow.op, self._varying)
        self._functions: dict[Hashable, Callable[..., Array]] = {}
        self._ready: set[Hashable] = set()
        self._sizes: set[tuple[int, int]] = set()  # `size` and `room` of the code that there is
        self._in_making: set[Hashable] = set()
        self._nodes = sum(body.program.code_nodes for body in control_flow.bodies)
        # Of loops in the body.
        self._stops = Stops([body.program for body in control_flow.bodies], is_inside=True)
        self._piece = _FIRST_ITERATIONS
        # Of runs where sizes change.
        self._seconds = 0.0
        self._most_rows = LEAST_ROWS

    def form_of(self, values: Sequence[Array]) -> LoopForm | None:
        """The form in which a loop that begins with these values can run from there; None where there is no code for it yet."""
        if not self._ready:
            return None
        rows = self._forms.rows(values)
        for size, room in sorted(self._sizes):
            if size >= max(rows, default=0):
                form = self._forms.form(values, rows, size, room)
                if self._key(form, self._known(values)) in self._ready:
                    return form
        return None

    def note_run(self, values: Sequence[Array], iterations: int, took_s: float) -> None:
        """Note a run that was interpreted, and began with these values, where sizes keep changing.

        When such runs have taken as long as code takes to make, another thread makes it.
        """
        self._seconds += took_s
        rows = self._forms.rows(values)
        self._most_rows = max(self._most_rows, iterations, *rows)
        variables = [value_of(slot) for slot in self._slots]
        if (
            self._seconds < code_price.code_s(self._nodes)
            or self._constants is None
            or any(value is None for value in variables)
        ):
            return
        size, constants = rounded(self._most_rows), self._known(values)
        form = self._forms.form(values, rows, size, size)
        key = self._key(form, constants)
        if key in self._ready or key in self._in_making or "|O" in form.types:
            return
        self._in_making.add(key)
        # Arrays of zeros, since others may update the variables meanwhile.
        shaped = [np.zeros(*each) for each in zip(form.shapes, map(np.dtype, form.types), strict=True)]
        blank = [np.zeros(np.shape(value), value.dtype) for value in variables]
        this = weakref.ref(self)

        def make() -> None:
            # Nobody may want it any more.
            if (hot := this()) is not None:
                hot._make(form, constants, shaped, blank)

        compile_thread.submit(make)

    def _make(self, form: LoopForm, constants: dict[int, Array], values: Sequence[Array], reads: Sequence[Array]) -> None:
        """Make code by running it for no iteration."""
        places = [np.uint64(0)] * (self._randoms.stop - self._randoms.start)
        none = np.uint64(0)
        dynamic = [None if place in constants else value for place, value in enumerate(values)]
        begin_s, begin_cpu_s = time.monotonic(), time.process_time()
        try:
            start()
            with turns.taken(), jax.enable_x64(True), self._stops.watched(_go_on) as looks:
                function = self._function(constants, form)
                np.asarray(function(dynamic, reads, places, none, none, looks, form.counts)[-1])
            self._note_ready(form, constants)
            code_price.note(self._nodes, min(time.monotonic() - begin_s, time.process_time() - begin_cpu_s))
        except Exception:
            # XLA cannot have it, or this process cannot have XLA.
            self._constants = None

    def run_rest(
        self,
        values: Sequence[Array],
        streams: Sequence[RandomStream],
        iteration: int,
        check: Check,
        form: LoopForm | None = None,
    ) -> Finished | None:
        """Run the rest of the loop; returns the node's inputs as the loop leaves them, and the recorded values in pieces.

        None when the loop cannot be compiled, or must be interpreted because a kernel refuses a value. Where no form is given,
        it is compiled now, for a loop that may turn very often.

        Raises:
            OpError: what `check` raised, which is called now and then.
        """
        if self._constants is None:
            return None
        reads = [value_of(slot) for slot in self._slots]
        if any(value is None for value in reads):
            return None
        if form is None:
            rows = self._forms.rows(values)
            form = self._forms.form(values, rows, rounded(max(rows, default=0)), _CHUNK_ITERATIONS)
        own = streams[self._randoms]
        try:
            start()
            with (
                calls_at_exit,
                jax.enable_x64(True),
                self._stops.watched(check) as looks,
                Draws(own, [0] * len(own), range(len(own))) as draws,
            ):
                longer = self._forms.lengthened(values, form)
                finished = self._run(longer, form, reads, draws, np.uint64(iteration), looks, check)
        except (OpError, TypeError, ValueError, ForkedProcessError):
            check()
            # XLA cannot have it, or this process cannot have XLA.
            self._constants = None
            return None
        self._note_ready(form, self._known(values))
        if finished is None:
            return None
        return self._forms.shortened(finished[0], values, form), finished[1]

    def _run(
        self,
        values: list[Array],
        form: LoopForm,
        reads: list[Array],
        draws: Draws,
        iteration: Array,
        looks: Array,
        check: Check,
    ) -> Finished | None:
        records: list[list[Array]] = [[] for _ in self._types[len(values) :]]
        draws.moved = places = draws.starts
        constants, rows = self._known(values), form.counts
        function = self._function(constants, form)
        while True:
            dynamic = [None if place in constants else value for place, value in enumerate(values)]
            began_s, begun = time.monotonic(), int(iteration)
            until = np.uint64(begun + self._piece)
            with deferred_interrupts():  # It may compile.
                made, pieces, iteration, places, count, is_full, failed = function(
                    dynamic, reads, places, iteration, until, looks, rows
                )
            if failed:
                return None
            for place, value in zip(self._varying, made, strict=True):
                values[place] = np.asarray(value)
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

    def _known(self, values: Sequence[Array]) -> dict[int, Array]:
        return {place: np.asarray(values[place]) for place in sorted(self._constants or ())}

    def _key(self, form: LoopForm, constants: dict[int, Array]) -> Hashable:
        known = tuple((place, value.shape, value.dtype.str, value.tobytes()) for place, value in constants.items())
        return known, form.shapes, form.types, form.room

    def _note_ready(self, form: LoopForm, constants: dict[int, Array]) -> None:
        self._sizes.add((form.size, form.room))
        self._ready.add(self._key(form, constants))

    def _function(self, constants: dict[int, Array], form: LoopForm) -> Callable[..., Array]:
        key = self._key(form, constants)
        if key not in self._functions:
            self._functions[key] = jit(lambda *arguments: self._traced(constants, form, *arguments))
        return self._functions[key]

    def _traced(
        self,
        constants: dict[int, Array],
        form: LoopForm,
        dynamic: list[Array],
        reads: list[Array],
        places: list[Array],
        iteration: Array,
        until: Array,
        looks: Array,
        rows: Sequence[Array],
    ) -> Array:
        with self._stops.traced(looks), lengthened(self._forms.checked_counts(form, rows)):
            return self._traced_piece(constants, form.room, dynamic, reads, places, iteration, until)

    def _traced_piece(
        self,
        constants: dict[int, Array],
        room: int,
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
        size = _chunk(shapes, room)
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
        return inner[0], buffers, inner[2], left, count, is_full, _any(failed, wrong)


def _chunk(shapes: Sequence[Array], room: int) -> int:
    """For how many iterations there is room for the recorded values."""
    each: int = sum(math.prod(shape.shape) * shape.dtype.itemsize for shape in shapes)
    return max(LEAST_ROWS, min(room, _CHUNK_BYTES // max(each, 1)))


def _go_on() -> None:
    return None


def _any(failed: Array, wrong: Sequence[Array]) -> Array:
    for each in wrong:
        failed = jnp.logical_or(failed, jnp.any(each))
    return failed
