"""Servers that are joined end with the training job that they serve."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest

import weft as tf
from weft.distributed.server import job_end
from weft.distributed.server.in_process import local_servers
from weft.distributed.server.local_cluster import free_addresses
from weft.ops.data_flow import replica_board
from weft.ops.data_flow.replica_board import ReplicaBoard
from weft.platform.waits import wait_notice
from weft.protocol import job_watch
from weft.training.sessions import lasting_clients
from weft.training.sessions.presence import presence_of

_PATIENCE_S = 30.0


@pytest.fixture(autouse=True)
def graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[tf.Graph]:
    monkeypatch.setattr(job_watch, "_MOMENT_S", 0.3)
    with tf.Graph().as_default() as graph:
        yield graph


class Joined:
    """A thread that joins a server, and how that has ended: the exit code, an error, or None for a server that was stopped."""

    def __init__(self, server: tf.train.Server, ends_with_job: bool | None = None) -> None:
        self.server = server
        self._ends_with_job = ends_with_job
        self._found: object = None
        self._thread = threading.Thread(target=self._join)
        self._thread.start()

    def _join(self) -> None:
        try:
            self.server.join(self._ends_with_job)
        except SystemExit as end:
            self._found = end.code
        except tf.errors.OpError as error:
            self._found = error

    def ends_within(self, limit_s: float) -> bool:
        self._thread.join(limit_s)
        return not self._thread.is_alive()

    @property
    def end(self) -> object:
        assert self.ends_within(_PATIENCE_S), self.server.target
        return self._found


def train(target: str, fail: bool = False, is_chief: bool = True) -> None:
    with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
        count = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        with tf.train.MonitoredTrainingSession(target, is_chief) as session:
            session.run(count)
            if fail:
                raise ValueError("no good")


class Cluster:
    """Two parameter servers that are joined, of which the second holds no variable, and a worker."""

    def __init__(self, ends_with_job: bool | None = None, lost_job_s: float = 1.0, workers: int = 1) -> None:
        first, second, *addresses = free_addresses(2 + workers)
        self.spec = {"ps": [first, second], "worker": addresses}
        limits = tf.train.ServerLimits(lost_job_s=lost_job_s)
        servers = [tf.train.Server(self.spec, "ps", index, limits=limits) for index in range(2)]
        self.worker = tf.train.Server(self.spec, "worker", 0)
        self.joined = [Joined(server, ends_with_job) for server in servers]

    def train(self, fail: bool = False, is_chief: bool = True) -> None:
        train(self.worker.target, fail, is_chief)

    def stop(self) -> None:
        for server in [self.worker, *(joined.server for joined in self.joined)]:
            server.stop()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = Cluster()
    yield cluster
    cluster.stop()


def test_parameter_servers_end_with_success_when_the_job_is_done_and_its_process_has_left(cluster: Cluster) -> None:
    cluster.train()
    # A second job of the same process, as in a notebook, finds them.
    assert not cluster.joined[0].ends_within(1.0)
    cluster.train()
    cluster.worker.stop()
    assert [joined.end for joined in cluster.joined] == [0, 0]


def test_servers_stay_for_a_client_without_a_server_until_its_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = free_addresses(2)
    limits = tf.train.ServerLimits(lost_job_s=0.3)
    joined = [Joined(tf.train.Server({"ps": [first, second]}, "ps", index, limits=limits)) for index in range(2)]
    # As for a notebook beside the cluster.
    monkeypatch.setattr(local_servers, "find", lambda address: None)
    try:
        for _ in range(2):
            train(f"grpc://{first}")
            assert not any(each.ends_within(1.0) for each in joined)
        lasting_clients.leave()
        assert [each.end for each in joined] == [0, 0]
    finally:
        for each in joined:
            each.server.stop()


def test_parameter_servers_of_a_job_that_failed_tell_the_reason(cluster: Cluster) -> None:
    with pytest.raises(ValueError, match="no good"):
        cluster.train(fail=True)
    cluster.worker.stop()
    for joined in cluster.joined:
        assert isinstance(joined.end, tf.errors.AbortedError)
        assert "ended with ValueError: no good, and nobody has come back for 1 s" in joined.end.message


def test_a_chief_that_comes_back_to_servers_of_a_failed_job_ends_it_well() -> None:
    cluster = Cluster(lost_job_s=20.0)
    try:
        with pytest.raises(ValueError, match="no good"):
            cluster.train(fail=True)
        cluster.worker.stop()
        cluster.worker = tf.train.Server(cluster.spec, "worker", 0)
        cluster.train()
        cluster.worker.stop()
        assert [joined.end for joined in cluster.joined] == [0, 0]
    finally:
        cluster.stop()


def test_a_worker_that_begins_when_the_training_is_over_finds_its_servers_and_they_end_with_it() -> None:
    cluster = Cluster(lost_job_s=60.0, workers=2)
    try:
        cluster.train()
        cluster.worker.stop()
        # The second one holds no variable, so that nobody needs it.
        assert cluster.joined[1].end == 0
        assert not cluster.joined[0].ends_within(0.5)
        cluster.worker = tf.train.Server(cluster.spec, "worker", 1)
        cluster.train(is_chief=False)
        cluster.worker.stop()
        assert cluster.joined[0].end == 0
    finally:
        cluster.stop()


def replica_notes(server: tf.train.Server) -> list[bytes]:
    board = server.worker.resources.find(replica_board.CONTAINER, ReplicaBoard, replica_board.NAME)
    return [note for note in board.notes_under(job_watch.MEMBER.encode()) if f'"role": "{job_watch.REPLICA}"'.encode() in note]


def test_servers_wait_for_a_worker_that_was_lost_and_end_at_once_with_one_that_has_left() -> None:
    cluster = Cluster(lost_job_s=60.0, workers=2)
    second = tf.train.Server(cluster.spec, "worker", 1)
    try:
        with tf.device("/job:ps/task:0"):
            count = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        with tf.train.MonitoredTrainingSession(cluster.worker.target) as session:
            session.run(count)
            lost = tf.train.MonitoredTrainingSession(second.target, is_chief=False)
            while not replica_notes(cluster.joined[0].server):
                lost.run(count)
            presence = presence_of(lost.run_step_fn(lambda step_context: step_context.session))
            assert presence is not None
            # One that was killed leaves no note of its end.
            presence.will_return()
        lost.close()
        second.stop()
        cluster.worker.stop()
        assert not cluster.joined[0].ends_within(1.5)
        second = tf.train.Server(cluster.spec, "worker", 1)
        with tf.train.MonitoredTrainingSession(second.target, is_chief=False) as session:
            session.run(count)
        second.stop()
        assert cluster.joined[0].end == 0
    finally:
        second.stop()
        cluster.stop()


def test_servers_that_nobody_has_trained_on_or_that_are_told_so_serve_on(cluster: Cluster) -> None:
    standing = Cluster(ends_with_job=False)
    try:
        with tf.device("/job:ps/task:0"):
            assert tf.Session(cluster.worker.target).run(tf.constant(3) + 4) == 7
        standing.train()
        cluster.worker.stop()
        standing.worker.stop()
        waiting = [*cluster.joined, *standing.joined]
        assert not any(joined.ends_within(0.5) for joined in waiting)
        standing.stop()
        assert standing.joined[0].end is None
    finally:
        standing.stop()


def test_the_end_of_a_managed_session_is_that_of_the_job(cluster: Cluster) -> None:
    with tf.device("/job:ps/task:0"):
        count = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    supervisor = tf.train.Supervisor()
    with supervisor.managed_session(cluster.worker.target) as session:
        session.run(count)
    cluster.worker.stop()
    assert [joined.end for joined in cluster.joined] == [0, 0]


def test_a_server_that_nobody_has_used_says_for_what_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.01)
    monkeypatch.setattr(wait_notice, "SECOND_S", 1.0)
    told = threading.Event()
    texts: list[str] = []
    levels: list[int] = []

    def log(level: int, text: str, *arguments: object) -> None:
        texts.append(text % arguments)
        levels.append(level)
        if level == logging.WARNING:
            told.set()

    monkeypatch.setattr(job_end._LOG, "log", log)
    address, other = free_addresses(2)
    server = tf.train.Server({"ps": [address], "worker": [other]}, "ps", 0)
    joined = Joined(server)
    assert told.wait(_PATIENCE_S)
    server.stop()
    assert joined.end is None
    assert "Server /job:ps/replica:0/task:0 has waited" in texts[0]
    assert "in join() for its first session." in texts[0]
    # It is no cause for alarm that clients take their time.
    assert levels == [logging.INFO, logging.WARNING]
