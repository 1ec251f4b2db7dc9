"""Runs of a queue runner side by side: nobody can tell them from runs one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.runtime.host.host_program import HostProgram
from weft.runtime.step import rounds

Beside = list[int]
"""How many rounds ran side by side, each time that some did."""


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> Beside:
    seen: Beside = []
    run_each = HostProgram.run_each

    def noted(self: HostProgram, inputs_of: Sequence[Any], frame: Any, *, ends_at_failure: bool) -> Any:
        seen.append(len(inputs_of))
        return run_each(self, inputs_of, frame, ends_at_failure=ends_at_failure)

    monkeypatch.setattr(HostProgram, "run_each", noted)
    return seen


@contextmanager
def running(session: tf.Session) -> Iterator[tf.train.Coordinator]:
    """The queue runners of a session's graph; their errors are raised at the end."""
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    try:
        yield coordinator
    finally:
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=20)


def _lines(tmp_path: Path, lines: Sequence[str]) -> str:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def _into_queue(value: tf.Tensor, capacity: int = 1000, threads: int = 1) -> tf.FIFOQueue:
    queue = tf.FIFOQueue(capacity, [value.dtype], [[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(value)] * threads))
    return queue


def _read(path: str, epochs: int | None = None) -> tf.Tensor:
    names = tf.train.string_input_producer([path], num_epochs=epochs, shuffle=False)
    return tf.TextLineReader().read(names).value


def test_elements_and_random_numbers_come_as_one_by_one(tmp_path: Path, beside: Beside) -> None:
    path = _lines(tmp_path, [str(number) for number in range(500)])

    def build() -> tuple[tf.FIFOQueue, tf.Operation]:
        tf.set_random_seed(3)
        number = tf.strings.to_number(_read(path))
        noisy = number * 2.0 + tf.random_uniform([], -0.5, 0.5) + tf.cast(tf.random_uniform([], 0, 9, tf.int32), tf.float32)
        queue = _into_queue(noisy)
        return queue, queue.enqueue(noisy)

    with tf.Graph().as_default(), tf.Session() as session:
        queue, _ = build()
        with running(session):
            found = session.run(queue.dequeue_many(400))
    assert max(beside) > 1

    with tf.Graph().as_default(), tf.Session() as session:
        queue, enqueue = build()
        names = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)[0]
        session.run(names.enqueue_ops[0])
        for _ in range(400):
            session.run(enqueue)
        expected = session.run(queue.dequeue_many(400))
    np.testing.assert_array_equal(found, expected)


def test_what_came_before_a_bad_record_is_put(tmp_path: Path) -> None:
    path = _lines(tmp_path, [*map(str, range(100)), "no number", *map(str, range(100))])
    queue = _into_queue(tf.strings.to_number(_read(path)))
    size = queue.size()
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="no number"), running(session) as coordinator:
            assert coordinator.wait_for_stop(20)
        # The runner closed its queue, as it does after an error.
        assert session.run(queue.dequeue_many(session.run(size))).tolist() == list(range(100))


def test_a_failure_of_a_round_that_takes_long_is_the_runners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "pieces_in_a_turn", lambda piece_s: 1)
    queue = _into_queue(tf.strings.to_number(_read(_lines(tmp_path, [*map(str, range(50)), "no number", "4"]))))
    size = queue.size()
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="no number"), running(session) as coordinator:
            assert coordinator.wait_for_stop(20)
        assert session.run(queue.dequeue_many(session.run(size))).tolist() == list(range(50))


def test_a_failure_of_the_runtime_itself_ends_the_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(rounds.Rounds, "run", fails)
    _into_queue(tf.strings.to_number(_read(_lines(tmp_path, ["1"] * 9))))
    with tf.Session() as session:  # noqa: SIM117 - the session is open while the threads end
        with pytest.raises(tf.errors.InternalError, match="KeyError: 'a bug'"), running(session) as coordinator:
            assert coordinator.wait_for_stop(20)


def test_each_record_comes_once_to_several_threads(tmp_path: Path, beside: Beside) -> None:
    path = _lines(tmp_path, [str(number) for number in range(400)])
    queue = _into_queue(tf.strings.to_number(_read(path, epochs=2)), threads=4)
    batch = queue.dequeue_up_to(50)
    found: list[float] = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with running(session):
            while len(found) < 800:
                found += session.run(batch).tolist()
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(batch)
    assert sorted(found) == sorted([*range(400)] * 2)
    assert max(beside) > 1


def test_no_element_waits_for_one_that_is_not_there_yet() -> None:
    source = tf.FIFOQueue(100, [tf.float32], [[]])
    target = _into_queue(tf.square(source.dequeue()))
    given = tf.placeholder(tf.float32, [None])
    put, taken = source.enqueue_many(given), target.dequeue_many(7)
    with tf.Session() as session:
        with running(session) as coordinator:
            # All seven come although the source has no eighth.
            for first in range(0, 700, 7):
                numbers = np.arange(first, first + 7, dtype=np.float32)
                session.run(put, {given: numbers})
                assert session.run(taken).tolist() == (numbers**2).tolist()
            coordinator.request_stop()
            session.run(source.close(cancel_pending_enqueues=True))
        assert session.run(source.size()) == 0


def test_room_is_waited_for(beside: Beside) -> None:
    source = tf.FIFOQueue(300, [tf.float32], [[]])
    target = _into_queue(source.dequeue() + 1.0, capacity=3)
    one = target.dequeue()
    with tf.Session() as session:
        session.run(source.enqueue_many(np.arange(300, dtype=np.float32)))
        session.run(source.close())
        with running(session):
            found = [float(session.run(one)) for _ in range(300)]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(one)
    assert found == list(range(1, 301))


def _counted(source: tf.FIFOQueue) -> tf.Tensor:
    count = tf.get_variable("count", shape=[], initializer=tf.zeros_initializer())
    return tf.assign_add(count, source.dequeue())


def _looked_up_and_noted(source: tf.FIFOQueue) -> tf.Tensor:
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, -1.0)
    key = tf.cast(source.dequeue(), tf.int64) * 0
    before = table.lookup(key)
    with tf.control_dependencies([table.insert(key, before + 1.0)]):
        return tf.identity(before)


def _called(source: tf.FIFOQueue) -> tf.Tensor:
    calls: list[float] = []

    def call(value: float) -> np.ndarray:
        calls.append(float(value))
        return np.asarray(sum(calls), np.float32)

    result = tf.py_func(call, [source.dequeue()], tf.float32)
    result.set_shape([])
    return result


def test_of_a_shared_queue_no_thread_holds_more_than_one_element(beside: Beside) -> None:
    source = tf.FIFOQueue(100, [tf.float32], [[]], shared_name="jobs")
    target = _into_queue(tf.square(source.dequeue()), capacity=2)
    put, size, one = source.enqueue_many(np.arange(60, dtype=np.float32)), source.size(), target.dequeue()
    with tf.Session() as session:
        session.run(put)
        with running(session) as coordinator:
            found = [float(session.run(one)) for _ in range(50)]
            coordinator.request_stop()
        # What is not in the target, or taken out of it, is one at most.
        assert session.run(size) >= 60 - 50 - 2 - 1
    assert found == [float(number**2) for number in range(50)]
    assert beside == []


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (_counted, np.cumsum(np.arange(50.0))),
        (_looked_up_and_noted, np.arange(50.0) - 1),
        (_called, np.cumsum(np.arange(50.0))),
    ],
)
def test_what_a_later_run_would_see_runs_one_by_one(
    build: Callable[[tf.FIFOQueue], tf.Tensor], expected: np.ndarray, beside: Beside
) -> None:
    source = tf.FIFOQueue(100, [tf.float32], [[]])
    target = _into_queue(build(source))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(source.enqueue_many(np.arange(50, dtype=np.float32)))
        session.run(source.close())
        with running(session):
            found = session.run(target.dequeue_many(50))
    assert found.tolist() == expected.tolist()
    assert beside == []


def test_a_step_that_is_cancelled_ends_its_rounds(tmp_path: Path) -> None:
    path = _lines(tmp_path, ["1"] * 50)
    queue = _into_queue(tf.strings.to_number(_read(path)), capacity=5)
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        session.run(queue.dequeue_many(20))
        coordinator.request_stop()
        # Both wait for room; the closing of the queue ends that.
        coordinator.join(threads, stop_grace_period_secs=20)
    assert not any(thread.is_alive() for thread in threads)
