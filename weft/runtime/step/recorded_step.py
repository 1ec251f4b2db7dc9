"""RecordedStep: a part of a step that notes when its stages were ready and ran, and what came and went."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from weft.runtime.executor import Executor
from weft.runtime.recording import Recording
from weft.runtime.stage import Stage
from weft.runtime.step.parking import Parking
from weft.runtime.step.step import Inbox, Step
from weft.runtime.step_trace import StepTrace

_NAMED_OPS: Final = 3


class RecordedStep(Step):
    """As Step; see there.

    Args:
        recording: where events go; the rest is Step's.
    """

    __slots__ = ("_ready_s", "_recording", "_started_s")

    def __init__(
        self,
        executor: Executor,
        step_id: int,
        feeds: Sequence[object],
        on_done: Callable[[Step], None],
        trace: StepTrace | None,
        inbox: Inbox | None,
        recording: Recording,
    ) -> None:
        super().__init__(executor, step_id, feeds, on_done, trace, inbox)
        self._parks = False  # a stage is one event
        self._recording = recording
        self._started_s = time.time()
        self._ready_s: dict[int, float] = {}

    def receive(self, edges: Sequence[int], tensors: Sequence[object]) -> None:
        """Take values from another task, and note that."""
        known = self._executor.edges
        sender = next((known[edge].sender for edge in edges if edge in known), "")
        now_s, size_bytes = time.time(), sum(getattr(tensor, "nbytes", 0) for tensor in tensors)
        self._recording.add(
            "receive", sender, now_s, now_s, step=f"{self.step_id:x}", edge=edges[0] if edges else -1, bytes=size_bytes
        )
        super().receive(edges, tensors)

    def run(self, ready: list[Stage], *, may_wait: bool = False) -> None:
        """Run these stages, which are ready from now on."""
        now_s = time.time()
        for stage in ready:
            self._ready_s.setdefault(stage.number, now_s)
        super().run(ready, may_wait=may_wait)

    def _run_stage(self, stage: Stage, parking: Parking | None = None, *, waits: bool = False) -> list[Stage]:
        begin_s = time.time()
        ready = super()._run_stage(stage, parking, waits=waits)
        end_s = time.time()
        step = f"{self.step_id:x}"
        self._recording.add(
            "stage", _name_of(stage), begin_s, end_s, step=step, device=stage.device, number=stage.number,
            ready_s=self._ready_s.get(stage.number, begin_s), way="compiled" if stage.compiled is not None else "host",
        )  # fmt: skip
        if self.error is None:
            for peer, edges, numbers in stage.sends:
                values = self.flow.values
                size_bytes = sum(getattr(values[number], "nbytes", 0) for number in numbers if number >= 0)
                self._recording.add("send", peer, begin_s, end_s, step=step, edge=edges[0] if edges else -1, bytes=size_bytes)
        for each in ready:
            self._ready_s.setdefault(each.number, end_s)
        return ready

    def _end(self) -> list[Stage]:
        if not self.is_done:
            error = "" if self.error is None else self.error.message
            self._recording.add("part", self.session.name, self._started_s, time.time(), step=f"{self.step_id:x}", error=error)
        return super()._end()


def _name_of(stage: Stage) -> str:
    """The ops of a stage, those first that count for its results."""
    names = list(dict.fromkeys(op.type for op in reversed(stage.program.nodes)))
    return ", ".join(names[:_NAMED_OPS]) + (", ..." if len(names) > _NAMED_OPS else "")
