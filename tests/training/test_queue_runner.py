"""QueueRunner: threads that fill queues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import weft as tf
from weft.training.coordinator import SessionThread


def test_threads_fill_the_queue_until_the_end_of_the_input() -> None:
    count = tf.Variable(0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    queue = tf.FIFOQueue(2, tf.int32, shapes=[], name="numbers")
    runner = tf.train.QueueRunner(queue, [queue.enqueue(count.count_up_to(10))])
    take = queue.dequeue()
    coord = tf.train.Coordinator()
    with tf.Session() as session:
        session.run(count.initializer)
        threads = runner.create_threads(session, coord=coord, daemon=True, start=True)
        assert [thread.name for thread in threads] == [
            "QueueRunnerThread-numbers-numbers_enqueue",
            "QueueRunnerThread-numbers-close_on_stop",
        ]
        assert [session.run(take) for _ in range(10)] == list(range(10))
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(take)
        coord.request_stop()
        coord.join(threads)
    assert runner.exceptions_raised == []


def test_threads_are_made_once_for_a_session() -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[])
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1)] * 2)
    with tf.Session() as session:
        assert len(runner.create_threads(session)) == 2
        assert runner.create_threads(session) == []
        with tf.Session() as other:
            assert len(runner.create_threads(other)) == 2


def test_a_stop_ends_threads_that_wait_for_room() -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1)] * 3))
    coord = tf.train.Coordinator()
    with tf.Session() as session:
        threads = tf.train.start_queue_runners(session, coord)
        session.run(queue.dequeue())
        coord.request_stop()
        coord.join(threads)
        assert not any(thread.is_alive() for thread in threads)


def test_an_error_goes_to_the_coordinator_or_is_kept() -> None:
    failing = tf.check_numerics(tf.constant(float("nan")), "bad")
    queue = tf.FIFOQueue(1, tf.float32, shapes=[])
    runner = tf.train.QueueRunner(queue, [queue.enqueue(failing)])
    coord = tf.train.Coordinator()
    with tf.Session() as session:
        threads = runner.create_threads(session, coord=coord, start=True)
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            coord.join(threads)
        (thread,) = runner.create_threads(session, start=True)
        thread.join(30)
        assert [type(error) for error in runner.exceptions_raised] == [tf.errors.InvalidArgumentError]


def test_a_monitored_session_starts_the_runners_and_stops_them() -> None:
    queue = tf.FIFOQueue(1, tf.int32, shapes=[])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(4)]))
    take = queue.dequeue()
    with tf.train.MonitoredSession() as session:
        assert tf.train.start_queue_runners(session) == []
        assert [session.run(take) for _ in range(5)] == [4] * 5


def test_runs_of_one_operation_follow_each_other_in_one_step_until_they_are_to_stop() -> None:
    queue = tf.FIFOQueue(100, tf.int32, shapes=[])
    enqueue, size = queue.enqueue(7), queue.size()
    with tf.Session() as session:
        asked: list[int] = []

        def go_on() -> bool:
            asked.append(len(asked))
            return len(asked) % 5 > 0

        call = session.make_repeated(enqueue, go_on)
        call()
        assert session.run(size) == len(asked) == 5
        call()
        assert session.run(size) == len(asked) == 10


def test_runs_in_one_step_end_with_the_first_that_fails_and_with_the_session() -> None:
    count = tf.Variable(0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    queue = tf.FIFOQueue(4, tf.int32, shapes=[])
    enqueue, size = queue.enqueue(count.count_up_to(3)), queue.size()
    session = tf.Session()
    session.run(count.initializer)
    call = session.make_repeated(enqueue, lambda: True)
    with pytest.raises(tf.errors.OutOfRangeError, match="limit of 3"):
        call()
    assert session.run(size) == 3
    session.run(count.initializer)
    waiting = SessionThread(target=lambda: failures.append(failure_of(call)))
    failures: list[Exception | None] = []
    waiting.start()
    session.close()
    waiting.join(30)
    assert isinstance(failures[0], tf.errors.CancelledError | tf.errors.OutOfRangeError | RuntimeError)


def failure_of(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("why", ["timeout", "own class"])
def test_each_run_is_a_step_where_a_step_may_be_looked_at(why: str) -> None:
    class Counting(tf.Session):
        def run(self, *args: Any, **kwargs: Any) -> Any:
            return super().run(*args, **kwargs)

    queue = tf.FIFOQueue(100, tf.int32, shapes=[])
    enqueue, size = queue.enqueue(7), queue.size()
    kind = Counting if why == "own class" else tf.Session
    config = tf.ConfigProto(operation_timeout_in_ms=20_000 if why == "timeout" else 0)
    with kind(config=config) as session:
        session.make_repeated(enqueue, lambda: True)()
        assert session.run(size) == 1


def test_a_session_is_needed() -> None:
    with pytest.raises(ValueError, match="No default session is registered"):
        tf.train.start_queue_runners()
    with pytest.raises(TypeError, match=r"sess must be a `tf\.Session` object"):
        tf.train.start_queue_runners(sess="session")


def test_a_runner_travels_in_a_meta_graph() -> None:
    with tf.name_scope("input"):
        queue = tf.FIFOQueue(1, tf.int32, shapes=[], name="q")
        closed = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
        runner = tf.train.QueueRunner(queue, [queue.enqueue(3)], queue_closed_exception_types=closed)
        tf.train.add_queue_runner(runner)
    queue.dequeue(name="take")
    meta_graph = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.train.import_meta_graph(meta_graph)
        (again,) = graph.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        assert again.to_proto() == runner.to_proto()
        assert again.queue_closed_exception_types == closed
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        assert session.run("take:0") == 3
        coord.request_stop()
        coord.join(threads)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ValueError, "Must provide queue and enqueue_ops"),
        ({"queue_closed_exception_types": 1}, TypeError, "must be a tuple"),
        ({"queue_closed_exception_types": ()}, TypeError, "must be a tuple"),
    ],
)
def test_arguments_are_checked(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    queue = tf.FIFOQueue(1, tf.int32)
    given = {"queue": queue, "enqueue_ops": [queue.enqueue(1)], **arguments} if arguments else {}
    with pytest.raises(error, match=message):
        tf.train.QueueRunner(**given)


def test_a_runner_is_printed_with_its_queue_and_its_state():
    queue = tf.FIFOQueue(3, tf.float32)
    assert repr(tf.train.QueueRunner(queue, [queue.enqueue(1.0)] * 2)) == (
        "<tf.train.QueueRunner of 'fifo_queue', 2 threads, not running>"
    )
