"""Whatever connections are cut while steps run, each step is applied once, or fails by an error that says what is not known."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import weft as tf
from tests.distributed.cutting_proxy import CuttingProxy
from weft.channel.listener import Listener
from weft.distributed.client.remote_session import RemoteSession
from weft.distributed.client.remote_step import RemoteStep
from weft.distributed.server.server import Server
from weft.errors import AbortedError, UnavailableError
from weft.platform.hosts.free_ports import free_ports


class CutCluster:
    """A parameter server and a worker, whose connections, and those of clients, go through proxies."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.proxies: dict[Listener, CuttingProxy] = {}
        addresses = Listener.addresses.fget
        assert addresses is not None

        def through_proxy(listener: Listener) -> tuple[str, ...]:
            if listener not in self.proxies:
                self.proxies[listener] = CuttingProxy(listener.port)
            return (self.proxies[listener].address,)

        monkeypatch.setattr(Listener, "addresses", property(through_proxy))
        # Tasks of one process hand values over without a connection.
        monkeypatch.setattr("weft.distributed.server.task_directory._find_neighbour", lambda task, address: None)
        # Each side must be able to dial the other: the one that does so first after a cut brings both on.
        ps, worker = (f"localhost:{port}" for port in free_ports(2))
        spec = {"ps": [ps], "worker": [worker]}
        self.servers = [Server(spec, "ps", 0), Server(spec, "worker", 0)]
        self.sessions: list[RemoteSession] = []

    def prepare(self, fetch: tf.Tensor) -> RemoteStep:
        """A step of a client of its own."""
        session = RemoteSession(self.servers[1].target.removeprefix("grpc://"), fetch.graph, tf.ConfigProto())
        self.sessions.append(session)
        return session.prepare([], [fetch], [])

    def cut(self, rng: random.Random) -> None:
        """Cut the connections of one task."""
        rng.choice(list(self.proxies.values())).cut(rng)

    @property
    def cuts(self) -> int:
        return sum(proxy.cuts for proxy in self.proxies.values())

    def close(self) -> None:
        for session in self.sessions:
            session.close()
        for server in self.servers:
            server.stop()
        for proxy in self.proxies.values():
            proxy.close()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[CutCluster]:
    with tf.Graph().as_default():
        cluster = CutCluster(monkeypatch)
        yield cluster
        cluster.close()


def increments_under_cuts(cluster: CutCluster, clients: int, count: int, pause_s: float, seed: int) -> tuple[int, int, int]:
    """Returns how many increments succeeded, how many failed with an unknown fate, and how many were applied."""
    with tf.device("/job:worker/task:0"):
        one = tf.identity(tf.constant(1, tf.int64))
    with tf.device("/job:ps/task:0"):
        total = tf.Variable(tf.constant(0, tf.int64), name="total")
        added = tf.assign_add(total, one)
    cluster.prepare(total.initializer.outputs[0]).run([])
    steps = [cluster.prepare(added) for _ in range(clients)]
    rng = random.Random(seed)

    def again(fetch: tf.Tensor) -> RemoteStep:
        for _ in range(20):
            with contextlib.suppress(UnavailableError, AbortedError):
                return cluster.prepare(fetch)
        return cluster.prepare(fetch)

    def work(step: RemoteStep) -> tuple[int, int]:
        succeeded = failed = 0
        for _ in range(count):
            try:
                step.run([])
                succeeded += 1
            except (UnavailableError, AbortedError) as error:
                if "the step may or may not have been applied" not in error.message:
                    raise
                failed += 1
                step = again(added)  # its session may be what was lost
        return succeeded, failed

    with ThreadPoolExecutor(clients) as pool:
        done = [pool.submit(work, step) for step in steps]
        while not all(each.done() for each in done):
            threading.Event().wait(rng.uniform(0.0, pause_s))
            cluster.cut(rng)
        results = [each.result() for each in done]
    (applied,), _ = again(total.value()).run([])
    return sum(each[0] for each in results), sum(each[1] for each in results), int(applied)


def test_increments_of_several_clients_count_once_whatever_is_cut(cluster: CutCluster) -> None:
    succeeded, failed, applied = increments_under_cuts(cluster, clients=4, count=100, pause_s=0.4, seed=12)
    assert succeeded + failed == 400
    assert succeeded <= applied <= succeeded + failed
    assert failed <= 2
    assert cluster.cuts >= 3


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_16_000_increments_of_8_clients_count_once_whatever_is_cut(cluster: CutCluster) -> None:
    succeeded, failed, applied = increments_under_cuts(cluster, clients=8, count=2000, pause_s=0.4, seed=16)
    print(f"{succeeded} succeeded, {failed} of unknown fate, {applied} applied, {cluster.cuts} cuts")
    assert succeeded + failed == 16_000
    assert succeeded <= applied <= succeeded + failed
