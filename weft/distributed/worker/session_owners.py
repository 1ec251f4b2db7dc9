"""SessionOwners: which masters in other tasks have the sessions that a task keeps state for, and whether they live."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from weft.protocol.master_lease import MasterLease
from weft.runtime.state.session_table import master_of
from weft.runtime.worker import Worker

_LOG: Final = logging.getLogger("weft")


class SessionOwners:
    """Closes the sessions of masters that are gone. Safe from any thread.

    Args:
        worker: which has the sessions.
        incarnation_of: the run of a task that this one is connected with; 0 for none.
        lost_s: how long a master may be out of reach.
    """

    def __init__(self, worker: Worker, incarnation_of: Callable[[str], int], lost_s: float) -> None:
        self._worker = worker
        self._incarnation_of = incarnation_of
        self._lost_s = lost_s
        self._lock = threading.Lock()
        self._leases: dict[str, MasterLease] = {}

    def note(self, session_handle: str) -> None:
        """A master in another task has a session here."""
        with self._lock:
            if session_handle not in self._leases:
                self._leases[session_handle] = MasterLease(self._incarnation_of(master_of(session_handle)), self._lost_s)

    def close_orphans(self) -> None:
        """Close the sessions whose masters are gone."""
        now_s = time.monotonic()
        with self._lock:
            self._leases = {handle: lease for handle, lease in self._leases.items() if handle in self._worker.sessions}
            leases = list(self._leases.items())
        for handle, lease in leases:
            reason = lease.overdue(now_s, self._incarnation_of(master_of(handle)))
            if reason:
                _LOG.info("%s: session %s is closed: %s", self._worker.task, handle, reason)
                self._worker.drop_session(handle)
