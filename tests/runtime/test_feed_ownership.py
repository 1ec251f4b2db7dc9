"""Arrays that a program feeds stay its own: it may change them as soon as the run returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

# More runs than a stage is interpreted for, so that both the interpreted and the compiled path are seen.
RUNS = 12


@pytest.mark.parametrize("size", [3, 4096])
def test_an_assigned_feed_does_not_follow_the_programs_array(size: int) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [size])
        variable = tf.Variable(tf.zeros([size]))
        session.run(variable.initializer)
        assign = variable.assign(x)
        buffer = np.zeros(size, np.float32)
        for run in range(RUNS):
            buffer[:] = run
            session.run(assign.op, {x: buffer})
            buffer[:] = -1
            assert session.run(variable).tolist() == [run] * size


def test_a_step_is_done_with_its_feeds_when_the_run_returns() -> None:
    size = 400
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [size, size])
        total = tf.Variable(tf.zeros([size, size]))
        slow = x
        for _ in range(4):
            slow = tf.matmul(slow, tf.eye(size))
        session.run(total.initializer)
        add = total.assign_add(slow)
        buffer = np.empty((size, size), np.float32)
        for _ in range(RUNS):
            buffer[:] = 1
            session.run(add.op, {x: buffer})
            buffer[:] = 100
        assert session.run(total).max() == RUNS


def test_changing_a_fetched_array_changes_nothing_else() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        constant = tf.constant([1.0, 2.0])
        variable = tf.Variable([1.0, 2.0])
        session.run(variable.initializer)
        for fetch in (constant, variable, variable.assign_add([0.0, 0.0])):
            for _ in range(RUNS):
                value = session.run(fetch)
                assert value.tolist() == [1.0, 2.0]
                value[:] = -1


@pytest.mark.parametrize(
    "take",
    [
        tf.identity, lambda x: tf.reshape(x, [4]), tf.transpose, lambda x: x[0], lambda x: tf.reverse(x, [0]),
        lambda x: tf.split(x, 2)[0], lambda x: tf.Print(x, []), lambda x: tf.cond(tf.constant(True), lambda: x, lambda: x + 1),
    ],
)  # fmt: skip
def test_a_fetched_view_of_a_feed_is_a_copy(take: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2, 2])
        taken = take(x)
        for _ in range(RUNS):
            buffer = np.ones((2, 2), np.float32)
            value = session.run(taken, {x: buffer})
            buffer[:] = 9
            assert (value == 1).all()
            value[...] = 7
            assert (buffer == 9).all()


def test_a_traced_run_keeps_no_feed() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        variable = tf.Variable([0.0, 0.0])
        buffer = np.ones(2, np.float32)
        traced = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(variable.assign(x).op, {x: buffer}, options=traced, run_metadata=tf.RunMetadata())
        buffer[:] = 9
        assert session.run(variable).tolist() == [1, 1]


def test_an_enqueued_feed_does_not_follow_the_programs_array() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        queue = tf.FIFOQueue(RUNS, tf.float32, [[2]])
        enqueue, buffer = queue.enqueue(x), np.empty(2, np.float32)
        for run in range(RUNS):
            buffer[:] = run
            session.run(enqueue, {x: buffer})
        assert session.run(queue.dequeue_many(RUNS))[:, 0].tolist() == list(range(RUNS))


def test_a_fetch_that_is_fed_is_the_fed_array() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        buffer = np.ones(2, np.float32)
        assert session.run([x, x * 2], {x: buffer})[0] is buffer
        assert session.run(x[0], {x: [3, 4]}) == 3
