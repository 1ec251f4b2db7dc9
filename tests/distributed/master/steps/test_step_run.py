"""A step's thread does what is put before it and waits for the rest; whoever ends the step, it ends once, and everywhere."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.distributed.fake_workers import FakeWorker, task
from weft.distributed.master.steps.deployment import Deployment, Part
from weft.distributed.master.steps.step_run import StepRun
from weft.errors import AbortedError, CancelledError, DeadlineExceededError, OpError, UnavailableError
from weft.passes.partition import Partition
from weft.platform.waits.quick_lately import QuickLately
from weft.runtime.step.step import Step

PATIENCE_S = 20.0
ENOUGH = CancelledError(None, None, "enough")


class Steps:
    """A session with two tasks, which knows the steps that run."""

    def __init__(self) -> None:
        self.workers = [FakeWorker(task("a")), FakeWorker(task("b"))]
        self.live: list[StepRun] = []
        self.failed: list[OpError] = []
        self.on_start: Callable[[StepRun], None] | None = None

    def note_start(self, step: StepRun) -> None:
        self.live.append(step)
        if self.on_start is not None:
            self.on_start(step)

    def watched(self) -> AbstractContextManager[None]:
        return nullcontext()

    def note_failure(self, error: OpError) -> None:
        self.failed.append(error)

    def note_end(self, step: StepRun) -> None:
        self.live.remove(step)

    def new(self) -> StepRun:
        return StepRun(7, [worker.task for worker in self.workers], self)

    def run(self, step: StepRun, timeout_s: float | None = PATIENCE_S) -> Mapping[str, Sequence[Any]]:
        parts = {}
        for worker in self.workers:
            partition = Partition(worker.task)
            handle = worker.register("s", tf.ConfigProto(), partition)
            parts[worker.task] = Part(partition, [0], worker, handle, worker.incarnation)
        return step.run(Deployment(parts), [np.float32(1)], QuickLately(), timeout_s=timeout_s)


@pytest.fixture
def steps() -> Steps:
    return Steps()


def test_the_thread_of_a_step_does_what_is_put_before_it_in_order(steps: Steps) -> None:
    step = steps.new()
    done: list[int] = []
    a, b = steps.workers
    a.answers = [np.float32(2)]
    step.put(lambda: done.append(1))
    step.put(lambda: done.append(threading.get_ident()))
    step.put(lambda: b.finish([np.float32(3)]))
    fetches = steps.run(step)
    assert done == [1, threading.get_ident()]
    assert fetches == {a.task: [2], b.task: [3]}
    assert not steps.live


def test_another_thread_wakes_the_one_that_waits(steps: Steps) -> None:
    step = steps.new()
    a, b = steps.workers
    a.answers = [np.float32(2)]

    def answer() -> None:
        assert b.asked.wait(PATIENCE_S)
        step.put(lambda: b.finish([np.float32(3)]))

    thread = threading.Thread(target=answer)
    thread.start()
    fetches = steps.run(step, timeout_s=None)
    thread.join()
    assert fetches[b.task] == [3]


def test_a_step_that_is_cancelled_before_it_runs_asks_nobody(steps: Steps) -> None:
    step = steps.new()
    step.cancel(ENOUGH)
    with pytest.raises(CancelledError, match="enough"):
        steps.run(step)
    assert [worker.feeds for worker in steps.workers] == [[], []]
    assert [worker.aborted for worker in steps.workers] == [[], []]


def test_a_session_that_has_ended_cancels_a_step_that_begins(steps: Steps) -> None:
    steps.on_start = lambda step: step.cancel(ENOUGH)
    with pytest.raises(CancelledError, match="enough"):
        steps.run(steps.new())
    assert not steps.live
    assert not steps.workers[0].feeds


def test_a_cancellation_aborts_the_parts_while_the_thread_of_the_step_is_busy(steps: Steps) -> None:
    step = steps.new()

    def compute() -> None:
        thread = threading.Thread(target=step.cancel, args=(ENOUGH,))
        thread.start()
        thread.join()
        assert [worker.aborted for worker in steps.workers] == [[(7, ENOUGH)], [(7, ENOUGH)]]

    step.put(compute)
    with pytest.raises(CancelledError, match="enough"):
        steps.run(step)


def test_a_task_that_cannot_be_asked_ends_the_step_and_the_next_is_not_asked(steps: Steps) -> None:
    lost = UnavailableError(None, None, "a is gone")
    steps.workers[0].refusal = lost
    with pytest.raises(UnavailableError, match="a is gone"):
        steps.run(steps.new())
    assert not steps.workers[1].feeds


def test_what_comes_first_ends_a_step(steps: Steps) -> None:
    step = steps.new()
    steps.workers[0].answers = AbortedError(None, None, "first")
    step.put(lambda: step.cancel(ENOUGH))
    with pytest.raises(AbortedError, match="first"):
        steps.run(step)
    step.cancel(ENOUGH)


def test_the_time_of_a_step_is_limited(steps: Steps) -> None:
    with pytest.raises(
        DeadlineExceededError, match=r"step 7 on /job:a\S+, blocked at deq \(QueueDequeueV2\); /job:b\S+, blocked at"
    ):
        steps.run(steps.new(), timeout_s=0.01)
    assert [len(worker.aborted) for worker in steps.workers] == [1, 1]


def test_an_interrupt_gives_the_step_up_everywhere(steps: Steps) -> None:
    step = steps.new()

    def interrupt() -> None:
        raise KeyboardInterrupt

    step.put(interrupt)
    with pytest.raises(KeyboardInterrupt):
        steps.run(step)
    ((_, error),) = steps.workers[0].aborted
    assert "given up by its caller: KeyboardInterrupt" in error.message
    assert not steps.live


def test_what_a_step_held_goes_at_its_end_and_waits_for_no_collection() -> None:
    def alive() -> int:
        return sum(type(each) is Step for each in gc.get_objects())

    server = tf.train.Server.create_local_server()
    try:
        with tf.Graph().as_default(), tf.Session(server.target) as session:
            queue = tf.FIFOQueue(3, tf.float32, [()])
            put, taken = queue.enqueue(1.0), queue.dequeue()
            session.run(put)
            gc.collect()
            gc.disable()
            try:
                before = alive()
                for _ in range(20):
                    session.run(taken)
                    session.run(put)
                assert alive() <= before + 1
            finally:
                gc.enable()
    finally:
        server.stop()
