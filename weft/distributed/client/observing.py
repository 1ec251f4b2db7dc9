"""Asking tasks how they are: the caller's side of the observation service."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from google.protobuf.wrappers_pb2 import StringValue

from weft.distributed.client.task_report import TaskReport
from weft.distributed.rpc.stub import RpcStub
from weft.errors import OpError, UnimplementedError

SERVICE: Final = "weft.ObservationService"
METHODS: Final = {"Report": (StringValue, StringValue)}
_AT_ONCE: Final = 16


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
        asked = {task: self._pool.submit(self._ask, observer) for task, observer in self._observers.items()}
        return {task: answer.result() for task, answer in asked.items()}

    def _ask(self, observer: TaskObserver) -> TaskReport | OpError:
        try:
            return observer.report(self._timeout_s)
        except OpError as error:
            return error

    @property
    def addresses(self) -> dict[str, str]:
        """Where each task listens."""
        return {task: observer.address for task, observer in self._observers.items()}

    def close(self) -> None:
        """Close all connections."""
        self._pool.shutdown()
        for observer in (self._first, *self._observers.values()):
            observer.close()
