"""Between-graph training: every worker is a process with its own graph, and updates the shared variables as it goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.channel import Channel
from benchmarks.children import Child, Children
from benchmarks.cluster import free_addresses, resident_bytes, server_here, start_server
from benchmarks.framework import framework
from benchmarks.programs import models
from benchmarks.timing import Sample, once, warm_up
from benchmarks.together import rate_together, serve_steps

WORKERS = 2
COUNTING_S = 4.0
ROWS, WIDTH, IDS = 1_000_000, 32, 4096


def async_training() -> Sample:
    """Steps per second of 784-128-10, batch 32, one parameter server and two workers."""
    with Children() as children:
        rate, _ = _train(children, "perceptron", servers=1)
        return once(rate)


def embedding_training() -> Sample:
    """Steps per second of 4,096 ids in a 1,000,000 x 32 table on two parameter servers, two workers."""
    with Children() as children:
        rate, _ = _train(children, "embedding", servers=2)
        return once(rate)


def ps_memory() -> Sample:
    """Resident bytes of the parameter server that `async_training` has just used."""
    with Children() as children:
        _, servers = _train(children, "perceptron", servers=1)
        return once(resident_bytes(servers[0].pid))


def _train(children: Children, model: str, servers: int) -> tuple[float, list[Child]]:
    """Train for a while; return all workers' steps per second, and the parameter servers, still up."""
    cluster = free_addresses(ps=servers, worker=WORKERS)
    ps = [start_server(children, cluster, "ps", index) for index in range(servers)]
    role = "benchmarks.programs.asynchronous_training:train"
    workers = [children.start(role, cluster=cluster, index=index, model=model) for index in range(WORKERS)]
    for worker in workers:
        worker.hear()
    # The chief initializes before the others look at the variables, as a Supervisor would arrange.
    for worker in workers:
        worker.ask(prepare=True)
    return rate_together(workers, seconds=COUNTING_S), ps


def train(channel: Channel, cluster: dict[str, list[str]], index: int, model: str) -> None:
    """A child's role: one worker, which initializes if it is the first, warms up, and counts its steps when told."""
    tf = framework()
    server = server_here(cluster, "worker", index)
    setter = tf.train.replica_device_setter(cluster=tf.train.ClusterSpec(cluster), worker_device=f"/job:worker/task:{index}")
    with tf.device(setter):
        step = MODELS[model](tf, len(cluster["ps"]), index)
    initialize = tf.global_variables_initializer()
    channel.send(ready=True)
    with tf.Session(server.target) as session:
        channel.receive()
        if index == 0:
            session.run(initialize)
        warm_up(lambda: step(session), seconds=1.5, calls=20)
        channel.send(warm=True)
        serve_steps(channel, lambda: step(session), process=f"worker {index}", profiled=200)


def _perceptron_step(tf: Any, servers: int, index: int) -> Callable[[Any], object]:
    images, labels = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int32, [None])
    loss = models.cross_entropy(tf, models.perceptron(tf, images, 128), labels)
    update = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    pixels, digits = models.digits(32)
    batch = {images: pixels, labels: digits}
    return lambda session: session.run(update, batch)


def _embedding_step(tf: Any, servers: int, index: int) -> Callable[[Any], object]:
    ids = tf.placeholder(tf.int32, [None])
    table = tf.get_variable(
        "table",
        [ROWS, WIDTH],
        initializer=tf.random_uniform_initializer(-0.1, 0.1, seed=1),
        partitioner=tf.fixed_size_partitioner(servers),
    )
    update = tf.train.AdagradOptimizer(0.1).minimize(models.embedding_loss(tf, table, ids, "div"))
    batch = {ids: models.random_ids(IDS, ROWS, seed=index)}
    return lambda session: session.run(update, batch)


MODELS: dict[str, Callable[[Any, int, int], Callable[[Any], object]]] = {
    "perceptron": _perceptron_step,
    "embedding": _embedding_step,
}
