"""StepPlan: one (fetches, feeds, targets) of a session, partitioned and registered with the tasks that it needs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

from weft.distributed.master.steps.aligned_clocks import align_clocks
from weft.distributed.master.steps.deployment import Deployment, Part
from weft.distributed.master.steps.live_steps import LiveSteps
from weft.distributed.master.steps.recorded_run import RecordedRun
from weft.distributed.master.steps.registrar import Registrar
from weft.distributed.master.steps.step_metadata import is_traced, metadata_of, refuse_debugger, with_timeout
from weft.distributed.master.steps.step_run import StepRun
from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Tensor
from weft.platform.waits.deadline import holding, left_s, within
from weft.platform.waits.quick_lately import QuickLately
from weft.runtime.choice.stage_report import StageReport, not_asked
from weft.runtime.step.single_step import SingleStep
from weft.runtime.step.spans import spans


class PlanOwner(Protocol):
    """The session that a plan belongs to."""

    steps: LiveSteps
    registrar: Registrar
    timeout_ms: int
    """How long a step may take that does not say so itself; 0 for ever."""
    home: str
    """The device that the master itself counts as, in traces."""


class StepPlan:
    """Runs steps; made by MasterSession, used by any number of threads at a time. Its registrations go with it.

    Args:
        parts: the registered parts by task.
        feeds, fetches: the tensors whose values `run` takes and returns, in order.
        owner: the session.
    """

    def __init__(self, parts: Mapping[str, Part], feeds: Sequence[Tensor], fetches: Sequence[Tensor], owner: PlanOwner) -> None:
        self._deployment = Deployment(parts)
        self._owner = owner
        self._steps = owner.steps
        self._counts = owner.steps.counts
        self._renewal = threading.Lock()
        self._fetch_places = [_place_of(tensor, feeds, parts) for tensor in fetches]
        self._single = self._find_single()
        self._quick = QuickLately()  # of waits for its steps
        # Of a thread that runs it inline. A step that was never run may take long; one long one says nothing.
        self.quick = QuickLately(tolerance=1, max_skips=None, at_first=False)

    def __del__(self) -> None:
        if hasattr(self, "_deployment"):
            self._owner.registrar.retire(list(self.parts.values()))

    @property
    def parts(self) -> Mapping[str, Part]:
        """The parts by task, as they are registered now."""
        return self._deployment.parts

    @property
    def runs_inline(self) -> bool:
        """Whether a run is one stage of this process, which is short and never waits for anything."""
        return self._single is not None and not self._single.may_wait and self._single.stage.times.is_short

    def _find_single(self) -> SingleStep | None:
        """The commonest plan is one stage of this process."""
        if len(self.parts) != 1:
            return None
        (part,) = self.parts.values()
        executor = part.worker.local_executor(part.graph_handle)
        if executor is None or executor.single is None:
            return None
        return SingleStep(executor, part.feed_places, [(task == "", place) for task, place in self._fetch_places])

    def new_step(self, context: bytes = b"") -> StepRun:
        """A step for one `run`, which may be cancelled from now on; its caller stands there in a trace."""
        recording, step_id = self._counts.recording, self._steps.next_id()
        if spans.tracing is not None:
            recording = spans.step(step_id, context, recording)
        if recording is not None:
            return RecordedRun(step_id, self._deployment.parts, self._steps, recording)
        return StepRun(step_id, self._deployment.parts, self._steps)

    def run(
        self, feeds: Sequence[Array], options: RunOptions | None = None, step: StepRun | None = None
    ) -> tuple[list[Array], RunMetadata | None]:
        """Run one step; returns the fetched values, perhaps still being computed, and its RunMetadata with `options`.

        Blocks until every part is over. A caller that may cancel it gives the `step` that `new_step` made.

        Raises:
            OpError: a part failed, a task was lost, the time was up, or the step was cancelled or the session closed.
        """
        if self._steps.error is not None:
            raise self._steps.error
        try:
            if options is not None:
                refuse_debugger(options)
            if not self._deployment.is_current:
                options = self._renew(options)
        except OpError:
            if step is not None:
                step.discard()
            raise
        single, counts = self._single, self._counts
        if (
            single is not None
            and single.stage.times.is_short
            and step is None
            and counts.recording is None
            and spans.tracing is None
            and (options is None or not _is_watched(options))
        ):
            try:
                fetched = single.run(feeds)
            except OpError as error:
                counts.inline += 1
                counts.note_failure(error)
                raise
            if fetched is not None:
                counts.inline += 1
                return fetched, None
        if step is None:
            step = self.new_step()
        timeout_s = self._timeout_s(options)
        traced = options is not None and is_traced(options)
        began_s = time.time() if traced else 0.0
        made = step.run(self._deployment, feeds, self._quick, timeout_s=timeout_s, is_traced=traced)
        fetched = [feeds[place] if task == "" else made[task][place] for task, place in self._fetch_places]
        if options is None:
            return fetched, None
        partitions = [part.partition for part in self.parts.values()]
        if traced:
            align_clocks([stats for stats in step.stats.values() if stats is not None], began_s, time.time())
        return fetched, metadata_of(options, step.stats, partitions, self._owner.home)

    def repeat(self, go_on: Callable[[], bool]) -> None:
        """Run steps without feeds one after the other, for a short while and as long as `go_on` says so; at least one.

        Where nothing can tell the difference they are run as one: no thread is woken between them, which costs many times what
        reading and enqueueing a record does. Blocks and raises as `run` does.
        """
        if not self._runs_here or self._owner.timeout_ms or self._counts.recording is not None or spans.tracing is not None:
            self.run(())
            return
        if self._steps.error is not None:
            raise self._steps.error
        counts = self._counts

        def goes_on() -> bool:
            if self._steps.error is not None or not go_on():
                return False
            counts.ended += 1
            return True

        step = self.new_step()
        step.go_on = goes_on
        step.run(self._deployment, (), self._quick)

    @property
    def _runs_here(self) -> bool:
        """Whether all of it is in this process."""
        if len(self.parts) != 1 or not self._deployment.is_current:
            return False
        (part,) = self.parts.values()
        return part.worker.local_executor(part.graph_handle) is not None

    def explain(self) -> list[StageReport]:
        """What the stages of all parts tell about themselves; a task that cannot be asked has one row, which says so."""
        reports: list[StageReport] = []
        for task, part in self.parts.items():
            try:
                reports += part.worker.explain(part.graph_handle)
            except OpError as error:
                reports.append(not_asked(task, error.message))
        return reports

    def _timeout_s(self, options: RunOptions | None) -> float | None:
        timeout_ms = (options.timeout_in_ms if options is not None else 0) or self._owner.timeout_ms
        return timeout_ms / 1000 if timeout_ms > 0 else None

    def _renew(self, options: RunOptions | None) -> RunOptions | None:
        """Register again with tasks that were restarted or cut off; returns the run's options with the time that is left."""
        with within(self._timeout_s(options)):
            self._register_again()
            return with_timeout(options, left_s())

    def _register_again(self) -> None:
        with holding(self._renewal, "another thread that registers the plan again"):
            if self._deployment.is_current:
                return
            current = {
                task: part if part.worker.incarnation == part.incarnation else self._owner.registrar.renew(part)
                for task, part in self.parts.items()
            }
            self._deployment = Deployment(current)
            self._single = self._find_single()


def _place_of(tensor: Tensor, feeds: Sequence[Tensor], parts: Mapping[str, Part]) -> tuple[str, int]:
    """The task that makes a fetch, and the place among its fetches; no task, and the place among the feeds, if it is fed."""
    if tensor in feeds:
        return "", list(feeds).index(tensor)
    for task, part in parts.items():
        if tensor in part.partition.fetches:
            return task, part.partition.fetches.index(tensor)
    raise AssertionError(f"{tensor} is made by no part")


def _is_watched(options: RunOptions) -> bool:
    """Whether the program wants to know how the step went."""
    return is_traced(options) or bool(options.output_partition_graphs)
