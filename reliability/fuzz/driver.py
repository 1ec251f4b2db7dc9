"""The loop of a fuzz run: so many cases of one target, each bounded in time, the process in memory.

Not safe beside other users of SIGALRM and SIGPROF; call it from the main thread.
"""

from __future__ import annotations

import contextlib
import random
import resource
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Protocol

CASE_LIMIT_S = 5.0
"""Of processor time; a machine that does other work may take as much as `_WAIT_LIMIT_S` by the clock."""
_WAIT_LIMIT_S = 60.0


class Target(Protocol):
    """One kind of input. `run` raises only where weft has failed; what weft refuses it returns by the error's name."""

    name: str

    def make(self, source: random.Random) -> bytes:
        """Make one mutated input."""

    def run(self, data: bytes) -> str:
        """Give the input to weft; returns 'accepted' or the name of the error."""

    def close(self) -> None:
        """Let go of what the target holds."""


class HungError(BaseException):
    """A case took longer than it may; no `except Exception` of weft's catches it."""


@dataclass
class Result:
    """How a run went: outcomes by name, failures by the place in weft, with the input of the first one of each."""

    name: str
    count: int = 0
    seconds: float = 0.0
    slowest_s: float = 0.0
    grown_bytes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    examples: dict[str, tuple[int, bytes, str]] = field(default_factory=dict)

    def note_failure(self, index: int, data: bytes, error: BaseException) -> str:
        """Keep a failure under its type and its innermost frame, and return that."""
        frames = traceback.extract_tb(error.__traceback__)
        at = next((f for f in reversed(frames) if "/weft/" in f.filename), frames[-1] if frames else None)
        key = f"{type(error).__name__} at {at.filename.rpartition('/weft/')[2]}:{at.lineno}" if at else type(error).__name__
        if isinstance(error, AssertionError):
            key = f"{key}: {str(error)[:90]}"
        self.failures[key] += 1
        self.examples.setdefault(key, (index, data, "".join(traceback.format_exception(error))[-3000:]))
        return key


@contextlib.contextmanager
def limited_memory(limit_bytes: int) -> Iterator[None]:
    """Let this process have so much more memory at most; beyond it Python raises MemoryError."""
    used = _status_bytes("VmSize")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def fuzz(
    target: Target, count: int, seed: int, *, start: int = 0, memory_bytes: int = 4 << 30, case_limit_s: float = CASE_LIMIT_S,
    report: Callable[[str], None] | None = None,
) -> Result:  # fmt: skip
    """Run `count` cases from number `start` on; case number i depends on `seed` and i alone."""
    result = Result(target.name)
    signal.signal(signal.SIGALRM, _hang)
    signal.signal(signal.SIGPROF, _hang)
    began, before, told = time.monotonic(), _status_bytes("VmRSS"), time.monotonic()
    with limited_memory(memory_bytes):
        for index in range(start, start + count):
            data = target.make(random.Random(f"{seed}/{target.name}/{index}"))
            at = time.monotonic()
            signal.setitimer(signal.ITIMER_PROF, case_limit_s)
            signal.setitimer(signal.ITIMER_REAL, _WAIT_LIMIT_S)
            try:
                outcome = target.run(data)
            except KeyboardInterrupt:
                break
            except BaseException as error:
                outcome = "FAILED"
                kind = result.note_failure(index, data, error)
                if report:
                    # At once: whoever ends the run learns no more.
                    report(f"{target.name}: case {index} failed: {kind}")
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.setitimer(signal.ITIMER_REAL, 0)
            result.outcomes[outcome] += 1
            result.count += 1
            now = time.monotonic()
            result.slowest_s = max(result.slowest_s, now - at)
            if report and now - told > 30:
                told = now
                report(f"{target.name}: {result.count} of {count}, {sum(result.failures.values())} failures")
    result.seconds = time.monotonic() - began
    result.grown_bytes = _status_bytes("VmRSS") - before
    return result


def text(result: Result) -> str:
    """The result for a reader: counts, outcomes, and each kind of failure with the number of its first case."""
    kinds = ", ".join(f"{name} {count}" for name, count in result.outcomes.most_common())
    lines = [
        f"{result.name}: {result.count} cases in {result.seconds:.0f} s ({kinds}); slowest {result.slowest_s * 1000:.0f} ms, "
        f"memory grew by {result.grown_bytes >> 20} MiB; {sum(result.failures.values())} failures"
    ]
    for key, count in result.failures.most_common():
        index, data, trace = result.examples[key]
        lines.append(f"\n{count} x {key}, first in case {index} ({len(data)} bytes):\n{trace}")
    return "\n".join(lines)


def _hang(number: int, frame: FrameType | None) -> None:
    raise HungError


def _status_bytes(key: str) -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(f"{key}:"))
