"""Step: one run of a task's partition, stage by stage, as values and messages arrive.

`Dataflow` knows which stages have what they need. They run on whatever thread makes them ready: the one that started the step,
or the one that received a message. Only a stage that may block, or compute without end, goes to the inter-op pool: nobody's
thread is kept by it. A step ends once: when its last stage has run, or with the first error or abort.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from weft.errors import AbortedError, InternalError, OpError
from weft.framework.building.op_context import Parked
from weft.framework.nodes.operation import Operation, Tensor
from weft.platform.process.interrupts import is_main_thread
from weft.runtime.cancellation import Cancellation
from weft.runtime.executor import Executor
from weft.runtime.host_context import HostContext
from weft.runtime.host_permits import Permit
from weft.runtime.stage import Stage
from weft.runtime.state.session_state import SessionState
from weft.runtime.step.dataflow import Dataflow
from weft.runtime.step.parking import Parking, in_turn
from weft.runtime.step_trace import StepTrace


class Inbox(Protocol):
    """The work of a thread that waits for a step."""

    def put(self, action: Callable[[], None]) -> None:
        """Have the thread do something. Does not wait."""
        ...


class Step:
    """One run of an executor's partition.

    Args:
        executor: the stages to run.
        step_id: the step's number, the same in all tasks.
        feeds: the values of the partition's feeds.
        on_done: called once, with this step, when it is finished or has failed; on the thread where that happens.
        trace: where to note times per node; None for a step that is not traced.
        inbox: of the thread that waits for the step, and runs the stages that messages make ready; None where each thread that
            brings a message runs them itself.
    """

    __slots__ = (
        "_begin_s", "_cancellation", "_executor", "_inbox", "_lock", "_on_done", "_parks", "began_s", "flow", "is_done",
        "step_id", "trace", "updates_before",
    )  # fmt: skip

    def __init__(
        self,
        executor: Executor,
        step_id: int,
        feeds: Sequence[object],
        on_done: Callable[[Step], None],
        trace: StepTrace | None = None,
        inbox: Inbox | None = None,
    ) -> None:
        self._executor = executor
        self._inbox = inbox
        self.step_id = step_id
        self.trace = trace
        self.is_done = False
        self.began_s = time.monotonic()
        self.updates_before = 0
        """How many steps had updated the task's variables when this one began."""
        self._on_done = on_done
        # Whether stages wait without a thread: they then run twice, the first time for nothing. Where kernels wait for leave to
        # run, they do so on a thread of the pool.
        self._parks = trace is None and executor.session.host_permits is None
        self._cancellation = Cancellation()
        self._lock = threading.Lock()  # of the end
        # With the feeds: a value that a peer pushes may make a stage ready before `start` is called.
        self.flow = Dataflow(executor, feeds)
        """What has been made, received and sent so far."""
        if trace is not None:
            self._begin_s = time.time()
            trace.note_start(executor.devices)

    @property
    def error(self) -> OpError | None:
        """Why the step failed, or None."""
        return self._cancellation.error

    @property
    def session(self) -> SessionState:
        """The session that the step belongs to."""
        return self._executor.session

    @property
    def waits_at(self) -> list[str]:
        """The nodes that are blocked now."""
        return self._cancellation.waiting

    @property
    def fetches(self) -> list[Any]:
        """The values of the partition's fetches; valid when the step is done without an error."""
        return list(map(self.flow.values.__getitem__, self._executor.fetch_numbers))

    def start(self) -> None:
        """Run every stage that waits for nothing."""
        if self.flow.unfinished == 0:
            self._end()
            return
        if self._executor.sources:
            self.run(list(self._executor.sources))

    def receive(self, edges: Sequence[int], tensors: Sequence[object]) -> None:
        """Take values from another task, and have the stages run that they make ready. May be called before `start`."""
        if self.trace is not None:
            self._executor.note_transfers(self.trace, self._begin_s, edges, tensors)
        ready = self.flow.receive(edges, tensors)
        if not ready:
            return
        if self._inbox is None:
            self.run(ready)
        else:
            self._inbox.put(lambda: self.run(ready))

    @property
    def peers_awaited(self) -> list[str]:
        """The tasks whose values it waits for; none while something of it runs, or could."""
        if self.flow.is_runnable:
            return []
        return sorted(peer for peer in self._executor.peers if self.flow.awaits(peer))

    def exchanges_with(self, peer: str) -> bool:
        """Whether values of the step go to a peer task, or come from it."""
        return peer in self._executor.peers

    def awaits(self, peer: str) -> list[Tensor | Operation]:
        """What is still to come from a peer task."""
        return self.flow.awaits(peer)

    def push_again(self, peer: str) -> None:
        """Send a peer all that it has been sent: some of it may have been lost with a connection. It takes each value once.

        Also when the step is over here: it may not be over there.
        """
        outlet = self._executor.outlet
        if self.error is not None or outlet is None:
            return
        try:
            for to, edges, tensors in self.flow.sent():
                if to == peer:
                    outlet.push(to, self.step_id, edges, tensors)
        except Exception as error:  # such as that an update of another step has taken the array
            text = f"What the step had sent to {peer} was lost with a connection, and cannot be sent again: {error}"
            self.abort(AbortedError.of(text))

    def abort(self, error: OpError) -> None:
        """End the step with this error, unless it is over; blocked kernels are woken."""
        if not self.is_done and self._cancellation.cancel(error):
            self._end()

    def run(self, ready: list[Stage], *, may_wait: bool = False) -> None:
        """Run these stages and what they make ready; on this thread also the last that may block, if it may wait."""
        while ready:
            if len(ready) > 1 and len(self._executor.devices) > 1:
                ready = self._hand_out(ready)
            stage = ready.pop()
            if stage.sends and self._has_to_wait(stage):
                continue
            may_block = stage.may_block or (stage.parks_at is not None and not self._parks)
            blocks_others = may_block and (bool(ready) or not may_wait)
            if blocks_others or stage.has_loops or not stage.times.is_short:
                self._executor.pool.submit(lambda stage=stage: self._run_and_continue(stage))  # type: ignore[misc]
            elif stage.touches_state and not may_block and self._inbox is None:
                ready.extend(in_turn(lambda stage=stage: self._run_stage(stage)))  # type: ignore[misc]
            else:
                ready.extend(self._run_stage(stage))

    def _hand_out(self, ready: list[Stage]) -> list[Stage]:
        """Give the stages of all devices but one to other threads: devices compute at the same time. Returns that one's."""
        by_device: dict[str, list[Stage]] = {}
        for stage in ready:
            by_device.setdefault(stage.device, []).append(stage)
        kept, *others = by_device.values()
        for stages in others:
            self._executor.pool.submit(lambda stages=stages: self.run(stages))  # type: ignore[misc]
        return kept

    def _has_to_wait(self, stage: Stage) -> bool:
        """Whether a peer is behind with reading what it gets; the stage then runs on the pool when the peer has caught up.

        So a task holds a bounded amount of what it has made for a peer, and a peer that is slow delays only its own steps.
        """
        outlet, pool = self._executor.outlet, self._executor.pool
        assert outlet is not None
        for peer, _, _ in stage.sends:
            if not outlet.has_room(peer):

                def start(peer: str = peer) -> None:
                    pool.submit(lambda: self._run_for(stage, peer))

                return outlet.wait_for_room(peer, start)
        return False

    def _run_for(self, stage: Stage, peer: str) -> None:
        outlet = self._executor.outlet
        assert outlet is not None
        ready: list[Stage] = []
        try:
            ready = self._run_stage(stage)
        finally:
            outlet.go_on(peer)
        self.run(ready)

    def _run_and_continue(self, stage: Stage) -> None:
        # This thread is the pool's: what follows may block it as well, and not the caller's, which Ctrl-C, a deadline and the
        # session's end let go whatever a py_func does. A thread of its own for each of a chain of stages, as
        # those of a reader and of a queue, cost 150 µs of CPU (2 cores of an AMD EPYC, 2026-11).
        self.run(self._run_stage(stage), may_wait=True)

    def _run_anew(self, stage: Stage, parking: Parking | None) -> None:
        """Run a stage that was parked, or passed on to this thread, and what it makes ready."""
        waits = parking is None
        self.run(self._run_stage(stage, parking, waits=waits), may_wait=waits)

    def _run_stage(self, stage: Stage, parking: Parking | None = None, *, waits: bool = False) -> list[Stage]:
        """Run a stage, anew where it was parked; returns those that it has made ready. One that parks runs again later.

        `waits`: whether it waits on this thread for what is not there.
        """
        if self._cancellation.error is not None:
            return []
        if stage.parks_at is not None and self._parks and not waits:
            parking = parking or Parking(lambda parking: self._run_anew(stage, parking), self._executor.pool)
        flow, values = self.flow, self.flow.values
        permit = self._executor.permit_for(stage)
        try:
            if permit is not None:
                # The step may have ended while this stage waited for its turn.
                self._cancellation.raise_if_cancelled()
            inputs = list(map(values.__getitem__, stage.inputs))
            sink = None if self.trace is None else self.trace.add
            outputs = stage.run(inputs, self._executor.session, lambda op: self._context(op, stage, permit, parking), sink)
            for number, value in zip(stage.outputs, outputs, strict=True):
                values[number] = value
            # What the last stage sends goes out with the part's end, which its master is told right behind it: one call, and
            # one wake-up of the peer. Where the master is this process, no message follows.
            is_last = flow.unfinished == 1 and self._inbox is None
            if stage.sends:
                outlet = self._executor.outlet
                assert outlet is not None
                flow.send(stage, outlet, self.step_id, is_last)
        except Parked:
            stage.times.take_back()
            return []
        except OpError as error:
            self.abort(error)
            return []
        except BaseException as error:
            if not isinstance(error, Exception) and is_main_thread():
                raise  # Ctrl-C; on a pool's thread it would be lost, and the step never end
            failure = InternalError.of(f"Stage {stage.number} on {stage.device}: {type(error).__name__}: {error}")
            failure.__cause__ = error
            self.abort(failure)
            return []
        finally:
            if permit is not None:
                permit.give_back()
        ready = flow.note_run(stage)
        if flow.unfinished:
            return ready
        try:
            return self._end()
        finally:
            if is_last and stage.sends:
                self._flush(stage)

    def _flush(self, stage: Stage) -> None:
        """Send what is held for the peers of a stage and did not go with the part's end, which another task was told."""
        outlet = self._executor.outlet
        if outlet is not None:
            for peer, _, _ in stage.sends:
                outlet.flush(peer)

    def _context(self, op: Operation, stage: Stage, permit: Permit | None, parking: Parking | None) -> HostContext:
        place = parking if op is stage.parks_at else None
        return HostContext(op, stage.device, self.step_id, self._executor.session, self._cancellation, permit, place)

    def _end(self) -> list[Stage]:
        """Say that all has run, or why not; returns what is to run now."""
        with self._lock:
            if self.is_done:
                return []
            self.is_done = True
        self._on_done(self)
        return []
