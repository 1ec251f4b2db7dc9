"""EventFile: one file of Event protos, framed as TFRecord, that TensorBoard reads while it grows."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time
import weakref
from typing import Any, Final, Protocol

from tensorboard.compat.proto import event_pb2

from weft.checkpoint.records import as_record
from weft.platform import gfile

_FILE_VERSION: Final = "brain.Event:2"
_NUMBERS: Final = itertools.count()


class EventLike(Protocol):
    """An Event proto, weft's or of another package with the same wire form."""

    def SerializeToString(self) -> bytes:
        """The serial form."""
        ...


class EventFile:
    """Events appended in order, on disk after `flush_secs` seconds at the latest. Safe from any thread.

    What is buffered at the process's end is written, whether or not the file was closed.

    Args:
        logdir: the directory, which is made when it is missing.
        max_queue: how many events to buffer at most.
        flush_secs: how long to buffer an event at most.
        filename_suffix: put after the name that the file gets.
        prefix: what the name begins with.
    """

    def __init__(self, logdir: str, max_queue: int, flush_secs: float, filename_suffix: str, prefix: str = "events") -> None:
        gfile.MakeDirs(logdir)
        now = time.time()
        parts = (f"{int(now):010d}", socket.gethostname(), str(os.getpid()), str(next(_NUMBERS)))
        self.path = os.path.join(logdir, f"{prefix}.out.tfevents.{'.'.join(parts)}{filename_suffix}")
        self._max_queue = max_queue
        self._flush_secs = flush_secs
        self._lock = threading.Lock()
        self._pending: list[bytes] = []
        self._timer: threading.Timer | None = None
        self._file = gfile.GFile(self.path, "wb")
        self._finish = weakref.finalize(self, _write_and_close, self._file, self._pending)
        self.add(event_pb2.Event(wall_time=now, file_version=_FILE_VERSION))
        self.flush()

    def add(self, event: Any) -> None:
        """Append an event."""
        with self._lock:
            self._pending.append(as_record(event.SerializeToString()))
            if len(self._pending) > self._max_queue:
                _write(self._file, self._pending)
            if self._timer is None:
                self._timer = threading.Timer(self._flush_secs, _flush_if_alive, [weakref.ref(self)])
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Write to disk what is buffered."""
        with self._lock:
            self._stop_timer()
            if self._finish.alive:
                _write(self._file, self._pending)
                self._file.flush()

    def close(self) -> None:
        """Write what is buffered and close the file. A second call does nothing."""
        with self._lock:
            self._stop_timer()
            self._finish()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _flush_if_alive(reference: weakref.ref[EventFile]) -> None:
    file = reference()
    if file is not None:
        file.flush()


def _write(file: Any, pending: list[bytes]) -> None:
    if pending:
        file.write(b"".join(pending))
        pending.clear()


def _write_and_close(file: Any, pending: list[bytes]) -> None:
    _write(file, pending)
    file.close()
