"""Worker: one task's part of every session: its devices, its state, the graphs registered with it and the steps it runs."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final
from weakref import WeakKeyDictionary

from weft.errors import AbortedError, CancelledError, OpError
from weft.framework.nodes.operation import Operation, Tensor
from weft.passes.partition import Partition
from weft.platform.files.file_access import FileAccess
from weft.platform.imports.collections import paused_collections
from weft.protocol.limits import ServerLimits
from weft.protocol.messages import Push
from weft.protocol.rendezvous_table import Deliver, End, GiveUp, Instruction, RendezvousTable
from weft.runtime.executor import Executor, Outlet
from weft.runtime.inter_op_pool import InterOpPool
from weft.runtime.recording import Recording
from weft.runtime.run_totals import RunTotals, note_staleness
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_table import SessionTable
from weft.runtime.step.recorded_step import RecordedStep
from weft.runtime.step.repeated_step import RepeatedStep
from weft.runtime.step.rounds import Rounds, rounds_of
from weft.runtime.step.spans import spans
from weft.runtime.step.step import Inbox, Step
from weft.runtime.step_trace import StepTrace
from weft.runtime.xla.allocation import keep_some_freed_memory

_LOG: Final = logging.getLogger("weft")


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
        keep_some_freed_memory()
        self.task = task
        self.devices = list(devices)
        self.incarnation = incarnation
        self.resources = resources
        self.file_access = file_access
        self.limits = limits
        self.recording: Recording | None = None
        """Where steps that begin from now on note what they do; None while nobody records them."""
        self.stopped: OpError | None = None
        """Why no more steps are taken; None while they are."""
        self._draining: OpError | None = None
        self._pool = InterOpPool()
        self._handles = itertools.count(1)
        self._lock = threading.Lock()
        self.sessions = SessionTable(task, incarnation, resources, file_access, limits)
        self._executors: dict[str, Executor] = {}
        self._rounds: WeakKeyDictionary[Executor, Rounds | None] = WeakKeyDictionary()  # of those that were repeated
        self._rendezvous: RendezvousTable[Step] = RendezvousTable(task, limits or ServerLimits())
        self._past = RunTotals()  # of graphs that were forgotten
        self.updates = 0
        """How many steps have changed variables here by what other tasks sent."""
        self.staleness: list[int] = []
        """Of those steps how many found that 0, 1, 2 or 3, 4 to 7, ... others had done so since they began."""
        self._outlet = None if make_outlet is None else make_outlet(self)

    def close_session(self, session_handle: str) -> None:
        """Cancel the session's steps, and forget its graphs and what it alone has, for good; shared state stays."""
        self.sessions.forbid(session_handle)
        self.drop_session(session_handle)

    def drop_session(self, session_handle: str) -> None:
        """Cancel the session's steps, and forget its graphs and its own state; a master that lives after all may go on anew."""
        session = self.sessions.drop(session_handle)
        if session is None:
            return
        with self._lock:
            steps = [step for step in self._rendezvous.running if step.session is session]
            for each in self._executors.values():
                if each.session is session:
                    self._past.add(each)
            self._executors = {handle: each for handle, each in self._executors.items() if each.session is not session}
        for step in steps:
            step.abort(CancelledError.of("Step was cancelled by an explicit call to `Session::Close()`."))
        session.resources.drop_owned(session_handle)

    def register(self, session_handle: str, partition: Partition) -> str:
        """Prepare a partition for running; returns its graph handle.

        Raises:
            AbortedError: this task does not know the session, as after a restart.
            InvalidArgumentError: a variable is held with another dtype than the graph declares.
        """
        session = self.sessions.find(session_handle)
        with paused_collections():
            executor = Executor(partition, session, self._outlet, self._pool)
        handle = f"{next(self._handles):016x}"
        with self._lock:
            if session.is_closed:
                # While the graph was prepared; nobody would ever deregister it.
                raise self.sessions.unknown(session_handle)
            self._executors[handle] = executor
        return handle

    def deregister(self, graph_handle: str) -> None:
        """Forget a registered graph; steps that run it end as they would."""
        with self._lock:
            dropped = self._executors.pop(graph_handle, None)
            if dropped is not None:
                self._past.add(dropped)

    def executor(self, graph_handle: str) -> Executor:
        """The executor behind a handle; AbortedError when it is gone."""
        found = self._executors.get(graph_handle)
        if found is None:
            raise AbortedError.of(
                f"Graph handle {graph_handle} is not registered with {self.task} (incarnation {self.incarnation}): the task "
                "was restarted, or the session that registered it is closed"
            )
        return found

    def run_graph(
        self,
        step_id: int,
        graph_handle: str,
        feeds: Sequence[object],
        on_done: Callable[[Step], None],
        trace: StepTrace | None = None,
        inbox: Inbox | None = None,
        go_on: Callable[[], bool] | None = None,
        context: bytes = b"",
    ) -> Step:
        """Start a step; `on_done` is called when it is over, perhaps before this returns.

        With an `inbox`, work that a message makes possible is put there for the thread that waits, else it runs on the thread
        that received the message. With `go_on`, the graph runs again and again as long as that says so.
        `context` is where the step stands in a trace.

        Raises:
            AbortedError: the graph is not registered here. The error that the worker was stopped or drained with.
        """
        executor = self.executor(graph_handle)

        def finish(step: Step) -> None:
            with self._lock:
                self._rendezvous.note_end(step_id, step)
                if executor.applies_updates and step.error is None:
                    note_staleness(self.staleness, self.updates - step.updates_before)
                    self.updates += 1
            on_done(step)

        recording = self.recording
        if context:
            recording = spans.part(self.task, step_id, context, recording)
        if go_on is not None:
            step: Step = RepeatedStep(executor, step_id, finish, inbox, go_on, self._rounds_of(executor))
        elif recording is None:
            step = Step(executor, step_id, feeds, finish, trace, inbox)
        else:
            step = RecordedStep(executor, step_id, feeds, finish, trace, inbox, recording)
        step.updates_before = self.updates
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

    def _rounds_of(self, executor: Executor) -> Rounds | None:
        with self._lock:
            if executor not in self._rounds:
                self._rounds[executor] = rounds_of(executor)
            return self._rounds[executor]

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

    @property
    def state(self) -> str:
        """Whether it takes steps: `serving`, `draining` or `stopped`."""
        return "stopped" if self.stopped is not None else "serving" if self._draining is None else "draining"

    @property
    def executors(self) -> dict[str, Executor]:
        """The graphs that are registered here, by their handles."""
        with self._lock:
            return dict(self._executors)

    @property
    def run_totals(self) -> RunTotals:
        """How often graphs have run here and how long that took, those that were forgotten too."""
        totals = RunTotals()
        with self._lock:
            totals.add_totals(self._past)
            executors = list(self._executors.values())
        for executor in executors:  # without the lock, which steps take
            totals.add(executor)
        return totals

    @property
    def running_steps(self) -> list[Step]:
        """The parts of steps that run here now."""
        with self._lock:
            return self._rendezvous.running

    def steps_with(self, peer: str) -> list[Step]:
        """The steps that run here and exchange values with a peer task."""
        with self._lock:
            running = self._rendezvous.running
        return [step for step in running if step.exchanges_with(peer)]

    def drain(self, error: OpError) -> None:
        """Take no more steps; those that run go on."""
        with self._lock:
            self._draining = error

    def stop(self, error: OpError) -> None:
        """End every step here, take no more, and drop the resources: their threads would keep them, and so themselves."""
        with self._lock:
            self.stopped = error
            steps = self._rendezvous.running
        for step in steps:
            step.abort(error)
        self.resources.clear()

    @property
    def graph_count(self) -> int:
        """How many graphs are registered here."""
        return len(self._executors)

    @property
    def live_steps(self) -> int:
        """How many steps run now."""
        with self._lock:
            return len(self._rendezvous.running)
