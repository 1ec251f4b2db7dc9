"""Executor: runs one task's partition, stage by stage, as values and messages arrive.

A step's stages run on whatever thread makes them ready: the thread that started the step, or the one that received a message.
Only a stage that may block, or compute without end, goes to the inter-op pool: nobody's thread is kept by it.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import numpy as np

from weft.errors import AbortedError, InternalError, OpError
from weft.framework.aliases import Array
from weft.framework.operation import Operation, Tensor
from weft.passes.partition import Partition
from weft.passes.stage import Kind
from weft.platform.interrupts import is_main_thread
from weft.runtime.cancellation import Cancellation
from weft.runtime.choice.stage_report import StageReport
from weft.runtime.host_context import HostContext
from weft.runtime.host_permits import Permit
from weft.runtime.inter_op_pool import InterOpPool
from weft.runtime.stage import Stage
from weft.runtime.stage_builder import build_stages
from weft.runtime.state.session_state import SessionState
from weft.runtime.step_trace import StepTrace
from weft.runtime.xla.xla_process import as_numpy

# What travels along an edge that carries no value: that the node ran.
CONTROL: Final = np.zeros((), np.float32)

_SENT: Final = -1  # among the counts of what stages wait for


class Outlet(Protocol):
    """Where a step's values leave the task."""

    def push(self, peer: str, step_id: int, edges: Sequence[int], tensors: Sequence[object]) -> None:
        """Send values to a peer task; does not block for long and does not change the arrays."""
        ...

    def has_room(self, peer: str) -> bool:
        """Whether a peer keeps up with what is sent to it."""
        ...

    def wait_for_room(self, peer: str, start: Callable[[], None]) -> bool:
        """Whether a producer has to wait for a peer; then `start` is called when it may produce. Does not block."""
        ...

    def go_on(self, peer: str) -> None:
        """Say that a producer that was started has pushed what it had, or will not."""
        ...


class Inbox(Protocol):
    """The work of a thread that waits for a step."""

    def put(self, action: Callable[[], None]) -> None:
        """Have the thread do something. Does not wait."""
        ...


class Executor:
    """The stages of one partition, ready to run any number of steps at a time.

    Args:
        partition: what to run; bound to the session's resources here.
        session: the session that the partition belongs to.
        outlet: where values for other tasks go.
        pool: threads for stages that may block.
    """

    def __init__(self, partition: Partition, session: SessionState, outlet: Outlet | None, pool: InterOpPool) -> None:
        plan = build_stages(partition, session.resources)
        self.task = partition.task
        self.stages = plan.stages
        self.devices = sorted(set(partition.devices.values()))
        self.feed_numbers = plan.feed_numbers
        self.fetch_numbers = plan.fetch_numbers
        self._carried = plan.recvs
        # Each edge has a place among the values, also one that carries none: what came along it once is not taken again.
        places = itertools.count(plan.value_count)
        self.recvs = {
            edge: (number if number >= 0 else next(places), waiting) for edge, (number, waiting) in plan.recvs.items()
        }
        self.edges = {edge.number: edge for edge in partition.recvs.values()}
        self.value_count = next(places)
        self.peers = {edge.sender for edge in self.edges.values()} | {to for stage in self.stages for to, _, _ in stage.sends}
        self.session = session
        self.outlet = outlet
        self.pool = pool
        self.initial_pending = [stage.wiring.pending for stage in self.stages]
        self.sources = [stage for stage in self.stages if stage.wiring.pending == 0]
        only = self.stages[0] if len(self.stages) == 1 else None
        # The stage of a partition that a SingleStep can run.
        self.single = only if only is not None and not only.sends and not self.recvs and not only.may_block else None
        if self.single is not None and self.single.has_loops:
            # Its thread waits, so that it can be let go.
            self.single = None

    def note_transfers(self, trace: StepTrace, begin_s: float, edges: Sequence[int], tensors: Sequence[object]) -> None:
        """Note the values that came from another task, each at the device that waits for it."""
        now = time.time()
        for number, tensor in zip(edges, tensors, strict=True):
            value, waiting = self._carried[number]
            if value >= 0:
                device = self.stages[waiting[0]].device if waiting else self.devices[0]
                trace.add_transfer(device, self.edges[number], begin_s, now, getattr(tensor, "nbytes", 0))

    def explain(self) -> list[StageReport]:
        """Which way each stage goes, and why."""
        return [stage.explain(self.task) for stage in self.stages]

    def permit_for(self, stage: Stage) -> Permit | None:
        """Leave to run a stage, perhaps after a wait; None for a stage that needs none."""
        permits = self.session.host_permits
        return permits.take() if permits is not None and stage.kind is Kind.HOST else None


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

    __slots__ = ("_begin_s", "_cancellation", "_executor", "_inbox", "_lock", "_on_done", "_pending", "_unfinished", "_values",
                 "is_done", "step_id", "trace")  # fmt: skip

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
        self._on_done = on_done
        self._cancellation = Cancellation()
        self._lock = threading.Lock()
        self._values: list[Any] = [None] * executor.value_count
        self._pending = list(executor.initial_pending)
        self._unfinished = len(executor.stages)
        # A value that a peer pushes may make a stage ready before `start` is called, so the feeds are there from the beginning.
        for number, value in zip(executor.feed_numbers, feeds, strict=True):
            self._values[number] = value
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
        return [self._values[number] for number in self._executor.fetch_numbers]

    def start(self) -> None:
        """Run every stage that waits for nothing."""
        if self._unfinished == 0:
            self._finish()
            return
        self.run(list(self._executor.sources))

    def receive(self, edges: Sequence[int], tensors: Sequence[object]) -> None:
        """Take values from another task, and have the stages run that they make ready. May be called before `start`."""
        if self.trace is not None:
            self._executor.note_transfers(self.trace, self._begin_s, edges, tensors)
        ready: list[Stage] = []
        values = self._values
        with self._lock:
            for edge, tensor in zip(edges, tensors, strict=True):
                number, waiting = self._executor.recvs[edge]
                if values[number] is not None:
                    continue  # It was sent again; see `push_again`.
                values[number] = tensor
                for waiter in waiting:
                    self._pending[waiter] -= 1
                    if self._pending[waiter] == 0:
                        ready.append(self._executor.stages[waiter])
        if self._inbox is None:
            self.run(ready)
        elif ready:
            self._inbox.put(lambda: self.run(ready))

    def exchanges_with(self, peer: str) -> bool:
        """Whether values of the step go to a peer task, or come from it."""
        return peer in self._executor.peers

    def awaits(self, peer: str) -> list[Tensor | Operation]:
        """What is still to come from a peer task."""
        executor, values = self._executor, self._values
        return [
            edge.source
            for number, edge in executor.edges.items()
            if edge.sender == peer and values[executor.recvs[number][0]] is None
        ]

    @property
    def pushed(self) -> list[tuple[str, tuple[int, ...], list[Array]]]:
        """What was sent so far: each time to which peer, along which edges, and the values."""
        sent: list[tuple[str, tuple[int, ...], list[Array]]] = []
        # Loops: asked at the end of each part that a peer has asked for.
        for stage in self._executor.stages:
            if stage.sends and self._pending[stage.number] == _SENT:
                for to, edges, numbers in stage.sends:
                    tensors: list[Array] = []
                    for number in numbers:
                        value = CONTROL if number < 0 else self._values[number]
                        tensors.append(value if type(value) is np.ndarray else as_numpy(value))
                    sent.append((to, edges, tensors))
        return sent

    def push_again(self, peer: str) -> None:
        """Send a peer all that it has been sent: some of it may have been lost with a connection. It takes each value once.

        Also when the step is over here: it may not be over there.
        """
        outlet = self._executor.outlet
        if self.error is not None or outlet is None:
            return
        try:
            for to, edges, tensors in self.pushed:
                if to == peer:
                    outlet.push(to, self.step_id, edges, tensors)
        except Exception as error:  # such as that an update of another step has taken the array
            text = f"What the step had sent to {peer} was lost with a connection, and cannot be sent again: {error}"
            self.abort(AbortedError.of(text))

    def abort(self, error: OpError) -> None:
        """End the step with this error, unless it is over; blocked kernels are woken."""
        if not self.is_done and self._cancellation.cancel(error):
            self._finish()

    def run(self, ready: list[Stage], *, may_wait: bool = False) -> None:
        """Run these stages and what they make ready; on this thread also the last that may block, if it may wait."""
        while ready:
            if len(ready) > 1 and len(self._executor.devices) > 1:
                ready = self._hand_out(ready)
            stage = ready.pop()
            if stage.sends and self._has_to_wait(stage):
                continue
            blocks_others = stage.may_block and (bool(ready) or not may_wait)
            if blocks_others or stage.has_loops or not stage.times.is_short:
                self._executor.pool.submit(lambda stage=stage: self._run_and_continue(stage))  # type: ignore[misc]
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

    def _run_stage(self, stage: Stage) -> list[Stage]:
        if self._cancellation.error is not None:
            return []
        values = self._values
        permit = self._executor.permit_for(stage)
        try:
            if permit is not None:
                # The step may have ended while this stage waited for its turn.
                self._cancellation.raise_if_cancelled()
            inputs = [values[number] for number in stage.inputs]
            sink = None if self.trace is None else self.trace.add
            outputs = stage.run(inputs, self._executor.session, lambda op: self._context(op, stage, permit), sink)
            for number, value in zip(stage.outputs, outputs, strict=True):
                values[number] = value
            if stage.sends:
                # Before it is sent: a connection that is brought back just now shows either this or the sending itself.
                self._pending[stage.number] = _SENT
                for peer, edges, numbers in stage.sends:
                    self._send(peer, edges, numbers)
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
        return self._after(stage)

    def _after(self, stage: Stage) -> list[Stage]:
        ready: list[Stage] = []
        with self._lock:
            for follower in stage.wiring.then:
                self._pending[follower] -= 1
                if self._pending[follower] == 0:
                    ready.append(self._executor.stages[follower])
            self._unfinished -= 1
            is_last = self._unfinished == 0
        if is_last:
            self._finish()
        return ready

    def _send(self, peer: str, edges: tuple[int, ...], numbers: tuple[int, ...]) -> None:
        outlet = self._executor.outlet
        assert outlet is not None
        values = self._values
        made = [CONTROL if number < 0 else values[number] for number in numbers]
        tensors = [value if type(value) is np.ndarray else as_numpy(value) for value in made]
        outlet.push(peer, self.step_id, edges, tensors)

    def _context(self, op: Operation, stage: Stage, permit: Permit | None) -> HostContext:
        return HostContext(op, stage.device, self.step_id, self._executor.session, self._cancellation, permit)

    def _finish(self) -> None:
        with self._lock:
            if self.is_done:
                return
            self.is_done = True
        self._on_done(self)
