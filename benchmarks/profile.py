"""Where a step's time goes, in weft: client, plan, dispatch, kernels, XLA, wire, wait.

Each process of a profiled run profiles its own threads and leaves one JSON file in the directory that the environment
names. A Python function's own time belongs to the part of weft that its file lies in; a C function's own time belongs
to the function that called it, unless its name says that it waits or moves bytes. Profiling slows Python code down by
about a half, so the shares are the result and the times are not.
"""

from __future__ import annotations

import cProfile
import json
import os
import pstats
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from benchmarks import compiled_code

DIRECTORY_VARIABLE = "BENCHMARK_PROFILE"
CATEGORIES = ("client", "plan", "dispatch", "kernels", "XLA", "wire", "wait", "other")
TOP_FUNCTIONS = 12

# First match wins. C functions are matched by name, Python functions by path.
_BY_NAME = (
    (
        "wait",
        ("'acquire' of", "select.", "'poll' of", "'recv' of", "'recv_into' of", "'recvmsg_into' of", "'accept' of"),
    ),
    ("wait", ("'get' of '_queue", "'wait' of", "time.sleep", "'next_event' of", "'readline' of")),
    ("wire", ("'send' of '_socket", "'sendall' of '_socket", "'sendmsg' of '_socket", "'recvmsg' of")),
    ("XLA", ("jaxlib", "PjitFunction", "xla_client", "ArrayImpl", "_jax.")),
)
BY_PATH = (
    # Its thread waits for calls in compiled code, which shows as its own time.
    ("wait", ("/grpc/_server.py",)),
    ("client", ("/weft/client/", "/weft/training/")),
    ("plan", ("/weft/passes/", "/weft/framework/", "/weft/autodiff/")),
    # The border to JAX: a jitted function is no Python function, so its time shows as its caller's own.
    ("XLA", ("/weft/runtime/compiled/engine.py", "/weft/runtime/compiled/waiting.py")),
    ("dispatch", ("/weft/runtime/", "/weft/distributed/master/steps/", "/weft/distributed/master/direct_session.py")),
    ("dispatch", ("/weft/distributed/worker/local_worker.py",)),
    ("kernels", ("/weft/ops/", "/numpy/")),
    ("XLA", ("/jax/", "/jaxlib/")),
    ("wire", ("/weft/distributed/", "/weft/protocol/", "/weft/proto/", "/grpc/", "/google/protobuf/", "/socket.py")),
    ("wait", ("/threading.py", "/selectors.py", "/queue.py", "/concurrent/")),
)


@dataclass(frozen=True)
class Report:
    """What one process spent: own seconds by category and by function, over `steps` steps if it counted them."""

    process: str
    steps: int | None
    seconds: dict[str, float]
    top: list[tuple[str, float]]
    compiled: dict[str, float] = field(default_factory=dict)
    """Seconds of a step in compiled code, by kind of operation, on all threads that share the work."""


def is_on() -> bool:
    return DIRECTORY_VARIABLE in os.environ


def category_of(function: tuple[str, int, str]) -> str | None:
    """Return the category a function names by itself, or None if its caller decides."""
    path, _, name = function
    if path == "~":
        return next((category for category, marks in _BY_NAME if any(mark in name for mark in marks)), None)
    return next((category for category, marks in BY_PATH if any(mark in path for mark in marks)), "other")


def categories(stats: pstats.Stats) -> dict[str, float]:
    """Split all own time of `stats` over the categories, in seconds."""
    seconds: dict[str, float] = defaultdict(float)
    entries = cast(
        "dict[tuple[str, int, str], tuple[int, int, float, float, dict[tuple[str, int, str], Any]]]", cast("Any", stats).stats
    )
    for function, (_, _, all_own, _, callers) in entries.items():
        own = all_own
        category = category_of(function)
        if category is not None:
            seconds[category] += own
            continue
        for caller, (_, _, own_for_caller, _) in callers.items():
            seconds[category_of(caller) or "other"] += own_for_caller
            own -= own_for_caller
        # What was called where profiling began has no caller in the profile.
        seconds["other"] += own
    return dict(seconds)


def _top(stats: pstats.Stats) -> list[tuple[str, float]]:
    entries = cast("dict[tuple[str, int, str], tuple[int, int, float, float, Any]]", cast("Any", stats).stats)
    ordered = sorted(entries.items(), key=lambda entry: -entry[1][2])[:TOP_FUNCTIONS]
    return [(f"{'/'.join(path.split('/')[-2:])}:{line} {name}", own) for (path, line, name), (_, _, own, *_) in ordered]


def _write(
    process: str, profilers: list[cProfile.Profile], steps_taken: int | None, compiled: dict[str, float] | None = None
) -> None:
    stats: pstats.Stats | None = None
    for profiler in profilers:
        profiler.create_stats()
        if not cast("Any", profiler).stats:
            continue
        if stats is None:
            stats = pstats.Stats(profiler)
        else:
            stats.add(profiler)
    if stats is None:
        return
    report = {"process": process, "steps": steps_taken, "seconds": categories(stats), "top": _top(stats)}
    report["compiled"] = compiled or {}
    name = f"{time.time_ns()}-{os.getpid()}.json"
    (Path(os.environ[DIRECTORY_VARIABLE]) / name).write_text(json.dumps(report))


def steps(call: Callable[[], object], *, count: int, process: str = "program") -> None:
    """Profile `count` calls on this thread, and then what compiled code does; nothing unless a profile was asked for."""
    if not is_on():
        return
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(count):
        call()
    profiler.disable()
    _write(process, [profiler], count, compiled_code.seconds(call))


@contextmanager
def whole(count: int = 1, process: str = "program") -> Iterator[None]:
    """Profile what this thread does inside, which is so many steps; nothing unless a profile was asked for."""
    if not is_on():
        yield
        return
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        yield
    finally:
        profiler.disable()
        _write(process, [profiler], count)


@contextmanager
def of_process(name: str) -> Iterator[None]:
    """Profile every thread that is started inside; nothing unless a profile was asked for.

    From Python 3.12 only one profiler may run in a process, so there only the threads' first one is seen.
    """
    if not is_on():
        yield
        return
    profilers: list[cProfile.Profile] = []

    def begin(*_: object) -> None:
        profiler = cProfile.Profile()
        profilers.append(profiler)
        if sys.version_info < (3, 12) or len(profilers) == 1:
            profiler.enable()

    threading.setprofile(begin)
    try:
        yield
    finally:
        threading.setprofile(None)
        _write(name, profilers, None)


def read_reports(directory: Path) -> list[Report]:
    return [Report(**json.loads(path.read_text())) for path in sorted(directory.glob("*.json"))]


def lines(report: Report) -> list[str]:
    """Print a report: the categories' shares, then the functions with most own time.

    A thread that takes steps waits for their results, which belongs to a step. The threads of a server mostly wait for work, so
    there the shares are those of the time in which they were busy.
    """
    waited_s = 0.0 if report.steps else report.seconds.get("wait", 0.0)
    total = sum(report.seconds.values()) - waited_s or 1.0
    shares = [(name, report.seconds.get(name, 0.0)) for name in CATEGORIES if report.steps or name != "wait"]
    about = _per_step(report.steps, total) or f", busy for {total:.2f} s; all its threads together waited {waited_s:.0f} s"
    text = [f"  {report.process}{about}"]
    text.append("    " + "  ".join(f"{name} {own / total:.0%}" for name, own in shares if own / total >= 0.005))
    text += [f"      {own / total:6.1%}  {name}" for name, own in report.top if own <= total]
    return text + _compiled_lines(report.compiled)


def _compiled_lines(compiled: dict[str, float]) -> list[str]:
    total = sum(compiled.values())
    if not total:
        return []
    shares = sorted(compiled.items(), key=lambda item: -item[1])
    split = "  ".join(f"{kind} {own / total:.0%}" for kind, own in shares if own / total >= 0.005)
    return [f"    compiled code, {total * 1e6:,.0f} µs of its threads a step", f"      {split}"]


def _per_step(steps_taken: int | None, total_s: float) -> str:
    if not steps_taken:
        return ""
    steps = f"{steps_taken} steps of " if steps_taken > 1 else ""
    return f", {steps}{total_s / steps_taken * 1e6:,.0f} µs under the profiler"
