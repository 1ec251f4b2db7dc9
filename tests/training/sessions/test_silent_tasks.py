"""Who waits for replicas is told of those that nothing is heard of, and why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft as tf
from weft.errors import PermissionDeniedError
from weft.platform.hosts.free_ports import free_ports
from weft.training.sessions.silent_tasks import SilentTasks
from weft.training.sessions.stall_watch import StallWatch


@pytest.fixture
def cluster() -> Iterator[dict[str, list[str]]]:
    """Of five workers, of which the first two run; the third has a name that does not resolve."""
    addresses = [f"localhost:{port}" for port in free_ports(5)]
    addresses[2] = "no-such-host.invalid:1"
    cluster = {"worker": addresses}
    with tf.train.Server(cluster, "worker", 0), tf.train.Server(cluster, "worker", 1):
        yield cluster


def test_each_replica_that_is_not_heard_of_has_a_reason(cluster: dict[str, list[str]]) -> None:
    with tf.Session(f"grpc://{cluster['worker'][0]}", config=tf.ConfigProto(device_filters=["/task:0"])) as session:
        tasks = SilentTasks(session)
        told = tasks.of({"/job:worker/task:0"})
        assert [each.partition(" at ")[0] for each in told] == [f"/job:worker/task:{index}" for index in range(1, 5)]
        runs, unresolved, not_started, _ = told
        assert "(it runs, and has given no gradient yet)" in runs
        assert "(its name does not resolve" in unresolved
        assert f"at {cluster['worker'][3]} (nothing listens there: is its process running, at that port?)" in not_started
        assert tasks.chief() is None


def test_one_that_refuses_this_caller_says_so(cluster: dict[str, list[str]]) -> None:
    def refuse(address: str, limit_s: float) -> None:
        raise PermissionDeniedError.of(f"Server at {address} belongs to a cluster with other credentials")

    with tf.Session(f"grpc://{cluster['worker'][1]}", config=tf.ConfigProto(device_filters=["/task:1"])) as session:
        told = SilentTasks(session, refuse).chief()
    assert told is not None
    assert told.startswith(f"/job:worker/task:0 at {cluster['worker'][0]} (Server at ")
    assert "other credentials" in told


def test_a_session_without_a_server_of_this_process_knows_of_none() -> None:
    with tf.Session() as session:
        assert SilentTasks(session).of(()) == []
        assert SilentTasks(session).chief() is None


def test_a_stalled_update_names_the_replica_that_was_never_started() -> None:
    watch = StallWatch(lambda known: [f"/job:worker/task:1 (nothing listens there), beside {sorted(known)}"])
    replicas = [{"name": "/job:worker/replica:0/task:0#aa", "count": 1, "age_s": 0.0, "has_left": False}]
    report = {"step": 2, "count": 1, "needed": 2, "replicas": replicas}
    assert watch.look([report]) is None
    assert watch.look([report]) == (
        "Step 2 has 1/2 gradients; missing: /job:worker/task:1 (nothing listens there), beside ['/job:worker/task:0']"
    )
