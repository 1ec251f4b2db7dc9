"""StepPlan: one (fetches, feeds, targets) of a session, partitioned and registered with the tasks that it needs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from tensorboard.compat.proto import config_pb2

from weft.errors import CancelledError, DeadlineExceededError, OpError
from weft.framework.operation import Tensor
from weft.passes.partition import Partition
from weft.protocol.master_step import AbortParts, MasterStep, StepState
from weft.runtime.executor import Executor
from weft.runtime.step_trace import StepTrace, trim_transfers
from weft.runtime.worker import Inbox

PartDone = Callable[[Any, OpError | None, Any], None]


class WorkerHandle(Protocol):
    """A task as the master sees it, in this process or elsewhere."""

    task: str

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
        self, step_id: int, graph_handle: str, feeds: Sequence[Any], trace: bool, inbox: Inbox, on_done: PartDone
    ) -> None:
        """Start a part of a step; `on_done(fetches, error, step_stats)` is called once when it is over."""
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


class Part:
    """One task's part of a plan: the partition, where its feeds come from, and how it is registered now."""

    __slots__ = ("feed_places", "fetches", "graph_handle", "incarnation", "partition", "worker")

    worker: WorkerHandle

    def __init__(self, partition: Partition, feed_places: Sequence[int]) -> None:
        self.partition = partition
        self.feed_places = list(feed_places)
        self.fetches = partition.fetches
        self.graph_handle = ""
        self.incarnation = 0


class SessionLife:
    """Whether a session is over, and why; shared with its plans."""

    __slots__ = ("error",)

    def __init__(self) -> None:
        self.error: OpError | None = None

    def raise_if_over(self) -> None:
        """Raise the reason for the session's end, if it has ended."""
        if self.error is not None:
            raise self.error


class StepPlan:
    """Runs steps; made by MasterSession, used by any number of threads at a time.

    Args:
        parts: the registered parts by task.
        feeds, fetches: the tensors whose values `run` takes and returns, in order.
        life: tells when the session is over.
        next_step_id: gives a number that no other step of the cluster has.
        register: registers a part anew, when its task was restarted.
        home: the device that the master itself counts as, in traces.
        on_start, on_end: tell the session which steps are alive, so that closing it can cancel them.
    """

    def __init__(
        self,
        parts: Mapping[str, Part],
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        life: SessionLife,
        next_step_id: Callable[[], int],
        register: Callable[[Part], None],
        on_start: Callable[[int, Callable[[OpError], None]], None],
        on_end: Callable[[int], None],
        default_timeout_ms: int = 0,
        home: str = "",
    ) -> None:
        self._home = home
        self.parts = dict(parts)
        self._life = life
        self._next_step_id = next_step_id
        self._register = register
        self._on_start = on_start
        self._on_end = on_end
        self._default_timeout_ms = default_timeout_ms
        self._fetch_places = [self._place_of(tensor, feeds) for tensor in fetches]
        self._single = self._find_single()
        self._single_places: list[tuple[bool, int]] = []
        if self._single is not None:
            self._single_places = [(task != "", place) for task, place in self._fetch_places]
            (part,) = self.parts.values()
            self._single_feeds = part.feed_places
            self._is_plain = all(made for made, _ in self._single_places) and (
                [place for _, place in self._single_places] == list(range(len(part.fetches)))
            )

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

    def _find_single(self) -> Executor | None:
        if len(self.parts) != 1:
            return None
        (part,) = self.parts.values()
        executor = part.worker.local_executor(part.graph_handle)
        return executor if executor is not None and executor.single is not None else None

    def run(
        self, feeds: Sequence[Any], options: Any = None, on_start: Callable[[Callable[[OpError], None]], None] | None = None
    ) -> tuple[list[Any], Any]:
        """Run one step and return the fetched values (perhaps still being computed) and its RunMetadata, or None.

        Blocks until every part is over. A step that may have to wait first gives `on_start` the function that cancels it.

        Raises:
            OpError: a part failed, a task was lost, the time was up, or the session was closed.
        """
        if self._life.error is not None:
            raise self._life.error
        traced = options is not None and options.trace_level >= config_pb2.RunOptions.SOFTWARE_TRACE
        if self._single is not None and not traced:
            values = self._single.run_single([feeds[place] for place in self._single_feeds])
            if self._is_plain:
                return values, None
            return [values[place] if made else feeds[place] for made, place in self._single_places], None
        return self._run_parts(feeds, options, traced, on_start)

    def _run_parts(self, feeds: Sequence[Any], options: Any, traced: bool, on_start: Any) -> tuple[list[Any], Any]:
        inbox: Inbox = SimpleQueue()
        step = MasterStep(self._next_step_id(), self.parts)
        stats: dict[str, Any] = {}

        def part_over(task: str) -> PartDone:
            def over(fetches: Any, error: OpError | None, step_stats: Any) -> None:
                inbox.put(lambda: settle(task, fetches, error, step_stats))

            return over

        def settle(task: str, fetches: Any, error: OpError | None, step_stats: Any) -> None:
            stats[task] = step_stats
            if error is None:
                step.part_done(task, fetches)
            else:
                self._obey(step, step.part_failed(task, error))

        for part in self.parts.values():
            if part.worker.incarnation != part.incarnation:
                self._register(part)

        def cancel(error: OpError) -> None:
            inbox.put(lambda: self._obey(step, step.cancel(error)))

        self._on_start(step.step_id, cancel)
        if on_start is not None:
            on_start(cancel)
        try:
            for task, part in self.parts.items():
                values = [feeds[place] for place in part.feed_places]
                part.worker.run_graph(step.step_id, part.graph_handle, values, traced, inbox, part_over(task))
            self._wait(step, inbox, self._deadline(options))
        except BaseException as error:
            # An interrupt, or a task that could not even be asked: the others must not wait for ever.
            reason = error if isinstance(error, OpError) else _interrupted(error)
            self._obey(step, step.cancel(reason))
            raise
        finally:
            self._on_end(step.step_id)
        if step.error is not None:
            raise step.error
        fetched = [feeds[place] if task == "" else step.fetches[task][place] for task, place in self._fetch_places]
        return fetched, _metadata(self._home, stats) if traced else None

    def _deadline(self, options: Any) -> float | None:
        timeout_ms = (options.timeout_in_ms if options is not None else 0) or self._default_timeout_ms
        return time.monotonic() + timeout_ms / 1000 if timeout_ms > 0 else None

    def _wait(self, step: MasterStep, inbox: Inbox, deadline: float | None) -> None:
        while step.state is StepState.RUNNING:
            try:
                action = inbox.get(timeout=None if deadline is None else max(deadline - time.monotonic(), 0))
            except Empty:
                waiting = ", ".join(step.waiting_for)
                error = DeadlineExceededError(None, None, f"Timed out waiting for step {step.step_id:x} on {waiting}")
                self._obey(step, step.cancel(error))
                return
            action()

    def _obey(self, step: MasterStep, instruction: AbortParts | None) -> None:
        if instruction is not None:
            for task in instruction.tasks:
                self.parts[task].worker.abort(step.step_id, instruction.error)

    def release(self) -> None:
        """Deregister the parts."""
        for part in self.parts.values():
            part.worker.deregister(part.graph_handle)


def _interrupted(error: BaseException) -> OpError:
    return CancelledError(None, None, f"Step was given up by its caller: {type(error).__name__}: {error}")


def _metadata(home: str, stats: Mapping[str, Any]) -> Any:
    """The RunMetadata of a traced step; the master's own device comes first, even when nothing else ran there."""
    metadata = config_pb2.RunMetadata()
    devices = [device for task in stats if stats[task] is not None for device in stats[task].dev_stats]
    if home and not any(device.device == home for device in devices):
        trace = StepTrace()
        trace.begin([home])
        devices += trace.as_proto().dev_stats
    trim_transfers(devices)
    metadata.step_stats.dev_stats.extend(sorted(devices, key=lambda device: (device.device != home, device.device)))
    return metadata
