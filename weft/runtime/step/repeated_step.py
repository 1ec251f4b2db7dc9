"""RepeatedStep: a partition that is run again and again as one step, on the thread of its stages."""

from __future__ import annotations

from collections.abc import Callable

from weft.runtime.executor import Executor
from weft.runtime.stage import Stage
from weft.runtime.step.dataflow import Dataflow
from weft.runtime.step.step import Inbox, Step


class RepeatedStep(Step):
    """As Step, of a partition without feeds and messages; see there. Its values are those of the last run.

    Args:
        go_on: asked after each run, on the thread that ended it, whether there is to be another; the rest is Step's.
    """

    __slots__ = ("_go_on",)

    def __init__(
        self, executor: Executor, step_id: int, on_done: Callable[[Step], None], inbox: Inbox | None, go_on: Callable[[], bool]
    ) -> None:
        super().__init__(executor, step_id, (), on_done, None, inbox)
        # Who takes an element would otherwise make the next ones.
        self._parks = False
        self._go_on = go_on

    def _end(self) -> list[Stage]:
        if self.error is not None or not self._go_on():
            return super()._end()
        executor, last = self._executor, self.flow
        self.flow = flow = Dataflow(executor, ())
        ready = list(executor.sources)
        for stage in executor.naming:
            # Its resources were found by the first run. Who takes them away, a reset, ends the sessions too.
            for number in stage.outputs:
                flow.values[number] = last.values[number]
            ready += flow.note_run(stage)
        return [stage for stage in ready if stage not in executor.naming] or super()._end()
