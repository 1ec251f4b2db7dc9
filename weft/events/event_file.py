"""EventFile: one file of Event protos, framed as TFRecord, that TensorBoard reads while it grows."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Final, Protocol

from tensorboard.compat.proto import event_pb2

from weft import errors
from weft.checkpoint.records import as_record
from weft.platform.files import gfile
from weft.platform.logs import tf_logging

_FILE_VERSION: Final = "brain.Event:2"
_NUMBERS: Final = itertools.count()


class EventLike(Protocol):
    """An Event proto, weft's or of another package with the same wire form."""

    def SerializeToString(self) -> bytes:
        """The serial form."""
        ...


class EventFile:
    """Events appended in order, on disk after `flush_secs` seconds at the latest. Safe from any thread.

    What is buffered at the process's end is written, whether or not the file was closed. A disk that is full stops no training:
    a warning says that this file has the events until then, and the rest is dropped.

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
        self._timer: threading.Timer | None = None
        self._output = _Output(self.path)
        self._finish = weakref.finalize(self, self._output.close)
        self.add(event_pb2.Event(wall_time=now, file_version=_FILE_VERSION))
        self.flush()

    def add(self, event: Any) -> None:
        """Append an event."""
        with self._lock:
            self._output.pending.append(as_record(event.SerializeToString()))
            if len(self._output.pending) > self._max_queue:
                self._output.write()
            if self._timer is None:
                self._timer = threading.Timer(self._flush_secs, _flush_if_alive, [weakref.ref(self)])
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Write to disk what is buffered."""
        with self._lock:
            self._stop_timer()
            if self._finish.alive:
                self._output.flush()

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


class _Output:
    """The buffer and the file of an EventFile, without that: its end writes what is left. Its lock is the caller's."""

    def __init__(self, path: str) -> None:
        self.pending: list[bytes] = []
        self._file = gfile.GFile(path, "wb")
        self._is_given_up = False

    def write(self) -> None:
        """Hand the buffer to the file."""
        data = b"".join(self.pending)
        self.pending.clear()
        if data and not self._is_given_up:
            self._try(lambda: self._file.write(data))

    def flush(self) -> None:
        """Hand the buffer to the system."""
        self.write()
        if not self._is_given_up:
            self._try(self._file.flush)

    def close(self) -> None:
        """Write the buffer, and close the file."""
        self.write()
        self._try(self._file.close)

    def _try(self, act: Callable[[], object]) -> None:
        try:
            act()
        except errors.OpError as error:
            # Of a record a part may have been written, behind which nobody would find the next one.
            if not self._is_given_up:
                tf_logging.warning(
                    "Events are lost from now on: %s. Training goes on without them. Make room, or choose another directory, "
                    "and begin a new file with a new FileWriter", error.message,
                )  # fmt: skip
            self._is_given_up = True
