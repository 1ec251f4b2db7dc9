"""A server's directory: which tasks it reaches directly, and which by a stub."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft as tf
from weft.distributed.server.task_directory import PeerStubs, TaskDirectory
from weft.distributed.worker.local_worker import LocalWorker
from weft.distributed.worker.network.task_network import TaskNetwork
from weft.distributed.worker.remote_worker import RemoteWorker
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.worker import Worker

OWN, NEIGHBOUR, ELSEWHERE = (f"/job:{job}/replica:0/task:0" for job in ("a", "b", "c"))


@pytest.fixture
def neighbour() -> Iterator[tf.train.Server]:
    with tf.train.Server({"b": ["localhost:0"]}, "b", 0) as server:
        yield server


def test_tasks_of_this_process_are_reached_directly_and_others_by_one_stub(neighbour: tf.train.Server) -> None:
    address = f"localhost:{neighbour.port}"
    cluster = ClusterSpec({"a": ["localhost:1"], "b": [address], "c": ["localhost:2"]})
    worker = Worker(OWN, [], 7, ResourceManager("a"))
    stubs = PeerStubs(OWN, cluster, None)
    network = TaskNetwork(worker, stubs.admit)
    directory = TaskDirectory(cluster, worker, network, stubs, lambda: 1)
    try:
        own, near, far = (
            directory.reach(task, place)
            for task, place in ((OWN, "localhost:1"), (NEIGHBOUR, address), (ELSEWHERE, "localhost:2"))
        )
        assert isinstance(own, LocalWorker)
        assert own.worker is worker
        assert isinstance(near, LocalWorker)
        assert near.worker is neighbour.worker
        assert network.tasks_here == [OWN, NEIGHBOUR]
        assert isinstance(far, RemoteWorker)
        assert stubs.find(ELSEWHERE, "localhost:2") is stubs.find(ELSEWHERE, "localhost:2")
        assert directory.status(OWN, "localhost:1", timeout_s=20).incarnation == 7
        assert directory.status(NEIGHBOUR, address, timeout_s=20).incarnation == neighbour.incarnation
        cache, own_task = directory.make_cache(cluster)
        assert own_task == OWN
        assert list(cache.addresses) == [OWN, NEIGHBOUR, ELSEWHERE]
    finally:
        stubs.close()
        network.close()


def test_a_client_may_be_stopped_and_go_on_and_a_peer_is_asked() -> None:
    stubs = PeerStubs(OWN, ClusterSpec({"a": ["localhost:1"], "b": ["localhost:2"]}), 3.0)
    assert stubs.watch_of("").tolerates_stop
    peer = stubs.watch_of(NEIGHBOUR)
    assert not peer.tolerates_stop
    assert peer.probe is not None
