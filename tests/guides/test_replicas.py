"""Beside the guides: replicas that do not fit together are told so, and a chief waits for the others at the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import weft as tf
from tests.guides.conftest import StartProgram
from weft.distributed.server.local_cluster import LocalCluster
from weft.training.sessions.presence import LONGEST_DRAIN_S


@pytest.fixture(scope="module")
def processes() -> Iterator[LocalCluster]:
    with LocalCluster(ps=1, worker=2) as running:
        yield running


@pytest.fixture
def cluster(processes: LocalCluster) -> LocalCluster:
    tf.Session.reset(processes.target("ps", 0))
    return processes


def build() -> Any:
    with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device="/job:worker/task:0")):
        step = tf.train.get_or_create_global_step()
        with tf.variable_scope("model"):
            tf.get_variable("v", [2])
        return tf.assign_add(step, 1)


def chief(cluster: LocalCluster, **arguments: Any) -> Any:
    config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:0"])
    return tf.train.MonitoredTrainingSession(cluster.target("worker", 0), is_chief=True, config=config, **arguments)


@pytest.mark.parametrize(
    ("model", "lines"),
    [
        ("scoped", ["only in this replica:", "replica_1/v (float32 [2]", "only in the chief's graph:", "model/v (float32 [2]"]),
        ("wide", ["different:", "model/v: float32 [3] on /job:ps/task:0 here, float32 [2] on /job:ps/task:0 there"]),
    ],
)
@pytest.mark.parametrize("who_is_first", ["chief", "worker"])
def test_a_replica_with_other_variables_is_told_at_once(
    cluster: LocalCluster, start_program: StartProgram, model: str, lines: list[str], who_is_first: str
) -> None:
    train_op = build()
    if who_is_first == "worker":
        worker = start_program("replica.py", cluster.target("worker", 1), model, 1)
        assert worker.pause(4.0)
    with chief(cluster) as session:
        session.run(train_op)
        if who_is_first == "chief":
            worker = start_program("replica.py", cluster.target("worker", 1), model, 1)
        output = "\n".join(worker.wait(30))
        assert output.startswith("refused: This replica's variables are not those of the chief")
        for line in lines:
            assert line in output
        # The chief's model is untouched.
        session.run(train_op)


def test_a_replica_tells_whether_there_is_a_chief(cluster: LocalCluster) -> None:
    build()
    waiting = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables(), graph=tf.get_default_graph())
    with pytest.raises(tf.errors.DeadlineExceededError, match="No chief is there"):
        waiting.wait_for_session(cluster.target("worker", 1), max_wait_secs=0.1)
    released = threading.Event()
    slow = tf.train.Scaffold(init_fn=lambda scaffold, session: released.wait(30))

    def initialize_slowly() -> None:
        with tf.Graph().as_default():
            build()
            with tf.device("/job:ps/task:0"):
                tf.get_variable("average", [])
            with chief(cluster, scaffold=slow):
                pass

    thread = threading.Thread(target=initialize_slowly)
    thread.start()
    try:
        deadline = time.monotonic() + 20
        message = ""
        while "is initializing" not in message and time.monotonic() < deadline:
            with pytest.raises(tf.errors.DeadlineExceededError) as raised:
                tf.train.SessionManager(ready_op=tf.constant(["model/w"])).wait_for_session(
                    cluster.target("worker", 1), max_wait_secs=0.3
                )
            message = raised.value.message
        assert "is initializing" in message
    finally:
        released.set()
        thread.join(30)


def test_the_chief_waits_for_the_others_before_it_ends(cluster: LocalCluster, start_program: StartProgram) -> None:
    train_op = build()
    told: list[float] = []
    with chief(cluster) as session:
        session.run(train_op)
        worker = start_program("replica.py", cluster.target("worker", 1), "chiefs", 3)
        worker.wait_for("training 2")

        def go_on() -> None:
            told.append(time.monotonic())
            worker.send_line()
            worker.send_line()
            worker.wait_for("ended")

        later = threading.Timer(1.0, go_on)
        later.start()
    closed = time.monotonic()
    later.join(30)
    assert worker.output == ["training 2", "step 3", "step 4", "ended"]
    # Not before the worker had its last steps, and not for as long as a chief waits at most.
    assert 0.0 < closed - told[0] < LONGEST_DRAIN_S - 1.0


def test_a_chief_does_not_wait_for_a_replica_that_was_killed(cluster: LocalCluster, start_program: StartProgram) -> None:
    train_op = build()
    session = chief(cluster)
    session.run(train_op)
    worker = start_program("replica.py", cluster.target("worker", 1), "chiefs", 3)
    worker.wait_for("training 2")
    worker.kill()
    started = time.monotonic()
    session.close()
    assert time.monotonic() - started < LONGEST_DRAIN_S


def test_a_chief_does_not_wait_after_an_error(cluster: LocalCluster, start_program: StartProgram) -> None:
    train_op = build()
    started = 0.0
    with pytest.raises(ZeroDivisionError), chief(cluster) as session:  # noqa: PT012
        session.run(train_op)
        start_program("replica.py", cluster.target("worker", 1), "chiefs", 3).wait_for("training 2")
        started = time.monotonic()
        raise ZeroDivisionError
    assert time.monotonic() - started < LONGEST_DRAIN_S
