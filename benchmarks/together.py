"""Steps that several processes take at once, each as many as it can within the same seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks import counting
from benchmarks.children import Child


def rate_together(children: Sequence[Child], seconds: float) -> float:
    """Tell children to take steps for so long, and return the steps per second of all; see `steps_within`."""
    with counting.window() as found:
        for child in children:
            child.tell(seconds=seconds)
        answers = [child.hear() for child in children]
        for answer in answers:
            found.note(answer["steps"], *answer["moved"])
    return sum(answer["steps"] / answer["seconds"] for answer in answers)


def steps_within(step: Callable[[], object], seconds: float) -> dict[str, Any]:
    """A child's side: take steps until the time is over, and return the answer for `rate_together`."""
    traffic = counting.Traffic()
    started = now = time.perf_counter()
    steps = 0
    while now - started < seconds:
        step()
        steps += 1
        now = time.perf_counter()
    return {"steps": steps, "seconds": now - started, "moved": traffic.moved()}
