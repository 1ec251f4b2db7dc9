"""bucket and bucket_by_sequence_length: batches of examples that are alike; expected batches are TensorFlow 1.15.5's."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

import weft as tf

training = tf.contrib.training


def numbers() -> Any:
    return tf.train.range_input_producer(10, num_epochs=1, shuffle=False).dequeue()


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.tolist()


def batches(out: Any) -> list[Any]:
    found = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        with contextlib.suppress(tf.errors.OutOfRangeError):
            while len(found) < 20:
                found.append(plain(session.run(out)))
        coordinator.request_stop()
        coordinator.join(threads)
    return sorted(found, key=str)


def test_each_bucket_makes_batches_that_are_padded() -> None:
    number = numbers()
    out = training.bucket([number, tf.fill([number], number)], tf.mod(number, 2), 3, 2, dynamic_pad=True)
    assert [each.shape.as_list() for each in out[1]] == [[3], [3, None]]
    # Four, seven and so on do not fill a batch.
    assert batches(out) == [
        [0, [[0, 2, 4], [[0, 0, 0, 0], [2, 2, 0, 0], [4, 4, 4, 4]]]],
        [1, [[1, 3, 5], [[1, 0, 0, 0, 0], [3, 3, 3, 0, 0], [5, 5, 5, 5, 5]]]],
    ]


def test_buckets_have_sizes_of_their_own_and_smaller_last_batches() -> None:
    number = numbers()
    out = training.bucket(
        {"n": number, "text": tf.as_string(number)}, tf.mod(number, 2), [2, 3], 2, bucket_capacities=[4, 6],
        allow_smaller_final_batch=True, keep_input=tf.not_equal(number, 4), name="alike",
    )  # fmt: skip
    assert [[which, batch["n"]] for which, batch in batches(out)] == [[0, [0, 2]], [0, [6, 8]], [1, [1, 3, 5]], [1, [7, 9]]]
    runners = [runner.name for runner in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]
    assert runners == ["input_producer", "alike/bucket_queue_0", "alike/top_queue"]
    assert out[0].op.name == "alike/dequeue_top"


def test_sequences_of_about_one_length_come_together() -> None:
    length = numbers()
    words = tf.fill([length], length)
    out = training.bucket_by_sequence_length(length, [words], 2, [3, 6], dynamic_pad=True, allow_smaller_final_batch=True)
    assert [lengths for lengths, _ in batches(out)] == [[0, 1], [2], [3, 4], [5], [6, 7], [8, 9]]


def test_a_batch_of_sequences_has_the_structure_of_an_example() -> None:
    length = numbers()
    words = tf.fill([length], length)
    tensors = {"words": words, "double": words * 2}
    out = training.bucket_by_sequence_length(length, tensors, [2, 1, 4], (3, 6), dynamic_pad=True)
    assert batches(out)[0] == [[0, 1], {"words": [[0], [1]], "double": [[0], [2]]}]
    _, alone = training.bucket_by_sequence_length(length, {"words": words}, 2, [3], dynamic_pad=True)
    assert isinstance(alone["words"], list)


def test_sparse_examples_are_batched() -> None:
    number = numbers()
    row = tf.SparseTensor(tf.cast(tf.reshape(number, [1, 1]), tf.int64), tf.reshape(number, [1]), [20])
    which, batch = training.bucket([row], tf.mod(number, 2), 2, 2)
    assert batches([which, batch.values, batch.dense_shape])[:2] == [[0, [0, 2], [2, 20]], [0, [4, 6], [2, 20]]]


@pytest.mark.parametrize(
    ("boundaries", "error", "text"),
    [
        (3, TypeError, "bucket_boundaries must be a list or tuple, but received: 3"),
        ([], ValueError, "bucket_boundaries must not be empty"),
        ([1, 1], ValueError, "sequential increasing lengths, but saw: 1 before 1"),
        ([1.5, 2], TypeError, "bucket boundaries must be integers"),
    ],
)
def test_boundaries_increase(boundaries: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        training.bucket_by_sequence_length(1, [tf.constant(1)], 2, boundaries)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"batch_size": [1]}, "If batch_size is a list it must have num_buckets elements"),
        ({"bucket_capacities": [3]}, "must have exactly num_buckets"),
        ({"tensors": []}, "Expected at least one tensor in bucket"),
        ({"keep_input": [True]}, "`keep_input` cannot be a vector"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(changed: dict[str, Any], text: str) -> None:
    arguments = {"tensors": [tf.constant(1)], "which_bucket": 0, "batch_size": 1, "num_buckets": 2}
    with pytest.raises(ValueError, match=text):
        training.bucket(**{**arguments, **changed})
