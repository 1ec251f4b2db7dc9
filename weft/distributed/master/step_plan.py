"""StepPlan: one (fetches, feeds, targets) of a session, partitioned and registered with the tasks that it needs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tensorboard.compat.proto import config_pb2

from weft.channel.waiting.busy_poll import BusyPoll
from weft.channel.waiting.wait import Source
from weft.distributed.master.pace import Pace
from weft.distributed.master.step_inbox import StepInbox
from weft.errors import CancelledError, DeadlineExceededError, OpError
from weft.framework.operation import Tensor
from weft.passes.partition import Partition, begins_with_values_from
from weft.passes.partition_graphs import partition_graphs
from weft.platform.interrupts import WAIT_SLICE_S, deferred_interrupts, is_main_thread, relayed_interrupts
from weft.protocol.master_step import AbortParts, MasterStep, StepState
from weft.runtime.executor import Executor, Inbox
from weft.runtime.step_trace import StepTrace, trim_transfers

PartDone = Callable[[Any, OpError | None, Any], None]


class WorkerHandle(Protocol):
    """A task as the master sees it, in this process or elsewhere."""

    task: str

    @property
    def is_local(self) -> bool:
        """Whether the task is in this process."""
        ...

    @property
    def incarnation(self) -> int:
        """Which run of the task this handle reaches; 0 while it reaches none."""
        ...

    def register(self, session_handle: str, config: Any, partition: Partition) -> str:
        """Register a partition, the session before it when the task does not know it; returns the graph handle."""
        ...

    def deregister(self, graph_handle: str) -> None:
        """Forget a registered graph."""
        ...

    def run_graph(
        self, step_id: int, graph_handle: str, feeds: Sequence[Any], trace: bool, inbox: Inbox, on_done: PartDone, at_once: bool
    ) -> Callable[[], None] | None:
        """Start a part of a step; `on_done(fetches, error, step_stats)` is called once when it is over.

        One that is not to start `at_once` may start with the first values for it; what is returned then starts it without them.
        """
        ...

    def waits_at(self, step_id: int) -> list[str]:
        """The nodes at which a step is blocked in the task, as far as that is known without asking it."""
        ...

    def abort(self, step_id: int, error: OpError) -> None:
        """Tell the task to give a step up."""
        ...

    def close_session(self, session_handle: str) -> None:
        """Forget a session."""
        ...

    def clear(self, containers: Sequence[str]) -> None:
        """Drop the containers given, or all."""
        ...

    def local_executor(self, graph_handle: str) -> Executor | None:
        """The executor when the task is in this process."""
        ...

    def source(self) -> Source | None:
        """What brings the task's messages; None when the task is in this process."""
        ...


class Part:
    """One task's part of a plan: the partition, where its feeds come from, and how it is registered now."""

    __slots__ = ("at_once", "feed_places", "fetches", "graph_handle", "incarnation", "partition", "worker")

    worker: WorkerHandle
    at_once: bool
    """Whether it has something to do before values come from the parts of this process."""

    def __init__(self, partition: Partition, feed_places: Sequence[int]) -> None:
        self.partition = partition
        self.feed_places = list(feed_places)
        self.fetches = partition.fetches
        self.graph_handle = ""
        self.incarnation = 0


class PlanOwner(Protocol):
    """The session that a plan belongs to."""

    error: OpError | None
    """Why the session is over; None while it is open."""
    timeout_ms: int
    """How long a step may take that does not say so itself; 0 for ever."""
    home: str
    """The device that the master itself counts as, in traces."""

    def next_step_id(self) -> int:
        """A number that no other step of the cluster has."""
        ...

    def register(self, part: Part) -> None:
        """Register a part with its task as it is now."""
        ...

    def retire(self, parts: Sequence[Part]) -> None:
        """Parts that no run will use any more; deregisters them some time, not now."""
        ...

    def note_start(self, step_id: int, cancel: Callable[[OpError], None]) -> None:
        """A step is alive, and this cancels it."""
        ...

    def note_end(self, step_id: int) -> None:
        """A step is over."""
        ...


class StepPlan:
    """Runs steps; made by MasterSession, used by any number of threads at a time. What is registered for it goes with it.

    Args:
        parts: the registered parts by task.
        feeds, fetches: the tensors whose values `run` takes and returns, in order.
        owner: the session.
    """

    def __init__(self, parts: Mapping[str, Part], feeds: Sequence[Tensor], fetches: Sequence[Tensor], owner: PlanOwner) -> None:
        self.parts = dict(parts)
        self._owner = owner
        self._renewal = threading.Lock()
        self._fetch_places = [self._place_of(tensor, feeds) for tensor in fetches]
        self._single_places: list[tuple[bool, int]] = []
        self._single_feeds: list[int] = []
        self._is_plain = False
        self._sole: Part | None = None
        self._single: Executor | None = None
        self._sources: list[Source] = []
        self._busy_poll = BusyPoll()
        self.pace = Pace()  # of whoever runs it inline
        self._note_registered()

    def _note_registered(self) -> None:
        """Take note of where the parts are registered now."""
        sources = [part.worker.source() for part in self.parts.values()]
        self._sources = [source for source in sources if source is not None]
        self._single = None
        here = [task for task, part in self.parts.items() if part.worker.is_local]
        for part in self.parts.values():
            part.at_once = not begins_with_values_from(part.partition, here)
        self._find_single()

    def _find_single(self) -> None:
        """The commonest plan is one stage of this process: find its executor."""
        if len(self.parts) != 1:
            return
        (part,) = self.parts.values()
        executor = part.worker.local_executor(part.graph_handle)
        if executor is None or executor.single is None:
            return
        self._single_places = [(task != "", place) for task, place in self._fetch_places]
        self._single_feeds = part.feed_places
        self._is_plain = all(made for made, _ in self._single_places) and (
            [place for _, place in self._single_places] == list(range(len(part.fetches)))
        )
        self._sole, self._single = part, executor

    def __del__(self) -> None:
        if hasattr(self, "_renewal"):
            self._owner.retire(list(self.parts.values()))

    @property
    def runs_inline(self) -> bool:
        """Whether a run is one stage of this process, which never waits for anything."""
        return self._single is not None

    def _place_of(self, tensor: Tensor, feeds: Sequence[Tensor]) -> tuple[str, int]:
        if tensor in feeds:
            return "", list(feeds).index(tensor)
        for task, part in self.parts.items():
            if tensor in part.fetches:
                return task, part.fetches.index(tensor)
        raise AssertionError(f"{tensor} is made by no part")

    def run(
        self, feeds: Sequence[Any], options: Any = None, on_start: Callable[[Callable[[OpError], None]], None] | None = None
    ) -> tuple[list[Any], Any]:
        """Run one step and return the fetched values (perhaps still being computed) and its RunMetadata, or None.

        Blocks until every part is over. A step that may have to wait first gives `on_start` the function that cancels it.

        Raises:
            OpError: a part failed, a task was lost, the time was up, or the session was closed.
        """
        if self._owner.error is not None:
            raise self._owner.error
        is_watched = options is not None and (_is_traced(options) or options.output_partition_graphs)
        if self._single is not None and not is_watched:
            part = self._sole
            if part is not None and part.worker.incarnation == part.incarnation:
                values = self._single.run_single([feeds[place] for place in self._single_feeds])
                if self._is_plain:
                    return values, None
                return [values[place] if made else feeds[place] for made, place in self._single_places], None
        with relayed_interrupts():
            return self._run_parts(feeds, options, on_start)

    def _renew(self) -> None:
        """Register what was registered with a task that has been restarted since."""
        with self._renewal:
            lost = [part for part in self.parts.values() if part.worker.incarnation != part.incarnation]
            for part in lost:
                self._owner.register(part)
            if lost:
                self._note_registered()

    def _run_parts(self, feeds: Sequence[Any], options: Any, on_start: Any) -> tuple[list[Any], Any]:
        traced = options is not None and _is_traced(options)
        step = MasterStep(self._owner.next_step_id(), self.parts)
        stats: dict[str, Any] = {}

        settling = threading.Lock()

        def part_over(task: str) -> PartDone:
            def over(fetches: Any, error: OpError | None, step_stats: Any) -> None:
                stats[task] = step_stats
                if error is not None:
                    inbox.put(lambda: end(lambda: step.part_failed(task, error)))
                    return
                with settling:
                    step.part_done(task, fetches)
                # The thread that waits is woken for the last part only.
                if step.state is not StepState.RUNNING:
                    inbox.put(_nothing)

            return over

        def end(event: Callable[[], AbortParts | None]) -> None:
            with settling:
                instruction = event()
            if instruction is not None:
                for task in instruction.tasks:
                    self.parts[task].worker.abort(step.step_id, instruction.error)

        def give_up(error: OpError) -> None:
            end(lambda: step.cancel(error))

        self._renew()
        inbox = StepInbox(self._sources, self._busy_poll)

        def cancel(error: OpError) -> None:
            inbox.put(lambda: give_up(error))

        self._owner.note_start(step.step_id, cancel)
        if on_start is not None:
            on_start(cancel)
        try:
            late: list[Callable[[], None]] = []
            for task, part in self.parts.items():
                values = [feeds[place] for place in part.feed_places]
                start = part.worker.run_graph(
                    step.step_id, part.graph_handle, values, traced, inbox, part_over(task), part.at_once
                )
                if start is not None:
                    late.append(start)
            for start in late:
                start()
            self._wait(step, inbox, give_up, self._deadline(options))
        except BaseException as error:
            # An interrupt, or a task that could not even be asked: the others must not wait for ever.
            give_up(error if isinstance(error, OpError) else _interrupted(error))
            if isinstance(error, OpError) and self._owner.error is not None:
                # A session that was closed meanwhile has forgotten its graphs, which is what the error says.
                raise self._owner.error from None
            raise
        finally:
            self._owner.note_end(step.step_id)
        if step.error is not None:
            raise step.error
        fetched = [feeds[place] if task == "" else step.fetches[task][place] for task, place in self._fetch_places]
        return fetched, self._metadata(options, stats)

    def _metadata(self, options: Any, stats: Mapping[str, Any]) -> Any:
        if options is None:
            return None
        metadata = config_pb2.RunMetadata()
        if _is_traced(options):
            metadata.step_stats.dev_stats.extend(_device_stats(self._owner.home, stats))
        if options.output_partition_graphs:
            for part in self.parts.values():
                metadata.partition_graphs.extend(partition_graphs(part.partition))
        return metadata

    def _deadline(self, options: Any) -> float | None:
        timeout_ms = (options.timeout_in_ms if options is not None else 0) or self._owner.timeout_ms
        return time.monotonic() + timeout_ms / 1000 if timeout_ms > 0 else None

    def _waits_in(self, task: str, step_id: int) -> str:
        nodes = self.parts[task].worker.waits_at(step_id)
        return f"{task}, blocked at {', '.join(nodes)}" if nodes else task

    def _wait(self, step: MasterStep, inbox: StepInbox, give_up: Callable[[OpError], None], deadline: float | None) -> None:
        slice_s = WAIT_SLICE_S if is_main_thread() else None
        while step.state is StepState.RUNNING:
            left_s = None if deadline is None else max(deadline - time.monotonic(), 0)
            # The thread reads what comes for all, so an interrupt must not cut that in half.
            with deferred_interrupts():
                action = inbox.get(slice_s if left_s is None else min(left_s, slice_s or left_s))
            if action is not None:
                action()
            elif left_s is not None and left_s <= WAIT_SLICE_S:
                where = "; ".join(self._waits_in(task, step.step_id) for task in step.waiting_for)
                give_up(DeadlineExceededError(None, None, f"Timed out waiting for step {step.step_id:x} on {where}"))
                return


def _is_traced(options: Any) -> bool:
    return bool(options.trace_level >= config_pb2.RunOptions.SOFTWARE_TRACE)


def _nothing() -> None:
    """What wakes a thread that waits for a step."""


def _interrupted(error: BaseException) -> OpError:
    return CancelledError(None, None, f"Step was given up by its caller: {type(error).__name__}: {error}")


def _device_stats(home: str, stats: Mapping[str, Any]) -> list[Any]:
    """What a traced step did on each device; the master's own device comes first, even when nothing else ran there."""
    devices = [device for task in stats if stats[task] is not None for device in stats[task].dev_stats]
    if home and not any(device.device == home for device in devices):
        trace = StepTrace()
        trace.begin([home])
        devices += trace.as_proto().dev_stats
    trim_transfers(devices)
    return sorted(devices, key=lambda device: (device.device != home, device.device))
