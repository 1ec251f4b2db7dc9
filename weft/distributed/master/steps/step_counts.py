"""StepCounts: how many steps masters have run, how long they took, and the latest that failed."""

from __future__ import annotations

import time
from collections import deque
from typing import Final, NamedTuple

from weft.errors import OpError, OutOfRangeError
from weft.runtime.recording import Recording

_KEPT: Final = 50
OWN_SESSION: Final = "weft"
"""The name, in its ConfigProto's session_metadata, of a session by which weft itself keeps a job together: its steps are no
program's, and are not counted."""


class StepFailure(NamedTuple):
    """When a step failed, in seconds since the epoch, and its first cause."""

    time_s: float
    kind: str
    message: str
    node: str


class StepCounts:
    """Counted by the threads that run steps, without a lock: a race loses a count."""

    __slots__ = ("ended", "failed", "failures", "inline", "recording", "total_s")

    def __init__(self) -> None:
        self.inline = 0
        """Steps of one short stage in this process, which are run without more ado and not timed."""
        self.ended = 0
        """All others, also those that failed."""
        self.total_s = 0.0
        """How long those took."""
        self.failed = 0
        self.recording: Recording | None = None
        """Where steps that begin from now on note what they do; None while nobody records them."""
        self.failures: deque[StepFailure] = deque(maxlen=_KEPT)
        """The latest, the oldest first."""

    def note_failure(self, error: OpError) -> None:
        """Take note of why a step failed. The end of the data is no failure."""
        if isinstance(error, OutOfRangeError):
            return
        self.failed += 1
        op = getattr(error, "op", None)
        node = op.name if op is not None else getattr(error.node_def, "name", "")
        self.failures.append(StepFailure(time.time(), type(error).__name__, error.message, node or ""))
