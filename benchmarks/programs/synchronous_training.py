"""Synchronous training: replicas whose gradients make an update together, and who wait for each other by tokens."""

from __future__ import annotations

import threading
import time
from typing import Any

from benchmarks import counting
from benchmarks.channel import Channel
from benchmarks.children import Children
from benchmarks.cluster import free_addresses, server_here, start_server
from benchmarks.framework import framework
from benchmarks.programs import models
from benchmarks.timing import Sample, once
from benchmarks.together import rate_together

WORKERS = 2
WARM_STEPS, COUNTING_S = 300, 4.0


def sync_training() -> Sample:
    """Steps per second of both workers, 784-128-10, batch 32, one parameter server, gradient descent."""
    with Children() as children:
        cluster = free_addresses(ps=1, worker=WORKERS)
        start_server(children, cluster, "ps")
        role = "benchmarks.programs.synchronous_training:train"
        workers = [children.start(role, cluster=cluster, index=index) for index in range(WORKERS)]
        for worker in workers:
            worker.hear()
        return once(rate_together(workers, seconds=COUNTING_S))


def train(channel: Channel, cluster: dict[str, list[str]], index: int) -> None:
    """A child's role: one replica, the first of them the chief."""
    tf = framework()
    server = server_here(cluster, "worker", index)
    setter = tf.train.replica_device_setter(cluster=tf.train.ClusterSpec(cluster), worker_device=f"/job:worker/task:{index}")
    with tf.device(setter):
        images, labels = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int32, [None])
        loss = models.cross_entropy(tf, models.perceptron(tf, images, 128), labels)
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.GradientDescentOptimizer(0.01), replicas_to_aggregate=WORKERS, total_num_replicas=WORKERS
        )
        update = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    pixels, digits = models.digits(32)
    batch = {images: pixels, labels: digits}
    is_chief = index == 0
    hook = optimizer.make_session_run_hook(is_chief)
    with tf.train.MonitoredTrainingSession(server.target, is_chief=is_chief, hooks=[hook]) as session:
        replica = _Replica(session, update, batch)
        replica.start()
        while replica.steps < WARM_STEPS:
            time.sleep(0.01)
        channel.send(warm=True)
        message = channel.receive()
        if message is not None:
            channel.send(**replica.steps_within(message["seconds"]))
            channel.receive()


class _Replica(threading.Thread):
    """Takes steps for ever: the others would wait for the gradients of one that stops."""

    def __init__(self, session: Any, update: Any, batch: Any) -> None:
        super().__init__(daemon=True)
        self.steps = 0
        self._session, self._update, self._batch = session, update, batch

    def run(self) -> None:
        while True:
            self._session.run(self._update, self._batch)
            self.steps += 1

    def steps_within(self, seconds: float) -> Any:
        """The steps of some seconds, as an answer for `rate_together`."""
        traffic, steps, started = counting.Traffic(), self.steps, time.perf_counter()
        time.sleep(seconds)
        return {"steps": self.steps - steps, "seconds": time.perf_counter() - started, "moved": traffic.moved()}
