"""Who waits for elements that nobody puts is told so, once; a pipeline that stands still for a moment is no news."""

from __future__ import annotations

import logging
import re
import threading

import numpy as np
import pytest

import weft as tf
from tests.told_waits import tell_soon


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    tell_soon(monkeypatch)


def run_for(session: tf.Session, fetch: object, ms: int = 150) -> None:
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(fetch, options=tf.RunOptions(timeout_in_ms=ms))


def told_while_it_runs(caplog: pytest.LogCaptureFixture, session: tf.Session, fetch: object, log: str = "weft.queues") -> str:
    """The one message of a run that ends at its deadline; one that has not come to wait by then gets a later deadline."""
    caplog.clear()
    messages: list[str] = []
    ms = 150
    while not messages and ms < 60_000:
        run_for(session, fetch, ms)
        messages = [record.getMessage() for record in caplog.records if record.name == log]
        ms *= 3
    (told,) = messages
    return told


def test_a_dequeue_without_runners_says_for_what_it_waits(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        name = tf.train.string_input_producer(["a"], name="files").dequeue(name="next_file")
        told = told_while_it_runs(caplog, session, name)
    assert "QueueDequeueV2 'next_file' (test_wait_notices.py:" in told
    assert "FIFOQueue 'files', which has 0. Nobody has put any yet." in told
    assert "tf.train.start_queue_runners" in told


def test_a_dequeue_that_had_elements_before_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        queue = tf.FIFOQueue(2, tf.float32, shapes=[[]], name="games")
        element = queue.dequeue()
        session.run(queue.enqueue(1.0))
        session.run(element)
        told = told_while_it_runs(caplog, session, element)
    assert "FIFOQueue 'games', which has 0. Those that came before are taken" in told


def test_a_dequeue_of_a_shuffling_queue_says_how_many_it_keeps(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        queue = tf.RandomShuffleQueue(10, 5, tf.float32, shapes=[[]], name="games")
        session.run(queue.enqueue(1.0))
        told = told_while_it_runs(caplog, session, queue.dequeue())
    assert "RandomShuffleQueue 'games', which has 1 and keeps 5 to choose from (min_after_dequeue)." in told


def test_an_enqueue_that_nobody_makes_room_for_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        put = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="jobs").enqueue(1.0, name="put")
        session.run(put)
        told = told_while_it_runs(caplog, session, put)
    assert "QueueEnqueueV2 'put' (test_wait_notices.py:" in told
    assert "s for room in FIFOQueue 'jobs', which has 1 of 1 elements. Nothing has been taken out so far" in told


def test_a_pipeline_that_waits_for_room_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]])
        put = queue.enqueue(1.0)
        session.run(put)
        session.run(queue.dequeue())
        session.run(put)
        filler = threading.Thread(target=run_for, args=(session, put))
        filler.start()
        filler.join()
    assert not [record for record in caplog.records if record.name == "weft.queues"]


def test_the_main_thread_that_waits_for_room_in_a_queue_that_was_used_is_told(caplog: pytest.LogCaptureFixture) -> None:
    log, texts = logging.getLogger("weft.queues"), []
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="jobs")
        put, take = queue.enqueue(1.0), queue.dequeue()

        class MakesRoom(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                texts.append(record.getMessage())
                taker.start()

        taker = threading.Thread(target=session.run, args=(take,))
        session.run(put)
        session.run(take)
        session.run(put)
        listener = MakesRoom()
        log.addHandler(listener)
        try:
            session.run(put)
            taker.join()
        finally:
            log.removeHandler(listener)
    (told,) = texts
    assert "s for room in FIFOQueue 'jobs', which has 1 of 1 elements. Nothing is taken out any more" in told


def test_who_waits_at_a_staging_area_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[]], capacity=1)
        getting = told_while_it_runs(caplog, session, area.get())
        session.run(area.put([1.0]))
        putting = told_while_it_runs(caplog, session, area.put([2.0]))
    assert "Unstage" in getting
    assert "which has 0 element(s) of at most 1" in getting
    assert "run put() once" in getting
    assert "Stage" in putting
    assert "which has 1 element(s) of at most 1" in putting
    assert "run get()" in putting


def test_a_function_of_the_program_that_takes_long_is_told(caplog: pytest.LogCaptureFixture) -> None:
    ended = threading.Event()

    def play() -> np.ndarray:
        ended.wait(10)
        return np.float32(1)

    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        waits = logging.getLogger("weft.waits")
        texts: list[str] = []

        class Listener(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                texts.append(record.getMessage())
                ended.set()

        listener = Listener()
        waits.addHandler(listener)
        try:
            assert session.run(tf.py_func(play, [], tf.float32)) == 1
        finally:
            waits.removeHandler(listener)
    (told,) = texts
    assert "play (test_wait_notices.py:" in told
    assert re.search(r"of a py_func has run for \d+ s\.", told)


def test_who_waits_for_tokens_is_told_of_the_chief(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        told = told_while_it_runs(caplog, session, tf.FIFOQueue(2, tf.int64, shapes=[[]], shared_name="sync_token_q").dequeue())
    assert "The chief puts a token for each replica" in told
    assert "start_queue_runners" not in told


def test_a_wait_for_gradients_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        accumulator = tf.ConditionalAccumulator(tf.float32, shape=[], name="sum")
        session.run(accumulator.apply_grad(1.0, local_step=0))
        told = told_while_it_runs(caplog, session, accumulator.take_grad(2, name="mean"), "weft.accumulators")
    assert re.search(r"'mean' has waited \d+ s for gradients in the accumulator 'sum', which has 1 of 2\.", told)


def test_gradients_that_somebody_else_tells_of_are_not_told_twice(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        accumulator = tf.ConditionalAccumulator(tf.float32, shape=[])
        session.run(accumulator.report())
        run_for(session, accumulator.take_grad(1))
    assert not [record for record in caplog.records if record.name == "weft.accumulators"]
