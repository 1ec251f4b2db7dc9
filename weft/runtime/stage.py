"""Stage: one unit of a partition's execution, and the choice of how it runs.

A stage that only passes values on is run as it is. One that computes is interpreted on NumPy while it is cold, which needs no
JAX, and compiled to one XLA function when it has been run a few times, is large, or has an op that only XLA has. One that only
updates variables is tried both ways then, and goes on with the faster. A stage of rows is always NumPy's, and changes variables
in place. A host stage is one Python kernel.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from weft.errors import FailedPreconditionError, OpError
from weft.framework import device_spec
from weft.framework.operation import Operation
from weft.passes.stage import Kind
from weft.platform.interrupts import deferred_interrupts
from weft.runtime.program.kernel_errors import kernel_error, raise_located
from weft.runtime.program.program import Program, execute
from weft.runtime.state.session_state import SessionState
from weft.runtime.state.state import LockedState, SlotState
from weft.runtime.state.variable_slot import held, locks_of
from weft.runtime.ways import engine
from weft.runtime.ways.faster_way import FasterWay
from weft.runtime.ways.host_updates import HostUpdates, host_updates_of
from weft.runtime.ways.input_checks import InputChecks
from weft.runtime.ways.joint_updates import JointProgram
from weft.runtime.ways.leaving_values import LeavingValues
from weft.runtime.ways.passage import passage_of
from weft.runtime.ways.row_work import row_work_of
from weft.runtime.ways.size_ledger import SizeLedger
from weft.runtime.ways.wide_stage import is_wide
from weft.runtime.xla.device import jax_device
from weft.runtime.xla.xla_process import as_numpy

# A stage is interpreted for its first runs, or this long: compiling takes 25 ms at least, and starting XLA ends the time for
# forking.
COLD_RUNS: Final = 5
COLD_S: Final = 0.2
COLD_NODES: Final = 256
COLD_UPDATE_BYTES: Final = 4 << 20
# Up to here, a copy of what is updated costs less than to compile for a size that may not come again.
CHANGING_UPDATE_BYTES: Final = 64 << 20
# How many times as long as XLA NumPy may take for a large network's step.
NUMPY_FACTOR: Final = 16
# Compiled code draws normal numbers ten times faster, which pays for compiling it at a quarter of a second or so of them.
COLD_RANDOM_NUMBERS: Final = 1 << 23
# A stage compiles at once for this many sizes of its inputs, as full batches and a last partial one need. A further size is
# interpreted until it has cost as much as code of its own, and there is never code for more than the limit.
COMPILED_AT_ONCE: Final = 2
COMPILED_LIMIT: Final = engine.CODE_LIMIT

# Code for what NumPy did in less time than this computes on the calling thread, for inputs up to some times as large.
LIGHT_S: Final = 2e-3
LIGHT_GROWTH: Final = 4

_ON_NUMPY, _COMPILED = range(2)

TraceSink = Callable[[str, Operation, float, float], None]


class Stage:
    """One stage of a partition; shared by all steps that run it, from any thread.

    `inputs` and `outputs` number the partition's values; `pending` is how many stages and messages it waits for; `then` are the
    stages that wait for it; `fed` are the places of inputs that are arrays of the program's own, `outside` those and the places
    of what other tasks send; `leaving` are the places of outputs that only go to other tasks; `sends` lists (peer task, edge
    numbers, value numbers) to push when it is done.
    """

    def __init__(self, number: int, device: str, kind: Kind, program: Program, static_inputs: Sequence[int]) -> None:
        self.number = number
        self.device = device
        self.kind = kind
        self.program = program
        self.inputs: tuple[int, ...] = ()
        self.outputs: tuple[int, ...] = ()
        self.pending = 0
        self.then: list[Stage] = []
        self.sends: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = []
        self.fed: tuple[int, ...] = ()
        self.outside: tuple[int, ...] = ()
        self.leaving: tuple[int, ...] = ()
        self.may_block = kind is Kind.HOST and any(op.op_def.stateful for op in program.nodes)
        # On an accelerator an assignment stays there, so it is compiled.
        on_host = device_spec.device_type(device) == "CPU"
        self._keeps_inputs = bool(program.written_slots) or self.may_block
        self._is_alias = kind is Kind.COMPILED and program.is_alias and (on_host or not program.written_slots)
        self._passage = passage_of(program) if self._is_alias else None
        self._updates = host_updates_of(program) if on_host and kind is Kind.COMPILED else None
        self._trial: FasterWay | None = None
        self._checks = InputChecks(program)
        self._state = SlotState(program.slots)
        self._static_inputs = static_inputs
        self._runs = 0
        self._cold_s = math.inf
        self._cold_bytes = 0
        self._spent_cold_s = 0.0
        self._computed_s = math.inf
        self._may_compile = True
        self._compiled: engine.CompiledStage | None = None
        self._sizes = SizeLedger()
        # What depends on nothing, such as variables' initial values, is not run often, however large it is.
        self._depends = bool(program.inputs or program.read_slots)
        drawn = sum(tensor.shape.num_elements() or 0 for op in program.random_nodes for tensor in op.outputs)
        self._draws_much = drawn > COLD_RANDOM_NUMBERS
        self._needs_xla = any(op.op_def.compiled_only for op in program.nodes)
        self._read_slots = [program.slots[n] for n in sorted(program.read_slots - program.written_slots)]
        self._written_slots: list[Any] = []
        self._updated_slots: list[Any] = []
        self._locks: list[Any] = locks_of(program.slots) if kind is Kind.ROWS else []
        joint = JointProgram(program) if kind is Kind.ROWS else None
        self._joint = joint if joint is not None and joint.joins else None
        self._row_work = row_work_of(program) if kind is Kind.ROWS else None

    def run(self, inputs: Sequence[Any], session: SessionState, context: Any, trace: TraceSink | None) -> Sequence[Any]:
        """Run the stage on the values of its inputs and return those of its outputs, perhaps still being computed.

        Raises:
            OpError: a node failed; the error carries it.
        """
        if trace is not None:
            return self._run_traced(inputs, session, context, trace)
        compiled = self._compiled
        if compiled is not None:
            if self._updates is not None and self._trial is not None:
                return self._update_faster(compiled, self._updates, self._trial, inputs, session)
            if compiled.compilations < COMPILED_AT_ONCE:
                return self._run_compiled(compiled, inputs, session)
            return self._run_size(compiled, inputs, session, context)
        if self._is_alias:
            return self._pass_on(inputs)
        if self.kind is Kind.ROWS:
            return self._run_rows(_as_arrays(inputs), session)
        if self.kind is Kind.HOST:
            return self._interpret(_as_arrays(inputs), session, context)
        self._runs += 1
        if self._should_compile(session):
            return self._run_first(inputs, session, context)
        return self._run_cold(_as_arrays(inputs), session, context)

    def _should_compile(self, session: SessionState) -> bool:
        if not self._may_compile or self._has_new_variables():
            return False
        if self._needs_xla or session.compile_at_once:
            return True
        if session.never_compile:
            return False
        is_large = self._draws_much or (len(self.program.nodes) > COLD_NODES and self._depends)
        is_warm = self._runs > COLD_RUNS or self._spent_cold_s > COLD_S
        if not (is_large or is_warm or self._updates_more_than(COLD_UPDATE_BYTES)):
            return False
        self._may_compile = not is_wide(self.program, self.outside)
        return self._may_compile

    def _run_cold(self, inputs: Sequence[Any], session: SessionState, context: Any) -> Sequence[Any]:
        start, computed = time.perf_counter(), time.thread_time()
        outputs = self._interpret(inputs, session, context)
        self._cold_s = min(self._cold_s, time.perf_counter() - start)
        self._spent_cold_s += time.thread_time() - computed
        self._cold_bytes = max(self._cold_bytes, sum(value.nbytes for value in inputs))
        return outputs

    def _light_bytes(self) -> int | None:
        """Up to which size of its inputs the stage is to compute on the calling thread; None for one that is not light.

        The values of variables stay where XLA's usual threads can update them.
        """
        is_light = self._cold_s < LIGHT_S and not self.program.slots and device_spec.device_type(self.device) == "CPU"
        return self._cold_bytes * LIGHT_GROWTH if is_light else None

    def _run_size(
        self, compiled: engine.CompiledStage, inputs: Sequence[Any], session: SessionState, context: Any
    ) -> Sequence[Any]:
        """Run inputs whose size there may be no code for: sizes that keep changing may not recur."""
        size = compiled.signature(inputs)
        if compiled.is_ready(size) or self._needs_xla or session.compile_at_once:
            return self._run_compiled(compiled, inputs, session)
        if self._is_better_compiled(compiled):
            return self._run_compiled(compiled, inputs, session)
        if compiled.compilations < COMPILED_LIMIT and self._sizes.is_worth(size, compiled.compile_s):
            return self._run_compiled(compiled, inputs, session)
        start = time.perf_counter()
        outputs = self._interpret(_as_arrays(inputs), session, context)
        self._sizes.add(size, time.perf_counter() - start)
        return outputs

    def _is_better_compiled(self, compiled: engine.CompiledStage) -> bool:
        """Whether to compile for a size even if it never comes again."""
        if not self._updates_more_than(COLD_UPDATE_BYTES):
            return False
        return self._updates_more_than(CHANGING_UPDATE_BYTES) or self._computed_s * NUMPY_FACTOR > compiled.compile_s

    def _has_new_variables(self) -> bool:
        """Whether a variable of a branch has no value yet: compiled branches need one to read, or to leave as it is."""
        program = self.program
        return any(program.slots[number].value is None for number in program.conditional_slots & program.read_slots)

    def _run_first(self, inputs: Sequence[Any], session: SessionState, context: Any) -> Sequence[Any]:
        """Compile and run; a stage with loops or branches whose shapes XLA cannot have is interpreted from then on."""
        compiled = self._compile()
        if self._updates is not None and not session.compile_at_once and not self._updates_more_than(COLD_UPDATE_BYTES):
            self._trial = FasterWay(2)
        try:
            return self._run_compiled(compiled, inputs, session)
        except OpError:
            if not self.program.has_bodies:
                raise
            self._compiled, self._may_compile = None, False
            return self._interpret(_as_arrays(inputs), session, context)

    def _updates_more_than(self, limit_bytes: int) -> bool:
        # NumPy kernels make a new array where a compiled update works in place.
        slots = self.program.slots
        values = [slots[number].value for number in self.program.written_slots & self.program.read_slots]
        size_bytes: int = sum(value.nbytes for value in values if value is not None)
        return size_bytes > limit_bytes

    def _compile(self) -> engine.CompiledStage:
        leaving = self.leaving if device_spec.device_type(self.device) == "CPU" else ()
        light_bytes = self._light_bytes()
        device = jax_device(self.device) if light_bytes is None else None
        compiled = engine.CompiledStage(self.program, self._static_inputs, device, leaving, light_bytes)
        slots = self.program.slots
        self._written_slots = [slots[number] for number in compiled.written]
        self._updated_slots = [slots[number] for number in compiled.updated]
        self._locks = locks_of([*self._written_slots, *self._read_slots])
        self._compiled = compiled
        return compiled

    def _owned(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """The inputs, copied where a variable or a queue might keep an array that the program fed and may change later."""
        if not self.fed or not self._keeps_inputs:
            return inputs
        return [np.array(value) if place in self.fed else value for place, value in enumerate(inputs)]

    def _apart(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
        """The outputs, copied where they are views of an array that the program fed."""
        if not self.fed or self._keeps_inputs:
            return outputs
        fed = [inputs[place] for place in self.fed]
        return [np.array(value) if _is_view(value, fed) else value for value in outputs]

    def _interpret(self, inputs: Sequence[Any], session: SessionState, context: Any) -> Sequence[Any]:
        inputs = self._owned(inputs)
        indices = session.run_indices(self.program.random_nodes)
        self._state.compiles_loops = not session.never_compile
        return self._apart(self.program.run(np, inputs, self._state, indices, context), inputs)

    def _run_rows(self, inputs: Sequence[Any], session: SessionState) -> Sequence[Any]:
        # The locks are taken for reading too: an update finds nobody with a view of the array, and needs no copy of it.
        if self._row_work is not None:
            begun = self._row_work.begin(inputs)
            with deferred_interrupts(), held(self._locks):
                return self._row_work.run(begun)
        with deferred_interrupts(), held(self._locks):
            state = LockedState(self.program.slots)
            return self.program.run(np, inputs, state, ()) if self._joint is None else self._joint.run(inputs, state)

    def _pass_on(self, inputs: Sequence[Any]) -> Sequence[Any]:
        inputs = self._owned(inputs)
        outputs = self._passage.take(inputs, self._state) if self._passage is not None else None
        if outputs is None:
            outputs = self.program.run(np, inputs, self._state, ())
        return _as_arrays(self._apart(outputs, inputs))

    def _run_compiled(self, compiled: engine.CompiledStage, inputs: Sequence[Any], session: SessionState) -> Sequence[Any]:
        if self._checks:
            self._checks.run(inputs)
        indices = session.run_indices(self.program.random_nodes) if self.program.random_nodes else ()
        if compiled.is_light:
            return self._run_light(compiled, inputs, indices)
        if self._locks:
            outputs, values = self._update(compiled, inputs, indices)
        else:
            outputs, values = self._dispatch(compiled, inputs, indices)
        # Not with the locks held: it may wait.
        made = engine.outputs_of(outputs)
        if self.fed:
            # XLA reads a fed array where it lies; the program may change it as soon as the run returns.
            start = time.perf_counter()
            engine.wait_until_ready(made or values)
            self._computed_s = time.perf_counter() - start
        return made

    def _run_light(self, compiled: engine.CompiledStage, inputs: Sequence[Any], indices: Sequence[Any]) -> Sequence[Any]:
        try:
            outputs, _ = self._dispatch(compiled, inputs, indices)
        except engine.TooLargeError:
            self._cold_s = math.inf
            outputs, _ = self._dispatch(self._compile(), inputs, indices)
        # As plain arrays: XLA's usual threads would copy what belongs to this one.
        return [np.asarray(value) for value in engine.outputs_of(outputs)]

    def _update(
        self, compiled: engine.CompiledStage, inputs: Sequence[Any], indices: Sequence[Any]
    ) -> tuple[Sequence[Any] | LeavingValues, Sequence[Any]]:
        """Dispatch and give the variables their new values, with every variable of the stage locked.

        Also one that is only read: an update that runs meanwhile would donate its array, and a dispatch that fails for that
        reason takes the arrays that it updates with it.
        """
        with deferred_interrupts(), held(self._locks):
            outputs, values = self._dispatch(compiled, inputs, indices)
            for slot, value in zip(self._written_slots, values, strict=True):
                slot.value = value
        return outputs, values

    def _update_faster(
        self,
        compiled: engine.CompiledStage,
        updates: HostUpdates,
        trial: FasterWay,
        inputs: Sequence[Any],
        session: SessionState,
    ) -> Sequence[Any]:
        """Update the variables on NumPy or by XLA, whichever takes less time: a call of XLA costs as much as 100,000 sums."""
        way, is_settled = trial.way, trial.is_settled
        start = 0.0 if is_settled else time.perf_counter()
        outputs = self._run_compiled(compiled, inputs, session) if way == _COMPILED else self._update_here(updates, inputs)
        if not is_settled:
            # With the locks held, or another step might take the arrays to update them.
            with deferred_interrupts(), held(self._locks):
                engine.wait_until_ready([slot.value for slot in self._written_slots])
            trial.note(way, time.perf_counter() - start)
        return outputs

    def _update_here(self, updates: HostUpdates, inputs: Sequence[Any]) -> Sequence[Any]:
        inputs = self._owned(_as_arrays(inputs))
        with deferred_interrupts(), held(self._locks):
            updates.run(inputs)
        return ()

    def _dispatch(
        self, compiled: engine.CompiledStage, inputs: Sequence[Any], indices: Sequence[Any]
    ) -> tuple[Sequence[Any] | LeavingValues, Sequence[Any]]:
        reads = [slot.value for slot in self._read_slots]
        updates = [slot.value for slot in self._updated_slots]
        try:
            return compiled(inputs, reads, updates, indices)
        except (OpError, engine.TooLargeError):
            raise
        except Exception as error:
            if any(value is None for value in (*reads, *updates)):
                raise self._uninitialized() from None
            raise kernel_error(self.program.nodes[-1], error) from error

    def _uninitialized(self) -> OpError:
        slot = next(slot for slot in [*self._read_slots, *self._updated_slots] if slot.value is None)
        op = next((op for op in self.program.nodes if op.name == slot.name), None)
        return FailedPreconditionError(None, op, f"Attempting to use uninitialized value {slot.name}")

    def _run_traced(self, inputs: Sequence[Any], session: SessionState, context: Any, trace: TraceSink) -> Sequence[Any]:
        program = self.program
        values: list[Any] = [None] * program.size
        inputs = self._owned(_as_arrays(inputs))
        values[: len(inputs)] = inputs
        indices = session.run_indices(program.random_nodes)
        for instruction in program.instructions:
            begin = time.time()
            try:
                with engine.namespace_for(instruction) as xp:
                    execute(instruction, xp, values, self._state, indices, context)
            except Exception as error:
                raise_located(instruction.op, error)
            trace(self.device, instruction.op, begin, time.time())
        return self._apart(program.results(values, self._state), inputs)


def _as_arrays(values: Sequence[Any]) -> list[Any]:
    return [value if type(value) is np.ndarray else as_numpy(value) for value in values]


def _is_view(value: Any, arrays: Sequence[Any]) -> bool:
    return isinstance(value, np.ndarray) and any(np.may_share_memory(value, array) for array in arrays)
