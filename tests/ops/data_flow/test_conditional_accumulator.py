"""Conditional accumulators: fresh gradients are summed, stale ones dropped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_taking_gives_the_mean_of_all_and_raises_the_step() -> None:
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[2])
    step = tf.placeholder(tf.int64, [])
    add, take, count = accumulator.apply_grad([2.0, 4.0], step), accumulator.take_grad(1), accumulator.num_accumulated()
    with tf.Session() as session:
        session.run(add, {step: 0})
        session.run(accumulator.apply_grad([4.0, 8.0]))
        assert session.run(count) == 2
        np.testing.assert_array_equal(session.run(take), [3.0, 6.0])
        session.run(add, {step: 0})
        assert session.run(count) == 0
        session.run(add, {step: 1})
        assert session.run(count) == 1
        session.run(accumulator.set_global_step(5))
        session.run(add, {step: 4})
        assert session.run(count) == 1


def test_the_sum_can_be_asked_for() -> None:
    accumulator = tf.ConditionalAccumulator(tf.float64, shape=[], reduction_type="SUM")
    with tf.Session() as session:
        for _ in range(3):
            session.run(accumulator.apply_grad(2.0))
        assert session.run(accumulator.take_grad(3)) == 6.0


def test_taking_waits_for_enough_gradients() -> None:
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[])
    add, take = accumulator.apply_grad(1.0), accumulator.take_grad(2)
    found: list[Any] = []
    with tf.Session() as session:
        session.run(add)
        thread = threading.Thread(target=lambda: found.append(session.run(take)), daemon=True)
        thread.start()
        thread.join(0.1)
        assert thread.is_alive()
        session.run(add)
        thread.join(30)
        assert found == [1.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="num_required must be positive, but was 0"):
            session.run(accumulator.take_grad(0))
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(take, options=tf.RunOptions(timeout_in_ms=50))


def test_closing_the_session_ends_waiting() -> None:
    take = tf.ConditionalAccumulator(tf.float32, shape=[]).take_grad(1)
    session = tf.Session()
    errors: list[BaseException] = []

    def run() -> None:
        try:
            session.run(take)
        except tf.errors.OpError as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(0.1)
    session.close()
    thread.join(30)
    assert [type(error) for error in errors] == [tf.errors.CancelledError]


def test_shapes_are_checked() -> None:
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[2])
    unknown = tf.placeholder(tf.float32)
    with pytest.raises(ValueError, match="incompatible"):
        accumulator.apply_grad([1.0, 2.0, 3.0])
    message = r"Shape mismatch: expected \(2,\), got \[3\]"
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(accumulator.apply_grad(unknown), {unknown: [1.0, 2.0, 3.0]})


def test_a_number_of_another_type_is_refused_as_a_node_s_input_is() -> None:
    accumulators = (tf.ConditionalAccumulator(tf.float32, shape=()), tf.SparseConditionalAccumulator(tf.float32))
    for accumulator in accumulators:
        with pytest.raises(TypeError, match="num_required"):
            accumulator.take_grad(tf.constant(1, tf.int64))


def test_rows_are_averaged_over_the_gradients_that_have_them() -> None:
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[5, 2])
    with tf.Session() as session:
        session.run(accumulator.apply_grad([1, 3], [[1.0, 1.0], [2.0, 2.0]]))
        session.run(accumulator.apply_indexed_slices_grad(tf.IndexedSlices([[4.0, 4.0]], [3])))
        # A row that occurs twice is one contribution.
        session.run(accumulator.apply_grad([0, 0], [[1.0, 0.0], [1.0, 0.0]]))
        value = session.run(accumulator.take_indexed_slices_grad(3))
        assert value.indices.tolist() == [0, 1, 3]
        assert value.values.tolist() == [[2.0, 0.0], [1.0, 1.0], [3.0, 3.0]]
        assert value.dense_shape.tolist() == [5, 2]
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="index of slice 0 exceeded limits of shape; index is 5 exceeded 5"
        ):
            session.run(accumulator.apply_grad([5], [[1.0, 1.0]]))


def test_a_number_in_place_of_a_gradients_shape_is_told_as_such() -> None:
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=r"Input shape should be vector .*: \[\]"):
        session.run(accumulator.apply_grad([1], [[1.0, 1.0]], 0))


def test_rows_come_in_the_order_of_the_first_gradient() -> None:
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[5, 1])
    with tf.Session() as session:
        for _ in range(2):
            session.run(accumulator.apply_grad([2, 0], [[1.0], [3.0]]))
        value = session.run(accumulator.take_indexed_slices_grad(2))
        assert value.indices.tolist() == [2, 0]
        assert value.values.tolist() == [[1.0], [3.0]]
        for indices in ([1, 3], [0, 3, 4]):
            session.run(accumulator.apply_grad(indices, np.ones((len(indices), 1), np.float32), local_step=1))
        assert session.run(accumulator.take_indexed_slices_grad(2)).indices.tolist() == [0, 1, 3, 4]


def test_sessions_on_a_server_share_an_accumulator_by_name() -> None:
    with tf.train.Server.create_local_server() as server:
        with tf.Graph().as_default(), tf.Session(server.target) as session:
            session.run(tf.ConditionalAccumulator(tf.float32, [], shared_name="sum").apply_grad(5.0))
        with tf.Graph().as_default(), tf.Session(server.target) as session:
            assert session.run(tf.ConditionalAccumulator(tf.float32, [], shared_name="sum").take_grad(1)) == 5.0
            other = tf.ConditionalAccumulator(tf.float32, [2], shared_name="sum")
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"has shape \(\) but requested shape was \(2,\)"):
                session.run(other.num_accumulated())


@pytest.mark.parametrize(
    ("shape", "sizes", "told"),
    [([2, None], (1, 3), [2, 3]), ([2, None], (1, 2, 2), [2, 2, 2]), ([None, 2], (1, 2), [-1, 2]), (None, (1, 4), [-1, 4])],
)
def test_sizes_that_rows_were_not_told_are_the_gradients(
    shape: list[int | None] | None, sizes: tuple[int, ...], told: list[int]
) -> None:
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=shape)
    added, taken = accumulator.apply_grad([0], np.ones(sizes, np.float32)), accumulator.take_grad(1)
    with tf.Session() as session:
        session.run(added)
        assert session.run(taken)[2].tolist() == told


@pytest.mark.parametrize(
    ("indices", "sizes", "shape", "text"),
    [
        ([0], (1, 2), [2, 2], "expected shape rank at least 3, got 2"),
        ([0], (1, 3, 2), [2, 3, 2], "expected shape dim 1 to be 2, got 3"),
        ([1, 3], (2, 2, 2), None, "index of slice 1 exceeded limits of shape; index is 3 exceeded 2"),
        ([0], (1, 2), None, "expected values rank at least 3, got 2"),
        ([0], (1, 3, 1), None, "expected values dim 1 to be 2, got 3"),
        ([0], (1, 2, 5), None, "expected values dim 2 to be 4, got 5"),
        ([0], (1, 2, 4, 1), None, "expected values rank 3, got 4"),
        ([0, 1], (1, 2, 4), None, "Expected 2 non-empty input values, got 1"),
        ([0], (), None, "Values cannot be 0-dimensional"),
    ],
)
def test_rows_that_do_not_fit_are_told_what_differs(
    indices: list[int], sizes: tuple[int, ...], shape: list[int] | None, text: str
) -> None:
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[2, 2, None])
    first = accumulator.apply_grad([1], np.ones((1, 2, 4), np.float32))
    wrong = accumulator.apply_grad(indices, np.ones(sizes, np.float32), shape)
    with tf.Session() as session:
        session.run(first)
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            session.run(wrong)
