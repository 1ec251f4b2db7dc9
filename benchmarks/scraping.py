"""Metrics of the tasks of a row: whose threads serve them, and a reader that asks all tasks once a second.

A task tells in a file of its own at which port its metrics are and which threads work for them: the one that listens, those
that look at steps, and those that answer. What they have run Linux tells by thread. While the program has put a mark into the
folder nobody reads, and the tasks stop looking at steps.
"""

from __future__ import annotations

import contextlib
import http.client
import importlib
import json
import os
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER_VARIABLE = "BENCHMARK_METRICS"
DOSE = 5
"""In a row of turns metrics are read, and steps looked at, so many times as often as else: what that costs grows with it, and
what else a machine does stays as it is."""
_SETTLES_S = 0.3
"""Until a change by `pause` is one: a reading is then under way no more, and the looks that it caused have ended."""
_PERIOD_S = 1.0
_LOOKS_LAST_S = 0.25
_LOOK_S = 0.01
_LISTENS = "weft-pages"
_MARK = "readings.paused"


def note_threads(server: Any) -> None:
    """A task's side: tell of this server's metrics, where somebody asks for them."""
    folder = os.environ.get(FOLDER_VARIABLE)
    port = getattr(server, "metrics_port", 0)
    if not folder or not port:
        return
    path = Path(folder) / str(os.getpid())
    pages: Any = server._observed._door._server
    sampler: Any = server._observed.reporter.sampler
    answer, look = pages.process_request_thread, sampler._run

    def noted_answer(*arguments: Any) -> None:
        _tell(path, threading.get_native_id())
        answer(*arguments)

    def noted_look() -> None:
        _tell(path, threading.get_native_id())
        look()

    pages.process_request_thread, sampler._run = noted_answer, noted_look
    if is_paused(Path(folder)):
        # A turn without readings is to be one without looks.
        module: Any = importlib.import_module(type(sampler).__module__)
        module._LASTS_S, module._PERIOD_S = _LOOKS_LAST_S, module._PERIOD_S / DOSE
    else:
        sampler.keep_on()
    _tell(path, next(thread.native_id for thread in threading.enumerate() if thread.name == _LISTENS))
    page = Page(server._observed._task.host, port, pages.tls is not None, pages.token)
    page_path = path.with_suffix(".page")
    page_path.with_suffix(".partial").write_text(json.dumps(vars(page)))
    page_path.with_suffix(".partial").rename(page_path)


@dataclass(frozen=True)
class Page:
    """Where a task's metrics are, and what opens them where they speak TLS."""

    host: str
    port: int
    is_secured: bool
    token: str | None

    def connect(self) -> http.client.HTTPConnection:
        """A connection for requests of this page."""
        if self.is_secured:
            # Whose the page is the folder has told; a certificate would say no more.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            return http.client.HTTPSConnection(self.host, self.port, timeout=10, context=context)
        return http.client.HTTPConnection(self.host, self.port, timeout=10)

    def read(self, connection: http.client.HTTPConnection) -> None:
        """Ask for the metrics. Raises HTTPException when they do not come."""
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {self.token}"} if self.token else {})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise http.client.HTTPException(f"{answer.status}: {text.decode(errors='replace').strip()}")


def is_paused(folder: Path) -> bool:
    return (folder / _MARK).exists()


def pause(paused: bool) -> None:
    """A program's side: have nobody read from now on, or somebody in a dose; return when it is so."""
    mark = Path(os.environ[FOLDER_VARIABLE]) / _MARK
    if paused:
        mark.touch()
    else:
        with contextlib.suppress(FileNotFoundError):
            mark.unlink()
    time.sleep(_SETTLES_S)


def _tell(path: Path, thread: int | None) -> None:
    with path.open("a") as file:
        file.write(f"{thread}\n")


def ran_ns(folder: Path) -> dict[str, int]:
    """How long each thread of all tasks' metrics has run, but for those that have ended."""
    ran = {}
    for path in folder.iterdir():
        for thread in [] if path.suffix else path.read_text().split():
            with contextlib.suppress(OSError):  # it has ended
                ran[thread] = int(Path(f"/proc/{path.name}/task/{thread}/schedstat").read_text().split()[0])
    return ran


def ran_since_s(folder: Path, before: dict[str, int]) -> float:
    """How long those threads have run since, but for what those did that have ended."""
    return sum(ran - before.get(thread, 0) for thread, ran in ran_ns(folder).items()) / 1e9


@dataclass
class Readings:
    """How often metrics were read, and how often that failed: at the end of a row it does once for each task that has ended.

    Args:
        ran_ns: how long each thread of the metrics had run when they were last read.
    """

    done: int = 0
    failed: int = 0
    ran_ns: dict[str, int] = field(default_factory=dict)

    @property
    def took_s(self) -> float:
        """The CPU seconds of all those threads."""
        return sum(self.ran_ns.values()) / 1e9


@contextmanager
def scraped(folder: Path, *, paused: bool = False) -> Iterator[Readings]:
    """Read the metrics of all tasks that tell of theirs in a folder once a second, over connections that stay.

    Args:
        paused: nobody reads until the program says so by `pause`, and then in a dose.
    """
    if paused:
        (folder / _MARK).touch()
    is_over, readings = threading.Event(), Readings()
    period_s = _PERIOD_S / DOSE if paused else _PERIOD_S
    reader = threading.Thread(target=_read, args=(folder, period_s, is_over, readings), daemon=True)
    reader.start()
    try:
        yield readings
    finally:
        is_over.set()
        reader.join()


def _read(folder: Path, period_s: float, is_over: threading.Event, readings: Readings) -> None:
    connections: dict[Path, http.client.HTTPConnection] = {}
    due_s = time.monotonic()
    while not is_over.wait(_LOOK_S):
        if is_paused(folder):
            due_s = 0.0
            continue
        now_s = time.monotonic()
        is_due = now_s >= due_s
        if is_due:
            due_s = max(due_s, now_s - period_s) + period_s
        for path in folder.glob("*.page"):
            # The first reading loads what the others use: so it comes at once, before steps are counted.
            if not is_due and path in connections:
                continue
            page = Page(**json.loads(path.read_text()))
            connection = connections.setdefault(path, page.connect())
            try:
                page.read(connection)
                readings.done += 1
                readings.ran_ns.update(ran_ns(folder))
            except (OSError, http.client.HTTPException):
                # A task that has ended answers no more; one that was slow is asked anew, which this connection cannot.
                connection.close()
                readings.failed += 1
    for connection in connections.values():
        connection.close()
