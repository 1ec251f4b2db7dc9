"""SessionTable: the sessions that a task keeps state for, and those that were closed for good."""

from __future__ import annotations

import threading
from typing import Final

from weft.errors import AbortedError
from weft.platform.files.file_access import FileAccess
from weft.protocol.limits import ServerLimits
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_state import SessionState

_MAX_REMEMBERED: Final = 1024  # of the sessions that were closed


def master_of(session_handle: str) -> str:
    """The task of a session's master, which its handle begins with."""
    return session_handle.partition("#")[0]


class SessionTable:
    """One task's sessions by their handles. Safe from any thread.

    Args:
        task, incarnation: whose they are, for errors.
        resources: the state that sessions share.
        file_access: what their graphs may open; None for everything.
        limits: how much is kept for each.
    """

    def __init__(
        self,
        task: str,
        incarnation: int,
        resources: ResourceManager,
        file_access: FileAccess | None,
        limits: ServerLimits | None,
    ) -> None:
        self._task = task
        self._incarnation = incarnation
        self._resources = resources
        self._file_access = file_access
        self._limits = limits
        self._lock = threading.Lock()
        self._open: dict[str, SessionState] = {}
        self._closed: dict[str, None] = {}  # the oldest first
        self._masters: set[str] = set()

    def __contains__(self, handle: str) -> bool:
        return handle in self._open

    def create(self, handle: str, config: object, isolate: bool) -> None:
        """Begin to keep state for a session, once; an isolated one gets resources of its own.

        Raises:
            AbortedError: the session was closed: this request was overtaken by its end.
        """
        if handle in self._open:
            return
        resources = ResourceManager(self._resources.default_container) if isolate else self._resources
        with self._lock:
            if handle in self._closed:
                raise self.unknown(handle)
            self._masters.add(master_of(handle))
            self._open.setdefault(handle, SessionState(resources, config, handle, self._file_access, self._limits))

    @property
    def masters(self) -> set[str]:
        """The tasks whose masters have, or had, sessions here."""
        with self._lock:
            return set(self._masters)

    @property
    def is_used(self) -> bool:
        """Whether there are sessions whose masters can be reached."""
        with self._lock:
            return not all(session.is_away for session in self._open.values())

    def find(self, handle: str) -> SessionState:
        """The state of an open session.

        Raises:
            AbortedError: this task does not know it, as after a restart.
        """
        found = self._open.get(handle)
        if found is None:
            raise self.unknown(handle)
        return found

    def unknown(self, handle: str) -> AbortedError:
        """The error for a session that is not open here."""
        return AbortedError.of(
            f"Session handle {handle!r} is not known to {self._task} (incarnation {self._incarnation}): the task was "
            "restarted or the session was closed; open a new session"
        )

    def drop(self, handle: str) -> SessionState | None:
        """Forget a session, whose master may create it again. Returns its state, closed; None when there was none."""
        with self._lock:
            dropped = self._open.pop(handle, None)
            if dropped is not None:
                dropped.is_closed = True
        return dropped

    def forbid(self, handle: str) -> None:
        """Never create this session again: it was closed for good."""
        with self._lock:
            self._closed[handle] = None
            if len(self._closed) > _MAX_REMEMBERED:
                del self._closed[next(iter(self._closed))]

    def master_left(self, task: str, incarnation: int) -> None:
        """Note that a task, whose masters may have sessions here, cannot be reached; it may come back as it was."""
        for session in self._of(task):
            session.lost_master = incarnation

    def master_came(self, task: str, incarnation: int) -> None:
        """Note that a task is there again, if it is the same run of it."""
        for session in self._of(task):
            if session.lost_master == incarnation:
                session.lost_master = None

    def _of(self, task: str) -> list[SessionState]:
        with self._lock:
            return [session for handle, session in self._open.items() if master_of(handle) == task]
