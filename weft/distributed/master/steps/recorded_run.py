"""RecordedRun: a step on its master that notes when it asked its tasks and when they answered."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from weft.distributed.master.steps.deployment import Deployment
from weft.distributed.master.steps.step_run import RunningSteps, StepRun
from weft.framework.building.aliases import Array
from weft.platform.waits.quick_lately import QuickLately
from weft.protocol.master_step import Event, PartDone, PartFailed
from weft.runtime.recording import Recording


class RecordedRun(StepRun):
    """As StepRun; see there.

    Args:
        recording: where events go; the rest is StepRun's.
    """

    __slots__ = ("_recording",)

    def __init__(self, step_id: int, tasks: Iterable[str], session: RunningSteps, recording: Recording) -> None:
        super().__init__(step_id, tasks, session)
        self._recording = recording
        self.context = recording.context

    def run(
        self,
        deployment: Deployment,
        feeds: Sequence[Array],
        quick: QuickLately,
        *,
        timeout_s: float | None = None,
        is_traced: bool = False,
    ) -> Mapping[str, Sequence[Array]]:
        """Run the step, and note when."""
        begin_s, error = time.time(), ""
        try:
            return super().run(deployment, feeds, quick, timeout_s=timeout_s, is_traced=is_traced)
        except BaseException as failure:
            error = f"{type(failure).__name__}: {failure}"
            raise
        finally:
            tasks = sorted(deployment.parts)
            self._recording.add("step", "step", begin_s, time.time(), step=f"{self.step_id:x}", tasks=tasks, error=error)

    def tell(self, event: Event) -> None:
        """Take note of what happened to the step, and record how parts ended."""
        if isinstance(event, PartDone | PartFailed):
            now_s = time.time()
            self._recording.add("done", event.task, now_s, now_s, step=f"{self.step_id:x}")
        super().tell(event)

    def _ask(self, task: str, is_again: bool = False) -> None:
        now_s = time.time()
        self._recording.add("ask", task, now_s, now_s, step=f"{self.step_id:x}")
        super()._ask(task, is_again)
