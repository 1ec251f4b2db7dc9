"""Histories: what each process asked of a shared object, when, and what it was told; as Jepsen records them.

Times are CLOCK_MONOTONIC's, one clock for all processes of a host.
"""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

OK, FAIL, UNKNOWN = "ok", "fail", "unknown"
_ENDS: Final = (OK, FAIL, UNKNOWN)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. One that is `unknown` may take effect at any time after its start, or never: its end is infinite."""

    process: str
    target: str
    kind: str
    argument: Any
    result: Any
    status: str
    start: float
    end: float
    error: str = ""
    told: float = math.inf
    """When its process was told how it ended."""


class Recorder:
    """Writes a history line by line, so that what was written survives the process. One per thread."""

    def __init__(self, path: Path, process: str) -> None:
        self._file = path.open("a", buffering=1)
        self._process = process
        self._count = 0

    def begin(self, target: str, kind: str, argument: Any = None) -> int:
        """Note an invocation; returns its number."""
        self._count += 1
        self._write(e="invoke", n=self._count, target=target, kind=kind, argument=argument)
        return self._count

    def end(self, number: int, status: str, result: Any = None, error: str = "") -> None:
        """Note how an invocation ended."""
        self._write(e=status, n=number, result=result, error=error)

    def note(self, kind: str, **facts: Any) -> None:
        """Note something that is no operation."""
        self._write(e="note", kind=kind, **facts)

    def _write(self, **line: Any) -> None:
        self._file.write(json.dumps({"t": time.monotonic(), "p": self._process, **line}) + "\n")

    @contextmanager
    def closing(self) -> Iterator[Recorder]:
        """Close the file at the end."""
        with self._file:
            yield self


def read(paths: Iterable[Path]) -> tuple[list[Operation], list[dict[str, Any]]]:
    """Read operations, in order of their starts, and notes. An invocation without an end is unknown."""
    operations: list[Operation] = []
    notes: list[dict[str, Any]] = []
    for path in paths:
        begun: dict[tuple[str, int], dict[str, Any]] = {}
        for line in _lines(path):
            if line["e"] == "note":
                notes.append(line)
            elif line["e"] == "invoke":
                begun[line["p"], line["n"]] = line
            else:
                operations.append(_operation(begun.pop((line["p"], line["n"])), line))
        operations.extend(_operation(start, None) for start in begun.values())
    return sorted(operations, key=lambda operation: operation.start), sorted(notes, key=lambda note: note["t"])


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for text in path.read_text().splitlines():
        try:
            yield json.loads(text)
        except ValueError:
            # The process was killed while it wrote its last line.
            return


def _operation(start: dict[str, Any], end: dict[str, Any] | None) -> Operation:
    status = UNKNOWN if end is None else end["e"]
    assert status in _ENDS
    return Operation(
        start["p"], start["target"], start["kind"], start["argument"], end and end.get("result"), status, start["t"],
        math.inf if end is None or status == UNKNOWN else end["t"], end["error"] if end else "", end["t"] if end else math.inf,
    )  # fmt: skip


def until(operations: Iterable[Operation], time_s: float) -> list[Operation]:
    """The history as far as it goes until a time: what was not over by then is unknown."""
    found = []
    for each in operations:
        if each.start >= time_s:
            continue
        over = each.end < time_s
        found.append(each if over or each.status == FAIL else _unfinished(each))
    return found


def _unfinished(each: Operation) -> Operation:
    return dataclasses.replace(each, result=None, status=UNKNOWN, end=math.inf)
