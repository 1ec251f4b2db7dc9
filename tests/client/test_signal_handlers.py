"""A program's signal handler may run steps while the main thread waits for one, as one that saves the model does."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

import weft as tf


@pytest.fixture(params=["local", "by a connection"])
def session(request: pytest.FixtureRequest) -> Iterator[tf.Session]:
    config = tf.ConfigProto()
    config.rpc_options.use_rpc_for_inprocess_master = True
    if request.param == "local":
        with tf.Session() as session:
            yield session
        return
    with tf.train.Server.create_local_server() as server, tf.Session(server.target, config=config) as session:
        yield session


def test_a_handler_runs_a_step_while_another_waits(session: tf.Session) -> None:
    queue = tf.FIFOQueue(1, tf.float32)
    enqueue, dequeue = queue.enqueue(3.0), queue.dequeue()
    handled = []

    def handle(number: int, frame: object) -> None:
        session.run(enqueue)
        handled.append(number)

    before = signal.signal(signal.SIGUSR1, handle)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        timer.start()
        assert session.run(dequeue, options=tf.RunOptions(timeout_in_ms=10_000)) == 3.0
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    assert handled == [signal.SIGUSR1]
