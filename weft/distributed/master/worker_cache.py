"""WorkerCache: the tasks of a cluster as a master reaches them, and the wait until they are all there."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from weft.distributed.rpc.misfit_watch import MisfitWatch
from weft.distributed.worker.task_status import TaskStatus
from weft.distributed.worker.worker_handle import WorkerHandle
from weft.errors import DeadlineExceededError, OpError
from weft.framework.devices import device_spec
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.platform.process.launcher_waits import ToldWait
from weft.platform.waits.wait_notice import WaitNotice

_LOG = logging.getLogger("weft")
_POLL_S = 0.1
_ASK_S = 1.0  # a task that does not answer meanwhile is asked again


class TaskRegistry(Protocol):
    """Reaches workers: those in this process directly, others by their addresses."""

    def reach(self, task: str, address: str) -> WorkerHandle:
        """Make a handle of a task; one elsewhere is not connected yet."""
        ...

    def status(self, task: str, address: str, timeout_s: float) -> TaskStatus:
        """Ask a task for its status; an OpError when it does not answer."""
        ...


def task_names(cluster: ClusterSpec) -> dict[str, str]:
    """The addresses of all tasks by full task name, in order of job and index."""
    return {
        f"/job:{job}/replica:0/task:{index}": cluster.task_address(job, index)
        for job in sorted(cluster.jobs)
        for index in cluster.task_indices(job)
    }


class WorkerCache:
    """The workers of one cluster. Safe from any thread."""

    def __init__(self, cluster: ClusterSpec, registry: TaskRegistry) -> None:
        self.addresses = task_names(cluster)
        self._registry = registry
        self._elsewhere: dict[str, WorkerHandle] = {}
        self._lock = threading.Lock()

    def filtered(self, filters: Sequence[str], own_task: str) -> list[str]:
        """The tasks that a session with these device filters uses; its own always."""
        if not filters:
            return list(self.addresses)
        return [task for task in self.addresses if task == own_task or any(_matches(f, task) for f in filters)]

    def handle(self, task: str) -> WorkerHandle:
        """How to reach a task; nothing is sent."""
        reached = self._registry.reach(task, self.addresses[task])
        if reached.is_local:
            return reached  # Not kept: after a restart it is another one.
        with self._lock:
            return self._elsewhere.setdefault(task, reached)

    def wait_for(
        self, tasks: Sequence[str], deadline: float | None, raise_if_cancelled: Callable[[], None], advice: str = ""
    ) -> dict[str, TaskStatus]:
        """Block until every task has answered; log every 10 s for whom it waits and why.

        Args:
            tasks: task names.
            deadline: when to give up, by `time.monotonic`; None for never.
            raise_if_cancelled: called now and then; ends the wait by raising.
            advice: what the error of a wait in vain ends with.

        Raises:
            DeadlineExceededError: naming the tasks that have not answered, with the reason for each.
            UnauthenticatedError: the credentials of one do not fit this process's, for seconds on end.
        """
        with ToldWait(None if deadline is None else deadline - time.monotonic()) as waits:
            return self._wait_for(tasks, deadline, raise_if_cancelled, waits, advice)

    def _wait_for(
        self, tasks: Sequence[str], deadline: float | None, raise_if_cancelled: Callable[[], None], waits: ToldWait, advice: str
    ) -> dict[str, TaskStatus]:
        found: dict[str, TaskStatus] = {}
        reasons: dict[str, str] = {}
        notice, misfits = WaitNotice(), MisfitWatch()
        while True:
            for task in [task for task in tasks if task not in found]:
                left_s = _ASK_S if deadline is None else min(_ASK_S, deadline - time.monotonic())
                if left_s <= 0:
                    break
                try:
                    found[task] = self._registry.status(task, self.addresses[task], timeout_s=left_s)
                except OpError as error:
                    misfits.take(task, error)
                    told = error.message.removeprefix(f"Task {task} at {self.addresses[task]} ")
                    reasons[task] = told.removeprefix("is unavailable: ")
            missing = [task for task in tasks if task not in found]
            if not missing:
                return found
            waits.tell(self.addresses[task] for task in missing)
            raise_if_cancelled()
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                why = self._why(missing, reasons)
                raise DeadlineExceededError.of(f"Tasks of the cluster have not answered in time:{why}{advice}")
            if notice.is_due():
                _LOG.warning(
                    "CreateSession still waiting for response from:%s\nLook whether these tasks run and the ClusterSpec has "
                    "their addresses; a session that needs few tasks names them in ConfigProto(device_filters=[...]).",
                    self._why(missing, reasons),
                )
            time.sleep(_POLL_S if deadline is None else min(_POLL_S, deadline - now))

    def _why(self, missing: Sequence[str], reasons: dict[str, str]) -> str:
        """A line for each task that is missing, with the reason."""
        return "".join(f"\n  {task} at {self.addresses[task]}: {reasons.get(task, 'no answer')}" for task in missing)


def _matches(pattern: str, task: str) -> bool:
    spec: Any = device_spec.DeviceSpec.from_string(pattern)
    return device_spec.is_prefix(device_spec.DeviceSpec(spec.job, spec.replica, spec.task).to_string(), task)
