"""ServedSessions: the sessions that a master keeps for other processes, with their graphs, callables and runs in pieces."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from tensorboard.compat.proto.config_pb2 import RunOptions
from tensorboard.compat.proto.graph_pb2 import GraphDef

from weft.distributed.master.master import Master
from weft.distributed.master.master_session import MasterSession
from weft.distributed.master.steps.partial_run import PartialRun, unknown_handle
from weft.distributed.master.steps.step_plan import StepPlan
from weft.errors import AbortedError, InvalidArgumentError, NotFoundError, OpError, PermissionDeniedError
from weft.framework.graphs.graph import Graph
from weft.framework.importing.received_graph import ReceivedGraph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.serial.node_def_reader import InvalidNodeError
from weft.protocol.graph_size import GraphSize
from weft.protocol.limits import ServerLimits, exceeded
from weft.protocol.messages import CallDone, CallFailed
from weft.protocol.outcome_table import OutcomeTable
from weft.protocol.session_lease import SessionLease

_LOG: Final = logging.getLogger("weft")

_MAX_PLANS: Final = 256


class ServedSession:
    """One client's session: the graph as the client has sent it so far, and its prepared runs.

    Args:
        session: what the master has of it.
        lease: how long it lives without its client.
        limits: how large its graph may become, and how many runs it may prepare.
        received: the graph that the session was opened with.
        size: of that graph.
    """

    def __init__(
        self, session: MasterSession, lease: SessionLease, limits: ServerLimits, received: ReceivedGraph, size: GraphSize
    ) -> None:
        self.session = session
        self._received = received
        self._max_prepared_runs = limits.max_prepared_runs
        self._size = size
        self.lease = lease
        self.key = b""  # shown by whoever has it, if not empty
        self.outcomes: OutcomeTable[CallDone | CallFailed] = OutcomeTable()
        """Of the client's calls."""
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._callables: dict[int, tuple[StepPlan, RunOptions]] = {}
        self._plans: dict[Any, StepPlan] = {}
        self._partial_runs: dict[str, PartialRun] = {}
        self._torn: Exception | None = None
        self._last_extension: tuple[int, bytes] | None = None  # the version that was extended, and by what

    @property
    def graph_version(self) -> int:
        """How many nodes the client has sent."""
        return self._received.version

    def extend(self, graph_def: GraphDef, current_version: int) -> int:
        """Add nodes; AbortedError when the client's idea of the graph is not the master's.

        A client that has not got the answer asks again with the same nodes: they are added once.
        """
        asked = current_version, hashlib.blake2b(graph_def.SerializeToString(deterministic=True)).digest()
        with self._lock:
            if asked == self._last_extension:
                return self.graph_version
            if current_version != self.graph_version and self._torn is None:
                raise AbortedError.of(
                    f"Graph versions don't match: the client extends version {current_version}, the session has "
                    f"{self.graph_version}. Several clients extend one session; open one session for each"
                )
            self._raise_if_torn()
            self._size.add(graph_def)
            try:
                self._received.extend(graph_def)
            except (OpError, ValueError, TypeError, LookupError) as error:
                # Some of the nodes may be in the graph. The client will send all of them again with its next run.
                self._torn = error
                if isinstance(error, OpError):
                    raise
                node = error.node_def if isinstance(error, InvalidNodeError) else None
                raise InvalidArgumentError(node, None, f"The GraphDef is not a graph: {error}") from error
            if self.session.graph is not self._received.graph:
                self.session.graph = self._received.graph
                self._plans.clear()
            self._last_extension = asked
            return self.graph_version

    def _raise_if_torn(self) -> None:
        if self._torn is not None:
            raise InvalidArgumentError.of(
                f"The session's graph could not be extended before, and the client's graph can only grow: "
                f"{self._torn}. Open a new session with another graph"
            )

    def make_callable(
        self, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str], options: RunOptions | None = None
    ) -> int:
        """Prepare a run, whose calls have the options; returns the number by which it is called."""
        self._check_runs(len(self._callables), "prepared runs that it has not released")
        plan = self._prepare(feeds, fetches, targets)
        number = next(self._ids)
        self._callables[number] = plan, options or RunOptions()
        return number

    def _check_runs(self, count: int, what: str) -> None:
        if count >= self._max_prepared_runs:
            text = f"Session {self.session.handle} has too many {what}"
            raise exceeded(text, count + 1, "max_prepared_runs", self._max_prepared_runs)

    def callable(self, number: int) -> tuple[StepPlan, RunOptions]:
        """A prepared run, and the options of its calls that give none themselves."""
        found = self._callables.get(number)
        if found is None:
            raise InvalidArgumentError.of(f"No such callable handle: {number}")
        return found

    def release_callable(self, number: int) -> None:
        """Forget a prepared run."""
        self._callables.pop(number, None)

    def plan(self, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]) -> StepPlan:
        """The run with these names, prepared at its first use."""
        key = (tuple(feeds), tuple(fetches), tuple(targets))
        found = self._plans.get(key)
        if found is None:
            found = self._prepare(feeds, fetches, targets)
            if len(self._plans) >= _MAX_PLANS:
                self._plans.pop(next(iter(self._plans)))
            self._plans[key] = found
        return found

    def begin_partial(self, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]) -> str:
        """Begin a run in pieces; returns its handle."""
        self._check_runs(len(self._partial_runs), "runs in pieces that it has not run to their end")
        self._received.raise_if_aside([*feeds, *fetches, *targets])
        graph = self.session.graph
        run = self.session.prepare_partial(_tensors(graph, feeds), _tensors(graph, fetches), _targets(graph, targets))
        handle = f"partial-{next(self._ids)}"
        self._partial_runs[handle] = run
        return handle

    def run_piece(self, handle: str, feeds: Mapping[str, object], fetches: Sequence[str]) -> list[Any]:
        """Run a piece of a run that was begun with `begin_partial`."""
        run = self._partial_runs.get(handle)
        if run is None:
            raise unknown_handle()
        graph = self.session.graph
        try:
            fed, fetched = {_tensor(graph, name): value for name, value in feeds.items()}, _tensors(graph, fetches)
        except NotFoundError as error:
            # A node that came after the run was begun is none of its own, and need not have been sent.
            raise InvalidArgumentError.of(f"{error.message}, so partial_run_setup cannot have had it") from None
        values = run.run(fed, fetched)
        if run.is_over:
            self._partial_runs.pop(handle, None)
        return values

    def _prepare(self, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]) -> StepPlan:
        self._received.raise_if_aside([*feeds, *fetches, *targets])
        graph = self.session.graph
        return self.session.prepare(_tensors(graph, feeds), _tensors(graph, fetches), _targets(graph, targets))


def _tensor(graph: Graph, name: str) -> Tensor:
    try:
        return graph.get_tensor_by_name(name if ":" in name else f"{name}:0")
    except (KeyError, ValueError) as error:
        raise NotFoundError.of(f"run: a feed or fetch is not in the session's graph: {error.args[0]}") from None


def _tensors(graph: Graph, names: Sequence[str]) -> list[Tensor]:
    return [_tensor(graph, name) for name in names]


def _targets(graph: Graph, names: Sequence[str]) -> list[Operation]:
    try:
        return [graph.get_operation_by_name(name) for name in names]
    except KeyError as error:
        raise NotFoundError.of(f"run: a target is not in the session's graph: {error.args[0]}") from None


class ServedSessions:
    """The served sessions of one master by handle. Safe from any thread.

    Args:
        master: whose sessions they are.
        limits: of what they do and how long they are kept.
    """

    def __init__(self, master: Master, limits: ServerLimits | None = None) -> None:
        self.master = master
        self._limits = limits or ServerLimits()
        self._lock = threading.Lock()  # of the leases, and of opening
        self._opening = 0
        self._sessions: dict[str, ServedSession] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def create(
        self,
        graph_def: GraphDef,
        config: Any,
        raise_if_cancelled: Callable[[], None],
        peer: str = "",
        by_tensorflow: bool = False,
    ) -> tuple[str, int]:
        """Open a session on a graph; blocks until the cluster's tasks are there. Returns its handle and graph version.

        Args:
            graph_def: the graph as far as the client has it.
            config: the session's ConfigProto, or None.
            raise_if_cancelled: raises when the client has given up.
            peer: the connection by which the client asks.
            by_tensorflow: whether a TensorFlow builds the graph, and not weft.
        """
        size = GraphSize(self._limits)
        size.add(graph_def)
        received = ReceivedGraph(by_tensorflow)
        received.extend(graph_def)
        with self._place_for_one():
            session = self.master.open_session(received.graph, config, raise_if_cancelled)
            try:
                # The cluster was waited for; a client that went away meanwhile will not hear of its session.
                raise_if_cancelled()
            except BaseException:
                session.close()
                raise
            lease = SessionLease(self._limits, time.monotonic(), peer)
            served = ServedSession(session, lease, self._limits, received, size)
            self._sessions[session.handle] = served
        return session.handle, served.graph_version

    @contextmanager
    def _place_for_one(self) -> Iterator[None]:
        """Count a session while it is being opened; ResourceExhaustedError when there are too many."""
        with self._lock:
            found = len(self._sessions) + self._opening + 1
            if found > self._limits.max_sessions:
                what = (
                    f"{self.master.task} has too many open sessions; close one, or wait until those without a client are closed"
                )
                raise exceeded(what, found, "max_sessions", self._limits.max_sessions)
            self._opening += 1
        try:
            yield
        finally:
            with self._lock:
                self._opening -= 1

    def find(self, handle: str) -> ServedSession:
        """An open session; AbortedError when it is not known (any more)."""
        found = self._sessions.get(handle)
        if found is None:
            raise AbortedError.of(
                f"Session {handle} is not found. Possibly, the task of this master was restarted, or the session was closed"
            )
        error = found.session.steps.error
        if error is not None:
            raise error
        return found

    @contextmanager
    def called(self, handle: str, peer: str, key: bytes = b"") -> Iterator[ServedSession]:
        """An open session while a call of it is answered.

        Args:
            handle: the session's.
            peer: the connection over which the call came.
            key: the session's key, from a client that has one.

        Raises:
            AbortedError: it is not known (any more).
            PermissionDeniedError: it is another client's.
        """
        found = self.find(handle)
        _check_key(found, key)
        with self._lock:
            found.lease.begin_call(peer)
        try:
            yield found
        finally:
            with self._lock:
                found.lease.end_call(time.monotonic())

    def note_owner(self, handle: str, key: bytes) -> None:
        """A connection of the channel is admitted to a session, if it is there still, and ends it with its own end.

        From now on other calls of the session have to show its key too, by which the connection was admitted.
        """
        with self._lock:
            served = self._sessions.get(handle)
            if served is not None:
                served.lease.own()
                # That of the first connection: one that resumes the session was asked for with it.
                served.key = served.key or key

    def last_call_s(self, handle: str) -> float:
        """When a session's last call over gRPC was answered, or it was opened, by the monotonic clock; 0 of an unknown one."""
        served = self._sessions.get(handle)
        return 0.0 if served is None else served.lease.last_call_s

    def close_for(self, handle: str, key: bytes) -> None:
        """End a session for a client that shows its key, if it has one; PermissionDeniedError when it is another client's."""
        served = self._sessions.get(handle)
        if served is not None:
            _check_key(served, key)
            self.close(handle)

    def close(self, handle: str) -> None:
        """End a session: its steps are cancelled, what is shared stays."""
        served = self._sessions.pop(handle, None)
        if served is not None:
            served.session.close()

    def close_overdue(self, stands: Callable[[str], bool | None]) -> None:
        """Close the sessions that nobody owns.

        Args:
            stands: tells whether a connection, named as calls name their peer, stands; None if nobody knows.
        """
        now_s = time.monotonic()
        # Of the values alone: making a pair for each may collect garbage, whose finalizers may let another thread run and
        # change the table meanwhile ("dictionary changed size during iteration", met once in 36,000 requests).
        for served in list(self._sessions.values()):
            handle, peer = served.session.handle, served.lease.peer
            with self._lock:
                reason = served.lease.overdue(now_s, stands(peer) if peer else None)
            if reason:
                _LOG.info("Session %s of the client at %s is closed: %s", handle, peer or "an unknown address", reason)
                self.close(handle)


def _check_key(served: ServedSession, key: bytes) -> None:
    if served.key and not hmac.compare_digest(served.key, key):
        raise PermissionDeniedError.of(
            f"Session {served.session.handle} is another client's: its handle is not enough to use it or to end it. Open a "
            "session of your own"
        )
