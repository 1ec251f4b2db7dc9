"""Batching: sparse components that are dropped, several threads, and what is left behind."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


def collected(batch: object) -> list[object]:
    found = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        with coord.stop_on_exception():
            while not coord.should_stop():
                found.append(session.run(batch))
        coord.join(threads, stop_grace_period_secs=10)
    return found


def numbers(count: int) -> tf.Tensor:
    return tf.cast(tf.train.slice_input_producer([np.arange(count)], num_epochs=1, shuffle=False)[0], tf.int64)


def as_sparse(x: tf.Tensor) -> tf.SparseTensor:
    return tf.SparseTensor(tf.reshape(x, [1, 1]), tf.reshape(x * 10, [1]), [9])


def test_a_sparse_component_that_is_not_kept_leaves_nothing_behind() -> None:
    x = numbers(6)
    batch = tf.train.maybe_batch([as_sparse(x), x], x % 2 > 0, 3)
    ((sparse, dense),) = collected(batch)
    assert dense.tolist() == [1, 3, 5]
    assert sparse.values.tolist() == [10, 30, 50]
    assert sparse.indices.tolist() == [[0, 1], [1, 3], [2, 5]]


def test_rows_of_a_sparse_minibatch_are_kept_by_a_vector() -> None:
    dense = tf.placeholder_with_default(tf.constant([5, 6, 7]), [3])
    sparse = tf.SparseTensor([[0, 1], [1, 0], [2, 2]], [1.0, 2.0, 3.0], [3, 4])
    batch = tf.train.maybe_batch([sparse, dense], tf.constant([True, False, True]), 2, enqueue_many=True)
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        kept, rows = session.run(batch)
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
    assert rows.tolist() == [5, 7]
    assert kept.dense_shape.tolist() == [2, 4]
    assert kept.values.tolist() == [1.0, 3.0]
    assert kept.indices.tolist() == [[0, 1], [1, 2]]


def test_pipelines_that_are_joined_share_one_map_of_sparse_components() -> None:
    batch = tf.train.batch_join([[as_sparse(numbers(3))], [as_sparse(numbers(3))]], 6)
    (sparse,) = collected(batch)
    assert sorted(sparse.values.tolist()) == [0, 0, 10, 10, 20, 20]


def test_every_example_comes_once_with_many_threads() -> None:
    x = numbers(100)
    batches = collected(tf.train.shuffle_batch([x], 10, 50, 20, num_threads=4, seed=1))
    assert sorted(np.concatenate(batches).tolist()) == list(range(100))


def test_shuffling_mixes() -> None:
    x = numbers(60)
    batches = np.concatenate(collected(tf.train.shuffle_batch([x], 10, 60, 40, seed=1)))
    assert batches.tolist() != sorted(batches.tolist())


def test_what_a_batch_needs_to_know_of_keep_input() -> None:
    with pytest.raises(ValueError, match="dimensions must be known"):
        tf.train.maybe_batch([1], tf.placeholder(tf.bool), 2)
    with pytest.raises(ValueError, match="must be 0 or 1 dimensions"):
        tf.train.maybe_batch([1], [[True]], 2)


def test_dicts_of_several_pipelines_agree_in_their_keys() -> None:
    with pytest.raises(ValueError, match="same keys"):
        tf.train.batch_join([{"a": 1}, {"b": 1}], 2)


def test_rows_of_a_sparse_minibatch_are_kept_where_only_a_run_knows_its_rank() -> None:
    sparse = tf.SparseTensor(
        tf.placeholder_with_default(np.array([[0, 1], [1, 0], [2, 2]]), None),
        tf.placeholder_with_default([1.0, 2.0, 3.0], None),
        tf.placeholder_with_default(np.array([3, 4]), None),
    )
    batch = tf.train.maybe_batch([sparse], tf.constant([True, False, True]), 2, enqueue_many=True)
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        found = session.run(batch)
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
    assert found.values.tolist() == [1.0, 3.0]
    assert found.indices.tolist() == [[0, 1], [1, 2]]
