"""TaskNetwork: a task's tensor-channel connections with its peers, and what travels on them.

Every message is handled on the thread of the connection that it came by; what may take long is put on the pool there. A
connection that was cut while steps need it is made again (`link_repair`), and they go on. One that is lost for good ends what
waits for that peer: parts of steps that were asked of it fail with UnavailableError, steps that it asked for are aborted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import ssl
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorboard.compat.proto import node_def_pb2, step_stats_pb2

from weft import errors
from weft.channel.connection import Connection, is_cut
from weft.channel.dial import dial, is_refusal
from weft.channel.heartbeats import Watch
from weft.distributed.worker.asked_parts import AskedParts
from weft.distributed.worker.link_repair import CutLink, LinkRepair
from weft.distributed.worker.worker_handle import StepOwner
from weft.errors import AbortedError, OpError, UnavailableError
from weft.framework.aliases import Array
from weft.platform.deadline import holding, left_s
from weft.protocol import messages
from weft.protocol.master_step import PartDone, PartFailed, WorkerLost
from weft.protocol.outcome_table import UNKNOWN_FATE
from weft.protocol.protocol_error import RemoteProtocolError
from weft.runtime.worker import Worker

_LOG = logging.getLogger("weft")

_DIAL_TIMEOUT_S: Final = 5.0
_DIALS: Final = 3  # how often in a row a peer is dialed that was there a moment ago, by gRPC


@dataclass(frozen=True, slots=True)
class Admission:
    """What a task needs to dial another: where it listens, the permission, and who it is now."""

    addresses: tuple[str, ...]
    token: bytes
    incarnation: int


Admit = Callable[[str], Admission]


class CutWhileDialedError(UnavailableError):
    """A connection ended while it was made, without a refusal."""


class TaskNetwork:
    """The peers of one worker. All methods are safe from any thread.

    Args:
        worker: whose steps and values travel here.
        admit: asks a peer task for an Admission (over gRPC); raises UnavailableError when it cannot be reached.
        tls: the task's credentials, for peers on other hosts.
        watch_of: how a peer task is watched.
    """

    def __init__(
        self,
        worker: Worker,
        admit: Admit,
        tls: ssl.SSLContext | None = None,
        watch_of: Callable[[str], Watch | None] = lambda task: None,
    ) -> None:
        self._worker = worker
        self._admit = admit
        self._tls = tls
        self._watch_of = watch_of
        self._lock = threading.Lock()
        self._adopted = threading.Condition(self._lock)
        self._dialing: dict[str, threading.Lock] = {}
        self._connections: dict[str, Connection] = {}
        self._incarnations: dict[str, int] = {}
        self._names: dict[Connection, str] = {}
        self._local: dict[str, Worker] = {}
        self._pending: dict[tuple[int, str], StepOwner] = {}
        self._asked = AskedParts(worker)
        self._repair = LinkRepair(self, self._go_on_with, self._give_up)
        self._closed = False

    # Who is there.

    def add_local(self, worker: Worker) -> None:
        """Reach a task in this process without a connection."""
        self._local[worker.task] = worker

    @property
    def tasks_here(self) -> list[str]:
        """The tasks in this process."""
        return [self._worker.task, *self._local]

    def incarnation_of(self, task: str) -> int:
        """The incarnation of a connected task; 0 when there is no connection."""
        return self._incarnations.get(task, 0)

    def is_there(self, task: str) -> bool:
        """Whether a task is connected, or serves in this process."""
        local = self._local.get(task)
        return task in self._connections if local is None else local.stopped is None

    def connection_with(self, task: str) -> Connection | None:
        """The connection with a task, if there is one."""
        return self._connections.get(task)

    def connect(self, task: str) -> Connection:
        """The connection with a task, made when there is none.

        Raises:
            UnavailableError: the task cannot be reached.
        """
        found = self._connections.get(task)
        if found is not None:
            return found
        with self._lock:
            gate = self._dialing.setdefault(task, threading.Lock())
        with holding(gate, f"a connection with {task}, which another thread makes"):
            found = self._connections.get(task)
            if found is not None:
                return found
            if self._closed:
                raise UnavailableError.of(f"{self._worker.task} is stopped, so it cannot reach {task}")
            for _ in range(_DIALS - 1):
                # Whatever cuts connections cuts those that are being made, too.
                with contextlib.suppress(CutWhileDialedError):
                    return self._dial(task)
            return self._dial(task)

    def _dial(self, task: str) -> Connection:
        admission = self._admit(task)
        hello = messages.Hello(messages.PROTOCOL_VERSION, self._worker.task, self._worker.incarnation, admission.token, task)
        try:
            connection, welcome = dial(
                admission.addresses, hello, self.on_message, self.on_closed, left_s(_DIAL_TIMEOUT_S) or 0.0, tls=self._tls,
                watch=self._watch_of(task),
            )  # fmt: skip
        except UnavailableError as error:
            if is_refusal(error):
                raise
            raise CutWhileDialedError.of(error.message) from error
        self._adopt(connection, task, welcome.incarnation)
        if connection.is_closed:
            # It ended before it was known by its name, so nobody has cleaned up after it.
            self.on_closed(connection, connection.cause)
            raise CutWhileDialedError.of(self._lost(task, connection.cause).message)
        return connection

    def accept(self, connection: Connection, hello: messages.Hello) -> None:
        """Take over a connection that a peer made."""
        self._adopt(connection, hello.sender, hello.incarnation)

    def _adopt(self, connection: Connection, task: str, incarnation: int) -> None:
        with self._lock:
            self._names[connection] = task
            # The latest: a peer that connects again has lost the one before, which may not be known here yet.
            self._connections[task] = connection
            self._incarnations[task] = incarnation
            self._worker.sessions.master_came(task, incarnation)
            self._adopted.notify_all()

    def wait_for_dial(self, task: str, timeout_s: float) -> None:
        """Block until there is a connection with a task, or the time is up."""
        with self._lock:
            self._adopted.wait_for(lambda: task in self._connections, timeout_s)

    # What leaves.

    def push(self, peer: str, step_id: int, edges: Sequence[int], tensors: Sequence[Any]) -> None:
        """Send values of a step to a peer task; see `Outlet`."""
        push = messages.Push(step_id, tuple(edges), tuple(tensors))
        local = self._local.get(peer)
        if local is not None:
            local.receive(push)
            return
        connection = self._connections.get(peer) or self.connect(peer)
        try:
            connection.send(push)
        except UnavailableError:
            # The step sends it again when the link is repaired, and is ended when it is not.
            if not is_cut(connection.cause):
                raise

    def has_room(self, peer: str) -> bool:
        """Whether a peer task keeps up with what is sent to it; see `Outlet`."""
        connection = self._connections.get(peer)
        return connection is None or connection.outbox.has_room

    def wait_for_room(self, peer: str, start: Callable[[], None]) -> bool:
        """Whether a producer has to wait until a peer has caught up; see `Outlet`."""
        connection = self._connections.get(peer)
        return connection is not None and connection.outbox.wait_for_room(start)

    def go_on(self, peer: str) -> None:
        """Say that a producer that was started is done; see `Outlet`."""
        connection = self._connections.get(peer)
        if connection is not None:
            connection.outbox.go_on()

    def run_graph(
        self,
        task: str,
        step_id: int,
        graph_handle: str,
        feeds: Sequence[Array],
        trace: bool,
        owner: StepOwner,
        is_held: bool = False,
        is_again: bool = False,
    ) -> None:
        """Ask a peer to run its part of a step; the owner is told once, on the thread that hears of the part's end.

        If `is_held`, the peer is asked with the next message to it, or at `flush`. With `is_again` it is asked only if the
        owner still waits; it may be told while this runs.

        Raises:
            OpError: the peer was not asked.
        """
        connection = self._connections.get(task) or self.connect(task)
        key = (step_id, task)
        if not is_again:
            self._pending[key] = owner
        elif key not in self._pending:
            return
        ask = connection.hold if is_held else connection.send
        try:
            ask(messages.RunGraph(step_id, graph_handle, tuple(feeds), int(trace)))
        except OpError:
            if not is_cut(connection.cause):
                if self._pending.pop(key, None) is not None:
                    raise
                return
        if self._names.get(connection) is None and key in self._pending:
            # It was lost before the owner was known to wait, so its repair may have passed him by.
            self._repair_or_end(CutLink(connection, task, _incarnation_at(connection), connection.cause))

    def flush(self, task: str) -> None:
        """Send a peer what is held for it."""
        connection = self._connections.get(task)
        if connection is not None:
            connection.flush()

    def abort(self, task: str, step_id: int, error: OpError) -> None:
        """Tell a peer to give a step up; nothing more is heard of it."""
        self._pending.pop((step_id, task), None)
        connection = self._connections.get(task)
        if connection is not None:
            try:
                connection.send(messages.Abort(step_id, error.error_code, error.message))
            except OpError as lost:
                _LOG.info("abort of step %x was not sent to %s: %s", step_id, task, lost)

    # What comes in.

    def on_message(self, connection: Connection, message: messages.Message) -> None:
        """Handle one message of a peer."""
        match message:
            case messages.Push():
                self._worker.receive(message)
            case messages.RunGraph():
                self._asked.start(connection, message)
            case messages.StepDone():
                owner, task = self._owner_of(connection, message.step_id)
                if owner is not None:
                    stats = step_stats_pb2.StepStats.FromString(message.trace) if message.trace else None
                    owner.tell(PartDone(task, message.fetches, stats))
            case messages.StepFailed(step_id, code, text, node_name):
                owner, task = self._owner_of(connection, step_id)
                if owner is not None:
                    owner.tell(PartFailed(task, _error(code, text, node_name)))
            case messages.Abort(step_id, code, text):
                self._worker.abort(step_id, errors.from_status(code, text))
            case messages.Pong():
                pass
            case _:
                raise RemoteProtocolError(f"a task sent {type(message).__name__}, which only clients and masters send")

    def _owner_of(self, connection: Connection, step_id: int) -> tuple[StepOwner | None, str]:
        """Who waits for a peer's part of a step, and the peer's name; nobody when the step was aborted."""
        task = self._names.get(connection, "")
        return self._pending.pop((step_id, task), None), task

    def on_closed(self, connection: Connection, cause: Exception | None) -> None:
        """A connection ended: whatever waits for that peer ends too."""
        with self._lock:
            task = self._names.pop(connection, "")
            if self._connections.get(task) is connection:
                del self._connections[task]
                self._incarnations.pop(task, None)
                self._worker.sessions.master_left(task, _incarnation_at(connection))
        self._repair_or_end(CutLink(connection, task, _incarnation_at(connection), cause))

    def _repair_or_end(self, link: CutLink) -> None:
        """Repair a link that is worth it; end what waits for it otherwise."""
        if is_cut(link.cause) and not self._closed and self._is_needed(link):
            self._repair.start(dataclasses.replace(link, lacking=self._lacking_from(link.task)))
            return
        lost = self._lost(link.task, link.cause)
        self._end(link, lost)
        # Steps of other masters, too, whose connections with all their tasks may be well.
        for step_id in self._lacking_from(link.task):
            self._worker.abort(step_id, lost)

    def _is_needed(self, link: CutLink) -> bool:
        """Whether a step waits for the peer, or the peer for a step."""
        if any(key[1] == link.task for key in list(self._pending)):
            return True
        return self._asked.has_any_of(link.connection) or bool(self._worker.steps_with(link.task))

    def _lacking_from(self, task: str) -> list[int]:
        """The steps that run here and wait for a value of a peer."""
        return [step.step_id for step in self._worker.steps_with(task) if step.awaits(task)]

    def _go_on_with(self, link: CutLink) -> None:
        """A link was repaired: repeat what may have been lost."""
        for key in list(self._pending):
            owner = self._pending.get(key) if key[1] == link.task else None
            if owner is not None:
                owner.repeat(link.task)
        for step in self._worker.steps_with(link.task):
            step.push_again(link.task)

    def _give_up(self, link: CutLink, error: OpError | None) -> None:
        """A link was not repaired; or it was, and what the peer has not asked for again it does not want."""
        if error is None:
            self._asked.abort_of(link.connection, link.task)
            self._abort_stuck(link)
            return
        lost = self._lost(link.task, link.cause)
        self._end(link, lost)
        for step in self._worker.steps_with(link.task):
            self._worker.abort(step.step_id, lost)

    def _abort_stuck(self, link: CutLink) -> None:
        """End the steps whose values were lost with a connection, and are not sent again: the part that made them is over.

        A master sends the values of its own task again as long as a step runs, and a part that runs does so too.
        """
        for step_id in set(link.lacking) & set(self._lacking_from(link.task)):
            if (step_id, link.task) in self._pending or self._asked.asker_of(step_id) == link.task:
                continue
            text = f"Values of {link.task} for a step were lost when its connection with {self._worker.task} was cut"
            self._worker.abort(step_id, AbortedError.of(f"{text}; {UNKNOWN_FATE}"))

    def _end(self, link: CutLink, lost: OpError) -> None:
        with self._lock:
            keys = [key for key in self._pending if key[1] == link.task]
            waiting = [owner for key in keys if (owner := self._pending.pop(key, None)) is not None]
        for owner in waiting:
            owner.tell(WorkerLost(link.task, lost))
        self._asked.abort_of(link.connection, link.task or "a task")

    def _lost(self, task: str, cause: Exception | None) -> OpError:
        return UnavailableError.of(
            f"Task {task} is unavailable: its connection with {self._worker.task} was lost"
            f"{f' ({cause})' if cause is not None else ''}. It died, was stopped or cannot be reached any more. If it was "
            f"asked for a step, {UNKNOWN_FATE}."
        )

    def close(self) -> None:
        """Close every connection."""
        self._closed = True
        self._repair.stop()
        for connection in list(self._names):
            connection.begin_close("the task stops")


def _incarnation_at(connection: Connection) -> int:
    """Which run of the peer a connection was with."""
    peer = connection.peer
    return 0 if peer is None else peer.incarnation


def _error(code: int, text: str, node_name: str) -> OpError:
    return errors.from_status(code, text, node_def_pb2.NodeDef(name=node_name) if node_name else None)
