"""Queues: order, blocking, closing, sharing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


class Call:
    """A call on a thread of its own."""

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self._outcome: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(function, *args), daemon=True)
        self._thread.start()

    def _run(self, function: Callable[..., Any], *args: Any) -> None:
        try:
            self._outcome = function(*args)
        except BaseException as error:
            self._error = error

    def is_blocked(self) -> bool:
        self._thread.join(0.1)
        return self._thread.is_alive()

    def result(self) -> Any:
        self._thread.join(30)
        assert not self._thread.is_alive()
        if self._error is not None:
            raise self._error
        return self._outcome


def test_elements_come_out_in_order() -> None:
    queue = tf.FIFOQueue(10, [tf.int32, tf.string], shapes=[[], []])
    number, text = tf.placeholder(tf.int32, []), tf.placeholder(tf.string, [])
    put, take, size = queue.enqueue([number, text]), queue.dequeue(), queue.size()
    with tf.Session() as session:
        for n in range(3):
            session.run(put, {number: n, text: f"{n}\0"})
        assert session.run(size) == 3
        assert [session.run(take) for _ in range(3)] == [[n, f"{n}\0".encode()] for n in range(3)]


def test_a_batch_is_taken_apart_and_put_together() -> None:
    queue = tf.FIFOQueue(10, [tf.float32, tf.string], shapes=[[2], []])
    rows = np.arange(8, dtype=np.float32).reshape(4, 2)
    put, take = queue.enqueue_many([rows, ["a", "b", "c", "d"]]), queue.dequeue_many(3)
    assert [tensor.shape.as_list() for tensor in take] == [[3, 2], [3]]
    with tf.Session() as session:
        session.run(put)
        values, texts = session.run(take)
    np.testing.assert_array_equal(values, rows[:3])
    assert texts.tolist() == [b"a", b"b", b"c"]


def test_elements_may_be_dicts() -> None:
    queue = tf.FIFOQueue(10, [tf.int32, tf.int32], shapes=[[], []], names=["a", "b"])
    with pytest.raises(ValueError, match="You must enqueue a dictionary"):
        queue.enqueue([1, 2])
    with pytest.raises(ValueError, match="do not match names of Queue"):
        queue.enqueue({"a": 1, "c": 2})
    with tf.Session() as session:
        session.run(queue.enqueue({"b": 2, "a": 1}))
        assert session.run(queue.dequeue()) == {"a": 1, "b": 2}
    with pytest.raises(ValueError, match="Queue must have names"):
        tf.FIFOQueue(1, tf.int32).enqueue({"a": 1})


def test_enqueue_waits_for_room_and_dequeue_for_elements() -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[])
    put, take, take_two = queue.enqueue(7), queue.dequeue(), queue.dequeue_many(2)
    with tf.Session() as session:
        taking = Call(session.run, take)
        assert taking.is_blocked()
        session.run(put)
        assert taking.result() == 7
        session.run(put)
        putting = Call(session.run, put)
        assert putting.is_blocked()
        assert session.run(take) == 7
        putting.result()
        # A batch may be larger than the queue.
        both = Call(session.run, take_two)
        session.run(put)
        assert both.result().tolist() == [7, 7]


def test_order_holds_under_concurrency() -> None:
    queue = tf.FIFOQueue(3, tf.int32, shapes=[])
    batch = tf.placeholder(tf.int32, [None])
    put, take = queue.enqueue_many([batch]), queue.dequeue()
    with tf.Session() as session:
        putting = [Call(session.run, put, {batch: range(100 * n, 100 * n + 50)}) for n in range(3)]
        taken = [int(session.run(take)) for _ in range(150)]
        for call in putting:
            call.result()
    for n in range(3):
        assert [each for each in taken if each // 100 == n] == list(range(100 * n, 100 * n + 50))


def test_a_closed_queue_gives_what_it_has_and_takes_no_more() -> None:
    queue = tf.FIFOQueue(10, tf.int32, shapes=[], name="closing")
    put, close = queue.enqueue_many([[1, 2, 3]]), queue.close()
    with tf.Session() as session:
        session.run(put)
        assert not session.run(queue.is_closed())
        session.run(close)
        assert session.run(queue.is_closed())
        with pytest.raises(tf.errors.CancelledError, match="is closed"):
            session.run(put)
        with pytest.raises(tf.errors.OutOfRangeError, match=r"insufficient elements \(requested 4, current size 3\)"):
            session.run(queue.dequeue_many(4))
        assert session.run(queue.dequeue_up_to(2)).tolist() == [1, 2]
        assert session.run(queue.dequeue_up_to(2)).tolist() == [3]
        with pytest.raises(tf.errors.OutOfRangeError, match="FIFOQueue 'closing' is closed and has insufficient elements"):
            session.run(queue.dequeue_up_to(2))


def test_closing_ends_those_who_wait_for_elements() -> None:
    queue = tf.FIFOQueue(10, tf.int32, shapes=[])
    take, close = queue.dequeue_many(2), queue.close()
    with tf.Session() as session:
        session.run(queue.enqueue(1))
        taking = Call(session.run, take)
        assert taking.is_blocked()
        session.run(close)
        with pytest.raises(tf.errors.OutOfRangeError, match="insufficient elements"):
            taking.result()
        assert session.run(queue.size()) == 1


def test_closing_lets_those_who_wait_for_room_finish_or_cancels_them() -> None:
    for cancel in (False, True):
        queue = tf.FIFOQueue(1, tf.int32, shapes=[])
        put, take, close = queue.enqueue(1), queue.dequeue(), queue.close(cancel_pending_enqueues=cancel)
        with tf.Session() as session:
            session.run(put)
            putting = Call(session.run, put)
            assert putting.is_blocked()
            closing = Call(session.run, close)
            if cancel:
                closing.result()
                with pytest.raises(tf.errors.CancelledError, match="was cancelled"):
                    putting.result()
            else:
                assert closing.is_blocked()
                assert session.run(take) == 1
                putting.result()
                closing.result()
            assert session.run(take) == 1
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(take)


def test_closing_the_session_ends_all_waiting() -> None:
    empty, full = tf.FIFOQueue(1, tf.int32), tf.FIFOQueue(1, tf.int32)
    take, put = empty.dequeue(), full.enqueue(1)
    session = tf.Session()
    session.run(put)
    waiting = [Call(session.run, take), Call(session.run, put)]
    assert all(call.is_blocked() for call in waiting)
    session.close()
    for call in waiting:
        with pytest.raises(tf.errors.CancelledError, match="was cancelled"):
            call.result()


def test_a_timeout_ends_waiting_and_leaves_the_elements() -> None:
    queue = tf.FIFOQueue(5, tf.int32, shapes=[])
    take = queue.dequeue_many(3)
    with tf.Session() as session:
        session.run(queue.enqueue_many([[1, 2]]))
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(take, options=tf.RunOptions(timeout_in_ms=50))
        assert session.run(queue.size()) == 2
        session.run(queue.enqueue(3))
        assert session.run(take).tolist() == [1, 2, 3]


def test_shapes_are_checked() -> None:
    queue = tf.FIFOQueue(5, [tf.int32], shapes=[[2]])
    unknown = tf.placeholder(tf.int32)
    with pytest.raises(ValueError, match="incompatible"):
        queue.enqueue([1])
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch in tuple component 0"):
            session.run(queue.enqueue([unknown]), {unknown: [1, 2, 3]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="require the components to have specified shapes"):
            session.run(tf.FIFOQueue(5, tf.int32).dequeue_many(1))
    with pytest.raises(ValueError, match="same length as dtypes"):
        tf.FIFOQueue(5, [tf.int32, tf.int32], shapes=[[2]])
    with pytest.raises(ValueError, match="fully defined"):
        tf.FIFOQueue(5, [tf.int32], shapes=[[None]])


def test_a_shuffling_queue_keeps_some_to_choose_from() -> None:
    queue = tf.RandomShuffleQueue(100, 5, tf.int32, shapes=[], seed=3)
    take, rest = queue.dequeue_many(10), queue.dequeue_many(5)
    with tf.Session() as session:
        session.run(queue.enqueue_many([range(15)]))
        first = session.run(take).tolist()
        waiting = Call(session.run, rest)
        assert waiting.is_blocked()
        session.run(queue.close())
        assert sorted(first + waiting.result().tolist()) == list(range(15))
    assert first != sorted(first)


def test_the_same_seed_gives_the_same_shuffle() -> None:
    orders = []
    for _ in range(2):
        with tf.Graph().as_default(), tf.Session() as session:
            queue = tf.RandomShuffleQueue(100, 0, tf.int32, shapes=[], seed=3)
            session.run(queue.enqueue_many([range(20)]))
            orders.append(session.run(queue.dequeue_many(20)).tolist())
    assert orders[0] == orders[1]


def test_batches_of_a_padding_queue_are_as_large_as_their_largest_element() -> None:
    queue = tf.PaddingFIFOQueue(10, [tf.int32, tf.string], shapes=[[None, 1], [None]])
    first, second = tf.placeholder(tf.int32, [None, 1]), tf.placeholder(tf.string, [None])
    put, take = queue.enqueue([first, second]), queue.dequeue_many(2)
    assert [tensor.shape.as_list() for tensor in take] == [[2, None, 1], [2, None]]
    with tf.Session() as session:
        session.run(put, {first: [[1]], second: ["a", "b"]})
        session.run(put, {first: [[2], [3]], second: ["c"]})
        numbers, texts = session.run(take)
    assert numbers.tolist() == [[[1], [0]], [[2], [3]]]
    assert texts.tolist() == [[b"a", b"b"], [b"c", b""]]
    with pytest.raises(ValueError, match="a list of shapes must be provided"):
        tf.PaddingFIFOQueue(10, tf.int32, shapes=[None])


def test_a_priority_queue_gives_the_smallest_first() -> None:
    queue = tf.PriorityQueue(10, tf.string, shapes=[[]])
    with tf.Session() as session:
        session.run(queue.enqueue_many([np.array([3, 1, 2, 1]), ["c", "a", "b", "a2"]]))
        priorities, texts = session.run(queue.dequeue_many(4))
    assert priorities.tolist() == [1, 1, 2, 3]
    assert texts.tolist() == [b"a", b"a2", b"b", b"c"]


def test_sessions_on_a_server_share_a_queue_by_name() -> None:
    with tf.train.Server.create_local_server() as server:
        with tf.Graph().as_default(), tf.Session(server.target) as session:
            session.run(tf.FIFOQueue(3, tf.int32, shared_name="jobs").enqueue(5))
        with tf.Graph().as_default(), tf.Session(server.target) as session:
            assert session.run(tf.FIFOQueue(3, tf.int32, shared_name="jobs").dequeue()) == 5
            others = [
                (tf.FIFOQueue(4, tf.int32, shared_name="jobs"), "has capacity 3 but requested capacity was 4"),
                (tf.FIFOQueue(3, tf.int64, shared_name="jobs"), "has component types .* but requested component types"),
                (tf.FIFOQueue(3, tf.int32, [[]], shared_name="jobs"), "has component shapes .* but requested component shapes"),
                (tf.RandomShuffleQueue(3, 0, tf.int32, shared_name="jobs"), "has type 'FIFOQueue' but requested type"),
            ]
            for queue, message in others:
                with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                    session.run(queue.size())


def test_the_seed_of_a_shared_queue_follows_from_its_name_as_tensorflows_does() -> None:
    tf.set_random_seed(87654321)
    queue = tf.RandomShuffleQueue(3, 0, tf.int32, shared_name="q")
    assert queue.queue_ref.op.get_attr("seed2") == 1072948243


def test_a_shared_queue_without_a_seed_takes_that_of_the_others() -> None:
    queues = [tf.RandomShuffleQueue(3, 0, tf.int32, seed=seed, shared_name="q") for seed in (5, None, 6)]
    with tf.Session() as session:
        session.run(queues[0].enqueue(7))
        assert session.run(queues[1].dequeue()) == 7
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"has random seeds .* but requested random seeds were"):
            session.run(queues[2].size())


def test_a_queue_is_chosen_from_a_list() -> None:
    queues = [tf.FIFOQueue(3, tf.int32), tf.FIFOQueue(3, tf.int32)]
    index = tf.placeholder(tf.int32)
    chosen = tf.QueueBase.from_list(index, queues)
    sizes = [queue.size() for queue in queues]
    with tf.Session() as session:
        session.run(chosen.enqueue(7), {index: 1})
        assert session.run(sizes) == [0, 1]
        assert session.run(chosen.dequeue(), {index: 1}) == 7
        with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
            session.run(chosen.size(), {index: 2})
    with pytest.raises(TypeError, match="A list of queues expected"):
        tf.QueueBase.from_list(0, [])
    with pytest.raises(TypeError, match="matching component dtypes"):
        tf.QueueBase.from_list(0, [queues[0], tf.FIFOQueue(3, tf.int64)])


@pytest.mark.parametrize(
    ("shapes", "common"),
    [([[1], [2]], [None]), ([[1, None], [1, 2]], [1, None]), ([[1], [1]], [1]), ([[1, None], [1]], None)],
)
def test_queues_of_a_list_have_what_their_shapes_agree_on(
    shapes: list[list[int | None]], common: list[int | None] | None
) -> None:
    chosen = tf.QueueBase.from_list(0, [tf.PaddingFIFOQueue(3, [tf.float32], [shape]) for shape in shapes])
    assert chosen.shapes[0].as_proto() == tf.TensorShape(common).as_proto()


def test_a_shuffling_queue_gives_tensorflows_order_for_seeds() -> None:
    tf.set_random_seed(7)
    queue = tf.RandomShuffleQueue(50, 3, [tf.int32], [[]], seed=4)
    fill, some = queue.enqueue_many([tf.range(10)]), queue.dequeue_many(7)
    with tf.Session() as session:
        session.run(fill)
        assert session.run(some).tolist() == [5, 1, 2, 0, 9, 6, 4]
