"""dynamic_rnn: the same as the steps one after the other, for sequences of any length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf

BATCH, STEPS, SIZE, UNITS = 3, 4, 2, 5


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        yield


def _inputs() -> Any:
    return np.random.RandomState(0).randn(BATCH, STEPS, SIZE).astype(np.float32)


def _run(fetches: Any, feed: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


@pytest.mark.parametrize("lengths", [None, [0, 2, 4]])
def test_the_loop_computes_what_the_steps_compute(lengths: Any) -> None:
    cell = tf.nn.rnn_cell.BasicLSTMCell(UNITS)
    x = tf.constant(_inputs())
    steps, state = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32, sequence_length=lengths)
    outputs, last = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
    assert outputs.shape.as_list() == [BATCH, STEPS, UNITS]
    variables = tf.trainable_variables()
    assert [variable.op.name for variable in variables] == ["rnn/basic_lstm_cell/kernel", "rnn/basic_lstm_cell/bias"]
    expected = tf.gradients(tf.reduce_sum(tf.stack(steps) ** 2), variables)
    found = tf.gradients(tf.reduce_sum(outputs**2), variables)
    values = _run([tf.stack(steps, axis=1), outputs, state, last, expected, found])
    np.testing.assert_allclose(values[1], values[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(values[3], values[2], rtol=1e-5, atol=1e-6)
    for one, other in zip(values[4], values[5], strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)


def test_batch_and_steps_may_be_unknown() -> None:
    x = tf.placeholder(tf.float32, [None, None, SIZE])
    outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(UNITS), x, dtype=tf.float32)
    assert outputs.shape.as_list() == [None, None, UNITS]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for batch, steps in ((1, 2), (3, 5)):
            made, last = session.run([outputs, state], {x: np.ones((batch, steps, SIZE))})
            assert made.shape == (batch, steps, UNITS)
            np.testing.assert_array_equal(made[:, -1], last)


def test_time_may_come_first() -> None:
    cell = tf.nn.rnn_cell.BasicRNNCell(UNITS)
    x = tf.constant(_inputs())
    outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    timed, _ = tf.nn.dynamic_rnn(cell, tf.transpose(x, [1, 0, 2]), dtype=tf.float32, time_major=True)
    one, other = _run([outputs, timed])
    np.testing.assert_allclose(other.transpose(1, 0, 2), one, rtol=1e-6)


def test_a_first_state_may_be_given() -> None:
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(UNITS) for _ in range(2)])
    state = cell.zero_state(BATCH, tf.float32)
    _, last = tf.nn.dynamic_rnn(cell, tf.constant(_inputs()), initial_state=state)
    assert isinstance(last[1], tf.nn.rnn_cell.LSTMStateTuple)
    assert _run(last)[1].h.shape == (BATCH, UNITS)


def test_the_second_direction_starts_at_each_sequence_end() -> None:
    forward, backward = tf.nn.rnn_cell.BasicRNNCell(UNITS), tf.nn.rnn_cell.BasicRNNCell(UNITS)
    outputs, states = tf.nn.bidirectional_dynamic_rnn(
        forward, backward, tf.constant(_inputs()), sequence_length=[1, 2, 4], dtype=tf.float32
    )
    (_, back), (_, last) = _run([outputs, states])
    assert not back[0, 1:].any()
    np.testing.assert_allclose(back[:, 0], last, rtol=1e-6)


def test_a_loop_trains() -> None:
    x, y = tf.constant(_inputs()), tf.ones([BATCH, UNITS])
    _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(UNITS), x, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(state - y))
    step = tf.train.AdamOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(20):
            session.run(step)
        assert session.run(loss) < before / 2


def test_a_type_or_a_state_is_needed() -> None:
    with pytest.raises(ValueError, match="you must give a dtype"):
        tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.constant(_inputs()))
