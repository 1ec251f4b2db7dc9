"""Stage: one unit of a partition's execution, which runs as a host program or compiled.

`compile_rules` answers which, and `ways` has the two. Once the answer is settled a run goes there without asking again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation
from weft.passes.awaited import may_block, names_resource
from weft.passes.stage import Kind
from weft.runtime.choice.compile_rules import Choice, CompileRules, Way
from weft.runtime.choice.stage_report import COMPILING, StageReport
from weft.runtime.compiled.engine import CompiledStage, signature
from weft.runtime.compiled.stoppable import has_loops
from weft.runtime.program.host_stages import parking_of
from weft.runtime.program.program import Program
from weft.runtime.state.session_state import SessionState
from weft.runtime.ways.compiled_way import CompiledWay
from weft.runtime.ways.host_way import ContextOf, HostWay
from weft.runtime.ways.run_times import TIMED_RUNS, RunTimes
from weft.runtime.ways.small_way import SmallWay
from weft.runtime.ways.wiring import Wiring

TraceSink: TypeAlias = Callable[[str, Operation, float, float], None]
"""Told the device and the time of each node that ran."""

_Run: TypeAlias = Callable[[Sequence[Array], SessionState, "ContextOf | None"], Sequence[Array]]

_LARGE_ELEMENTS: Final = 1 << 16
"""Before anything has run: what makes arrays of fewer elements is short."""


_LONG_COMPILATION: Final = 16
"""To hand a stage of fewer nodes to another thread, until it is compiled, is not worth it: its code is soon made."""


_TRIED_RUNS: Final = 3
"""So many timed runs of code tell whether rounds on the host are quicker."""


class Stage:
    """One stage of a partition; shared by all steps that run it, from any thread.

    `times.is_short` tells whether runs take so little time that nobody who waits for one need be let go before its end.

    Args:
        number: its number in the partition.
        device: where it runs.
        kind: what the passes made of it.
        program: what it runs.
        wiring: how it stands among others.
        waits_for_code: whether its session's steps compile, which takes 0.1 s and more unless it is small: on a pool's thread
            neither deadline nor Ctrl-C waits for that.
    """

    def __init__(
        self, number: int, device: str, kind: Kind, program: Program, wiring: Wiring, waits_for_code: bool = False
    ) -> None:
        self.number = number
        self.device = device
        self.kind = kind
        self.program = program
        self.wiring = wiring
        self.inputs, self.outputs, self.sends = wiring.inputs, wiring.outputs, wiring.sends
        is_host = kind is Kind.HOST
        self.parks_at = parking_of(program.nodes) if is_host else None
        """The node at which a run may end by `Parked`."""
        self.may_block = self.parks_at is None and is_host and any(map(may_block, program.nodes))
        self.touches_state = touches_state = is_host and any(
            op.op_def.stateful and not names_resource(op) for op in program.nodes
        )
        self.has_loops = has_loops(program)
        self.rules = rules = CompileRules(program, kind, device, wiring.outside, bool(wiring.static))
        self.times = times = RunTimes(
            not _makes_large(program),
            rules.fixed is None and len(program.nodes) >= _LONG_COMPILATION and (waits_for_code or rules.waits_for_code),
        )
        self.host = HostWay(program, kind, wiring, touches_state=touches_state, only_updates=rules.only_updates, times=times)
        self._compiled_way = CompiledWay(program, wiring, device, rules, self.host, times)
        self._choice = rules.fixed
        self._small: SmallWay | None = None
        self._round_s = 0.0
        """How long each of the last rounds side by side took on the host."""
        self._price_s: float | None = None
        """What its code costs, where it runs on the host until its runs have taken as long."""
        # None until it is settled. A method of this stage would keep it alive until a garbage collection.
        self._way: _Run | None = None
        if rules.fixed is not None:
            # On a thread of the pool no signal comes.
            self._way = self.host.run_whole if touches_state and not self.may_block else self.host.run

    def run(
        self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None, trace: TraceSink | None
    ) -> Sequence[Array]:
        """Run the stage on the values of its inputs and return those of its outputs, perhaps still being computed.

        Raises:
            OpError: a node failed; the error carries it.
        """
        if trace is not None:
            return self.host.run_traced(
                inputs, session, context, lambda op, begin_s, end_s: trace(self.device, op, begin_s, end_s)
            )
        times = self.times
        times.runs += 1
        if times.runs % TIMED_RUNS == 1:
            return self._run_timed(inputs, session, context)
        way = self._way
        return self._run_undecided(inputs, session, context) if way is None else way(inputs, session, context)

    def run_rounds(
        self, inputs_of: Sequence[Sequence[Array]], session: SessionState, context: ContextOf
    ) -> tuple[Sequence[Sequence[Array]], OpError | None]:
        """Run the stage for several rounds, on the host side by side; see `weft.runtime.step.rounds`.

        Returns:
            The outputs of each round before the one that failed, or of all; the error of that one.
        """
        count = len(inputs_of)
        waits = session.waits_for_code or self.rules.waits_for_code
        if count < 2 or not self._is_for_host(inputs_of, may_choose=not waits):
            outputs_of: list[Sequence[Array]] = []
            try:
                for inputs in inputs_of:
                    outputs_of.append(self.run(inputs, session, context, None))
            except OpError as error:
                return outputs_of, error
            return outputs_of, None
        times = self.times
        times.runs += count
        begin_s, begin_of_thread_s = time.perf_counter(), time.thread_time()
        made = self.host.run_rounds(inputs_of, session, context)
        took_s = time.perf_counter() - begin_s
        times.host.timed_runs += count
        times.host.timed_s += took_s
        self._round_s = took_s / count
        if self._way is None:
            self.host.counted.note_time(time.thread_time() - begin_of_thread_s, count)
        return made

    def _is_for_host(self, inputs_of: Sequence[Sequence[Array]], may_choose: bool) -> bool:
        """Whether all these runs go on the host, now that its way is known: also where code takes longer than rounds did.

        Args:
            inputs_of: the inputs of each.
            may_choose: whether times may decide; numbers of code differ in their last digits.
        """
        if self._small is not None:
            return all(map(self._small.fits, inputs_of))
        way = None if self._choice is None else self._choice.way
        is_unpaid = way is Way.UNPAID and self._price_s is not None and self.host.counted.seconds < self._price_s
        compiled = self.times.compiled
        if way is Way.COMPILED and may_choose and compiled.timed_runs >= _TRIED_RUNS:
            return 0.0 < self._round_s < compiled.timed_s / compiled.timed_runs
        return way is Way.HOST or is_unpaid

    @property
    def compiled(self) -> CompiledStage | None:
        """Its code; None while it has not been compiled."""
        return self._compiled_way.code

    def explain(self, task: str) -> StageReport:
        """Which way the stage goes and why, how often it ran and how long that took."""
        choice = self._compiled_way.refusal or self._choice or Choice(Way.UNDECIDED, "it has not run yet")
        counts = Counter(op.type for op in self.program.nodes)
        times = self.times
        return StageReport(
            task,
            self.number,
            self.device,
            self.kind.value,
            ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.most_common()),
            "not yet run" if not times.runs else COMPILING if self._compiled_way.is_in_making else choice.way.value,
            choice.why,
            times.host.runs,
            times.host.total_s,
            times.compiled.runs,
            times.compiled.total_s,
            self._compiled_way.compile_s,
            self._compiled_way.sizes,
            0 if self.compiled is None else self.compiled.cached,
        )

    def _run_timed(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        times, compiled_way, way = self.times, self._compiled_way, self._way
        compiled_before, waited_before_s = times.compiled.runs, compiled_way.waited_s
        start = time.perf_counter()
        outputs = self._run_undecided(inputs, session, context) if way is None else way(inputs, session, context)
        tally = times.host if times.compiled.runs == compiled_before else times.compiled
        tally.timed_runs += 1
        took_s = time.perf_counter() - start - (compiled_way.waited_s - waited_before_s)
        tally.timed_s += took_s
        if compiled_way.code is None or not times.is_short:
            # What is compiled may still be computed; of what is not short the end was waited for.
            times.note(took_s)
        return outputs

    def _run_undecided(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        host, rules = self.host, self.rules
        if not host.counted.sizes_change:
            host.counted.note_size(signature(inputs, self.wiring.static))
        if self._price_s is not None and host.counted.seconds < self._price_s:
            return host.run_paying(inputs, session, context)
        waits = session.waits_for_code or rules.waits_for_code
        choice = rules.choose(
            host.counted,
            is_beside=not waits,
            compiles_at_once=session.compile_at_once,
            never_compiles=session.never_compile,
        )
        self._choice = choice
        if choice.way is Way.UNPAID:
            self._price_s = rules.code_s
            self.times.note_host()
            return host.run_paying(inputs, session, context)
        if choice.way is Way.COMPILED:
            if waits:
                return self._run_first(inputs, session, context)
            # Steps go on here meanwhile, and none of them is the one that compiles.
            self.times.note_host()
            self._way = self._compiled_way.run
            return self._way(inputs, session, context)
        if choice.way in (Way.HOST, Way.SMALL):
            if choice.way is Way.SMALL:
                self._small = SmallWay(host, self._compiled_way)
            self._way = way = host.run if self._small is None else self._small.run
            self.times.note_host()
            return way(inputs, session, context)
        return host.run_counted(inputs, session, context)

    def _run_first(self, inputs: Sequence[Array], session: SessionState, context: ContextOf | None) -> Sequence[Array]:
        """Compile and run; whether that succeeds or a node fails, the next run is compiled too."""
        try:
            outputs = self._compiled_way.run_first(inputs, session, context)
        except OpError:
            self._way = self._compiled_way.run
            raise
        self._way = self._compiled_way.run
        return outputs


def _makes_large(program: Program) -> bool:
    """Whether something that is computed has many elements, as far as the graph tells."""
    sizes = (tensor.shape.num_elements() for each in program.instructions for tensor in each.tensors)
    return any(size is not None and size >= _LARGE_ELEMENTS for size in sizes)
