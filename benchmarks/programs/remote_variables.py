"""A worker's steps on variables that live in another process, and the tensors that those steps move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from benchmarks.children import Children
from benchmarks.cluster import free_addresses, server_here, start_server
from benchmarks.framework import framework, have_code_made_beside_steps
from benchmarks.timing import Sample, per_second, seconds_per_call

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"
FLOATS_IN_100_MB = 25_000_000


@contextmanager
def worker_session(
    cluster: dict[str, list[str]] | None = None,
    start_ps: Callable[[Children, dict[str, list[str]], str], object] = start_server,
) -> Iterator[Callable[[], Any]]:
    """Run a parameter server beside this process, a worker in it, and yield what opens a session on the worker.

    Args:
        cluster: their addresses; free ones on loopback when not given.
        start_ps: starts the first task of a job as a child, and returns once it serves.
    """
    tf = framework()
    cluster = cluster or free_addresses(ps=1, worker=1)
    with Children() as children:
        start_ps(children, cluster, "ps")
        server = server_here(cluster, "worker", 0)

        def open_session() -> Any:
            session = tf.Session(server.target)
            session.run(tf.global_variables_initializer())
            return session

        yield open_session


def remote_assign() -> Sample:
    """Seconds to add to a scalar on the parameter server, nothing fetched."""
    return seconds_to_assign(worker_session())


def seconds_to_assign(sessions: AbstractContextManager[Callable[[], Any]]) -> Sample:
    """Seconds to add to a scalar on the parameter server, nothing fetched."""
    tf = framework()
    with sessions as open_session:
        with tf.device(PS):
            update = tf.assign_add(tf.Variable(0.0), 1.0).op
        session = open_session()
        return seconds_per_call(lambda: session.run(update))


def remote_assign_fetch() -> Sample:
    """Seconds to add to a scalar on the parameter server and fetch the new value."""
    tf = framework()
    with worker_session() as open_session:
        with tf.device(PS):
            update = tf.assign_add(tf.Variable(0.0), 1.0)
        session = open_session()
        return seconds_per_call(lambda: session.run(update))


def there_and_back() -> Sample:
    """Seconds for a fed scalar to go from the worker to the parameter server and back, computed on at every stop."""
    have_code_made_beside_steps()
    tf = framework()
    with worker_session() as open_session:
        with tf.device(WORKER):
            x = tf.placeholder(tf.float32, [])
            sent = x + 1.0
        with tf.device(PS):
            returned = sent * 2.0
        with tf.device(WORKER):
            result = returned + 1.0
        session = open_session()
        return seconds_per_call(lambda: session.run(result, {x: 1.0}))


def pull_100x1kb() -> Sample:
    return seconds_to_pull(worker_session(), 100, 256)


def pull_1mb() -> Sample:
    return seconds_to_pull(worker_session(), 1, 262_144)


def pull_100mb() -> Sample:
    """Bytes per second of reading one variable of 100 MB on the worker."""
    return per_second(seconds_to_pull(worker_session(), 1, FLOATS_IN_100_MB), FLOATS_IN_100_MB * 4)


def seconds_to_pull(sessions: AbstractContextManager[Callable[[], Any]], variables: int, floats: int) -> Sample:
    """Seconds until the worker has all of the parameter server's variables.

    One number of them is fetched: a run that only targets the reads would let the runtime leave the transfer out.
    """
    tf = framework()
    with sessions as open_session:
        with tf.device(PS):
            held = [tf.get_variable(f"v{i}", [floats], initializer=tf.ones_initializer()) for i in range(variables)]
        with tf.device(WORKER):
            first = tf.stack(held)[0, 0] if variables > 1 else held[0][0]
        session = open_session()
        return seconds_per_call(lambda: session.run(first))


def push_100mb() -> Sample:
    """Bytes per second of assigning a worker's variable of 100 MB to one on the parameter server."""
    tf = framework()
    with worker_session() as open_session:
        with tf.device(PS):
            there = tf.get_variable("there", [FLOATS_IN_100_MB], initializer=tf.zeros_initializer())
        with tf.device(WORKER):
            here = tf.get_variable("here", [FLOATS_IN_100_MB], initializer=tf.ones_initializer())
        push = tf.assign(there, here).op
        session = open_session()
        return per_second(seconds_per_call(lambda: session.run(push)), FLOATS_IN_100_MB * 4)
