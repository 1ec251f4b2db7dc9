"""Master: opens sessions over a cluster for the clients of one task, in this process and by RPC."""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from weft.distributed.master.master_session import MasterSession
from weft.distributed.master.steps.step_counts import OWN_SESSION, StepCounts
from weft.distributed.master.steps.step_run import StepRun
from weft.distributed.master.worker_cache import WorkerCache
from weft.distributed.worker.task_status import TaskStatus
from weft.errors import AbortedError, OpError
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.framework.graphs.graph import Graph
from weft.platform.waits.deadline import left_s, within
from weft.protocol.limits import absent_advice

_CLOSE_S: Final = 2.0

MakeCache = Callable[[ClusterSpec], tuple[WorkerCache, str]]


class Master:
    """Plans and runs steps for clients. Safe from any thread.

    Args:
        task: the task that this master belongs to.
        cluster: the tasks that there are.
        make_cache: gives the worker cache of a cluster spec (a session may bring its own), and this task's name there.
        default_config: the ConfigProto of sessions that bring none.
        absent_task_s: how long a session that is opened waits for tasks that do not answer.
    """

    def __init__(
        self, task: str, cluster: ClusterSpec, make_cache: MakeCache, default_config: object, absent_task_s: float = math.inf
    ) -> None:
        self.task = task
        self._absent_task_s = absent_task_s
        self._make_cache = make_cache
        self._workers, _ = make_cache(cluster)
        self._default_config = default_config
        self.counts = StepCounts()
        """Of the steps of all sessions of programs, also of those that have ended."""
        self._lock = threading.Lock()
        self._sessions: dict[str, MasterSession] = {}
        self._draining: OpError | None = None

    def open_session(
        self, graph: Graph, config: Any, raise_if_cancelled: Callable[[], None], timeout_s: float | None = None
    ) -> MasterSession:
        """Open a session that runs `graph`.

        Blocks until every task that the session may use has answered.

        Raises:
            DeadlineExceededError: before that `operation_timeout_in_ms`, the time of the run that opens it, or `absent_task_s`
                has passed.
            UnavailableError: the master is drained.
        """
        self._raise_if_draining()
        config = self._default_config if config is None else config
        workers, own = self._cluster_of(config)
        tasks = workers.filtered(list(config.device_filters), own)
        timeouts_s = [limit for limit in (config.operation_timeout_in_ms / 1000, timeout_s) if limit and limit > 0]
        limit_s = left_s(min(timeouts_s, default=None))
        advice = ""
        if self._absent_task_s < (math.inf if limit_s is None else limit_s):
            limit_s, advice = self._absent_task_s, absent_advice(self._absent_task_s)
        deadline = None if limit_s is None else time.monotonic() + limit_s
        statuses = workers.wait_for(tasks, deadline, raise_if_cancelled, advice)
        # Tasks name sessions in messages, and a reader wants to know where they belong.
        handle = f"{self.task}#{secrets.token_hex(8)}"
        attributes = [device for task in tasks for device in statuses[task].devices]

        def close() -> None:
            with self._lock:
                self._sessions.pop(handle, None)
            with within(_CLOSE_S):  # for all together: some may stand still
                for task in tasks:
                    workers.handle(task).close_session(handle)

        names = [device.name for device in attributes]
        home = next((name for name in names if name.startswith(f"{own}/")), "")
        session = MasterSession(handle, graph, workers.handle, names, config, close, lambda: attributes, home)
        if config.experimental.session_metadata.name != OWN_SESSION:
            session.steps.counts = self.counts
        with self._lock:
            self._sessions[handle] = session
        if self._draining is not None:
            session.close(self._draining)
            raise self._draining
        return session

    def _raise_if_draining(self) -> None:
        if self._draining is not None:
            raise self._draining

    def _cluster_of(self, config: Any) -> tuple[WorkerCache, str]:
        if not config.HasField("cluster_def") or not config.cluster_def.job:
            return self._workers, self.task
        return self._make_cache(ClusterSpec(config.cluster_def))

    def devices(self) -> dict[str, TaskStatus]:
        """The status of every task that answers within a second or so."""
        found = {}
        for task in self._workers.addresses:
            found.update(self._workers.wait_for([task], time.monotonic() + 5.0, _go_on))
        return found

    def reset(self, containers: Sequence[str], device_filters: Sequence[str]) -> None:
        """Drop the containers given, or all, in every task, and abort every session of this master."""
        for task in self._workers.filtered(device_filters, self.task):
            self._workers.handle(task).clear(containers)
        self.close_sessions(AbortedError.of("Session was aborted because the server's containers were reset."))

    @property
    def live_steps(self) -> int:
        """How many steps of its sessions run now."""
        with self._lock:
            return sum(len(session.steps) for session in self._sessions.values())

    @property
    def session_count(self) -> int:
        """How many sessions are open."""
        return len(self._sessions)

    @property
    def running_steps(self) -> list[StepRun]:
        """The steps of its sessions that run now."""
        with self._lock:
            return [step for session in self._sessions.values() for step in session.steps.running]

    def drain(self, error: OpError) -> None:
        """Open no more sessions, and take no more steps; those that run go on."""
        self._draining = error
        with self._lock:
            sessions = list(self._sessions.values())
        for session in sessions:
            session.drain(error)

    def close_sessions(self, error: Any) -> None:
        """End every session of this master with this error."""
        with self._lock:
            sessions = list(self._sessions.values())
        for session in sessions:
            session.close(error)


def _go_on() -> None:
    return None
