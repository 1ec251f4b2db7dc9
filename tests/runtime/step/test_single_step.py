"""A partition of one stage runs on the calling thread, whatever of it is fed, and in whatever order it is fetched."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from tests.runtime.step.test_step import PATIENCE_S, Run
from weft.distributed.master.steps.step_plan import StepPlan
from weft.distributed.master.steps.step_run import StepRun
from weft.runtime.step.single_step import SingleStep


def test_one_stage_is_run_without_bookkeeping(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32)
    executor = Run(make_parts([tf.square(x)], [x])["a"]).executor
    assert SingleStep(executor, [0], [(False, 0)]).run([np.float32(3)]) == [9]


def test_feeds_and_fetches_have_the_places_that_the_caller_gives_them(make_parts: MakeParts) -> None:
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    executor = Run(make_parts([x - y, x + y], [x, y])["a"]).executor
    unused, six, four = np.float32(0), np.float32(6), np.float32(4)
    step = SingleStep(executor, [1, 2], [(False, 1), (True, 0), (False, 0), (True, 1)])
    assert step.run([unused, six, four]) == [10, 0, 2, 6]


@pytest.fixture
def made_steps(monkeypatch: pytest.MonkeyPatch) -> list[StepRun]:
    """The steps that need bookkeeping."""
    made: list[StepRun] = []
    new_step = StepPlan.new_step

    def noting(plan: StepPlan, context: bytes = b"") -> StepRun:
        made.append(new_step(plan, context))
        return made[-1]

    monkeypatch.setattr(StepPlan, "new_step", noting)
    return made


def test_elements_that_are_there_are_taken_without_bookkeeping(made_steps: list[StepRun]) -> None:
    queue = tf.RandomShuffleQueue(100, 1, [tf.int32], [[]], seed=1)
    taken, put = queue.dequeue(), queue.enqueue_many([list(range(50))])
    with tf.Session() as session:
        session.run(put)
        made_steps.clear()
        found = [int(session.run(taken)) for _ in range(49)]
        assert len(set(found)) == 49
        assert made_steps == []


def test_what_is_not_there_is_waited_for_and_none_is_lost(made_steps: list[StepRun]) -> None:
    queue = tf.FIFOQueue(100, [tf.int32], [[]])
    taken, put = queue.dequeue_many(2), queue.enqueue_many([[1, 2, 3]])
    with tf.Session() as session:
        session.run(put)
        assert session.run(taken).tolist() == [1, 2]
        made_steps.clear()
        found: list[list[int]] = []
        waiting = threading.Thread(target=lambda: found.append(session.run(taken).tolist()))
        waiting.start()
        while not made_steps or not made_steps[0].began_s:
            waiting.join(0.001)
        session.run(put)
        waiting.join(PATIENCE_S)
        assert found == [[3, 1]]
        assert session.run(taken).tolist() == [2, 3]


def test_an_end_that_is_there_is_told_without_bookkeeping(made_steps: list[StepRun]) -> None:
    queue = tf.FIFOQueue(100, [tf.int32], [[]])
    taken, end = queue.dequeue(), queue.close()
    with tf.Session() as session:
        session.run(end)
        made_steps.clear()
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient elements"):
            session.run(taken)
        assert made_steps == []


def test_what_puts_is_not_tried(make_parts: MakeParts) -> None:
    queue = tf.FIFOQueue(1, [tf.int32], [[]])
    assert Run(make_parts(targets=[queue.enqueue([1])])["a"]).executor.single is None
    single = Run(make_parts([queue.dequeue()])["a"]).executor.single
    assert single is not None
    assert single.parks_at is not None
