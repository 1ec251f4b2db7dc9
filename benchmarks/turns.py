"""Turns of a second within one run of a program: in every other one its tasks' metrics are read, in a dose.

Two runs differ in more than metrics: where the kernel put the processes, which way a stage has chosen. Turns of one run
differ in nothing else, and what drifts meets both kinds alike, as each pair begins with what the last one ended with.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import counting, scraping
from benchmarks.estimate import estimate

FILE_VARIABLE = "BENCHMARK_TURNS"
FEWEST, PRECISE = 8, 0.002
"""So many pairs are taken at least, and no more once the ratio's standard error is this small."""
MOST_S = 40.0
_TURN_S = 1.0


@dataclass(frozen=True)
class Turn:
    """What was counted.

    Args:
        cpu_s: CPU seconds of all processes.
        steps: how many steps they took.
        metrics_s: the CPU seconds of the threads that serve metrics and look at steps.
        window_s: how long it was.
    """

    cpu_s: float
    steps: int
    metrics_s: float
    window_s: float


def is_on() -> bool:
    return FILE_VARIABLE in os.environ


def steps(call: Callable[[], object]) -> None:
    """Take turns with this thread, which takes all the steps; nothing unless turns were asked for."""
    if is_on():
        alternate(lambda seconds: _steps_within(call, seconds))


def _steps_within(call: Callable[[], object], seconds: float) -> int:
    ends_at, count = time.perf_counter() + seconds, 0
    while time.perf_counter() < ends_at:
        call()
        count += 1
    return count


def alternate(take: Callable[[float], int]) -> None:
    """Take pairs of turns until their ratio is known well enough, and write them to the file that the environment names.

    Args:
        take: has all processes take steps for so many seconds, and returns how many they took.
    """
    pids = list(counting.processes())
    for is_read in (True, False):  # what is loaded at the first reading belongs to no step
        _turn(take, pids, is_read)
    pairs: list[tuple[Turn, Turn]] = []
    ends_at = time.monotonic() + MOST_S
    while time.monotonic() < ends_at and not is_known(pairs):
        reads_first = len(pairs) % 2 == 0
        first, second = _turn(take, pids, reads_first), _turn(take, pids, not reads_first)
        pairs.append((second, first) if reads_first else (first, second))
    Path(os.environ[FILE_VARIABLE]).write_text(json.dumps([[vars(turn) for turn in pair] for pair in pairs]))


def _turn(take: Callable[[float], int], pids: Iterable[int], is_read: bool) -> Turn:
    scraping.pause(not is_read)
    folder = Path(os.environ[scraping.FOLDER_VARIABLE])
    began_s, cpu_s, ran_ns = time.perf_counter(), _cpu_s(pids), scraping.ran_ns(folder)
    count = take(_TURN_S)
    return Turn(_cpu_s(pids) - cpu_s, count, scraping.ran_since_s(folder, ran_ns), time.perf_counter() - began_s)


def _cpu_s(pids: Iterable[int]) -> float:
    """The CPU seconds of processes by Linux's clocks of them, which count threads that have ended too."""
    return sum(time.clock_gettime(~pid << 3 | 2) for pid in pids)


def is_known(pairs: list[tuple[Turn, Turn]]) -> bool:
    """Whether the ratio of pairs needs no more of them."""
    found = estimate(ratio(*pair) for pair in pairs)
    return len(pairs) >= FEWEST and found is not None and found.error is not None and found.error <= PRECISE


def ratio(plain: Turn, read: Turn) -> float:
    """Of a pair of turns: the CPU time of a step while metrics are read once a second, over that of one while nobody reads."""
    return 1.0 + ((read.cpu_s / read.steps) / (plain.cpu_s / plain.steps) - 1.0) / scraping.DOSE
