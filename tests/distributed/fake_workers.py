"""Tasks that a master sees and that run nothing: they note what is asked of them, and answer when the test says so."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import weft as tf
from weft.distributed.worker.worker_handle import StepOwner
from weft.errors import OpError, UnavailableError
from weft.passes.partition import Partition
from weft.protocol.master_step import PartDone, PartFailed
from weft.runtime.choice.stage_report import StageReport


def task(job: str) -> str:
    return f"/job:{job}/replica:0/task:0"


def device(job: str) -> str:
    return f"{task(job)}/device:CPU:0"


class FakeWorker:
    """One task. Its parts are over when `finish` or `fail` is called, or at once with `answers`."""

    def __init__(self, name: str) -> None:
        self.task = name
        self.is_local = False
        self.incarnation = 1
        self.returns_as = 1  # the incarnation that is met by who connects again
        self.registered: dict[str, Partition] = {}
        self.deregistered: list[str] = []
        self.aborted: list[tuple[int, OpError]] = []
        self.closed: list[str] = []
        self.cleared: list[list[str]] = []
        self.feeds: list[list[Any]] = []
        self.refusal: OpError | None = None
        self.flushes = 0
        self.asked = threading.Event()
        self.answers: list[Any] | OpError | None = None
        self._running: dict[int, StepOwner] = {}

    def connect(self) -> int:
        self.incarnation = self.incarnation or self.returns_as
        return self.incarnation

    def register(self, session_handle: str, config: Any, partition: Partition) -> str:
        handle = f"graph-{len(self.registered) + len(self.deregistered)}"
        self.registered[handle] = partition
        return handle

    def deregister(self, graph_handle: str) -> None:
        del self.registered[graph_handle]
        self.deregistered.append(graph_handle)

    def run_graph(
        self, step_id: int, graph_handle: str, feeds: Sequence[Any], trace: bool, owner: StepOwner, is_again: bool = False
    ) -> None:
        assert graph_handle in self.registered
        if self.refusal is not None:
            raise self.refusal
        self.feeds.append(list(feeds))
        self._running[step_id] = owner
        self.asked.set()
        if isinstance(self.answers, OpError):
            self.fail(self.answers)
        elif self.answers is not None:
            self.finish(self.answers)

    def flush(self) -> None:
        self.flushes += 1

    def finish(self, values: list[Any]) -> None:
        """End the part that has run longest."""
        self._running.pop(next(iter(self._running))).tell(PartDone(self.task, values))

    def fail(self, error: OpError) -> None:
        """End the part that has run longest with this error."""
        self._running.pop(next(iter(self._running))).tell(PartFailed(self.task, error))

    def waits_at(self, step_id: int) -> list[str]:
        return ["deq (QueueDequeueV2)"] if step_id in self._running else []

    def awaits(self, step_id: int, task: str) -> list[tf.Tensor]:
        return []

    def abort(self, step_id: int, error: OpError) -> None:
        self.aborted.append((step_id, error))

    def close_session(self, session_handle: str) -> None:
        self.closed.append(session_handle)

    def clear(self, containers: Sequence[str]) -> None:
        self.cleared.append(list(containers))

    def source(self) -> None:
        """None: nothing travels."""

    def explain(self, graph_handle: str) -> list[StageReport]:
        raise UnavailableError(None, None, f"{self.task} is a fake")

    def local_executor(self, graph_handle: str) -> None:
        return None


def workers_of(*jobs: str) -> dict[str, FakeWorker]:
    return {task(job): FakeWorker(task(job)) for job in jobs}


def on_both() -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """A value fed to job a, what job a makes of it, and what job b makes of that."""
    with tf.device("/job:a"):
        x = tf.placeholder(tf.float32, [], name="x")
        there = tf.square(x, name="there")
    with tf.device("/job:b"):
        here = tf.negative(there, name="here")
    return x, there, here
