"""HostWay: how a stage runs on the host."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TypeAlias

import numpy as np

from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation
from weft.passes.stage import Kind
from weft.platform.process.interrupts import deferred_interrupts
from weft.runtime.choice.counted_runs import CountedRuns
from weft.runtime.compiled.input_memory import COPIED_HERE_BYTES
from weft.runtime.host.frame import PLAIN, Frame
from weft.runtime.host.host_program import HostProgram, NodeSink
from weft.runtime.program.program import Program
from weft.runtime.state.function_plan import StepView
from weft.runtime.state.host_values import as_numpy
from weft.runtime.state.session_state import SessionState
from weft.runtime.ways.run_times import RunTimes
from weft.runtime.ways.wiring import Wiring

ContextOf: TypeAlias = Callable[[Operation], StepView]

nbytes = attrgetter("nbytes")


class HostWay:
    """A stage's program on NumPy; shared by all threads that run the stage.

    It copies what the program fed, and may change later, where a variable, a queue or a result would keep it.

    Args:
        program: what the stage runs.
        kind: what the passes made of it.
        wiring: how it stands among others.
        touches_state: whether its nodes change what the task keeps, such as a queue.
        only_updates: whether it does nothing but update whole variables.
        times: of the stage; runs are counted there.
    """

    def __init__(
        self, program: Program, kind: Kind, wiring: Wiring, *, touches_state: bool, only_updates: bool, times: RunTimes
    ) -> None:
        self._source = program
        self._wiring = wiring
        self._times = times
        self.program = HostProgram(program, kind is Kind.ROWS or only_updates, one_moment=wiring.one_moment)
        self._plain: HostProgram | None = None
        self._needs_frame = program.has_bodies or any(
            op.op_def.is_host or op.op_def.compiled_only or op.op_def.is_random for op in program.nodes
        )
        keeps_inputs = bool(program.written_slots) or touches_state
        # Gathers and updates of rows copy what they take.
        may_alias = bool(wiring.fed) and kind is not Kind.ROWS
        self._copies_fed = may_alias and keeps_inputs
        self._copies_views = may_alias and not keeps_inputs
        self.counted = CountedRuns()

    def run(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        """Run on the host; returns the values of the outputs."""
        times = self._times
        times.host.runs += 1
        inputs = [value if type(value) is np.ndarray else as_numpy(value) for value in inputs]
        if self._copies_fed:
            inputs = self.owned(inputs)
        frame = self._frame(session, context) if self._needs_frame else PLAIN
        check = None if times.is_short else self._check_between(context)
        outputs = self.program.run(inputs, frame) if check is None else self.program.run_checked(inputs, frame, check)
        return self._apart(outputs, inputs) if self._copies_views else outputs

    def run_whole(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        """As `run`; an interrupt waits for its end, so that what the task keeps is not left half changed."""
        with deferred_interrupts():
            return self.run(inputs, session, context)

    def run_counted(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        """As `run`; counts the work too."""
        self._times.host.runs += 1
        inputs = self.owned([value if type(value) is np.ndarray else as_numpy(value) for value in inputs])
        frame = self._frame(session, context)
        begin_s = time.thread_time()
        outputs, made_bytes = self.program.run_counted(inputs, frame, self._check_between(context))
        took_s = time.thread_time() - begin_s
        fed = (nbytes(inputs[place]) for place in self._wiring.fed)
        fed_bytes = sum(each for each in fed if each >= COPIED_HERE_BYTES)
        nodes = self.program.size + frame.nodes_run
        self.counted.note(nodes, made_bytes, sum(map(nbytes, inputs)), fed_bytes, took_s)
        return self._apart(outputs, inputs)

    def run_paying(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        """As `run`; counts how long it took."""
        begin_s = time.thread_time()
        outputs = self.run(inputs, session, context)
        self.counted.note_time(time.thread_time() - begin_s)
        return outputs

    def run_rounds(
        self, inputs_of: Sequence[Sequence[Array]], session: SessionState, context: ContextOf
    ) -> tuple[Sequence[Sequence[Array]], OpError | None]:
        """Run for several rounds side by side, in a partition without feeds; see `Stage.run_rounds`."""
        self._times.host.runs += len(inputs_of)
        in_memory = [[value if type(value) is np.ndarray else as_numpy(value) for value in inputs] for inputs in inputs_of]
        frame = self._frame(session, context) if self._needs_frame else PLAIN
        made: list[Sequence[Array]] = []
        for outcome in self.program.run_each(in_memory, frame, ends_at_failure=True):
            if isinstance(outcome, OpError):
                return made, outcome
            made.append(outcome)
        return made, None

    def run_traced(
        self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None, sink: NodeSink
    ) -> Sequence[Array]:
        """As `run`, each node by itself; tells the times of each."""
        if self._plain is None:
            self._plain = HostProgram(self._source, is_plain=True, one_moment=self._wiring.one_moment)
        inputs = self.owned([value if type(value) is np.ndarray else as_numpy(value) for value in inputs])
        outputs = self._plain.run_traced(inputs, self._frame(session, context), sink)
        return self._apart(outputs, inputs)

    def check(self, context: ContextOf | None) -> Callable[[], None]:
        """What raises the step's error when it has one."""
        return Frame((), context).check_of(self._source.nodes[-1])

    def is_over(self, context: ContextOf | None) -> bool:
        """Whether the step has its error already."""
        try:
            self.check(context)()
        except OpError:
            return True
        return False

    def _check_between(self, context: ContextOf | None) -> Callable[[], None] | None:
        """What ends a long run between two nodes when its step has ended; an update that has begun is finished."""
        return None if self._times.is_short or self._source.written_slots else self.check(context)

    def _frame(self, session: SessionState, context: ContextOf | None) -> Frame:
        streams = session.streams.of(self._source.random_nodes)
        # Loops' code comes when it comes, by which numbers differ in their last digits.
        sizes_change = self.counted.sizes_change and not session.waits_for_code
        return Frame(streams, context, not session.never_compile, session.file_access, sizes_change)

    @property
    def kept(self) -> Sequence[int]:
        """The places of inputs that the program fed, and may change, while a variable or a queue might keep them."""
        return self._wiring.fed if self._copies_fed else ()

    def owned(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """The inputs, copied where a variable or a queue might keep an array that the program fed and may change later."""
        if not self._copies_fed:
            return inputs
        return [np.array(value) if place in self._wiring.fed else value for place, value in enumerate(inputs)]

    def _apart(self, outputs: Sequence[Array], inputs: Sequence[Array]) -> Sequence[Array]:
        """The outputs, copied where they are views of an array that the program fed."""
        if not self._copies_views:
            return outputs
        fed = [inputs[place] for place in self._wiring.fed]
        return [np.array(value) if _is_view(value, fed) else value for value in outputs]


def _is_view(value: Array, arrays: Sequence[Array]) -> bool:
    return isinstance(value, np.ndarray) and any(np.may_share_memory(value, array) for array in arrays)
