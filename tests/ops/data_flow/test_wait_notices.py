"""Who waits for elements that nobody puts is told so, once; a pipeline that stands still for a moment is no news."""

from __future__ import annotations

import logging

import pytest

import weft as tf
from weft.platform import wait_notice


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.01)


def run_for(session: tf.Session, fetch: object, ms: int = 150) -> None:
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(fetch, options=tf.RunOptions(timeout_in_ms=ms))


def test_a_dequeue_without_runners_says_for_what_it_waits(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        name = tf.train.string_input_producer(["a"], name="files").dequeue(name="next_file")
        run_for(session, name)
    (told,) = [record.getMessage() for record in caplog.records if record.name == "weft.queues"]
    assert "QueueDequeueV2 'next_file' (test_wait_notices.py:" in told
    assert "FIFOQueue 'files', which has 0. Nobody has put any yet." in told
    assert "tf.train.start_queue_runners" in told


def test_a_queue_that_has_had_elements_is_quiet_at_first(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        queue = tf.FIFOQueue(2, tf.float32, shapes=[[]])
        element = queue.dequeue()
        session.run(queue.enqueue(1.0))
        session.run(element)
        run_for(session, element)
    assert not [record for record in caplog.records if record.name == "weft.queues"]


def test_who_waits_for_room_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        put = tf.FIFOQueue(1, tf.float32, shapes=[[]]).enqueue(1.0)
        session.run(put)
        run_for(session, put)
    assert not [record for record in caplog.records if record.name == "weft.queues"]


def test_who_waits_for_tokens_is_told_of_the_chief(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        run_for(session, tf.FIFOQueue(2, tf.int64, shapes=[[]], shared_name="sync_token_q").dequeue())
    (told,) = [record.getMessage() for record in caplog.records if record.name == "weft.queues"]
    assert "The chief puts a token for each replica" in told
    assert "start_queue_runners" not in told


def test_a_wait_for_gradients_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        accumulator = tf.ConditionalAccumulator(tf.float32, shape=[], name="sum")
        session.run(accumulator.apply_grad(1.0, local_step=0))
        run_for(session, accumulator.take_grad(2, name="mean"))
    (told,) = [record.getMessage() for record in caplog.records if record.name == "weft.accumulators"]
    assert "'mean' has waited 0 s for gradients in the accumulator 'sum', which has 1 of 2." in told


def test_gradients_that_somebody_else_tells_of_are_not_told_twice(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session, caplog.at_level(logging.WARNING, "weft"):
        accumulator = tf.ConditionalAccumulator(tf.float32, shape=[])
        session.run(accumulator.report())
        run_for(session, accumulator.take_grad(1))
    assert not [record for record in caplog.records if record.name == "weft.accumulators"]
