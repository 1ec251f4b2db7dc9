"""What the processes of a cluster hold: after many steps, and while a peer does not read what is sent to it."""

from __future__ import annotations

import os
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.children import Children
from benchmarks.cluster import free_addresses, resident_bytes, server_here, start_server
from benchmarks.framework import framework
from benchmarks.programs import models
from benchmarks.timing import Point, Points

LOOKS = 10
STEPS_UNDER_WAY = 32
STANDSTILL_S = 2.0
LOOK_EVERY_S = 0.02


def steps(count: int) -> Points:
    """Resident bytes of a worker and its parameter server at ten places on the way to `count` training steps."""
    tf = framework()
    cluster = free_addresses(ps=1, worker=1)
    with Children() as children:
        ps = start_server(children, cluster, "ps")
        server = server_here(cluster, "worker", 0)
        setter = tf.train.replica_device_setter(cluster=tf.train.ClusterSpec(cluster), worker_device="/job:worker/task:0")
        with tf.device(setter):
            images, labels = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int32, [None])
            loss = models.cross_entropy(tf, models.perceptron(tf, images, 16), labels)
            step = tf.train.AdagradOptimizer(0.01).minimize(loss)
        batch = dict(zip((images, labels), models.digits(8), strict=True))
        points = []
        with tf.Session(server.target) as session:
            session.run(tf.global_variables_initializer())
            for look in range(1, LOOKS + 1):
                for _ in range(count // LOOKS):
                    session.run(step, batch)
                held = {"worker": float(resident_bytes(os.getpid())), "ps": float(resident_bytes(ps.pid))}
                points.append(Point(look * (count // LOOKS), held))
        return Points(points)


def messages(size_bytes: int) -> Points:
    """What a server holds for a peer that stands still, while 32 steps want to send it `size_bytes` each.

    The figures: `held`, by how many bytes the server grew; `asked`, the bytes that all of those steps send; `bystander`, the
    seconds of another client's step on that server meanwhile. All steps finish once the peer reads again.
    """
    tf = framework()
    # The peer that stands still is to be waited for, not to be given up.
    os.environ["WEFT_HEARTBEAT_TIMEOUT_S"] = "60"
    cluster = free_addresses(ps=1, reader=1, worker=1)
    with Children() as children:
        writer, reader = start_server(children, cluster, "ps"), start_server(children, cluster, "reader")
        server = server_here(cluster, "worker", 0)
        with tf.device("/job:ps/task:0"):
            held = tf.get_variable("held", [size_bytes // 4], initializer=tf.ones_initializer())
            counter = tf.get_variable("counter", [], initializer=tf.zeros_initializer())
            by = tf.placeholder(tf.float32, [])
            sent, count = held * by, tf.assign_add(counter, 1.0).op
        with tf.device("/job:reader/task:0"):
            read = tf.reduce_max(sent)
        with tf.Session(server.target) as session, tf.Session(f"grpc://{cluster['ps'][0]}") as bystander:
            session.run(tf.global_variables_initializer())
            for _ in range(10):
                session.run(read, {by: 1.0})
                bystander.run(count)
            before = resident_bytes(writer.pid)
            with _standing_still(reader.pid), _under_way(lambda i: session.run(read, {by: float(i)})) as results:
                most, bystander_s = _watch(writer.pid, lambda: bystander.run(count))
                os.kill(reader.pid, signal.SIGCONT)
    if sorted(results) != [float(i) for i in range(STEPS_UNDER_WAY)]:
        raise AssertionError(f"of {STEPS_UNDER_WAY} steps {len(results)} finished, with {sorted(results)}")
    figures = {"held": float(max(most - before, 0)), "asked": float(STEPS_UNDER_WAY * size_bytes), "bystander": bystander_s}
    return Points([Point(size_bytes, figures)])


@contextmanager
def _standing_still(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def _under_way(step: Callable[[int], Any]) -> Iterator[list[float]]:
    """Start many steps at once; when the context ends, all are finished and their results are in the list."""
    results: list[float] = []
    threads = [threading.Thread(target=lambda i=i: results.append(float(step(i)))) for i in range(STEPS_UNDER_WAY)]
    for thread in threads:
        thread.start()
    try:
        yield results
    finally:
        for thread in threads:
            thread.join()


def _watch(pid: int, step: Callable[[], object]) -> tuple[int, float]:
    """Take a step now and then for a while; return the most that the process held and the median seconds of a step."""
    most, seconds = 0, []
    ends_at = time.perf_counter() + STANDSTILL_S
    while (started := time.perf_counter()) < ends_at:
        step()
        seconds.append(time.perf_counter() - started)
        most = max(most, resident_bytes(pid))
        time.sleep(LOOK_EVERY_S)
    return most, statistics.median(seconds)
