"""Those who wait at a queue are served in order, and only he is woken whose turn it is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from weft.errors import CancelledError, OutOfRangeError
from weft.ops.data_flow import queue_state
from weft.ops.data_flow.queue_state import FifoStore, QueueState
from weft.ops.data_flow.queue_stores import PriorityStore

_WAITERS = 20
_PATIENCE_S = 20.0


class Step:
    """The context of a step, which can be cancelled."""

    session = SimpleNamespace(name="a session")
    op: Any = SimpleNamespace(type="QueueCloseV2", name="close", built_from=())
    parking = None

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        self._callbacks.append(callback)
        return lambda: None

    def cancel(self) -> None:
        for callback in self._callbacks:
            callback()

    def raise_if_cancelled(self) -> None:
        pass


class Sleepers:
    """Counts who sleeps at a queue, and how often somebody was woken."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._changed = threading.Condition()
        self._sleeping = 0
        self.woken = 0
        sleepers = self

        class Counted(threading.Condition):
            def wait(self, timeout: float | None = None) -> bool:
                sleepers.note(1)
                try:
                    return super().wait(timeout)
                finally:
                    sleepers.note(-1)

        monkeypatch.setattr(
            queue_state,
            "threading",
            SimpleNamespace(RLock=threading.RLock, Condition=Counted, current_thread=threading.current_thread),
        )

    def note(self, change: int) -> None:
        with self._changed:
            self._sleeping += change
            self.woken += change < 0
            self._changed.notify_all()

    def until(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self._sleeping == count, _PATIENCE_S)


@pytest.fixture
def sleepers(monkeypatch: pytest.MonkeyPatch) -> Sleepers:
    return Sleepers(monkeypatch)


def in_threads(sleepers: Sleepers, calls: list[Callable[[], object]]) -> tuple[list[object], list[threading.Thread]]:
    """Start calls that wait, one after the other; returns where their results come, and the threads."""
    results: list[object] = []

    def note(call: Callable[[], object]) -> None:
        try:
            results.append(call())
        except (CancelledError, OutOfRangeError) as error:
            results.append(type(error))

    threads = []
    for count, call in enumerate(calls, start=1):
        threads.append(threading.Thread(target=note, args=(call,)))
        threads[-1].start()
        sleepers.until(count)
    return results, threads


def join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(_PATIENCE_S)
        assert not thread.is_alive()


def test_an_element_wakes_one_of_many_takers(sleepers: Sleepers) -> None:
    queue, step = QueueState("a queue", 100, FifoStore()), Step()
    results, threads = in_threads(sleepers, [lambda: queue.dequeue(step, 1)] * _WAITERS)
    for number in range(_WAITERS):
        queue.enqueue(step, [(number,)])
        sleepers.until(_WAITERS - number - 1)
    join(threads)
    assert results == [[(number,)] for number in range(_WAITERS)]
    # Each once, and perhaps the next one, by the one that leaves the line.
    assert sleepers.woken <= 2 * _WAITERS


def test_who_waits_for_many_elements_is_woken_when_all_are_there(sleepers: Sleepers) -> None:
    queue, step = QueueState("a queue", 2, FifoStore()), Step()
    results, threads = in_threads(sleepers, [lambda: queue.dequeue(step, 5)])
    for number in range(6):
        # There is room each time: the waiting request takes what comes.
        queue.enqueue(step, [(number,)])
    join(threads)
    assert results == [[(number,) for number in range(5)]]
    assert sleepers.woken == 1
    assert queue.size == 1


def test_a_taker_that_is_cancelled_when_it_has_all_gives_them_back(sleepers: Sleepers) -> None:
    queue, step, given_up = QueueState("a queue", 9, FifoStore()), Step(), Step()
    results, threads = in_threads(sleepers, [lambda: queue.dequeue(given_up, 2)])
    with queue._lock:  # the taker cannot wake before its step is cancelled
        queue.enqueue(step, [(1,), (2,)])
        given_up.cancel()
    join(threads)
    assert results == [CancelledError]
    assert queue.dequeue(step, 2) == [(1,), (2,)]


def test_room_lets_those_who_put_go_on_in_order(sleepers: Sleepers) -> None:
    queue, step = QueueState("a queue", 1, FifoStore()), Step()
    queue.enqueue(step, [(-1,)])
    puts = [lambda number=number: queue.enqueue(step, [(number,)]) for number in range(_WAITERS)]
    _, threads = in_threads(sleepers, puts)
    taken = [queue.dequeue(step, 1)[0] for _ in range(_WAITERS + 1)]
    join(threads)
    assert taken == [(number,) for number in range(-1, _WAITERS)]


def test_the_end_of_a_queue_reaches_all_who_wait(sleepers: Sleepers) -> None:
    queue, step = QueueState("a queue", 1, FifoStore()), Step()
    results, threads = in_threads(sleepers, [lambda: queue.dequeue(step, 1)] * _WAITERS)
    queue.close(Step())
    join(threads)
    assert results == [OutOfRangeError] * _WAITERS


def test_who_is_cancelled_in_the_middle_of_a_line_leaves_it(sleepers: Sleepers) -> None:
    queue, others, given_up = QueueState("a queue", 1, FifoStore()), Step(), Step()
    takes = [lambda step=step: queue.dequeue(step, 1) for step in (others, given_up, others)]
    results, threads = in_threads(sleepers, takes)
    given_up.cancel()
    sleepers.until(2)
    queue.enqueue(others, [(1,), (2,)])
    join(threads)
    assert results[0] is CancelledError
    assert sorted(map(str, results[1:])) == ["[(1,)]", "[(2,)]"]


def test_pending_puts_are_cancelled_all_at_once(sleepers: Sleepers) -> None:
    queue, step = QueueState("a queue", 1, FifoStore()), Step()
    queue.enqueue(step, [(1,)])
    results, threads = in_threads(sleepers, [lambda: queue.enqueue(step, [(2,)])] * _WAITERS)
    queue.close(None, cancel_pending_enqueues=True)
    join(threads)
    assert results == [CancelledError] * _WAITERS
    assert queue.dequeue(step, 1) == [(1,)]


def test_several_by_priority_are_chosen_when_there_are_so_many(sleepers: Sleepers) -> None:
    queue = QueueState("PriorityQueue 'jobs'", 4, PriorityStore())
    found, threads = in_threads(sleepers, [lambda: queue.dequeue(Step(), 3)])
    for priority, size in ((5, 1), (1, 2)):
        queue.enqueue(Step(), [(priority,)])
        assert queue.size == size
    queue.enqueue(Step(), [(7,), (3,)])
    join(threads)
    assert (found, queue.size) == ([[(1,), (3,), (5,)]], 1)


def test_several_by_priority_of_a_closed_queue_are_those_it_has(sleepers: Sleepers) -> None:
    queue = QueueState("PriorityQueue 'jobs'", 4, PriorityStore())
    found, threads = in_threads(sleepers, [lambda: queue.dequeue(Step(), 3, allow_fewer=True)])
    queue.enqueue(Step(), [(5,), (1,)])
    queue.close(Step())
    join(threads)
    assert found == [[(1,), (5,)]]


def test_more_by_priority_than_the_queue_holds_come_as_they_arrive(sleepers: Sleepers) -> None:
    queue = QueueState("PriorityQueue 'jobs'", 2, PriorityStore())
    found, threads = in_threads(sleepers, [lambda: queue.dequeue(Step(), 3)])
    for priority in (5, 1, 3):
        queue.enqueue(Step(), [(priority,)])
    join(threads)
    assert found == [[(5,), (1,), (3,)]]
