"""Metrics of the tasks of a row: whose threads serve them, and a reader that asks all tasks once a second.

A task tells in a file of its own at which port its metrics are and which threads work for them: the one that listens, the one
that looks at steps, and those that answer. What they have run Linux tells by thread.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER_VARIABLE = "BENCHMARK_METRICS"
_PERIOD_S = 1.0
_LOOK_S = 0.1
_LISTENS, _LOOKS = "weft-pages", "weft-look-at-steps"


def note_threads(server: Any) -> None:
    """A task's side: tell of this server's metrics, where somebody asks for them."""
    folder = os.environ.get(FOLDER_VARIABLE)
    port = getattr(server, "metrics_port", 0)
    if not folder or not port:
        return
    path = Path(folder) / str(os.getpid())
    pages: Any = server._observed._door._server
    answer = pages.process_request_thread

    def noted(*arguments: Any) -> None:
        _tell(path, threading.get_native_id())
        answer(*arguments)

    pages.process_request_thread = noted
    server._observed.reporter.sampler.keep_on()
    for thread in threading.enumerate():
        if thread.name in (_LISTENS, _LOOKS):
            _tell(path, thread.native_id)
    # Where the cluster has a token the page speaks TLS, and is served to nobody here.
    path.with_suffix(".port").write_text(str(port if pages.tls is None else 0))


def _tell(path: Path, thread: int | None) -> None:
    with path.open("a") as file:
        file.write(f"{thread}\n")


def ran_ns() -> dict[str, int] | None:
    """How long each thread of all tasks' metrics has run; None where no task has any."""
    folder = os.environ.get(FOLDER_VARIABLE)
    files = [each for each in Path(folder).iterdir() if not each.suffix] if folder else []
    if not files:
        return None
    ran = {}
    for path in files:
        for thread in path.read_text().split():
            with contextlib.suppress(OSError):  # it has ended
                ran[thread] = int(Path(f"/proc/{path.name}/task/{thread}/schedstat").read_text().split()[0])
    return ran


def ran_since_s(before: dict[str, int]) -> float:
    """How long those threads have run since, but for what those did that have ended."""
    return sum(ran - before.get(thread, 0) for thread, ran in (ran_ns() or {}).items()) / 1e9


@dataclass
class Readings:
    """How often metrics were read, and how often that failed: at the end of a row it does once for each task that has ended."""

    done: int = 0
    failed: int = 0


@contextmanager
def scraped(folder: Path) -> Iterator[Readings]:
    """Read the metrics of all tasks that tell of theirs in a folder once a second, over connections that stay."""
    is_over, readings = threading.Event(), Readings()
    reader = threading.Thread(target=_read, args=(folder, is_over, readings), daemon=True)
    reader.start()
    try:
        yield readings
    finally:
        is_over.set()
        reader.join()


def _read(folder: Path, is_over: threading.Event, readings: Readings) -> None:
    connections: dict[Path, http.client.HTTPConnection] = {}
    due_s = time.monotonic()
    while not is_over.wait(_LOOK_S):
        is_due = time.monotonic() >= due_s
        due_s += _PERIOD_S if is_due else 0.0
        for path, port in _pages(folder):
            # The first reading loads what the others use: so it comes at once, before steps are counted.
            if not is_due and path in connections:
                continue
            connection = connections.setdefault(path, http.client.HTTPConnection("localhost", port, timeout=10))
            try:
                connection.request("GET", "/metrics")
                connection.getresponse().read()
                readings.done += 1
            except (OSError, http.client.HTTPException):
                # A task that has ended answers no more; one that was slow is asked anew, which this connection cannot.
                connection.close()
                readings.failed += 1
    for connection in connections.values():
        connection.close()


def _pages(folder: Path) -> Iterator[tuple[Path, int]]:
    for path in folder.glob("*.port"):
        text = path.read_text()
        if text and text != "0":
            yield path, int(text)
