"""The tasks of a cluster end with the client whose plain sessions they served, where that is a task of the same job."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

import weft as tf
from tests.training.test_job_end import Joined
from weft.client import used_targets
from weft.distributed.server.in_process import local_servers
from weft.distributed.server.local_cluster import free_addresses
from weft.protocol import job_watch
from weft.protocol.job_watch import TELLS_END
from weft.training.sessions.client_end import tell_end

_TOLD = {TELLS_END: "1"}


@pytest.fixture(autouse=True)
def graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[tf.Graph]:
    monkeypatch.setattr(job_watch, "_MOMENT_S", 0.3)
    monkeypatch.setattr(used_targets, "_USED", {})
    # Another test's server may have had the port that one of this test's is given.
    monkeypatch.setattr(used_targets, "_SPOKEN_FOR", set())
    with tf.Graph().as_default() as graph:
        yield graph


class Cluster:
    """A parameter server and a worker that are joined, and the worker of the client."""

    def __init__(self) -> None:
        ps, first, second = free_addresses(3)
        self.spec = {"ps": [ps], "worker": [first, second]}
        limits = tf.train.ServerLimits(lost_job_s=1.0)
        tasks = [("ps", 0), ("worker", 1)]
        self.joined = [Joined(tf.train.Server(self.spec, job, index, limits=limits)) for job, index in tasks]
        self.client = tf.train.Server(self.spec, "worker", 0)

    def use(self, target: str | None = None) -> None:
        """Have a session as an in-graph model's client has it; the worker that is joined has no part in it."""
        with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
            count = tf.Variable(1.0)
            with tf.Session(target or self.client.target) as session:
                session.run(count.initializer)

    def stop(self) -> None:
        for server in [self.client, *(joined.server for joined in self.joined)]:
            server.stop()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = Cluster()
    yield cluster
    cluster.stop()


def test_all_tasks_that_are_joined_end_well_with_their_client(cluster: Cluster) -> None:
    cluster.use()
    tell_end(None, _TOLD)
    assert not cluster.joined[0].ends_within(0.5), "the client's process is still there"
    cluster.client.stop()
    assert [joined.end for joined in cluster.joined] == [0, 0]


def test_tasks_of_a_client_that_failed_tell_its_error(cluster: Cluster) -> None:
    cluster.use()
    tell_end(ValueError("no good"), _TOLD)
    cluster.client.stop()
    for joined in cluster.joined:
        assert isinstance(joined.end, tf.errors.AbortedError)
        assert "the client " in joined.end.message
        assert "ended with ValueError: no good, and nobody has come back for 1 s" in joined.end.message


def test_a_client_of_another_tasks_master_tells_all_too(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    # As for the process of a client that has no server itself.
    monkeypatch.setattr(local_servers, "find", lambda address: None)
    cluster.use(cluster.joined[0].server.target)
    tell_end(None, _TOLD)
    cluster.client.stop()
    assert [joined.end for joined in cluster.joined] == [0, 0]


def test_a_program_that_is_no_task_of_a_job_tells_nobody(cluster: Cluster) -> None:
    cluster.use()
    tell_end(None, {})
    tell_end(None, {TELLS_END: "0"})
    cluster.client.stop()
    assert not any(joined.ends_within(1.5) for joined in cluster.joined)


def test_tasks_that_have_gone_already_are_left_out(cluster: Cluster) -> None:
    cluster.use()
    cluster.joined[1].server.stop()
    tell_end(None, _TOLD)
    cluster.client.stop()
    assert cluster.joined[0].end == 0


def test_a_training_session_speaks_for_its_target_itself(cluster: Cluster) -> None:
    with tf.device("/job:ps/task:0"):
        count = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    with tf.train.MonitoredTrainingSession(cluster.client.target) as session:
        session.run(count)
    assert not used_targets.untold()


def test_a_session_counts_for_the_process_that_opened_it(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    tf.Session()
    cluster.use()
    assert list(used_targets.untold()) == [cluster.client.target]
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert not used_targets.untold()
