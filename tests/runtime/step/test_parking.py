"""What waits for an element or for gradients has no thread, and runs where that was made."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from tests.told_waits import tell_soon
from weft.errors import AbortedError, CancelledError
from weft.framework.building.op_context import Parked
from weft.ops.data.iterator_state import IteratorState
from weft.ops.data_flow.accumulators import accumulator_restart
from weft.passes.partition import Partition
from weft.platform.waits import wait_watch
from weft.runtime.executor import Executor
from weft.runtime.inter_op_pool import InterOpPool
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_state import SessionState
from weft.runtime.step.parking import Parking, in_turn
from weft.runtime.step.step import Step
from weft.runtime.step_trace import StepTrace

PATIENCE_S = 20.0


class NoThreads(InterOpPool):
    """Notes what it is given, and runs it only when told."""

    def __init__(self) -> None:
        super().__init__()
        self.given: deque[Callable[[], None]] = deque()

    def submit(self, function: Callable[[], None]) -> None:
        self.given.append(function)

    def run(self) -> None:
        while self.given:
            self.given.popleft()()


class Inbox:
    """Of a client's thread, which waits for its own step."""

    def put(self, action: Callable[[], None]) -> None:
        action()


class Job:
    """Partitions of one task, which share its state and have no threads."""

    def __init__(self) -> None:
        self.pool = NoThreads()
        self.resources = ResourceManager()

    def step(self, partition: Partition, trace: StepTrace | None = None, inbox: Inbox | None = None) -> Step:
        executor = Executor(partition, SessionState(self.resources), None, self.pool)
        step = Step(executor, 7, [], lambda step: None, trace, inbox)
        step.start()
        return step

    def step_elsewhere(self, partition: Partition) -> None:
        elsewhere(lambda: self.step(partition))


def elsewhere(call: Callable[[], Any]) -> None:
    """Run something on a thread that is not the main one, as a connection's is not."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def values_of(step: Step) -> list[Any]:
    assert step.error is None
    assert step.is_done
    return [np.asarray(value).tolist() for value in step.fetches]


@pytest.fixture
def job() -> Job:
    return Job()


@pytest.fixture
def queue() -> tf.FIFOQueue:
    return tf.FIFOQueue(2, tf.float32, shapes=[[]], name="q")


def test_what_is_there_is_taken_without_a_thread(job: Job, queue: tf.FIFOQueue, make_parts: MakeParts) -> None:
    job.step(make_parts(targets=[queue.enqueue(3.0)])["a"])
    assert values_of(job.step(make_parts([queue.dequeue()])["a"])) == [3.0]
    assert not job.pool.given


def test_who_puts_an_element_runs_the_step_that_waits_for_it(job: Job, queue: tf.FIFOQueue, make_parts: MakeParts) -> None:
    element = queue.dequeue()
    taker = job.step(make_parts([tf.strings.as_string(element)])["a"])
    assert not taker.is_done
    assert taker.waits_at == [f"{element.op.name} (QueueDequeueV2)"]
    job.step_elsewhere(make_parts(targets=[queue.enqueue(3.0)])["a"])
    assert values_of(taker) == [b"3.000000"]
    assert taker.waits_at == []
    assert not job.pool.given


def test_the_main_thread_leaves_the_steps_of_others_to_the_pool(job: Job, queue: tf.FIFOQueue, make_parts: MakeParts) -> None:
    taker = job.step(make_parts([queue.dequeue()])["a"])
    job.step(make_parts(targets=[queue.enqueue(3.0)])["a"])
    assert not taker.is_done
    job.pool.run()
    assert values_of(taker) == [3.0]


def test_steps_are_served_in_the_order_in_which_they_came(job: Job, queue: tf.FIFOQueue, make_parts: MakeParts) -> None:
    takers = [job.step(make_parts([queue.dequeue()])["a"]) for _ in range(3)]
    puts = [make_parts(targets=[queue.enqueue(float(number))])["a"] for number in range(3)]
    elsewhere(lambda: [job.step(put) for put in puts])
    assert [values_of(taker) for taker in takers] == [[0.0], [1.0], [2.0]]


def test_room_lets_a_step_put_what_it_had(job: Job, queue: tf.FIFOQueue, make_parts: MakeParts) -> None:
    put = queue.enqueue_many([[1.0, 2.0, 3.0]])
    filler = job.step(make_parts(targets=[put])["a"])
    assert not filler.is_done
    take = make_parts([queue.dequeue()])["a"]
    job.step_elsewhere(take)
    assert filler.is_done
    assert [values_of(job.step(take)) for _ in range(2)] == [[2.0], [3.0]]


def test_a_step_that_is_given_up_leaves_the_line(job: Job, queue: tf.FIFOQueue, make_parts: MakeParts) -> None:
    take = make_parts([queue.dequeue()])["a"]
    first, second = job.step(take), job.step(take)
    first.abort(AbortedError(None, None, "given up"))
    job.step_elsewhere(make_parts(targets=[queue.enqueue(3.0)])["a"])
    assert isinstance(first.error, AbortedError)
    assert values_of(second) == [3.0]


def test_a_queue_that_is_dropped_or_closed_ends_what_waits_at_it(job: Job, queue: tf.FIFOQueue, make_parts: MakeParts) -> None:
    taker = job.step(make_parts([queue.dequeue()])["a"])
    job.step_elsewhere(make_parts(targets=[queue.close()])["a"])
    assert isinstance(taker.error, tf.errors.OutOfRangeError)
    put = make_parts(targets=[tf.FIFOQueue(1, tf.float32, shapes=[[]], name="full").enqueue_many([[1.0, 2.0]])])["a"]
    filler = job.step(put)
    job.resources.clear()
    job.pool.run()
    assert isinstance(filler.error, CancelledError)


def test_gradients_make_an_update_go_on_where_the_last_is_given(job: Job, make_parts: MakeParts) -> None:
    sums = [tf.ConditionalAccumulator(tf.float32, shape=[], name=name) for name in ("first", "second")]
    update = make_parts([tf.add_n([each.take_grad(2) for each in sums])])["a"]
    waiting = job.step(update)
    give = make_parts(targets=[each.apply_grad(4.0) for each in sums])["a"]
    job.step_elsewhere(give)
    assert not waiting.is_done
    job.step_elsewhere(give)
    assert values_of(waiting) == [8.0]
    assert not job.pool.given


def test_an_update_whose_gradients_were_dropped_waits_on(job: Job, make_parts: MakeParts) -> None:
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[], name="sum")
    waiting = job.step(make_parts([accumulator.take_grad(1)])["a"])
    give = make_parts(targets=[accumulator.apply_grad(4.0)])["a"]
    job.step(give)  # on the main thread: the update goes to the pool, and comes to run too late
    restart = accumulator_restart(accumulator.accumulator_ref, np.int64(0))
    job.step_elsewhere(make_parts(targets=[restart])["a"])
    job.pool.run()
    assert not waiting.is_done
    job.step_elsewhere(give)
    assert values_of(waiting) == [4.0]


def test_a_chain_whose_beginning_cannot_be_repeated_waits_on_a_thread(
    job: Job, queue: tf.FIFOQueue, make_parts: MakeParts
) -> None:
    sizes = tf.FIFOQueue(2, tf.int32, shapes=[[]], name="sizes")
    job.step(make_parts(targets=[sizes.enqueue(queue.size())])["a"])
    assert job.pool.given


def test_who_takes_and_puts_waits_at_either_without_a_thread(job: Job, queue: tf.FIFOQueue, make_parts: MakeParts) -> None:
    other = tf.FIFOQueue(2, tf.float32, shapes=[[]], name="other")
    moved = job.step(make_parts(targets=[other.enqueue(queue.dequeue())])["a"])
    assert not moved.is_done
    job.step_elsewhere(make_parts(targets=[queue.enqueue(3.0)])["a"])
    assert moved.is_done
    assert not job.pool.given


def test_a_traced_step_waits_on_a_thread(job: Job, queue: tf.FIFOQueue, make_parts: MakeParts) -> None:
    job.step(make_parts([queue.dequeue()])["a"], trace=StepTrace())
    assert len(job.pool.given) == 1


def test_who_puts_elements_in_a_session_of_its_own_does_not_do_the_work_of_who_takes_them(
    job: Job, queue: tf.FIFOQueue, make_parts: MakeParts
) -> None:
    taker = job.step(make_parts([queue.dequeue()])["a"])
    put = make_parts(targets=[queue.enqueue(3.0)])["a"]
    elsewhere(lambda: job.step(put, inbox=Inbox()))
    assert not taker.is_done
    assert len(job.pool.given) == 1


def test_an_element_of_a_dataset_that_lies_ready_is_taken_without_a_thread(job: Job, make_parts: MakeParts) -> None:
    numbers = tf.data.Dataset.range(3).prefetch(3)
    iterator = tf.data.make_initializable_iterator(numbers)
    job.step(make_parts(targets=[iterator.initializer])["a"])
    job.pool.run()
    take = make_parts([iterator.get_next()])["a"]
    first = job.step(take)
    assert not first.is_done
    job.pool.run()  # which waits for the thread that works ahead
    assert values_of(first) == [0]
    (state,) = (each for *_, each in job.resources.items() if isinstance(each, IteratorState))
    buffer = state._elements._buffer  # type: ignore[union-attr]
    with buffer.changed:
        assert buffer.changed.wait_for(lambda: buffer.is_over, PATIENCE_S)
    assert [values_of(job.step(take)) for _ in range(2)] == [[1], [2]]
    over = job.step(take)
    assert isinstance(over.error, tf.errors.OutOfRangeError)
    assert not job.pool.given


def test_a_long_wait_without_a_thread_is_told_of(
    job: Job,
    queue: tf.FIFOQueue,
    make_parts: MakeParts,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tell_soon(monkeypatch)
    told = threading.Event()
    monkeypatch.setattr(logging.getLogger("weft.queues"), "warning", lambda *args: told.set())
    taker = job.step(make_parts([queue.dequeue()])["a"])
    assert told.wait(PATIENCE_S)
    watched = set(wait_watch._WATCH.under_way)
    taker.abort(AbortedError(None, None, "given up"))
    assert len(watched - wait_watch._WATCH.under_way) == 1


def test_a_ring_of_steps_does_not_nest() -> None:
    depth, deepest, left = 0, 0, 5_000

    def run(parking: Parking) -> None:
        nonlocal depth, deepest, left
        depth, left = depth + 1, left - 1
        deepest = max(depth, deepest)
        if left:
            assert isinstance(parking.keep("again"), Parked)
            in_turn(parking.resume)
        depth -= 1

    pool = NoThreads()
    first = Parking(run, pool)
    first.keep("first")
    elsewhere(lambda: in_turn(first.resume))
    assert (left, deepest) == (0, 1)
    assert not pool.given


def test_a_request_is_told_once_that_it_may_go_on() -> None:
    ran: list[Parking] = []
    pool = NoThreads()
    parking = Parking(ran.append, pool)
    parking.keep("request")
    parking.resume()
    parking.resume()
    pool.run()
    assert ran == [parking]
    assert parking.request == "request"
