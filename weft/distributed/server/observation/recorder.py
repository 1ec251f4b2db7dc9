"""Recorder: records the steps of one server for a while, when somebody asks for it."""

from __future__ import annotations

import json
import threading
from typing import Final

from weft.distributed.master.master import Master
from weft.errors import AlreadyExistsError, FailedPreconditionError
from weft.runtime.recording import Recording, code_news
from weft.runtime.worker import Worker

_LONGEST_S: Final = 600.0


class Recorder:
    """One recording at a time. Safe from any thread.

    Args:
        master, worker: the server's.
    """

    def __init__(self, master: Master, worker: Worker) -> None:
        self._master = master
        self._worker = worker
        self._lock = threading.Lock()
        self._recording: Recording | None = None
        self._timer: threading.Timer | None = None

    def begin(self, seconds: float) -> None:
        """Record the steps that begin from now on, until `end`, or for so long at most: who asked may be gone.

        Raises:
            AlreadyExistsError: somebody else records.
        """
        with self._lock:
            if self._recording is not None:
                raise AlreadyExistsError.of(f"{self._worker.task} is being recorded by somebody else; try again in a while")
            self._recording = recording = Recording()
            self._timer = threading.Timer(min(seconds, _LONGEST_S), self._give_up, (recording,))
            self._timer.daemon = True
            self._timer.start()
        code_news.begin(recording)
        self._worker.recording = recording
        self._master.counts.recording = recording

    def end(self) -> str:
        """End the recording; returns its events, as JSON.

        Raises:
            FailedPreconditionError: there is none, or it was given up meanwhile.
        """
        recording = self._stop()
        if recording is None:
            raise FailedPreconditionError.of(f"{self._worker.task} is not being recorded: that was given up, or never begun")
        return json.dumps({"events": recording.events, "dropped": recording.dropped})

    def _give_up(self, recording: Recording) -> None:
        if self._recording is recording:
            self._stop()

    def _stop(self) -> Recording | None:
        with self._lock:
            recording, self._recording = self._recording, None
            timer, self._timer = self._timer, None
        if recording is not None:
            self._worker.recording = None
            self._master.counts.recording = None
            code_news.end(recording)
        if timer is not None:
            timer.cancel()
        return recording

    def close(self) -> None:
        """Record no more."""
        self._stop()
