"""Worker: one task's part of every session: its devices, its state, the graphs registered with it and the steps it runs."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from weft.errors import AbortedError, CancelledError, OpError
from weft.passes.partition import Partition
from weft.protocol.messages import Push
from weft.protocol.rendezvous_table import Deliver, Fail, RendezvousTable
from weft.runtime.executor import Executor, Outlet, Step
from weft.runtime.inter_op_pool import InterOpPool
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_state import SessionState
from weft.runtime.step_trace import StepTrace

_EARLY_S: Final = 300.0


class Inbox(Protocol):
    """What a thread that waits for a step has to do."""

    def put(self, action: Callable[[], None]) -> None:
        """Have the thread do something. Does not wait."""
        ...


class Worker:
    """Executes partitions for one task. All methods are safe from any thread.

    Args:
        task: the task's name, `/job:x/replica:0/task:n`.
        devices: the full names of its devices.
        incarnation: a number that no earlier run of this task had.
        resources: the state that sessions share.
    """

    def __init__(self, task: str, devices: Sequence[str], incarnation: int, resources: ResourceManager) -> None:
        self.task = task
        self.devices = list(devices)
        self.incarnation = incarnation
        self.resources = resources
        self.outlet: Outlet | None = None
        self._stopped: OpError | None = None
        self._pool = InterOpPool()
        self._handles = itertools.count(1)
        self._lock = threading.Lock()
        self._sessions: dict[str, SessionState] = {}
        self._executors: dict[str, tuple[str, Executor]] = {}
        self._steps: dict[int, tuple[str, Step, Inbox | None]] = {}
        self._rendezvous = RendezvousTable()

    def create_session(self, session_handle: str, config: Any, isolate: bool) -> None:
        """Begin to keep state for a session, once; an isolated one gets resources of its own."""
        if session_handle in self._sessions:
            return
        resources = ResourceManager(self.resources.default_container) if isolate else self.resources
        with self._lock:
            self._sessions.setdefault(session_handle, SessionState(resources, config, session_handle))

    def close_session(self, session_handle: str) -> None:
        """Cancel the session's steps and forget its graphs; shared state stays."""
        with self._lock:
            session = self._sessions.pop(session_handle, None)
            if session is not None:
                session.is_closed = True
            steps = [step for owner, step, _ in self._steps.values() if owner == session_handle]
            for handle in [h for h, (owner, _) in self._executors.items() if owner == session_handle]:
                del self._executors[handle]
        for step in steps:
            step.abort(CancelledError(None, None, "Step was cancelled by an explicit call to `Session::Close()`."))

    def register(self, session_handle: str, partition: Partition) -> str:
        """Prepare a partition for running; returns its graph handle.

        Raises:
            AbortedError: this task does not know the session, as after a restart.
            InvalidArgumentError: a variable is held with another dtype than the graph declares.
        """
        session = self._sessions.get(session_handle)
        if session is None:
            raise AbortedError(
                None,
                None,
                f"Session handle {session_handle!r} is not known to {self.task} (incarnation {self.incarnation}): the task was "
                "restarted or the session was closed; open a new session",
            )
        executor = Executor(partition, session, self.outlet, self._pool)
        handle = f"{next(self._handles):016x}"
        with self._lock:
            self._executors[handle] = (session_handle, executor)
        return handle

    def deregister(self, graph_handle: str) -> None:
        """Forget a registered graph; steps that run it end as they would."""
        with self._lock:
            self._executors.pop(graph_handle, None)

    def executor(self, graph_handle: str) -> Executor:
        """The executor behind a handle; AbortedError when it is gone."""
        return self._find(graph_handle)[1]

    def _find(self, graph_handle: str) -> tuple[str, Executor]:
        found = self._executors.get(graph_handle)
        if found is None:
            raise AbortedError(
                None,
                None,
                f"Graph handle {graph_handle} is not registered with {self.task} (incarnation {self.incarnation}): the task "
                "was restarted, or the session that registered it is closed",
            )
        return found

    def run_graph(
        self,
        step_id: int,
        graph_handle: str,
        feeds: Sequence[Any],
        on_done: Callable[[Step], None],
        trace: StepTrace | None = None,
        inbox: Inbox | None = None,
    ) -> Step:
        """Start a step; `on_done` is called when it is over, perhaps before this returns.

        With an `inbox`, work that a message makes possible is put there for the thread that waits, else it runs on the thread
        that received the message.

        Raises:
            AbortedError: the graph is not registered here. The error that the worker was stopped with.
        """
        owner, executor = self._find(graph_handle)

        def finish(step: Step) -> None:
            with self._lock:
                self._steps.pop(step.step_id, None)
                self._rendezvous.finish(step.step_id)
            on_done(step)

        step = Step(executor, step_id, feeds, finish, trace)
        with self._lock:
            if self._stopped is not None:
                raise self._stopped
            instructions = self._rendezvous.start(step_id)
            self._steps[step_id] = (owner, step, inbox)
        for instruction in instructions:
            if isinstance(instruction, Fail):
                # It was given up before it came here; nothing of it runs.
                step.abort(AbortedError(None, None, f"{self.task}: {instruction.reason}"))
        step.start()
        for instruction in instructions:
            if isinstance(instruction, Deliver):
                step.run(step.take(instruction.push.edges, instruction.push.tensors))
        return step

    def receive(self, push: Push) -> None:
        """Take values that another task made for a step, which may begin only later."""
        with self._lock:
            now = time.monotonic()
            if not self._rendezvous.push(push, now):
                # It waits for its step to begin; what has waited for long belongs to a master that is gone.
                self._rendezvous.expire(now - _EARLY_S)
                return
            found = self._steps.get(push.step_id)
        if found is None:
            return
        _, step, inbox = found
        ready = step.take(push.edges, push.tensors)
        if inbox is None:
            step.run(ready)
        elif ready:
            inbox.put(lambda: step.run(ready))

    def waits_at(self, step_id: int) -> list[str]:
        """The nodes at which a step is blocked here now."""
        with self._lock:
            found = self._steps.get(step_id)
        return [] if found is None else found[1].waits_at

    def abort(self, step_id: int, error: OpError) -> None:
        """End a step here, if it runs."""
        with self._lock:
            self._rendezvous.abort(step_id, error.message)
            found = self._steps.get(step_id)
        if found is not None:
            found[1].abort(error)

    def stop(self, error: OpError) -> None:
        """End every step here and take no more."""
        with self._lock:
            self._stopped = error
            steps = [step for _, step, _ in self._steps.values()]
        for step in steps:
            step.abort(error)

    @property
    def is_stopped(self) -> bool:
        """Whether no more steps are taken."""
        return self._stopped is not None

    @property
    def registered_graphs(self) -> int:
        """How many partitions are registered now."""
        return len(self._executors)

    @property
    def live_steps(self) -> int:
        """How many steps run now."""
        return len(self._steps)
