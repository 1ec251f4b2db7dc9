"""Loops over sequences of changing lengths run compiled, by one code, and do what they would do interpreted."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import own_graph, session
from weft.runtime.compiled.code_price import CodePrice
from weft.runtime.host.hot_loops import hot_loop
from weft.runtime.host.hot_loops.hot_loop import HotLoop
from weft.runtime.host.hot_loops.longer_inputs import longer_inputs

_ = own_graph
LENGTHS = [7, 11, 5, 13, 9, 12, 8, 10, 6, 14, 3, 13, 7, 11, 2, 14] * 4


@pytest.fixture(autouse=True)
def made(monkeypatch):
    """The loops of which code was made, which is at once here."""
    monkeypatch.delenv("TF_DETERMINISTIC_OPS")  # by which steps wait for code
    monkeypatch.setattr(hot_loop, "compile_thread", SimpleNamespace(submit=lambda job: job()))
    monkeypatch.setattr(CodePrice, "code_s", lambda self, nodes: 1e-3 * nodes)
    loops = []
    make = HotLoop._make

    def noted(self, *arguments):
        loops.append(self)
        make(self, *arguments)

    monkeypatch.setattr(HotLoop, "_make", noted)
    return loops


@pytest.fixture
def runs(monkeypatch):
    """For each run as compiled code whether it came to its end."""
    found = []
    run_rest = HotLoop.run_rest

    def noted(self, *arguments):
        result = run_rest(self, *arguments)
        found.append(result is not None)
        return result

    monkeypatch.setattr(HotLoop, "run_rest", noted)
    return found


def _both(fetches, feed_of):
    """The fetches for each length, in a session that may compile and in one that interprets."""
    with tf.Session() as fast, session("interpreted") as plain:
        fast.run(tf.global_variables_initializer())
        for length in LENGTHS:
            feed = feed_of(length)
            yield fast.run(fetches, feed), plain.run(fetches, feed)


def test_a_recurrent_network_trains_as_it_does_interpreted(made, runs):
    tf.set_random_seed(1)
    x, lengths = tf.placeholder(tf.float32, [None, None, 3]), tf.placeholder(tf.int32, [None])
    outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), x, sequence_length=lengths, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs)) + tf.reduce_mean(state.h)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    random = np.random.RandomState(0)

    def feed_of(length):
        return {x: random.randn(4, length, 3), lengths: random.randint(1, length + 1, 4)}

    for found, expected in _both([loss, outputs, step], feed_of):
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-5)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-4, atol=1e-6)
    # Forwards and backwards, one code for all lengths.
    assert len(made) == 2
    assert all(runs)
    assert len(runs) > 20


def test_the_gradient_of_what_is_read(made, runs):
    weights = tf.get_variable("weights", [5], initializer=tf.ones_initializer())
    x = tf.placeholder(tf.float32, [None, 5])
    rows = tf.map_fn(lambda row: tf.tanh(row) * row, x * weights)
    gradients = tf.gradients(rows, [weights, x])
    random = np.random.RandomState(0)
    for found, expected in _both([rows, *gradients], lambda length: {x: random.randn(length, 5)}):
        for mine, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)
    assert all(runs)
    assert len(made) == 2


def test_a_write_behind_the_end_is_refused_also_where_the_code_has_more_rows(made):
    count = tf.placeholder(tf.int32, [])
    x = tf.placeholder(tf.float32, [None])
    array = tf.TensorArray(tf.float32, tf.size(x))
    _, array = tf.while_loop(lambda i, a: i < count, lambda i, a: (i + 1, a.write(i, x[0])), [tf.constant(0), array])
    total = tf.reduce_sum(array.stack())
    with tf.Session() as sess:
        for length in LENGTHS:
            assert sess.run(total, {x: np.ones(length), count: length}) == length
        assert made
        with pytest.raises(tf.errors.InvalidArgumentError, match="write to index 9 but array is not resizeable and size is: 9"):
            sess.run(total, {x: np.ones(9), count: 10})


def test_a_loop_that_looks_at_the_number_of_rows_gets_no_more_of_them():
    x = tf.placeholder(tf.float32, [None])
    _, y = tf.while_loop(
        lambda i, v: i < tf.size(x), lambda i, v: (i + 1, v + x[i] / tf.cast(tf.size(x), tf.float32)), [0, tf.constant(0.0)]
    )
    for found, expected in _both(y, lambda length: {x: np.arange(length)}):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_may_have_more_rows():
    x, lengths = tf.placeholder(tf.float32, [None, None, 3]), tf.placeholder(tf.int32, [None])
    tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(4), x, sequence_length=lengths, dtype=tf.float32)
    (loop,) = (op for op in tf.get_default_graph().get_operations() if op.op_def.is_loop)
    names = [[loop.inputs[place].op.type for place in group.places] for group in longer_inputs(loop)]
    assert names == [["TensorBuffer"], ["BufferUnstack"]] or names == [["TensorBuffer"], ["BufferScatter"]]
    assert all(group.is_checked for group in longer_inputs(loop))


def test_a_program_of_one_size_has_no_code_of_loops_made(made):
    x = tf.placeholder(tf.float32, [None])
    y = tf.map_fn(lambda v: v * 2, x)
    with tf.Session() as sess:
        for _ in range(40):
            assert sess.run(y, {x: np.ones(10)}).tolist() == [2] * 10
    assert not made


def test_a_run_that_went_on_compiled_asks_for_no_further_code(made, runs):
    x = tf.placeholder(tf.float32, [None])
    _, y = tf.while_loop(lambda i, v: i < 1000, lambda i, v: (i + 1, v * 0.5 + 1.0), [0, tf.reduce_sum(x)])
    with tf.Session() as sess:
        for length in LENGTHS[:16]:
            assert sess.run(y, {x: np.ones(length)}) == pytest.approx(2.0)
    assert runs
    assert not made
