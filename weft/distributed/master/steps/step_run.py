"""StepRun: one step's life on the master. It asks the tasks for their parts, waits, and ends the step once, whoever ends it.

Those who may end it all come by `tell`, on whatever thread they are on:

    PartDone, PartFailed   a task, of its part; the last that is done ends the step
    WorkerLost             the network, of a task that cannot be reached any more
    DeadlinePassed         the step's own thread, when the time is up
    Cancelled              by `cancel`: the client or its session's end (`LiveSteps`), an interrupt of the step's own thread

`MasterStep` hears them one after the other, under the lock here; the first that counts ends the step, the others change
nothing. Its `LetGo` ends the loop of the thread in `run`, which alone returns the result or raises the error, and tells the
session, once.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol

from weft.channel.waiting.wait import wait_until
from weft.channel.waiting.wakeup_pipe import WakeupPipe, of_this_thread
from weft.distributed.master.steps.awaited import awaited_from, named, node_of, told
from weft.distributed.master.steps.deployment import Deployment
from weft.errors import CancelledError, OpError
from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation
from weft.platform.process.interrupts import WAIT_SLICE_S, deferred_interrupts, is_main_thread, relayed_interrupts
from weft.platform.waits.quick_lately import QuickLately
from weft.protocol.master_step import (
    AbortPart,
    AskPart,
    Cancelled,
    DeadlinePassed,
    Event,
    LetGo,
    MasterStep,
    PartFailed,
    Started,
    StepState,
    WorkerLost,
)
from weft.runtime.step.step import Step

_NOWHERE: Final = Deployment({})


class RunningSteps(Protocol):
    """The steps of a session; see `LiveSteps`."""

    def note_start(self, step: StepRun) -> None:
        """A step is alive; it is to be cancelled when the session ends, at once if it has ended."""
        ...

    def note_end(self, step: StepRun) -> None:
        """A step is over, or will not be run; called once."""
        ...

    def note_failure(self, error: OpError) -> None:
        """A step has failed, and is over."""
        ...

    def watched(self) -> AbstractContextManager[None]:
        """A block in which a step's thread waits for other tasks, which is told of when it takes long."""
        ...


class StepRun:
    """One step, from its plan to its end. `run` is called once; `tell`, `put` and `cancel` come from any thread, at any time.

    The thread that runs the step does what messages make possible for the parts in this process (its inbox), and reads the
    sources for all while there is nothing else to do. An event is handled, and its instructions executed, on the thread that
    brings it, so that the other parts of a step are aborted even while its own thread computes.

    Args:
        step_id: a number that no other step of the cluster has.
        tasks: those that have a part in it.
        session: the steps of the session that this one belongs to.
    """

    __slots__ = (
        "_deadline_s", "_deployment", "_feeds", "_here", "_inbox", "_is_traced", "_lock", "_session", "_step", "_wakeup",
        "began_s", "context", "go_on",
    )  # fmt: skip

    def __init__(self, step_id: int, tasks: Iterable[str], session: RunningSteps) -> None:
        self._step = MasterStep(step_id, tasks)
        self._session = session
        # Guards the step. Reentrant: a signal handler of the program may close the session while this thread handles an event.
        self._lock = threading.RLock()
        self._inbox: deque[Callable[[], None] | LetGo] = deque()
        self._wakeup: WakeupPipe | None = None  # of the thread that runs the step
        self._deployment = _NOWHERE
        self._feeds: Sequence[Array] = ()
        self._here: list[Step] = []  # the parts in this process
        self._is_traced = False
        self._deadline_s: float | None = None  # by the monotonic clock; None where there is none, or it has passed
        self.began_s = 0.0
        """When it began to run, by the monotonic clock; 0 of one that does not run yet."""
        self.go_on: Callable[[], bool] | None = None
        """Whether its only part, in this process, is to run once more; None for a step that is run once."""
        self.context = b""
        """Where it stands in a trace of OpenTelemetry's; empty where it is in none."""

    @property
    def step_id(self) -> int:
        """The step's number."""
        return self._step.step_id

    @property
    def waits_for(self) -> list[str]:
        """The tasks whose parts are not over."""
        with self._lock:
            return self._step.waiting_for

    @property
    def stats(self) -> Mapping[str, object]:
        """The StepStats of each part, where the step was traced."""
        return self._step.stats

    def run(
        self,
        deployment: Deployment,
        feeds: Sequence[Array],
        quick: QuickLately,
        *,
        timeout_s: float | None = None,
        is_traced: bool = False,
    ) -> Mapping[str, Sequence[Array]]:
        """Run the step on this thread; returns the fetches of each task. Blocks until every part is over, or one has failed.

        Args:
            deployment: the registered parts; this thread reads the connections with their tasks while it waits.
            feeds: the values of the plan's feeds.
            quick: how waits for this plan have gone.
            timeout_s: how long the step may take; None for ever.
            is_traced: whether the tasks note times per node.

        Raises:
            OpError: why the step failed.
        """
        self._deployment, self._feeds, self._is_traced = deployment, feeds, is_traced
        self._wakeup = of_this_thread.pipe
        self.began_s = began_s = time.monotonic()
        self._deadline_s = None if timeout_s is None else began_s + timeout_s
        self._session.note_start(self)
        try:
            if is_main_thread():
                with relayed_interrupts():
                    self._drive(quick, is_main=True)
            else:
                self._drive(quick, is_main=False)
        except BaseException as error:
            # An interrupt: the tasks must not compute for nobody, or wait for ever.
            self.cancel(CancelledError.of(f"Step was given up by its caller: {type(error).__name__}: {error}"))
            raise
        finally:
            self._session.note_end(self)
            # The parts know this object. Their values, among them payloads in shared memory, shall go now and not with the
            # garbage collector: pulling 100 MB went at 1.0 GB/s instead of 7 (2026-11-22).
            self._here.clear()
        if self._step.error is not None:
            self._session.note_failure(self._step.error)
            raise self._step.error
        return self._step.fetches

    def discard(self) -> None:
        """Give up a step that will not be run, as when its plan cannot be registered again: once, instead of `run`."""
        self._session.note_end(self)

    def tell(self, event: Event) -> None:
        """Take note of what happened to the step, and do what follows from it. Does not wait."""
        step = self._step
        if type(event) is WorkerLost:  # while the parts still know what they lack
            awaited = awaited_from(event.task, self._deployment.parts, step.step_id)
            event = WorkerLost(event.task, named(event.error, awaited))
        with self._lock:
            instructions = step.handle(event)
        # Without the lock: a part in this process may end while it is asked or aborted, and says so on this thread.
        for instruction in instructions:
            match instruction:
                case LetGo():
                    self.put(instruction)
                case AskPart(task):
                    self._ask(task)
                case AbortPart(task, error):
                    self._deployment.parts[task].worker.abort(step.step_id, error)

    def _ask(self, task: str, is_again: bool = False) -> None:
        step = self._step
        if step.state is not StepState.RUNNING:
            return  # A task that was asked before has ended the step.
        part = self._deployment.parts[task]
        feeds = [self._feeds[place] for place in part.feed_places]
        try:
            here = part.worker.run_graph(step.step_id, part.graph_handle, feeds, self._is_traced, self, is_again)
        except OpError as refusal:
            self.tell(PartFailed(task, refusal))
        else:
            if here is not None:
                self._here.append(here)

    def repeat(self, task: str) -> None:
        """Ask a task for its part again, whose connection was cut: it runs the part once, and answers again if it has.

        The parts of this process send it again what they have sent, also those that are over.
        """
        self._ask(task, is_again=True)
        self._deployment.parts[task].worker.flush()

        def push_again() -> None:
            for part in self._here:
                part.push_again(task)

        # On the step's own thread: it may just be at starting a part.
        self.put(push_again)

    def cancel(self, error: OpError) -> None:
        """Give the step up, unless it is over. One that does not run yet ends when it is to run."""
        self.tell(Cancelled(error))

    def put(self, action: Callable[[], None] | LetGo) -> None:
        """Have the step's thread do something. Does not wait."""
        self._inbox.append(action)
        if self._wakeup is not None:
            self._wakeup.wake()

    def _drive(self, quick: QuickLately, is_main: bool) -> None:
        """Ask for the parts, and do what is put in the inbox until the step lets its thread go."""
        self.tell(Started())
        elsewhere = self._deployment.elsewhere
        for worker in elsewhere:
            worker.flush()
        if not elsewhere:
            self._serve(quick, is_main)
        elif not self._serve(quick, is_main, is_brief=True):
            # What takes no longer than a moment is not watched: that would cost each step.
            with self._session.watched():
                self._serve(quick, is_main)

    def _serve(self, quick: QuickLately, is_main: bool, is_brief: bool = False) -> bool:
        """Wait for what is put in the inbox, and do it, until the step lets its thread go.

        On the main thread, waits no longer than a slice at a time: an interrupt is to be seen.

        Returns:
            False where it was to be brief and nothing has come for a slice.
        """
        inbox, sources = self._inbox, self._deployment.sources
        while True:
            if not inbox:
                left_s = None if self._deadline_s is None else max(self._deadline_s - time.monotonic(), 0.0)
                slice_s = WAIT_SLICE_S if left_s is None else min(left_s, WAIT_SLICE_S)
                if left_s == 0:
                    self._deadline_s = None
                    self.tell(self._deadline_passed())
                elif is_main:
                    # The thread reads what comes for all, so an interrupt must not cut that in half.
                    with deferred_interrupts():
                        wait_until(inbox.__len__, sources, slice_s, quick)
                else:
                    wait_until(inbox.__len__, sources, slice_s if is_brief else left_s, quick)
                if is_brief and not inbox:
                    return False
            while inbox:
                action = inbox.popleft()
                if isinstance(action, LetGo):
                    return True
                action()

    def _deadline_passed(self) -> DeadlinePassed:
        """Name the tasks whose parts are not over, with the nodes at which they are blocked, or what they are to deliver."""
        with self._lock:
            tasks = self._step.waiting_for
        parts, step_id = self._deployment.parts, self._step.step_id
        waits: list[str] = []
        nodes: list[Operation] = []
        for task in tasks:
            blocked = parts[task].worker.waits_at(step_id)
            awaited = [] if blocked else awaited_from(task, parts, step_id)
            nodes += map(node_of, awaited)
            where = f", blocked at {', '.join(blocked)}" if blocked else f", for {told(awaited)}" if awaited else ""
            waits.append(f"{task}{where}")
        return DeadlinePassed("; ".join(waits), nodes[0] if nodes else None)
