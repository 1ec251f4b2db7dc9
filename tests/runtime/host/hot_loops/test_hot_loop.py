"""Long loops, which go on compiled while they are interpreted, do what they would do otherwise."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import own_graph, session
from weft.runtime.host.hot_loops.hot_loop import HotLoop

_ = own_graph
LONG = 1000


@pytest.fixture
def taken(monkeypatch):
    """How often a loop was taken over, and at which iterations."""
    calls = []
    run_rest = HotLoop.run_rest

    def counted(self, values, streams, iteration, *others):
        result = run_rest(self, values, streams, iteration, *others)
        calls.append((iteration, result is not None))
        return result

    monkeypatch.setattr(HotLoop, "run_rest", counted)
    return calls


def _run_as_interpreted(value, feed=None):
    """The value in a session that may take loops over, which must be that of one that interprets all iterations."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = [sess.run(value, feed) for _ in range(2)]
    with session("interpreted") as sess:
        expected = sess.run(value, feed)
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)
    np.testing.assert_allclose(found[1], expected, rtol=1e-6)
    return found[0]


def test_a_long_loop_is_taken_over_once_and_then_from_the_start(taken):
    _, y = tf.while_loop(lambda i, v: i < LONG, lambda i, v: (i + 1, v * 0.5 + 1.0), [tf.constant(0), tf.constant(0.0)])
    assert _run_as_interpreted(y) == pytest.approx(2.0)
    assert taken == [(256, True), (0, True)]


def test_a_short_loop_is_not(taken):
    y = tf.while_loop(lambda i: i < 100, lambda i: i + 1, [tf.constant(0)])
    assert _run_as_interpreted(y) == 100
    assert taken == []


def test_arrays_and_variables_and_captured_tensors(taken):
    factor, x = tf.Variable(2.0), tf.placeholder(tf.float32, [LONG])
    y = tf.map_fn(lambda v: v * factor + x[0], x)
    values = np.arange(LONG, dtype=np.float32)
    assert _run_as_interpreted(y, {x: values})[-1] == 2 * (LONG - 1)
    assert taken[0] == (256, True)


def test_gradients_that_record_every_iteration(taken):
    x = tf.placeholder(tf.float32, [])
    # How often it runs depends on the values: only while it runs can it be compiled.
    y = tf.while_loop(lambda v: v < 3.0, lambda v: v + 0.004 * x, [tf.constant(0.0)])
    gradient = tf.gradients(y, x)[0]
    assert _run_as_interpreted(gradient, {x: 1.0}) == pytest.approx(0.004 * 751, rel=0.01)
    assert any(done for _, done in taken)


def test_random_values_stay_the_same():
    _, y = tf.while_loop(
        lambda i, v: i < LONG, lambda i, v: (i + 1, v + tf.random_uniform([], seed=3)), [tf.constant(0), tf.constant(0.0)]
    )
    with tf.Session() as sess, session("interpreted") as plain:
        assert [sess.run(y) for _ in range(2)] == pytest.approx([plain.run(y) for _ in range(2)], rel=1e-5)


@pytest.mark.parametrize("at", [10, 500])
def test_an_error_is_raised_in_a_late_iteration_as_in_an_early_one(at):
    limit = tf.placeholder(tf.int32, [None])
    _, y = tf.while_loop(
        lambda i, v: i < LONG, lambda i, v: (i + 1, tf.gather(limit, i, name="row")), [tf.constant(0), tf.constant(0)]
    )
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=rf"= {at} is not in \[0, {at}\)") as caught:
        sess.run(y, {limit: np.zeros(at, np.int32)})
    assert caught.value.op.name == "while/row"


def test_a_write_outside_of_an_array_is_found_in_a_late_iteration():
    array = tf.TensorArray(tf.int32, 700)
    _, array = tf.while_loop(lambda i, a: i < LONG, lambda i, a: (i + 1, a.write(i, i)), [tf.constant(0), array])
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="index 700 but array is not resizeable"):
        sess.run(array.stack())


def test_a_loop_with_scatters_is_taken_over(taken):
    _, y = tf.while_loop(
        lambda i, v: i < LONG,
        lambda i, v: (i + 1, tf.tensor_scatter_nd_add(v, [[i % 3]], [1.0])),
        [tf.constant(0), tf.zeros([3])],
    )
    assert _run_as_interpreted(y).tolist() == [334, 333, 333]
    assert taken == [(256, True), (0, True)]


def test_a_scatter_outside_of_its_tensor_is_found_in_a_late_iteration():
    _, y = tf.while_loop(
        lambda i, v: i < LONG, lambda i, v: (i + 1, v + tf.scatter_nd([[i]], [1.0], [700])), [tf.constant(0), tf.zeros([700])]
    )
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=r"700"):
        sess.run(y)


def test_a_branch_with_checks_keeps_the_loop_interpreted(taken):
    rows = tf.placeholder(tf.int32, [None])

    def body(i, v):
        return i + 1, tf.cond(i < 500, lambda: v, lambda: tf.gather(rows, i))

    _, y = tf.while_loop(lambda i, v: i < LONG, body, [tf.constant(0), tf.constant(0)])
    assert _run_as_interpreted(y, {rows: np.arange(LONG, dtype=np.int32)}) == LONG - 1
    assert not any(done for _, done in taken)


def test_side_effects_stay_in_order(taken):
    seen = []
    y = tf.while_loop(
        lambda i: i < 300, lambda i: tf.py_func(lambda n: seen.append(int(n)) or n + np.int32(1), [i], tf.int32),
        [tf.constant(0)], shape_invariants=[tf.TensorShape(None)],
    )  # fmt: skip
    with tf.Session() as sess:
        assert sess.run(y) == 300
    assert seen == list(range(300))


def test_a_variable_that_the_loop_updates_is_updated_every_time(taken):
    total = tf.Variable(0)

    def body(i):
        with tf.control_dependencies([total.assign_add(i)]):
            return i + 1

    y = tf.while_loop(lambda i: i < LONG, body, [tf.constant(0)])
    with tf.Session() as sess:
        sess.run(total.initializer)
        assert sess.run(y) == LONG
        assert sess.run(total) == LONG * (LONG - 1) // 2


def test_a_loop_that_is_taken_over_goes_on_in_the_streams_of_its_random_nodes(taken):
    # The numbers are those of TensorFlow 1.15.
    n = tf.placeholder(tf.int32, [])
    _, x = tf.while_loop(
        lambda i, x: i < n, lambda i, x: (i + 1, x * 0.5 + tf.random_uniform([], seed=3)), [tf.constant(0), tf.constant(0.0)]
    )
    with tf.Session() as sess:
        found = [sess.run(x, {n: count}) for count in (600, 3, 700, 2)]
    assert found == pytest.approx([1.0382, 0.6719, 0.8051, 0.9322], abs=1e-4)
    assert [iteration for iteration, _ in taken] == [256, 0, 0, 0]
