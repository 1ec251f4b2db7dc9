"""Steps that several processes take at once, each as many as it can within the same seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks import counting, profile, turns
from benchmarks.channel import Channel
from benchmarks.children import Child


def rate_together(children: Sequence[Child], seconds: float) -> float:
    """Tell children to take steps for so long, and return the steps per second of all; see `serve_steps`."""
    with counting.window() as found:
        answers = _answers(children, seconds)
        for answer in answers:
            found.note(answer["steps"], *answer["moved"])
    if turns.is_on():
        turns.alternate(lambda turn_s: sum(answer["steps"] for answer in _answers(children, turn_s)))
    return sum(answer["steps"] / answer["seconds"] for answer in answers)


def _answers(children: Sequence[Child], seconds: float) -> list[dict[str, Any]]:
    for child in children:
        child.tell(seconds=seconds)
    return [child.hear() for child in children]


def serve_steps(channel: Channel, step: Callable[[], object], *, process: str, profiled: int) -> None:
    """A child's side: take steps for as long as each message says, until the other end has gone.

    Args:
        process: what a profile calls this process, and
        profiled: how many steps are in it.
    """
    for message in iter(channel.receive, None):
        answer = _steps_within(step, message["seconds"])
        profile.steps(step, count=profiled, process=process)
        channel.send(**answer)


def _steps_within(step: Callable[[], object], seconds: float) -> dict[str, Any]:
    traffic = counting.Traffic()
    started = now = time.perf_counter()
    steps = 0
    while now - started < seconds:
        step()
        steps += 1
        now = time.perf_counter()
    return {"steps": steps, "seconds": now - started, "moved": traffic.moved()}
