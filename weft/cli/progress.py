"""How far a job has come, from what its tasks tell: steps, their rate, and the time that is left. Sans-IO."""

from __future__ import annotations

from collections import deque
from typing import Final

from weft.platform.process.launcher_link import TaskNews

_WINDOW_S: Final = 15.0
# A step may take so long; a rate from before says nothing of one that takes longer.
_STILL_S: Final = 10.0


class JobProgress:
    """The global step of a job, and how fast it grows. Tasks that share it tell about the same; the greatest counts."""

    def __init__(self) -> None:
        self._steps: deque[tuple[float, int]] = deque()
        self._last_step: int | None = None
        self._loss: float | None = None

    def take(self, news: TaskNews, now_s: float) -> None:
        """Take what a task has told."""
        self._last_step = news.last_step if news.last_step is not None else self._last_step
        self._loss = news.loss if news.loss is not None else self._loss
        if news.step is None or (self._steps and news.step <= self._steps[-1][1]):
            return
        self._steps.append((now_s, news.step))
        while len(self._steps) > 2 and self._steps[1][0] < now_s - _WINDOW_S:
            self._steps.popleft()

    def text(self, now_s: float) -> str:
        """Such as `step 1,200 of 10,000, 310 steps/s, loss 0.3124, 0:28 left`; empty before the first step."""
        if not self._steps:
            return ""
        (began_s, first), (last_s, step) = self._steps[0], self._steps[-1]
        parts = [f"step {step:,}" + ("" if self._last_step is None else f" of {self._last_step:,}")]
        rate = (step - first) / (last_s - began_s) if last_s > began_s else 0.0
        if now_s - last_s >= _STILL_S and (self._last_step is None or step < self._last_step):
            rate = 0.0
            parts.append(f"no further step for {duration(now_s - last_s)}")
        if rate:
            parts.append(f"{rate:.3g} steps/s" if rate < 1000 else f"{rate:,.0f} steps/s")
        if self._loss is not None:
            parts.append(f"loss {self._loss:.4g}")
        if rate and self._last_step is not None and self._last_step > step:
            parts.append(f"{duration((self._last_step - step) / rate)} left")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """Minutes and seconds, such as `3:07`, with hours before them where there are any."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
