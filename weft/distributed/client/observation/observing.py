"""Asking tasks how they are: the caller's side of the observation service."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeAlias, TypeVar

from google.protobuf.wrappers_pb2 import DoubleValue, StringValue

from weft.distributed.client.observation.task_report import TaskReport
from weft.distributed.rpc.stub import RpcStub
from weft.errors import OpError, UnimplementedError

SERVICE: Final = "weft.ObservationService"
METHODS: Final = {
    "Report": (StringValue, StringValue),
    "Clock": (StringValue, DoubleValue),
    "BeginRecording": (DoubleValue, StringValue),
    "EndRecording": (StringValue, StringValue),
}
_CLOCK_LOOKS: Final = 32
_AT_ONCE: Final = 16

# Round trips of one process at a time: those of several threads wait for each other, one way more than the other.
_LOOKING: Final = threading.Lock()

T = TypeVar("T")
Json: TypeAlias = dict[str, Any]


class TaskObserver:
    """Asks one task, again and again. Not for several threads at a time.

    Args:
        address: where its server listens.
        name: what messages call it.
    """

    def __init__(self, address: str, name: str = "The server") -> None:
        self.address = address
        self._stub = RpcStub(SERVICE, METHODS, address, name)

    def report(self, timeout_s: float) -> TaskReport:
        """How the task is now.

        Raises:
            UnavailableError: no server of weft talks there. PermissionDeniedError: it does not take this caller's word.
            DeadlineExceededError: it does not answer in time. UnimplementedError: it is too old to tell.
        """
        try:
            return TaskReport.from_json(self._stub.call("Report", StringValue(), timeout_s).value)
        except ValueError as error:
            raise UnimplementedError.of(f"The server at {self.address} tells of itself in another form: {error}") from None

    def clock_offset_s(self, timeout_s: float) -> float:
        """How far the task's clock is ahead of this process's, by the shortest of some round trips."""
        self._look_at_clock(timeout_s)  # the connection is made, or fails, while others are asked
        with _LOOKING:
            return min(self._look_at_clock(timeout_s) for _ in range(_CLOCK_LOOKS))[1]

    def _look_at_clock(self, timeout_s: float) -> tuple[float, float]:
        """How long a round trip took, and how far the task's clock is ahead if both its ways took the same time."""
        before_s = time.time()
        there_s = self._stub.call("Clock", StringValue(), timeout_s).value
        after_s = time.time()
        return after_s - before_s, there_s - (before_s + after_s) / 2

    def begin_recording(self, seconds: float, timeout_s: float) -> None:
        """Have the task record its steps, for so long at most."""
        self._stub.call("BeginRecording", DoubleValue(value=seconds), timeout_s)

    def end_recording(self, timeout_s: float) -> Json:
        """End that, and take what was recorded."""
        found: Json = json.loads(self._stub.call("EndRecording", StringValue(), timeout_s).value)
        return found

    def close(self) -> None:
        """Close the connection."""
        self._stub.close()


class ClusterObserver:
    """Asks all tasks of a cluster, which one of them has named. Not for several threads at a time.

    Args:
        address: the address of any of its tasks.
        timeout_s: how long each task has to answer.
    """

    def __init__(self, address: str, timeout_s: float = 2.0) -> None:
        self._timeout_s = timeout_s
        self._first = TaskObserver(address)
        self._observers: dict[str, TaskObserver] = {}
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="weft-observe")

    def open(self) -> None:
        """Ask for the names of all tasks. Raises as `TaskObserver.report` does."""
        report = self._first.report(self._timeout_s)
        self.take({**report.cluster, report.task: self._first.address})

    def take(self, addresses: Mapping[str, str]) -> None:
        """Take these tasks, by name, without asking."""
        for task, address in addresses.items():
            is_first = address == self._first.address
            self._observers[task] = self._first if is_first else TaskObserver(address, f"Task {task}")

    def reports(self) -> dict[str, TaskReport | OpError]:
        """By task its report, or why it could not be had. Blocks for the timeout at most."""
        return self.of_all(lambda observer: observer.report(self._timeout_s))

    def of_all(self, ask: Callable[[TaskObserver], T], tasks: Collection[str] | None = None) -> dict[str, T | OpError]:
        """Ask all tasks at once, or some of them; by task its answer, or why there is none."""

        def answer(observer: TaskObserver) -> T | OpError:
            try:
                return ask(observer)
            except OpError as error:
                return error

        asked = {
            task: self._pool.submit(answer, observer)
            for task, observer in self._observers.items()
            if tasks is None or task in tasks
        }
        return {task: future.result() for task, future in asked.items()}

    @property
    def addresses(self) -> dict[str, str]:
        """Where each task listens."""
        return {task: observer.address for task, observer in self._observers.items()}

    def close(self) -> None:
        """Close all connections."""
        self._pool.shutdown()
        for observer in (self._first, *self._observers.values()):
            observer.close()
