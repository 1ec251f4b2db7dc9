"""PeerConnections: which peers a task is connected with, and how it connects."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from weft.channel.connection import Connection, OnClosed, OnMessage
from weft.channel.dial import dial
from weft.channel.heartbeats import Watch
from weft.channel.refusal import is_cut_in_the_making
from weft.errors import OpError, UnavailableError
from weft.platform.waits.deadline import holding, left_s
from weft.protocol import messages
from weft.protocol.outcome_table import UNKNOWN_FATE
from weft.protocol.traffic import Traffic
from weft.runtime.worker import Worker

_DIAL_TIMEOUT_S: Final = 5.0
_CUT_DIALS_S: Final = 10.0  # how long a peer is dialed that lets this task in each time, by gRPC, and the connection is cut
_PAUSE_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class Admission:
    """What a task needs to dial another: where it listens, the permission, and who it is now."""

    addresses: tuple[str, ...]
    token: bytes
    incarnation: int


Admit = Callable[[str], Admission]
"""Asks a peer task for an Admission (over gRPC); raises UnavailableError when it cannot be reached."""


class CutWhileDialedError(UnavailableError):
    """A connection was cut while it was made."""


class PeerConnections:
    """The connections of one task, at most one with each peer that is in use. All methods are safe from any thread.

    Two tasks that dial at once, or again after a cut, have two connections for a while: each sends by the one that it took over
    last, and reads both.

    Args:
        worker: the task's; its sessions are told when the task of their master comes and leaves.
        admit: how a peer is asked for an Admission.
        tls: the task's credentials, for peers on other hosts.
        watch_of: how a peer task is watched.
        on_message: called with each message of a peer, on a thread that reads.
        on_closed: called once with each connection that ended.
    """

    def __init__(
        self,
        worker: Worker,
        admit: Admit,
        tls: ssl.SSLContext | None,
        watch_of: Callable[[str], Watch | None],
        on_message: OnMessage,
        on_closed: OnClosed,
    ) -> None:
        self._worker = worker
        self._admit = admit
        self._tls = tls
        self._watch_of = watch_of
        self._on_message = on_message
        self._on_closed = on_closed
        self._lock = threading.Lock()
        self._adopted = threading.Condition(self._lock)
        self._dialing: dict[str, threading.Lock] = {}
        self._incarnations: dict[str, int] = {}
        self.by_task: dict[str, Connection] = {}
        """The connection in use with each connected task. Only read by others, and without the lock."""
        self.names: dict[Connection, str] = {}
        """The task of each connection that has not ended, also of one that a newer one has replaced. As `by_task`."""
        self.is_closed = False
        self._past: dict[str, Traffic] = {}  # of connections that have ended, by task

    def incarnation_of(self, task: str) -> int:
        """The incarnation of a connected task; 0 when there is no connection."""
        return self._incarnations.get(task, 0)

    def traffic(self) -> dict[str, Traffic]:
        """What went between this task and each peer so far, over all their connections."""
        with self._lock:
            found = dict(self._past)
            for connection, task in self.names.items():
                found[task] = found.get(task, Traffic()) + connection.traffic
        return found

    def connection_with(self, task: str) -> Connection | None:
        """The connection with a task, if there is one."""
        return self.by_task.get(task)

    def all_with(self, task: str) -> Iterable[Connection]:
        """The connections with a task that have not ended: the one in use, and those before it."""
        if len(self.names) == len(self.by_task):
            found = self.by_task.get(task)
            return () if found is None else (found,)
        return [connection for connection, name in list(self.names.items()) if name == task]

    def connect(self, task: str) -> Connection:
        """The connection with a task, made when there is none.

        Raises:
            UnavailableError: the task cannot be reached.
        """
        found = self.by_task.get(task)
        if found is not None:
            return found
        with self._lock:
            gate = self._dialing.setdefault(task, threading.Lock())
        with holding(gate, f"a connection with {task}, which another thread makes"):
            found = self.by_task.get(task)
            if found is not None:
                return found
            if self.is_closed:
                raise UnavailableError.of(f"{self._worker.task} is stopped, so it cannot reach {task}")
            # Whatever cuts connections cuts those that are being made, too.
            deadline_s = time.monotonic() + _CUT_DIALS_S
            while True:
                try:
                    return self._dial(task)
                except CutWhileDialedError:
                    if self.is_closed or time.monotonic() >= deadline_s or left_s() == 0:
                        raise
                self.wait_for_dial(task, _PAUSE_S)
                found = self.by_task.get(task)
                if found is not None:
                    return found

    def _dial(self, task: str) -> Connection:
        admission = self._admit(task)
        hello = messages.Hello(messages.PROTOCOL_VERSION, self._worker.task, self._worker.incarnation, admission.token, task)
        try:
            connection, welcome = dial(
                admission.addresses, hello, self._on_message, self._on_closed, left_s(_DIAL_TIMEOUT_S) or 0.0, tls=self._tls,
                watch=self._watch_of(task),
            )  # fmt: skip
        except UnavailableError as error:
            if not is_cut_in_the_making(error):
                raise
            raise CutWhileDialedError.of(error.message) from error
        self._adopt(connection, task, welcome.incarnation)
        if connection.is_closed:
            # It ended before it was known by its name, so nobody has cleaned up after it.
            self._on_closed(connection, connection.cause)
            raise CutWhileDialedError.of(self.lost(task, connection.cause).message) from connection.cause
        return connection

    def accept(self, connection: Connection, hello: messages.Hello) -> None:
        """Take over a connection that a peer made."""
        self._adopt(connection, hello.sender, hello.incarnation)

    def _adopt(self, connection: Connection, task: str, incarnation: int) -> None:
        with self._lock:
            self.names[connection] = task
            # The latest: a peer that connects again has lost the one before, which may not be known here yet.
            self.by_task[task] = connection
            self._incarnations[task] = incarnation
            self._worker.sessions.master_came(task, incarnation)
            self._adopted.notify_all()

    def wait_for_dial(self, task: str, timeout_s: float) -> None:
        """Block until there is a connection with a task, or the time is up."""
        with self._lock:
            self._adopted.wait_for(lambda: task in self.by_task, timeout_s)

    def forget(self, connection: Connection) -> str:
        """Note that a connection has ended; returns the task that it was with, "" when that was not known yet."""
        with self._lock:
            task = self.names.pop(connection, "")
            if task:
                self._past[task] = self._past.get(task, Traffic()) + connection.traffic
            if self.by_task.get(task) is connection:
                self._take_from_use(connection, task)
        return task

    def _take_from_use(self, connection: Connection, task: str) -> None:
        before = next((each for each in reversed(self.names) if self.names[each] == task and not each.is_closed), None)
        if before is not None and incarnation_at(before) == incarnation_at(connection):
            self.by_task[task] = before  # a dial that its caller had given up was taken over after it, and has ended now
            return
        del self.by_task[task]
        self._incarnations.pop(task, None)
        self._worker.sessions.master_left(task, incarnation_at(connection))

    def lost(self, task: str, cause: Exception | None) -> OpError:
        """What those are told who wait for a task whose connection was lost."""
        return UnavailableError.of(
            f"Task {task} is unavailable: its connection with {self._worker.task} was lost"
            f"{f' ({cause})' if cause is not None else ''}. It died, was stopped or cannot be reached any more. If it was "
            f"asked for a step, {UNKNOWN_FATE}."
        )

    def close(self) -> None:
        """Close every connection, and make no other."""
        self.is_closed = True
        for connection in list(self.names):
            connection.begin_close("the task stops")


def incarnation_at(connection: Connection) -> int:
    """Which run of the peer a connection was with."""
    peer = connection.peer
    return 0 if peer is None else peer.incarnation
