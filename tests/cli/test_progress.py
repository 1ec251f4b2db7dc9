"""The words about a job's progress."""

from __future__ import annotations

import pytest

from weft.cli.progress import JobProgress, duration
from weft.platform.process.launcher_link import TaskNews


def test_nothing_is_told_before_the_first_step() -> None:
    progress = JobProgress()
    progress.take(TaskNews(serves=True), 0.0)
    assert progress.text(1.0) == ""


def test_steps_their_rate_the_loss_and_the_time_left_are_told() -> None:
    progress = JobProgress()
    progress.take(TaskNews(step=200, last_step=10_000), 10.0)
    assert progress.text(10.0) == "step 200 of 10,000"
    progress.take(TaskNews(step=1200, loss=0.31239), 12.0)
    assert progress.text(12.5) == "step 1,200 of 10,000, 500 steps/s, loss 0.3124, 0:17 left"


def test_the_task_that_is_ahead_counts() -> None:
    progress = JobProgress()
    for step in (10, 30, 20, 30):
        progress.take(TaskNews(step=step), float(step))
    assert progress.text(30.0) == "step 30, 1 steps/s"


def test_the_rate_is_that_of_the_last_seconds() -> None:
    progress = JobProgress()
    progress.take(TaskNews(step=1), 0.0)
    for second in range(100, 140):
        progress.take(TaskNews(step=second * 10), float(second))
    assert progress.text(139.0) == "step 1,390, 10 steps/s"


def test_a_job_that_stands_still_has_no_rate() -> None:
    progress = JobProgress()
    progress.take(TaskNews(step=100, last_step=1000, loss=0.5), 0.0)
    progress.take(TaskNews(step=200), 1.0)
    assert progress.text(10.9) == "step 200 of 1,000, 100 steps/s, loss 0.5, 0:08 left"
    assert progress.text(91.0) == "step 200 of 1,000, no further step for 1:30, loss 0.5"
    progress.take(TaskNews(step=1000), 92.0)
    assert "no further step" not in progress.text(192.0)


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0:00"), (61, "1:01"), (3600 + 62, "1:01:02")])
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
