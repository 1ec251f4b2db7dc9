"""One deadline for all that an operation of a session waits for: opening, planning, running, saving, closing.

Each is tried against a task that is stopped, and that nobody gives up by its heartbeat first, or one that is absent.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft as tf
from tests.distributed.stopping import stopped
from tests.promptness import LATE_S
from weft.distributed.server.local_cluster import free_addresses

TIMEOUT_S = 1.0
PS, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"


@pytest.fixture(scope="module")
def cluster() -> Iterator[tf.LocalCluster]:
    with pytest.MonkeyPatch.context() as patch:
        # A deadline is to end the waits here.
        patch.setenv("WEFT_HEARTBEAT_TIMEOUT_S", "60")
        with tf.LocalCluster(ps=1, worker=1) as cluster:
            yield cluster


@pytest.fixture(autouse=True)
def _own_graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("WEFT_HEARTBEAT_TIMEOUT_S", "60")
    with tf.Graph().as_default():
        yield


@contextlib.contextmanager
def deadline(names: str) -> Iterator[None]:
    """What is in the block ends with a DeadlineExceededError that names this, on time."""
    began_s = time.monotonic()
    with pytest.raises(tf.errors.DeadlineExceededError) as caught:
        yield
    took_s = time.monotonic() - began_s
    assert names in caught.value.message
    assert TIMEOUT_S - 0.1 < took_s < TIMEOUT_S + LATE_S


def on_ps(value: float) -> tf.Tensor:
    with tf.device("/job:ps/task:0"):
        return tf.square(tf.constant(value), name="squared")


def open_session(cluster: tf.LocalCluster, timeout: float | None = TIMEOUT_S) -> tf.Session:
    return tf.Session(cluster.target("worker"), timeout=timeout)


def test_opening_a_session_of_a_stopped_task(cluster: tf.LocalCluster) -> None:
    squared = on_ps(1.0)
    with stopped(cluster, "ps"), open_session(cluster) as session, deadline(PS):
        session.run(squared)


def test_opening_a_session_on_a_stopped_server(cluster: tf.LocalCluster) -> None:
    squared = on_ps(1.0)
    with stopped(cluster, "worker"), open_session(cluster) as session, deadline("127.0.0.1"):
        session.run(squared)


def test_opening_a_session_of_an_absent_task_in_this_process() -> None:
    here, absent = free_addresses(2)
    with (
        tf.train.Server({"here": [here], "ps": [absent]}, "here", 0) as server,
        tf.Session(server.target, timeout=TIMEOUT_S) as session,
        deadline(PS),
    ):
        session.run(tf.constant(1.0))


def test_the_first_run_of_a_plan(cluster: tf.LocalCluster) -> None:
    first, second = on_ps(2.0), on_ps(3.0)
    with open_session(cluster) as session:
        assert session.run(first) == 4.0
        with stopped(cluster, "ps"), deadline(PS):
            session.run(second)


def test_the_first_run_of_a_plan_with_a_timeout_of_its_own(cluster: tf.LocalCluster) -> None:
    first, second = on_ps(2.0), on_ps(3.0)
    with open_session(cluster, None) as session:
        assert session.run(first) == 4.0
        with stopped(cluster, "ps"), deadline(PS):
            session.run(second, options=tf.RunOptions(timeout_in_ms=int(TIMEOUT_S * 1000)))


def test_the_first_run_of_a_plan_on_a_stopped_server(cluster: tf.LocalCluster) -> None:
    first, second = on_ps(2.0), on_ps(3.0)
    with open_session(cluster) as session:
        assert session.run(first) == 4.0
        with stopped(cluster, "worker"), deadline("ExtendSession"):
            tf.identity(second)
            session.run(second)


def test_a_run_names_what_it_waits_for(cluster: tf.LocalCluster) -> None:
    with tf.device("/job:worker/task:0"):
        total = tf.negative(on_ps(2.0))
    with open_session(cluster) as session:
        assert session.run(total) == -4.0
        with stopped(cluster, "ps"), deadline(f"{PS}, for 'squared:0', of node 'squared' (Square)"):
            session.run(total)
        assert session.run(total) == -4.0


def test_a_run_on_a_stopped_server(cluster: tf.LocalCluster) -> None:
    squared = on_ps(2.0)
    with open_session(cluster) as session:
        assert session.run(squared) == 4.0
        with stopped(cluster, "worker"), deadline(cluster.target("worker").removeprefix("grpc://")):
            session.run(squared)


def test_a_dequeue_of_a_queue_that_stays_empty(cluster: tf.LocalCluster) -> None:
    with tf.device("/job:ps/task:0"):
        queue = tf.FIFOQueue(1, [tf.float32], shared_name="empty")
        awaited = queue.dequeue(name="awaited")
    with open_session(cluster) as session, deadline("awaited"):
        session.run(awaited)


def test_a_save(cluster: tf.LocalCluster, tmp_path: Path) -> None:
    with tf.device("/job:ps/task:0"):
        tf.get_variable("saved", initializer=1.0)
    saver = tf.train.Saver()
    with open_session(cluster) as session:
        session.run(tf.global_variables_initializer())
        with stopped(cluster, "ps"), deadline(PS):
            saver.save(session, str(tmp_path / "model"))


@pytest.mark.parametrize("job", ["ps", "worker"])
def test_closing_ends_in_time_and_without_an_error(cluster: tf.LocalCluster, job: str) -> None:
    squared = on_ps(2.0)
    session = open_session(cluster)
    assert session.run(squared) == 4.0
    with stopped(cluster, job):
        began_s = time.monotonic()
        session.close()
        assert time.monotonic() - began_s < TIMEOUT_S + LATE_S


def test_a_timeout_is_a_positive_number_of_seconds() -> None:
    with pytest.raises(ValueError, match="timeout must be a positive number of seconds, but got 0"):
        tf.Session(timeout=0)
