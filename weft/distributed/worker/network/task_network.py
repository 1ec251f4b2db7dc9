"""TaskNetwork: a task's tensor-channel connections with its peers, and what travels on them.

Every message is handled on the thread of the connection that it came by; what may take long is put on the pool there. A
connection that was cut while steps need it is made again (`link_repair`), and they go on. One that is lost for good ends what
waits for that peer: parts of steps that were asked of it fail with UnavailableError, steps that it asked for are aborted.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto import node_def_pb2, step_stats_pb2

from weft import errors
from weft.channel.connection import Connection, is_cut
from weft.channel.heartbeats import Watch
from weft.distributed.worker.network.asked_parts import AskedParts
from weft.distributed.worker.network.lost_links import Awaited, LostLinks
from weft.distributed.worker.network.peer_connections import Admit, PeerConnections
from weft.distributed.worker.worker_handle import StepOwner
from weft.errors import InvalidArgumentError, OpError, UnavailableError
from weft.framework.building.aliases import Array
from weft.protocol import messages
from weft.protocol.master_step import PartDone, PartFailed
from weft.protocol.protocol_error import LocalProtocolError, RemoteProtocolError
from weft.runtime.worker import Worker

_LOG = logging.getLogger("weft")


class TaskNetwork:
    """The peers of one worker. All methods are safe from any thread.

    Args:
        worker: whose steps and values travel here.
        admit: how a peer is asked for an Admission.
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
        self._local: dict[str, Worker] = {}
        self._awaited: Awaited = {}
        self._asked = AskedParts(worker)
        self.peers = PeerConnections(worker, admit, tls, watch_of, self.on_message, self.on_closed)
        """Which tasks it is connected with."""
        self._lost = LostLinks(worker, self.peers, self._awaited, self._asked)

    # Who is there.

    def add_local(self, worker: Worker) -> None:
        """Reach a task in this process without a connection."""
        self._local[worker.task] = worker

    @property
    def tasks_here(self) -> list[str]:
        """The tasks in this process."""
        return [self._worker.task, *self._local]

    def is_there(self, task: str) -> bool:
        """Whether a task is connected, or serves in this process."""
        local = self._local.get(task)
        return task in self.peers.by_task if local is None else local.stopped is None

    # What leaves.

    def push(self, peer: str, step_id: int, edges: Sequence[int], tensors: Sequence[Any], *, is_held: bool = False) -> None:
        """Send values of a step to a peer task; see `Outlet`."""
        push = messages.Push(step_id, tuple(edges), tuple(tensors))
        local = self._local.get(peer)
        if local is not None:
            local.receive(push)
            return
        connection = self.peers.by_task.get(peer) or self.peers.connect(peer)
        try:
            if is_held:
                connection.hold(push)
            else:
                connection.send(push)
        except LocalProtocolError as error:
            text = f"A value of the step cannot be sent from {self._worker.task} to {peer}: {error}"
            raise InvalidArgumentError.of(text) from error
        except UnavailableError:
            # The step sends it again when the link is repaired, and is ended when it is not.
            if not is_cut(connection.cause):
                raise

    def has_room(self, peer: str) -> bool:
        """Whether a peer task keeps up with what is sent to it; see `Outlet`."""
        connection = self.peers.by_task.get(peer)
        return connection is None or connection.outbox.has_room

    def wait_for_room(self, peer: str, start: Callable[[], None]) -> bool:
        """Whether a producer has to wait until a peer has caught up; see `Outlet`."""
        connection = self.peers.by_task.get(peer)
        return connection is not None and connection.outbox.wait_for_room(start)

    def go_on(self, peer: str) -> None:
        """Say that a producer that was started is done; see `Outlet`."""
        connection = self.peers.by_task.get(peer)
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
        connection = self.peers.by_task.get(task) or self.peers.connect(task)
        key = (step_id, task)
        if not is_again:
            self._awaited[key] = owner
        elif key not in self._awaited:
            return
        request = messages.RunGraph(step_id, graph_handle, tuple(feeds), int(trace), owner.context)
        try:
            if is_held:
                connection.hold(request, if_small=True)
            else:
                connection.send(request)
        except OpError:
            if not is_cut(connection.cause):
                if self._awaited.pop(key, None) is not None:
                    raise
                return
        if self.peers.names.get(connection) is None and key in self._awaited:
            # It was lost before the owner was known to wait, so its repair may have passed him by.
            self._lost.note(connection, task, connection.cause)

    def flush(self, task: str) -> None:
        """Send a peer what is held for it, also by a connection that another has taken the place of meanwhile."""
        if task in self._local:
            return
        for connection in self.peers.all_with(task):
            connection.flush()

    def abort(self, task: str, step_id: int, error: OpError) -> None:
        """Tell a peer to give a step up; nothing more is heard of it."""
        self._awaited.pop((step_id, task), None)
        connection = self.peers.by_task.get(task)
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
        task = self.peers.names.get(connection, "")
        return self._awaited.pop((step_id, task), None), task

    def on_closed(self, connection: Connection, cause: Exception | None) -> None:
        """A connection ended: whatever waits for that peer goes on by another, or ends too."""
        task = self.peers.forget(connection)
        if task:  # else it is not known yet, and its end will be told again; or that has been told before
            self._lost.note(connection, task, cause)

    def close(self) -> None:
        """Close every connection."""
        self.peers.close()
        self._lost.stop()


def _error(code: int, text: str, node_name: str) -> OpError:
    return errors.from_status(code, text, node_def_pb2.NodeDef(name=node_name) if node_name else None)
