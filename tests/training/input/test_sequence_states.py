"""Sequences are cut into segments, whose states go from step to step, as in TensorFlow 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

_training = tf.contrib.training


def _saver(**changed: Any) -> Any:
    key, length = tf.placeholder(tf.string, []), tf.placeholder(tf.int32, [])
    sequence = tf.placeholder(tf.float32, [None, 2])
    given: dict[str, Any] = {
        "batch_size": 2, "num_unroll": 2, "input_length": length, "input_key": key, "input_sequences": {"x": sequence},
        "input_context": {"c": key}, "initial_states": {"s": tf.zeros([3]), "r": tf.constant(1)},
    }  # fmt: skip
    saver = _training.SequenceQueueingStateSaver(**{**given, **changed})

    def put(sess: tf.Session, name: str, steps: int, rows: int) -> None:
        sess.run(saver.prefetch_op, {key: name, length: steps, sequence: np.arange(2 * rows).reshape(rows, 2)})

    return saver, put


def test_states_reach_the_segment_that_follows() -> None:
    saver, put = _saver(capacity=8)
    batch = saver.next_batch
    assert batch is saver.next_batch
    saved = [batch.save_state("s", batch.state("s") + 1), batch.save_state("r", batch.state("r") * 2)]
    shown = [batch.key, batch.next_key, batch.length, batch.total_length, batch.sequence, batch.sequence_count,
             batch.context["c"], batch.state("r"), batch.sequences["x"], batch.state("s")]  # fmt: skip
    with tf.Session() as sess:
        for name, steps, rows in (("a", 3, 4), ("b", 2, 2), ("d", 5, 6)):
            put(sess, name, steps, rows)
        assert sess.run([saver.barrier.ready_size(), saver.barrier.incomplete_size()]) == [3, 3]
        first, _ = sess.run([shown, saved])
        second, _ = sess.run([shown, saved])
    assert [each.tolist() for each in first[:8]] == [
        [b"00000_of_00002:a", b"00000_of_00001:b"], [b"00001_of_00002:a", b"STOP:b"], [2, 2], [3, 2], [0, 0], [2, 1],
        [b"a", b"b"], [1, 1],
    ]  # fmt: skip
    assert [each.tolist() for each in second[:8]] == [
        [b"00001_of_00002:a", b"00000_of_00003:d"], [b"STOP:a", b"00001_of_00003:d"], [1, 2], [3, 5], [1, 0], [2, 3],
        [b"a", b"d"], [2, 1],
    ]  # fmt: skip
    assert second[8].tolist() == [[[4, 5], [6, 7]], [[0, 1], [2, 3]]]
    assert second[9].tolist() == [[1, 1, 1], [0, 0, 0]]


def test_a_pipeline_of_sequences_trains_a_network_and_ends() -> None:
    number = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    steps = number * 2 + 1
    batch = _training.batch_sequences_with_states(
        input_key=tf.as_string(number), input_sequences={"x": tf.ones([steps, 1])}, input_context={"i": number},
        input_length=steps, initial_states={"state": tf.zeros([2])}, num_unroll=2, batch_size=2, num_threads=1,
    )  # fmt: skip
    cell = tf.nn.rnn_cell.BasicRNNCell(2)
    inputs = tf.unstack(batch.sequences["x"], axis=1)
    _, state = tf.nn.static_state_saving_rnn(cell, inputs, batch, "state", sequence_length=batch.length)
    before = tf.norm(batch.state("state"), axis=1)
    found: dict[bytes, list[float]] = {}
    with tf.train.MonitoredSession() as sess:
        while not sess.should_stop():
            keys, norms, _ = sess.run([batch.key, before, state])
            for key, norm in zip(keys, norms, strict=True):
                found.setdefault(key[-1:], []).append(norm)
    assert {key: len(norms) for key, norms in found.items()} == {b"0": 1, b"1": 2, b"2": 3}
    assert all(norms[0] == 0 and min(norms[1:], default=1) > 0 for norms in found.values())


def test_keys_can_be_made_unique() -> None:
    batch = _training.batch_sequences_with_states(
        "k", {"x": tf.zeros([3])}, {}, None, {"s": tf.zeros([])}, num_unroll=2, batch_size=1, num_threads=1, capacity=1,
        make_keys_unique=True, make_keys_unique_seed=1,
    )  # fmt: skip
    shown = [batch.key[0], batch.total_length[0]]
    with tf.train.MonitoredSession() as sess:
        key, length = sess.run(shown)
    assert key.startswith(b"00000_of_00002:k:")
    assert length == 3


def test_a_sequence_must_be_as_long_as_told_and_a_multiple_of_the_segments() -> None:
    saver, put = _saver()
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"should be a multiple of: 2, but saw value: \] \[3\]"):
            put(sess, "z", 3, 3)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input length should be <= than length from sequences:"):
            put(sess, "z", 9, 4)
        sess.run(saver.close())
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(saver.next_batch.key)


@pytest.mark.parametrize(
    ("changed", "error", "told"),
    [
        ({"capacity": 1}, ValueError, "capacity 1 needs to be >= batch_size 2"),
        ({"num_unroll": 0}, ValueError, "num_unroll must be a positive int"),
        ({"initial_states": {}}, ValueError, "initial_states may not be empty"),
        ({"initial_states": 3}, TypeError, "initial_states must be a dictionary"),
        ({"input_sequences": {}}, ValueError, "must have at least one sequence tensor"),
        ({"input_sequences": {1: 2.0}}, TypeError, "sequence key must be string: 1"),
        ({"input_sequences": {"x": 1.0}}, ValueError, "sequence x needs a time dimension"),
        ({"input_key": 3}, TypeError, "key dtype must be string"),
        ({"input_length": [1]}, ValueError, r"Shape \(1,\) must have rank 0"),
    ],
)
def test_what_makes_no_segments_is_refused(changed: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        _saver(**changed)


@pytest.mark.parametrize(
    ("use", "error", "told"),
    [
        (lambda batch: batch.state("q"), KeyError, "q"),
        (lambda batch: batch.save_state("q", 1.0), KeyError, "state was not declared: q"),
        (lambda batch: batch.save_state("s", tf.zeros([2, 4])), ValueError, r"Shapes \(2, 4\) and \(2, 3\) are not compatible"),
    ],
)
def test_states_have_names_and_shapes(use: Callable[[Any], object], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        use(_saver()[0].next_batch)
