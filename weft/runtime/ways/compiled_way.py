"""CompiledWay: how a stage runs as XLA functions, and what it leaves to the host."""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from weft.errors import OpError, UnimplementedError
from weft.framework.building.aliases import Array
from weft.framework.devices import device_spec
from weft.platform.process.interrupts import deferred_interrupts
from weft.runtime.choice.changing_sizes import COMPILED_AT_ONCE, ChangingSizes
from weft.runtime.choice.compile_rules import COLD_UPDATE_BYTES, LIGHT_GROWTH, Choice, CompileRules, Way
from weft.runtime.compiled import engine
from weft.runtime.compiled.input_checks import InputChecks
from weft.runtime.compiled.leaving_values import LeavingValues
from weft.runtime.compiled.stoppable import traced_for
from weft.runtime.compiled.waiting import wait_for_updates, wait_or_raise, wait_until_ready
from weft.runtime.program.program import Program
from weft.runtime.state.session_state import SessionState
from weft.runtime.state.variable_slot import held, locks_of
from weft.runtime.ways.code_call import CodeCall
from weft.runtime.ways.host_way import ContextOf, HostWay, nbytes
from weft.runtime.ways.run_times import RunTimes
from weft.runtime.ways.wiring import Wiring
from weft.runtime.xla.calls_at_exit import LeftRunning, calls_at_exit
from weft.runtime.xla.compile_thread import compile_thread
from weft.runtime.xla.device import jax_device
from weft.runtime.xla.turns import turns


def _is_of_unlike_shapes(error: OpError, inputs: Sequence[Array]) -> bool:
    """Whether a stage was refused, before it ran, because of values that differ in shape: a TensorArray's, or of branches."""
    return isinstance(error, UnimplementedError) or any(getattr(value, "dtype", None) == np.object_ for value in inputs)


_LOOK_S: Final = 0.02
"""How often a step that waits for another's code looks whether it has ended."""


class CompiledWay:
    """A stage's program as XLA functions; shared by all threads that run the stage.

    A size of the inputs that there is no code for may run on the host; see `changing_sizes`. So does all that follows when XLA
    turns out to lack something that the program needs.

    Args:
        program: what the stage runs.
        wiring: how it stands among others.
        device: where it runs.
        rules: what was decided about it.
        host: its way on the host.
        times: of the stage; runs are counted there.
    """

    def __init__(
        self, program: Program, wiring: Wiring, device: str, rules: CompileRules, host: HostWay, times: RunTimes
    ) -> None:
        self._program = program
        self._wiring = wiring
        self._device = device
        self._rules = rules
        self._host = host
        self._times = times
        self.code: engine.CompiledStage | None = None
        """None before the first run, and when the stage is left to the host."""
        self.refusal: Choice | None = None
        """Why the stage is left to the host; None when it is not."""
        self._checks = InputChecks(program)
        self._call = CodeCall(program)
        self._locks = locks_of([*self._call.written_slots, *self._call.read_slots])
        self._light_bytes = 0
        self._left_running = LeftRunning()
        self._compiled_before_s = 0.0
        self._sizes = ChangingSizes(program.code_nodes)
        self._lock = threading.Lock()  # for what follows
        self._in_making: set[engine.Signature] = set()
        self._failed: set[engine.Signature] = set()
        self._in_steps: dict[engine.Signature, threading.Event] = {}

    @property
    def compile_s(self) -> float:
        """How long tracing and compiling have taken, in steps or beside them."""
        return self._compiled_before_s + (0.0 if self.code is None else self.code.compile_s + self.code.ahead_s)

    @property
    def waited_s(self) -> float:
        """How long steps have waited for code."""
        return 0.0 if self.code is None else self.code.compile_s

    @property
    def is_in_making(self) -> bool:
        """Whether the first code is being made."""
        return self.code is None and bool(self._in_making)

    @property
    def sizes(self) -> int:
        """For how many sizes of the inputs there is code."""
        return 0 if self.code is None else self.code.compilations

    def run_first(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        """Compile and run; a stage with loops or branches whose shapes XLA cannot have stays on the host from then on."""
        with calls_at_exit:
            return self._run_first(inputs, session, context)

    def _run_first(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        size = engine.signature(inputs, self._wiring.static)
        check = self._host.check(context)
        compiled = self._made_in_step(size, inputs, self._rules.is_light(self._host.counted.most_work), check)
        # A step that has ended updates nothing.
        check()
        start, compiled_s = time.perf_counter(), compiled.compile_s
        try:
            kept = () if self._times.is_short else self._host.kept
            outputs = self._dispatched(compiled, compiled.memory.owned(inputs, kept), session, context)
            wait_or_raise(outputs, check)
            self._times.note_first(time.perf_counter() - start - (compiled.compile_s - compiled_s))
        except OpError as error:
            is_possible = self._program.has_bodies or _is_of_unlike_shapes(error, inputs)
            if not is_possible or self._host.is_over(context):
                raise
            self._leave_to_host(error)
            return self._host.run(inputs, session, context)
        return outputs

    def _made_in_step(
        self, size: engine.Signature, inputs: Sequence[Array], is_light: bool, check: Callable[[], None]
    ) -> engine.CompiledStage:
        """Code for these inputs, made by the first step that needs it.

        The others wait for it, each until its own end, which `check` raises: without that each step whose deadline was shorter
        than the compilation compiled anew, eight one after the other for eight steps.
        """
        while True:
            # An interrupt that came between the note and its removal would have all others wait for ever.
            with deferred_interrupts():
                with self._lock:
                    other = self._in_steps.get(size)
                    if other is None:
                        self._in_steps[size] = made = threading.Event()
                if other is None:
                    try:
                        return self._prepared(size, inputs, is_light, check)
                    finally:
                        with self._lock:
                            del self._in_steps[size]
                        made.set()
            while not other.wait(_LOOK_S):
                check()

    def _prepared(
        self, size: engine.Signature, inputs: Sequence[Array], is_light: bool, check: Callable[[], None]
    ) -> engine.CompiledStage:
        compiled = self.code
        if compiled is None or compiled.is_light != is_light:
            compiled = self._compile(is_light)
        reads, updates = self._call.values()
        is_possible = not any(value is None for value in (*reads, *updates))
        if is_possible and not compiled.is_ready(size):
            # What is wrong the run that follows tells, as it does that a variable has no value.
            with contextlib.suppress(Exception), traced_for(check):
                compiled.prepare(inputs, reads, updates, in_step=True)
        return compiled

    def _leave_to_host(self, error: OpError) -> None:
        self._compiled_before_s, self.code = self.compile_s, None
        self.refusal = Choice(Way.HOST, f"XLA cannot have all of it: {error.message.splitlines()[0]}")

    def _compile(self, is_light: bool) -> engine.CompiledStage:
        self._compiled_before_s = self.compile_s
        self.code = compiled = self._new_code(is_light)
        return compiled

    def _new_code(self, is_light: bool) -> engine.CompiledStage:
        is_on_cpu = device_spec.device_type(self._device) == "CPU"
        leaving = self._wiring.leaving if is_on_cpu else ()
        device = None if is_light else jax_device(self._device)
        self._light_bytes = self._host.counted.most_input_bytes * LIGHT_GROWTH
        return engine.CompiledStage(self._program, self._wiring.static, device, leaving, is_light)

    def run(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        """Run compiled, or on the host where that is cheaper; returns the outputs, perhaps still being computed."""
        # Whatever way it goes: to price one more size traces its code.
        with calls_at_exit:
            compiled = self.code
            if compiled is None or not compiled.is_ready_for(inputs) or (compiled.is_light and self._is_outgrown(inputs)):
                return self._run_without_code(inputs, session, context)
            return self._run_compiled(compiled, inputs, session, context)

    def _is_outgrown(self, inputs: Sequence[Array]) -> bool:
        """Whether inputs are larger than those by which the stage was found to be light: it is to compute on XLA's threads."""
        size_bytes: int = sum(map(nbytes, inputs))
        return size_bytes > self._light_bytes

    def _run_compiled(
        self, compiled: engine.CompiledStage, inputs: Sequence[Array], session: SessionState, context: ContextOf | None
    ) -> Sequence[Array]:
        try:
            if self._times.is_short:
                return self._dispatched(compiled, inputs, session, context)
            # Who is let go before the end may change what was fed.
            inputs = compiled.memory.owned(inputs, self._host.kept)
            outputs = self._dispatched(compiled, inputs, session, context)
            wait_or_raise(outputs, self._host.check(context))
            return outputs
        except OpError as error:
            if not _is_of_unlike_shapes(error, inputs) or self._host.is_over(context):
                raise
            self._leave_to_host(error)
            return self._host.run(inputs, session, context)

    def _run_without_code(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        """Run inputs for which there is no code: on the host, and have code made beside that if it is worth it.

        A session that waits for its code, and code that was tried in vain, are compiled in the step: it raises what is wrong.
        """
        if self.refusal is not None:
            return self._host.run(inputs, session, context)
        compiled, size = self.code, engine.signature(inputs, self._wiring.static)
        is_light = self._rules.is_light(self._host.counted.most_work) if compiled is None else compiled.is_light
        is_light = is_light and not (compiled is not None and self._is_outgrown(inputs))
        if compiled is None and (self._failed or session.waits_for_code or self._rules.waits_for_code):
            return self.run_first(inputs, session, context)
        if not self._is_worth(compiled, size, inputs, session, context):
            begin_s = time.thread_time()
            outputs = self._host.run(inputs, session, context)
            self._sizes.note_time(size, time.thread_time() - begin_s)
            return outputs
        if compiled is not None and (self._rules.must_compile or session.waits_for_code or size in self._failed):
            check = self._host.check(context)
            made = self._made_in_step(size, inputs, is_light, check)
            check()
            return self._run_compiled(made, inputs, session, context)
        with turns.step():
            outputs = self._host.run(inputs, session, context)
        # Not for inputs that a node refuses.
        self._have_made(size, inputs, is_light)
        return outputs

    def _is_worth(
        self,
        compiled: engine.CompiledStage | None,
        size: engine.Signature,
        inputs: Sequence[Array],
        session: SessionState,
        context: ContextOf | None,
    ) -> bool:
        """Whether inputs of one more size are to have code: sizes that keep changing may not recur."""
        sizes = self._sizes
        if self._rules.must_compile or session.compile_at_once or size in self._in_making:
            return True
        counted = self._host.counted
        counted.note_size(size)
        is_beside = not (session.waits_for_code or self._rules.waits_for_code)
        if self.sizes + len(self._in_making) < COMPILED_AT_ONCE and not (is_beside and counted.sizes_change):
            return True
        if is_beside:
            return sizes.is_paid(size, self._rules.code_s, self._program.updated_bytes())
        if sizes.work is None and compiled is not None:
            flops = self._operations(compiled, inputs, context) if compiled.flops is None else compiled.flops
            sizes.work = counted.most_work + flops
        if sizes.work is not None and sizes.is_worth(size, self._program.updated_bytes(), COLD_UPDATE_BYTES):
            return True
        sizes.note_run(size)
        return False

    def _have_made(self, size: engine.Signature, inputs: Sequence[Array], is_light: bool) -> None:
        """Have code made for inputs of a size, by another thread, unless that is under way or a variable has no value."""
        values = self._call.values()
        if any(value is None for each in values for value in each):
            return
        static = set(self._wiring.static)
        shaped = [np.array(each) if place in static else engine.Shaped.of(each) for place, each in enumerate(inputs)]
        reads, updates = ([engine.Shaped.of(value) for value in each] for each in values)
        this = weakref.ref(self)

        def make() -> None:
            # Nobody may want it any more.
            if (way := this()) is not None:
                way._make(size, shaped, reads, updates, is_light)

        # A lock that an interrupt leaves held would keep all later steps.
        with deferred_interrupts(), self._lock:
            if size not in self._in_making:
                self._in_making.add(size)
                compile_thread.submit(make)

    def _make(
        self,
        size: engine.Signature,
        inputs: Sequence[Array | engine.Shaped],
        reads: Sequence[engine.Shaped],
        updates: Sequence[engine.Shaped],
        is_light: bool,
    ) -> None:
        compiled = self.code
        is_other = compiled is None or compiled.is_light != is_light
        try:
            with turns.taken():
                compiled = self._new_code(is_light) if compiled is None or is_other else compiled
                compiled.prepare(inputs, reads, updates)
            if is_other and self.refusal is None:
                self._compiled_before_s = self.compile_s
                self.code = compiled
        except Exception:
            # The next step with such inputs compiles them itself, and tells what is wrong.
            self._failed.add(size)
        finally:
            with self._lock:
                self._in_making.discard(size)

    def _operations(self, compiled: engine.CompiledStage, inputs: Sequence[Array], context: ContextOf | None) -> float:
        """How many operations XLA counts in code for these inputs; 0 where it cannot have them, which running them will say."""
        reads, updates = self._call.values()
        check = self._host.check(context)
        try:
            with contextlib.nullcontext() if compiled.stops is None else compiled.stops.watched(check):
                return compiled.operations(inputs, reads, updates)
        except Exception:
            check()
            return 0.0

    def _dispatched(
        self, compiled: engine.CompiledStage, inputs: Sequence[Array], session: SessionState, context: ContextOf | None
    ) -> Sequence[Array]:
        self._times.compiled.runs += 1
        if self._checks:
            self._checks.run(inputs)
        if compiled.stops is not None:
            return self._run_watched(compiled, inputs, session, context)
        if compiled.is_light:
            return self._run_light(compiled, inputs, session)
        if self._locks:
            outputs, values = self._update(compiled, inputs, session)
        else:
            with self._call.draws(compiled, inputs, session) as draws:
                outputs, values = self._call(compiled, inputs, draws)
        # Not with the locks held: it may wait.
        made = engine.outputs_of(outputs)
        if self._wiring.fed and self._times.is_short:
            # XLA reads a fed array where it lies; the program may change it as soon as the run returns.
            if made:
                wait_until_ready(made)
            else:
                wait_for_updates(values, self._call.written_slots)
        return made

    def _run_watched(
        self, compiled: engine.CompiledStage, inputs: Sequence[Array], session: SessionState, context: ContextOf | None
    ) -> Sequence[Array]:
        """Run code with loops, to its end or to that of the step; variables get their new values only at its own."""
        assert compiled.stops is not None
        watched = compiled.stops.watched(self._host.check(context))
        with (
            watched as looks, deferred_interrupts(), held(self._locks) as locks,
            self._call.draws(compiled, inputs, session) as draws,
        ):  # fmt: skip
            outputs, values = self._call(compiled, inputs, draws, (looks,))
            # A variable that is only read may be updated while the loop runs.
            locks.keep(locks_of(self._call.written_slots))
            made = engine.outputs_of(outputs)
            wait_until_ready(values or made)
            for slot, value in zip(self._call.written_slots, values, strict=True):
                slot.value = value
        return [np.asarray(value) for value in made] if compiled.is_light else made

    def _run_light(self, compiled: engine.CompiledStage, inputs: Sequence[Array], session: SessionState) -> Sequence[Array]:
        with self._call.draws(compiled, inputs, session) as draws:
            outputs, _ = self._call(compiled, inputs, draws)
        # As plain arrays: XLA's usual threads would copy what belongs to this one.
        return [np.asarray(value) for value in engine.outputs_of(outputs)]

    def _update(
        self, compiled: engine.CompiledStage, inputs: Sequence[Array], session: SessionState
    ) -> tuple[Sequence[Array] | LeavingValues, Sequence[Array]]:
        """Dispatch and give the variables their new values, with every variable of the stage locked.

        Also one that is only read: an update that runs meanwhile would donate its array, and a dispatch that fails for that
        reason takes the arrays that it updates with it. Reading without the lock and trying again was measured first, under two
        asynchronous workers: that is how such arrays were lost.
        """
        with deferred_interrupts(), held(self._locks), self._call.draws(compiled, inputs, session) as draws:
            outputs, values = self._call(compiled, inputs, draws)
            for slot, value in zip(self._call.written_slots, values, strict=True):
                slot.value = value
        self._left_running.note(values)
        return outputs, values
