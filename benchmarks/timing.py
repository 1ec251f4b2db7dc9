"""How a call is timed: warm up, then equal batches; the median batch is the figure, the fastest shows what is possible.

A batch is sized from the warm-up to last long against the clock's resolution and short against the machine's moods, so
a disturbance spoils a batch and not the result.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks import counting, profile, turns


@dataclass(frozen=True)
class Sample:
    """One figure of one process: `value` is the median over `count` batches, `best` the most favourable one.

    `waits` is how often a thread of the process stopped to wait, per call or item, which hardly depends on the machine; None
    where that was not counted.
    """

    value: float
    best: float
    count: int
    waits: float | None = None


@dataclass(frozen=True)
class Point:
    """What was found at one size: figures by name, in seconds, bytes or shares."""

    size: int
    figures: dict[str, float]


@dataclass(frozen=True)
class Points:
    """The points that one process gives, in order of size."""

    points: list[Point]


def once(value: float) -> Sample:
    """Wrap a figure that a process can give only once."""
    return Sample(value, value, 1)


def warm_up(call: Callable[[], object], *, seconds: float, calls: int) -> float:
    """Call until both `seconds` and `calls` have passed; return the seconds per call of the last half."""
    started = time.perf_counter()
    stamps = [started]
    while len(stamps) <= calls or stamps[-1] - started < seconds:
        call()
        stamps.append(time.perf_counter())
    middle = len(stamps) // 2
    return max((stamps[-1] - stamps[middle]) / max(len(stamps) - 1 - middle, 1), 1e-7)


def seconds_per_call(
    call: Callable[[], object],
    *,
    warm_up_s: float = 0.7,
    warm_up_calls: int = 10,
    measure_s: float = 1.5,
    batch_s: float = 0.05,
) -> Sample:
    """Time `call` in batches, at least five of them, for about `measure_s` seconds."""
    expected_s = warm_up(call, seconds=warm_up_s, calls=warm_up_calls)
    sample = _by_batches(call, time.perf_counter, expected_s, measure_s, batch_s)
    profile.steps(call, count=max(5, round(1.0 / expected_s)))
    counting.steps(call, count=max(200, round(1.0 / sample.value)))
    turns.steps(call)
    return sample


def _by_batches(
    call: Callable[[], object], clock: Callable[[], float], expected_s: float, measure_s: float, batch_s: float
) -> Sample:
    """Time `call` by this clock, in batches that last about `batch_s`, for `measure_s` and at least five of them."""
    batch = max(1, round(batch_s / expected_s))
    batches: list[float] = []
    waits_before = _waits()
    ends_at = time.perf_counter() + measure_s
    while len(batches) < 5 or time.perf_counter() < ends_at:
        started = clock()
        for _ in range(batch):
            call()
        batches.append((clock() - started) / batch)
    waits = (_waits() - waits_before) / (batch * len(batches))
    return Sample(statistics.median(batches), min(batches), len(batches), waits)


def _waits() -> int:
    """How often the threads of this process have given the processor up of themselves."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw


def cpu_seconds_per_call(call: Callable[[], object], *, items: int, measure_s: float = 2.0, batch_s: float = 0.1) -> Sample:
    """Time `call` in seconds of CPU of all threads of this process, per item: what a busy machine leaves as it is."""
    expected_s = warm_up(call, seconds=0.7, calls=10)
    sample = _by_batches(call, time.process_time, expected_s, measure_s, batch_s)
    profile.steps(call, count=max(5, round(1.0 / expected_s)))
    waits = None if sample.waits is None else sample.waits / items
    return Sample(sample.value / items, sample.best / items, sample.count, waits)


def per_second(sample: Sample, amount: float = 1.0) -> Sample:
    """Turn seconds per call into `amount` per second."""
    return Sample(amount / sample.value, amount / sample.best, sample.count, sample.waits)
