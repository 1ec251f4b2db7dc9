"""Stage: one unit of a partition's execution, which runs as a host program or compiled.

`compile_rules` answers which. Once the answer is settled a run goes there without asking again: `_way` is the method that runs
the stage now. A stage that is compiled may still go back to the host for a size of its inputs that there is no code for; see
`changing_sizes`.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, TypeAlias

import numpy as np

from weft.errors import FailedPreconditionError, OpError, UnimplementedError
from weft.framework import device_spec
from weft.framework.aliases import Array
from weft.framework.operation import Operation
from weft.passes.stage import Kind
from weft.platform.interrupts import deferred_interrupts
from weft.runtime.choice.changing_sizes import COMPILED_AT_ONCE, ChangingSizes
from weft.runtime.choice.compile_rules import COLD_UPDATE_BYTES, LIGHT_GROWTH, NODE_BYTES, Choice, CompileRules, Way
from weft.runtime.choice.stage_report import StageReport, Tally
from weft.runtime.compiled import engine
from weft.runtime.compiled.input_checks import InputChecks
from weft.runtime.compiled.leaving_values import LeavingValues
from weft.runtime.compiled.stoppable import has_loops
from weft.runtime.host.frame import PLAIN, Frame, StepView
from weft.runtime.host.host_program import HostProgram
from weft.runtime.program.kernel_errors import kernel_error
from weft.runtime.program.program import Program
from weft.runtime.state.session_state import SessionState
from weft.runtime.state.variable_slot import VariableSlot, held, locks_of
from weft.runtime.xla.calls_at_exit import calls_at_exit
from weft.runtime.xla.device import jax_device
from weft.runtime.xla.xla_process import as_numpy

TraceSink: TypeAlias = Callable[[str, Operation, float, float], None]
"""Told the device and the time of each node that ran."""
ContextOf: TypeAlias = Callable[[Operation], StepView]

_Run: TypeAlias = "Callable[[Stage, Sequence[Array], SessionState, ContextOf | None], Sequence[Array]]"

_LONG_S: Final = 0.02
"""How long a run takes at least that is kept off the thread which waits for it. That costs up to 0.1 ms."""
_LARGE_ELEMENTS: Final = 1 << 16
"""Before anything has run: what makes arrays of fewer elements is short."""
_TIMED_RUNS: Final = 16
"""One run in so many is timed: two looks at the clock cost a twentieth of the shortest run."""

_nbytes = attrgetter("nbytes")


@dataclass(frozen=True)
class Wiring:
    """How a stage stands among those of its partition.

    `inputs` and `outputs` number the partition's values; `pending` is how many stages and messages it waits for; `then` are the
    numbers of the stages that wait for it; `sends` lists (peer task, edge numbers, value numbers) to push when it is done, with
    value -1 for an edge without one. `fed` are the places of inputs that are arrays of the program's own, `outside` those and
    the places of what other tasks send; `leaving` are the places of outputs that only go to other tasks; `static` those of
    inputs whose values compiled code depends on. With `one_moment`, a stage that only reads variables reads them at one moment.
    """

    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    pending: int = 0
    then: tuple[int, ...] = ()
    sends: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...] = ()
    fed: tuple[int, ...] = ()
    outside: tuple[int, ...] = ()
    leaving: tuple[int, ...] = ()
    static: tuple[int, ...] = ()
    one_moment: bool = False


def _is_of_unlike_shapes(error: OpError, inputs: Sequence[Array]) -> bool:
    """Whether a stage was refused, before it ran, because of a TensorArray whose elements differ in shape."""
    return isinstance(error, UnimplementedError) or any(getattr(value, "dtype", None) == np.object_ for value in inputs)


class Stage:
    """One stage of a partition; shared by all steps that run it, from any thread.

    Args:
        number: its number in the partition.
        device: where it runs.
        kind: what the passes made of it.
        program: what it runs.
        wiring: how it stands among others.
    """

    def __init__(self, number: int, device: str, kind: Kind, program: Program, wiring: Wiring) -> None:
        self.number = number
        self.device = device
        self.kind = kind
        self.program = program
        self.wiring = wiring
        self.inputs, self.outputs, self.sends = wiring.inputs, wiring.outputs, wiring.sends
        self.may_block = kind is Kind.HOST and any(op.op_def.stateful for op in program.nodes)
        self.has_loops = has_loops(program)
        self.is_short = not _makes_large(program)
        """Whether runs take so little time that nobody who waits for one need be let go before its end, as far as is known."""
        self.rules = CompileRules(program, kind, device, wiring.outside)
        holds_locks = kind is Kind.ROWS or self.rules.only_updates
        self.host = HostProgram(program, holds_locks, one_moment=wiring.one_moment)
        self._plain_host: HostProgram | None = None
        self._needs_frame = program.has_bodies or any(
            op.op_def.is_host or op.op_def.compiled_only or op.op_def.takes_run_index for op in program.nodes
        )
        keeps_inputs = bool(program.written_slots) or self.may_block
        # Gathers and updates of rows copy what they take.
        may_alias = bool(wiring.fed) and kind is not Kind.ROWS
        self._copies_fed = may_alias and keeps_inputs
        self._copies_views = may_alias and not keeps_inputs
        self._checks = InputChecks(program)
        self.compiled: engine.CompiledStage | None = None
        self._read_slots = [program.slots[n] for n in sorted(program.read_slots - program.written_slots)]
        self._written_slots: list[VariableSlot] = []
        self._updated_slots: list[VariableSlot] = []
        self._locks: list[threading.Lock] = []
        self._light_bytes = 0
        self._compiled_before_s = 0.0
        self._sizes = ChangingSizes(len(program.nodes))
        # The work on the host of all runs so far, of the largest one, and the bytes of its inputs.
        self._work = 0
        self._most_work = 0
        self._most_input_bytes = 0
        self._runs = 0
        self._seems_long = False
        self._host_tally = Tally()
        self._compiled_tally = Tally()
        self._choice: Choice | None = None
        # A function and no bound method, which would keep the stage alive until a garbage collection.
        self._way: _Run = Stage._run_undecided
        if self.rules.fixed is not None:
            self._settle(self.rules.fixed)

    def run(
        self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None, trace: TraceSink | None
    ) -> Sequence[Array]:
        """Run the stage on the values of its inputs and return those of its outputs, perhaps still being computed.

        Raises:
            OpError: a node failed; the error carries it.
        """
        if trace is not None:
            return self._run_traced(inputs, session, context, trace)
        self._runs += 1
        if self._runs % _TIMED_RUNS == 1:
            return self._run_timed(inputs, session, context)
        return self._way(self, inputs, session, context)

    def explain(self, task: str) -> StageReport:
        """Which way the stage goes and why, how often it ran and how long that took."""
        choice = self._choice
        if choice is None:
            choice = Choice(Way.UNDECIDED, "it has not run yet")
        counts = Counter(op.type for op in self.program.nodes)
        host, compiled = self._host_tally, self._compiled_tally
        return StageReport(
            task,
            self.number,
            self.device,
            self.kind.value,
            ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.most_common()),
            "not yet run" if not self._runs else choice.way.value,
            choice.why,
            host.runs,
            host.total_s,
            compiled.runs,
            compiled.total_s,
            self._compile_s(),
            0 if self.compiled is None else self.compiled.compilations,
        )

    def _settle(self, choice: Choice) -> None:
        self._choice = choice
        self._way = Stage._run_host

    def _run_timed(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        compiled_before, compile_before_s = self._compiled_tally.runs, self._compile_s()
        start = time.perf_counter()
        outputs = self._way(self, inputs, session, context)
        tally = self._host_tally if self._compiled_tally.runs == compiled_before else self._compiled_tally
        tally.timed_runs += 1
        took_s = time.perf_counter() - start - (self._compile_s() - compile_before_s)
        tally.timed_s += took_s
        if self.compiled is None or not self.is_short:
            # What is compiled may still be computed; of what is not short the end was waited for.
            self._note_time(took_s >= _LONG_S)
        return outputs

    def _note_time(self, is_long: bool) -> None:
        """Note how long a run took. What has been short is long when two runs in a row are: a machine may be busy."""
        if is_long and self.is_short and not self._seems_long:
            self._seems_long = True
            self._runs += _TIMED_RUNS - 1  # so that the next run is timed
            return
        self._seems_long = False
        self.is_short = not is_long

    def _compile_s(self) -> float:
        return self._compiled_before_s + (0.0 if self.compiled is None else self.compiled.compile_s)

    # On the host.

    def _run_undecided(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        choice = self.rules.choose(self._host_tally.runs, self._work, session.compile_at_once, session.never_compile)
        self._choice = choice
        if choice.way is Way.COMPILED:
            return self._run_first(inputs, session, context)
        if choice.way is Way.HOST:
            self._settle(choice)
            return self._way(self, inputs, session, context)
        return self._run_counted(inputs, session, context)

    def _run_counted(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        """Run on the host, and count the work."""
        self._host_tally.runs += 1
        inputs = self._owned([value if type(value) is np.ndarray else as_numpy(value) for value in inputs])
        frame = self._frame(session, context)
        outputs, made_bytes = self.host.run_counted(inputs, frame, self._check_between(context))
        input_bytes = sum(map(_nbytes, inputs))
        work = input_bytes + made_bytes + NODE_BYTES * (self.host.size + frame.nodes_run)
        self._work += work
        self._most_work = max(self._most_work, work)
        self._most_input_bytes = max(self._most_input_bytes, input_bytes)
        return self._apart(outputs, inputs)

    def _run_host(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        self._host_tally.runs += 1
        inputs = [value if type(value) is np.ndarray else as_numpy(value) for value in inputs]
        if self._copies_fed:
            inputs = self._owned(inputs)
        frame = self._frame(session, context) if self._needs_frame else PLAIN
        check = None if self.is_short else self._check_between(context)
        outputs = self.host.run(inputs, frame) if check is None else self.host.run_checked(inputs, frame, check)
        return self._apart(outputs, inputs) if self._copies_views else outputs

    def _check_between(self, context: ContextOf | None) -> Callable[[], None] | None:
        """What ends a long run between two nodes when its step has ended; an update that has begun is finished."""
        return None if self.is_short or self.program.written_slots else self._check(context)

    def _run_traced(
        self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None, trace: TraceSink
    ) -> Sequence[Array]:
        """Run on the host, each node by itself, and tell its time."""
        if self._plain_host is None:
            self._plain_host = HostProgram(self.program, is_plain=True, one_moment=self.wiring.one_moment)
        inputs = self._owned([value if type(value) is np.ndarray else as_numpy(value) for value in inputs])
        frame = self._frame(session, context)
        outputs = self._plain_host.run_traced(inputs, frame, lambda op, begin, end: trace(self.device, op, begin, end))
        return self._apart(outputs, inputs)

    def _frame(self, session: SessionState, context: ContextOf | None) -> Frame:
        run_indices = session.run_indices(self.program.random_nodes)
        return Frame(run_indices, context, not session.never_compile, session.file_access)

    def _owned(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """The inputs, copied where a variable or a queue might keep an array that the program fed and may change later."""
        if not self._copies_fed:
            return inputs
        return [np.array(value) if place in self.wiring.fed else value for place, value in enumerate(inputs)]

    def _apart(self, outputs: Sequence[Array], inputs: Sequence[Array]) -> Sequence[Array]:
        """The outputs, copied where they are views of an array that the program fed."""
        if not self._copies_views:
            return outputs
        fed = [inputs[place] for place in self.wiring.fed]
        return [np.array(value) if _is_view(value, fed) else value for value in outputs]

    # Compiled.

    def _run_first(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        """Compile and run; a stage with loops or branches whose shapes XLA cannot have stays on the host from then on."""
        compiled = self._compile(self.rules.is_light(self._most_work))
        start = time.perf_counter()
        try:
            with calls_at_exit:
                outputs = self._dispatched(compiled, inputs if self.is_short else self._owned(inputs), session, context)
            engine.wait_or_raise(outputs, self._check(context))
            self.is_short = time.perf_counter() - start - compiled.compile_s < _LONG_S
        except OpError as error:
            is_possible = self.program.has_bodies or _is_of_unlike_shapes(error, inputs)
            if not is_possible or self._is_over(context):
                self._way = Stage._run_compiled
                raise
            self._leave_to_host(error)
            return self._way(self, inputs, session, context)
        self._way = Stage._run_compiled
        return outputs

    def _leave_to_host(self, error: OpError) -> None:
        self._compiled_before_s, self.compiled = self._compile_s(), None
        self._settle(Choice(Way.HOST, f"XLA cannot have all of it: {error.message.splitlines()[0]}"))

    def _compile(self, is_light: bool) -> engine.CompiledStage:
        is_on_cpu = device_spec.device_type(self.device) == "CPU"
        leaving = self.wiring.leaving if is_on_cpu else ()
        self._compiled_before_s = self._compile_s()
        device = None if is_light else jax_device(self.device)
        compiled = engine.CompiledStage(self.program, self.wiring.static, device, leaving, is_light)
        self._light_bytes = self._most_input_bytes * LIGHT_GROWTH
        slots = self.program.slots
        self._written_slots = [slots[number] for number in compiled.written]
        self._updated_slots = [slots[number] for number in compiled.updated]
        self._locks = locks_of([*self._written_slots, *self._read_slots])
        self.compiled = compiled
        return compiled

    def _run_compiled(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        compiled = self.compiled
        assert compiled is not None
        if compiled.compilations >= COMPILED_AT_ONCE and not self._has_code(compiled, inputs, session, context):
            return self._run_host(inputs, session, context)
        try:
            if self.is_short:
                return self._dispatched(compiled, inputs, session, context)
            # Who is let go before the end may change what was fed.
            inputs = self._owned(inputs)
            with calls_at_exit:
                outputs = self._dispatched(compiled, inputs, session, context)
            engine.wait_or_raise(outputs, self._check(context))
            return outputs
        except OpError as error:
            if not _is_of_unlike_shapes(error, inputs) or self._is_over(context):
                raise
            self._leave_to_host(error)
            return self._way(self, inputs, session, context)

    def _has_code(
        self, compiled: engine.CompiledStage, inputs: Sequence[Array], session: SessionState, context: ContextOf | None
    ) -> bool:
        """Whether inputs of this size run compiled: there may be no code for it, and sizes that keep changing may not recur."""
        size = compiled.signature(inputs)
        if compiled.is_ready(size) or self.rules.must_compile or session.compile_at_once:
            return True
        sizes = self._sizes
        if sizes.work is None:
            sizes.work = self._most_work + self._operations(compiled, inputs, context)
        if sizes.is_worth(size, self.program.updated_bytes(), COLD_UPDATE_BYTES):
            return True
        sizes.note_run(size)
        return False

    def _operations(self, compiled: engine.CompiledStage, inputs: Sequence[Array], context: ContextOf | None) -> float:
        """How many operations XLA counts in code for these inputs; 0 where it cannot have them, which running them will say."""
        reads = [slot.value for slot in self._read_slots]
        updates = [slot.value for slot in self._updated_slots]
        check = self._check(context)
        try:
            with contextlib.nullcontext() if compiled.stops is None else compiled.stops.watched(check):
                return compiled.operations(inputs, reads, updates)
        except Exception:
            check()
            return 0.0

    def _dispatched(
        self, compiled: engine.CompiledStage, inputs: Sequence[Array], session: SessionState, context: ContextOf | None
    ) -> Sequence[Array]:
        self._compiled_tally.runs += 1
        if self._checks:
            self._checks.run(inputs)
        indices = session.run_indices(self.program.random_nodes) if self.program.random_nodes else ()
        if compiled.stops is not None:
            return self._run_watched(compiled, inputs, indices, context)
        if compiled.is_light:
            return self._run_light(compiled, inputs, indices)
        if self._locks:
            outputs, values = self._update(compiled, inputs, indices)
        else:
            outputs, values = self._call(compiled, inputs, indices)
        # Not with the locks held: it may wait.
        made = engine.outputs_of(outputs)
        if self.wiring.fed and self.is_short:
            # XLA reads a fed array where it lies; the program may change it as soon as the run returns.
            engine.wait_until_ready(made or values)
        return made

    def _run_watched(
        self, compiled: engine.CompiledStage, inputs: Sequence[Array], indices: Sequence[Array], context: ContextOf | None
    ) -> Sequence[Array]:
        """Run code with loops, to its end or to that of the step; variables get their new values only at its own."""
        if compiled.is_light and sum(map(_nbytes, inputs)) > self._light_bytes:
            compiled = self._compile(is_light=False)
        assert compiled.stops is not None
        with compiled.stops.watched(self._check(context)) as looks, deferred_interrupts(), held(self._locks) as locks:
            outputs, values = self._call(compiled, inputs, indices, (looks,))
            # A variable that is only read may be updated while the loop runs.
            locks.keep(locks_of(self._written_slots))
            made = engine.outputs_of(outputs)
            engine.wait_until_ready(values or made)
            for slot, value in zip(self._written_slots, values, strict=True):
                slot.value = value
        return [np.asarray(value) for value in made] if compiled.is_light else made

    def _check(self, context: ContextOf | None) -> Callable[[], None]:
        """What raises the step's error when it has one."""
        return Frame((), context).check_of(self.program.nodes[-1])

    def _is_over(self, context: ContextOf | None) -> bool:
        try:
            self._check(context)()
        except OpError:
            return True
        return False

    def _run_light(self, compiled: engine.CompiledStage, inputs: Sequence[Array], indices: Sequence[Array]) -> Sequence[Array]:
        if sum(map(_nbytes, inputs)) > self._light_bytes:
            # Larger than those by which the stage was found to be light: from now on it computes on XLA's threads.
            compiled = self._compile(is_light=False)
            outputs, _ = self._call(compiled, inputs, indices)
            return engine.outputs_of(outputs)
        outputs, _ = self._call(compiled, inputs, indices)
        # As plain arrays: XLA's usual threads would copy what belongs to this one.
        return [np.asarray(value) for value in engine.outputs_of(outputs)]

    def _update(
        self, compiled: engine.CompiledStage, inputs: Sequence[Array], indices: Sequence[Array]
    ) -> tuple[Sequence[Array] | LeavingValues, Sequence[Array]]:
        """Dispatch and give the variables their new values, with every variable of the stage locked.

        Also one that is only read: an update that runs meanwhile would donate its array, and a dispatch that fails for that
        reason takes the arrays that it updates with it. Reading without the lock and trying again was measured first, under two
        asynchronous workers: that is how such arrays were lost.
        """
        with deferred_interrupts(), held(self._locks):
            outputs, values = self._call(compiled, inputs, indices)
            for slot, value in zip(self._written_slots, values, strict=True):
                slot.value = value
        return outputs, values

    def _call(
        self,
        compiled: engine.CompiledStage,
        inputs: Sequence[Array],
        indices: Sequence[Array],
        looks: Sequence[Array] = (),
    ) -> tuple[Sequence[Array] | LeavingValues, Sequence[Array]]:
        reads = [slot.value for slot in self._read_slots]
        updates = [slot.value for slot in self._updated_slots]
        try:
            return compiled(inputs, reads, updates, indices, looks)
        except OpError:
            raise
        except Exception as error:
            if any(value is None for value in (*reads, *updates)):
                raise self._uninitialized() from None
            raise kernel_error(self.program.nodes[-1], error) from error

    def _uninitialized(self) -> OpError:
        slot = next(slot for slot in [*self._read_slots, *self._updated_slots] if slot.value is None)
        op = next((op for op in self.program.nodes if op.name == slot.name), None)
        return FailedPreconditionError.of(f"Attempting to use uninitialized value {slot.name}", op)


def _makes_large(program: Program) -> bool:
    """Whether something that is computed has many elements, as far as the graph tells."""
    sizes = (tensor.shape.num_elements() for each in program.instructions for tensor in each.tensors)
    return any(size is not None and size >= _LARGE_ELEMENTS for size in sizes)


def _is_view(value: Array, arrays: Sequence[Array]) -> bool:
    return isinstance(value, np.ndarray) and any(np.may_share_memory(value, array) for array in arrays)
