"""Barriers give elements that are whole, oldest first, and end as TensorFlow 1.15's do."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.ops.data_flow.barrier import Barrier
from weft.ops.data_flow.barrier_state import BarrierState


def test_elements_are_taken_once_all_their_components_are_there() -> None:
    barrier = Barrier((tf.float32, tf.int32), shapes=((2,), ()))
    first = barrier.insert_many(0, ["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
    sizes = [barrier.ready_size(), barrier.incomplete_size()]
    taken = barrier.take_many(1)
    assert taken.indices.shape == [1]
    assert taken.values[0].shape == [1, 2]
    with tf.Session() as sess:
        sess.run(first)
        assert sess.run(sizes) == [0, 2]
        sess.run([barrier.insert_many(1, ["b"], [7]), barrier.insert_many(1, ["a"], [8])])
        assert sess.run(sizes) == [2, 0]
        found = [sess.run(taken) for _ in range(2)]
        assert sorted(each.keys.tolist() for each in found) == [[b"a"], [b"b"]]
        assert {each.keys[0]: each.values[1].tolist() for each in found} == {b"a": [8], b"b": [7]}
        assert found[0].indices.tolist() == found[1].indices.tolist() == [-(1 << 63)]
        sess.run(first)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Key a already has a value for component 0 in barrier"):
            sess.run(first)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Shape mismatch in tuple component 0\. Expected \[2\], got"):
            sess.run(barrier.insert_many(0, ["c"], [[1.0, 2.0, 3.0]]))
        with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out waiting for notification"):
            sess.run(barrier.take_many(1, timeout=1))


def test_a_closed_barrier_lets_elements_become_whole_and_takes_no_new_ones() -> None:
    barrier = Barrier((tf.int32, tf.int32), shapes=((), ()))
    fewer, two = barrier.take_many(5, allow_small_batch=True), barrier.take_many(2)
    with tf.Session() as sess:
        sess.run([barrier.insert_many(0, ["a", "b"], [1, 2])])
        sess.run([barrier.insert_many(1, ["a"], [3])])
        sess.run(barrier.close())
        with pytest.raises(tf.errors.CancelledError, match=r"is closed\.  Pending enqueues cancelled: 0\."):
            sess.run(barrier.insert_many(0, ["new"], [1]))
        assert sess.run(fewer).keys.tolist() == [b"a"]
        sess.run(barrier.insert_many(1, ["b"], [4]))
        with pytest.raises(tf.errors.OutOfRangeError, match=r"is closed and has insufficient elements \(requested 2, total"):
            sess.run(two)
        sess.run(barrier.close(cancel_pending_enqueues=True))
        assert sess.run(fewer).values[1].tolist() == [4]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(fewer)
        with pytest.raises(tf.errors.CancelledError, match="is already closed"):
            sess.run(barrier.close())


def test_who_waits_is_woken_by_what_is_whole_before_a_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    two = BarrierState("two", [tf.int32, tf.int32], [(), ()])
    two.insert(0, [b"b"], np.array([1]))
    two.insert(1, [b"a"], np.array([1]))
    woken: list[int] = []
    monkeypatch.setattr(two._changed, "notify_all", lambda: woken.append(two.ready_size))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Key b already has a value"):
        two.insert(0, [b"a", b"b"], np.array([1, 2]))
    assert woken == [1]


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        (((1,), (0,)), r"Empty tensors are not supported, but received shape '\(0,\)' at index 1"),
        (((None,), ()), r"All shapes must be fully defined: \[TensorShape\(\[Dimension\(None\)\]\), TensorShape\(\[\]\)\]"),
        (((1,),), "A barrier of 2 component types got 1 shapes"),
    ],
)
def test_shapes_are_whole_and_of_something(shapes: tuple[tuple[int | None, ...], ...], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Barrier((tf.float32, tf.float32), shapes=shapes)


def test_components_without_elements_are_refused() -> None:
    insert = Barrier(tf.float32).insert_many(0, ["a", "b"], np.zeros((2, 0), np.float32))
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match=r"Tensors with no elements are not supported .*shape \[2,0\]"),
    ):
        sess.run(insert)


def test_no_keys_are_inserted_with_no_values() -> None:
    # As at the end of sequences, none of which has a further segment.
    barrier = Barrier(tf.float32)
    with tf.Session() as sess:
        sess.run(barrier.insert_many(0, tf.zeros([0], tf.string), np.zeros((0, 2), np.float32)))
        assert sess.run([barrier.ready_size(), barrier.incomplete_size()]) == [0, 0]


@pytest.mark.parametrize(
    ("types", "shapes", "text"),
    [
        (tf.int32, ((2,),), r"has component types float32 but requested component types were int32"),
        (tf.float32, ((1,),), r"has component shapes \[\[2\]\] but requested component shapes were \[\[1\]\]"),
        (tf.float32, None, r"has component shapes \[\[2\]\] but requested component shapes were \[\[\]\]"),
    ],
)
def test_who_shares_a_barrier_means_the_same_components(
    types: tf.DType, shapes: tuple[tuple[int, ...], ...] | None, text: str
) -> None:
    first = Barrier(tf.float32, shapes=((2,),), shared_name="shared")
    same = Barrier(tf.float32, shapes=((2,),), shared_name="shared")
    other = Barrier(types, shapes=shapes, shared_name="shared")
    with tf.Session() as sess:
        sess.run([first.barrier_ref.op, same.barrier_ref.op])
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Shared barrier 'shared' {text}"):
            sess.run(other.barrier_ref.op)
