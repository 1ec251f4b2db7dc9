"""Worker: one task's part of every session: its devices, its state, the graphs registered with it and the steps it runs."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from weft.errors import AbortedError, CancelledError, OpError
from weft.framework.operation import Operation, Tensor
from weft.passes.partition import Partition
from weft.platform.file_access import FileAccess
from weft.protocol.limits import ServerLimits
from weft.protocol.messages import Push
from weft.protocol.rendezvous_table import Deliver, End, GiveUp, Instruction, RendezvousTable
from weft.runtime.executor import Executor, Inbox, Outlet, Step
from weft.runtime.inter_op_pool import InterOpPool
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_state import SessionState
from weft.runtime.step_trace import StepTrace

_LOG: Final = logging.getLogger("weft")
_MAX_REMEMBERED_SESSIONS: Final = 1024  # those that were closed


class Worker:
    """Executes partitions for one task. All methods are safe from any thread.

    Args:
        task: the task's name, `/job:x/replica:0/task:n`.
        devices: the full names of its devices.
        incarnation: a number that no earlier run of this task had.
        resources: the state that sessions share.
        make_outlet: gives the way to other tasks, which knows the worker in its turn; without it the worker has no peers.
        file_access: what the graphs that run here may open; None for everything.
        limits: how much is kept here for sessions and for steps that have not started.
    """

    def __init__(
        self,
        task: str,
        devices: Sequence[str],
        incarnation: int,
        resources: ResourceManager,
        make_outlet: Callable[[Worker], Outlet] | None = None,
        file_access: FileAccess | None = None,
        limits: ServerLimits | None = None,
    ) -> None:
        self.task = task
        self.devices = list(devices)
        self.incarnation = incarnation
        self.resources = resources
        self.file_access = file_access
        self.limits = limits
        self.stopped: OpError | None = None
        """Why no more steps are taken; None while they are."""
        self._draining: OpError | None = None
        self._pool = InterOpPool()
        self._handles = itertools.count(1)
        self._lock = threading.Lock()
        self._sessions: dict[str, SessionState] = {}
        self._masters: set[str] = set()
        self._closed: dict[str, None] = {}  # handles, the oldest first
        self._executors: dict[str, tuple[str, Executor]] = {}
        self._rendezvous: RendezvousTable[Step] = RendezvousTable(task, limits or ServerLimits())
        self._outlet = None if make_outlet is None else make_outlet(self)

    def create_session(self, session_handle: str, config: object, isolate: bool) -> None:
        """Begin to keep state for a session, once; an isolated one gets resources of its own.

        Raises:
            AbortedError: the session was closed: this request was overtaken by its end.
        """
        if session_handle in self._sessions:
            return
        resources = ResourceManager(self.resources.default_container) if isolate else self.resources
        with self._lock:
            if session_handle in self._closed:
                raise self._unknown_session(session_handle)
            self._masters.add(session_handle.partition("#")[0])
            self._sessions.setdefault(
                session_handle, SessionState(resources, config, session_handle, self.file_access, self.limits)
            )

    def close_session(self, session_handle: str) -> None:
        """Cancel the session's steps and forget its graphs, for good; shared state stays."""
        with self._lock:
            self._closed[session_handle] = None
            if len(self._closed) > _MAX_REMEMBERED_SESSIONS:
                del self._closed[next(iter(self._closed))]
        self.drop_session(session_handle)

    def has_session(self, session_handle: str) -> bool:
        """Whether state is kept for a session."""
        return session_handle in self._sessions

    @property
    def masters(self) -> set[str]:
        """The tasks whose masters have, or had, sessions here."""
        with self._lock:
            return set(self._masters)

    @property
    def is_used(self) -> bool:
        """Whether there are sessions here whose masters can be reached."""
        with self._lock:
            return not all(session.is_away for session in self._sessions.values())

    def drop_session(self, session_handle: str) -> None:
        """Cancel the session's steps and forget its graphs; a master that turns out to live may register them again."""
        with self._lock:
            session = self._sessions.pop(session_handle, None)
            if session is not None:
                session.is_closed = True
            steps = [step for step in self._rendezvous.running if step.session is session]
            for handle in [h for h, (owner, _) in self._executors.items() if owner == session_handle]:
                del self._executors[handle]
        for step in steps:
            step.abort(CancelledError.of("Step was cancelled by an explicit call to `Session::Close()`."))

    def master_left(self, task: str, incarnation: int) -> None:
        """Note for its sessions that a task, whose masters may have some, cannot be reached; it may come back as it was."""
        for session in self._sessions_of(task):
            session.lost_master = incarnation

    def master_came(self, task: str, incarnation: int) -> None:
        """Note for its sessions that a task is there again, if it is the same run of it."""
        for session in self._sessions_of(task):
            if session.lost_master == incarnation:
                session.lost_master = None

    def _sessions_of(self, task: str) -> list[SessionState]:
        with self._lock:
            return [session for session in self._sessions.values() if session.name.partition("#")[0] == task]

    def register(self, session_handle: str, partition: Partition) -> str:
        """Prepare a partition for running; returns its graph handle.

        Raises:
            AbortedError: this task does not know the session, as after a restart.
            InvalidArgumentError: a variable is held with another dtype than the graph declares.
        """
        session = self._sessions.get(session_handle)
        if session is None:
            raise self._unknown_session(session_handle)
        executor = Executor(partition, session, self._outlet, self._pool)
        handle = f"{next(self._handles):016x}"
        with self._lock:
            if session.is_closed:
                # While the graph was prepared; nobody would ever deregister it.
                raise self._unknown_session(session_handle)
            self._executors[handle] = (session_handle, executor)
        return handle

    def _unknown_session(self, session_handle: str) -> AbortedError:
        return AbortedError.of(
            f"Session handle {session_handle!r} is not known to {self.task} (incarnation {self.incarnation}): the task was "
            "restarted or the session was closed; open a new session"
        )

    def deregister(self, graph_handle: str) -> None:
        """Forget a registered graph; steps that run it end as they would."""
        with self._lock:
            self._executors.pop(graph_handle, None)

    def executor(self, graph_handle: str) -> Executor:
        """The executor behind a handle; AbortedError when it is gone."""
        found = self._executors.get(graph_handle)
        if found is None:
            raise AbortedError.of(
                f"Graph handle {graph_handle} is not registered with {self.task} (incarnation {self.incarnation}): the task "
                "was restarted, or the session that registered it is closed"
            )
        return found[1]

    def run_graph(
        self,
        step_id: int,
        graph_handle: str,
        feeds: Sequence[object],
        on_done: Callable[[Step], None],
        trace: StepTrace | None = None,
        inbox: Inbox | None = None,
    ) -> Step:
        """Start a step; `on_done` is called when it is over, perhaps before this returns.

        With an `inbox`, work that a message makes possible is put there for the thread that waits, else it runs on the thread
        that received the message.

        Raises:
            AbortedError: the graph is not registered here. The error that the worker was stopped or drained with.
        """
        executor = self.executor(graph_handle)

        def finish(step: Step) -> None:
            with self._lock:
                self._rendezvous.finish(step_id, step)
            on_done(step)

        step = Step(executor, step_id, feeds, finish, trace, inbox)
        with self._lock:
            refusal = self.stopped or self._draining
            if refusal is not None:
                raise refusal
            instructions = self._rendezvous.start(step_id, step)
        if instructions:
            # A step that cannot run here is over then, and nothing of it begins.
            self._execute(instructions)
        step.start()
        return step

    def receive(self, push: Push) -> None:
        """Take values that another task made for a step, which may begin only later."""
        with self._lock:
            instructions = self._rendezvous.push(push, time.monotonic())
        self._execute(instructions)

    def give_up_late_steps(self) -> None:
        """Drop what came for steps that should have started long ago: nobody waits for it."""
        with self._lock:
            instructions = self._rendezvous.expire(time.monotonic())
        self._execute(instructions)

    def _execute(self, instructions: Sequence[Instruction[Step]]) -> None:
        """Do what the table of steps says. Not with the lock held: a step may end here and tell its owner."""
        for instruction in instructions:
            match instruction:
                case Deliver(step, push):
                    step.receive(push.edges, push.tensors)
                case End(step, error):
                    step.abort(error)
                case GiveUp(step_id, reason):
                    _LOG.warning("%s: step %x will not run here: %s", self.task, step_id, reason)

    def waits_at(self, step_id: int) -> list[str]:
        """The nodes at which a step is blocked here now."""
        with self._lock:
            found = self._rendezvous.find(step_id)
        return [] if found is None else found.waits_at

    def awaits(self, step_id: int, task: str) -> list[Tensor | Operation]:
        """What a step lacks here of another task's."""
        with self._lock:
            found = self._rendezvous.find(step_id)
        return [] if found is None else found.awaits(task)

    def abort(self, step_id: int, error: OpError) -> None:
        """End a step here, if it runs."""
        with self._lock:
            instructions = self._rendezvous.abort(step_id, error)
        self._execute(instructions)

    def exchanges_with(self, peer: str) -> bool:
        """Whether a step that runs here gives a peer task values, or takes some from it."""
        return any(step.exchanges_with(peer) for step in self._running())

    def push_again(self, peer: str) -> None:
        """Send a peer again what steps that run here have sent to it: a connection was lost, and there is another."""
        for step in self._running():
            if step.exchanges_with(peer):
                step.push_again(peer)

    def lacking_from(self, peer: str) -> list[int]:
        """The steps that run here and wait for a value from a peer task."""
        return [step.step_id for step in self._running() if step.awaits(peer)]

    def abort_with(self, peer: str, error: OpError) -> None:
        """End the steps that exchange values with a peer: it is gone, and some may be lost."""
        for step in self._running():
            if step.exchanges_with(peer):
                self.abort(step.step_id, error)

    def _running(self) -> list[Step]:
        with self._lock:
            return self._rendezvous.running

    def drain(self, error: OpError) -> None:
        """Take no more steps; those that run go on."""
        with self._lock:
            self._draining = error

    def stop(self, error: OpError) -> None:
        """End every step here and take no more."""
        with self._lock:
            self.stopped = error
            steps = self._rendezvous.running
        for step in steps:
            step.abort(error)

    @property
    def graph_count(self) -> int:
        """How many graphs are registered here."""
        return len(self._executors)

    @property
    def live_steps(self) -> int:
        """How many steps run now."""
        with self._lock:
            return len(self._rendezvous.running)
