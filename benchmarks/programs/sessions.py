"""The ways to a server: in one's own process, as a bare client, and many clients at once."""

from __future__ import annotations

from benchmarks.channel import Channel
from benchmarks.children import Children
from benchmarks.cluster import free_addresses, server_here, start_server
from benchmarks.framework import framework
from benchmarks.timing import Sample, once, seconds_per_call, warm_up
from benchmarks.together import rate_together, serve_steps

COUNTING_S = 3.0


def own_server() -> Sample:
    """Seconds of an assign_add through the session of a server in this process that also owns the variable."""
    tf = framework()
    server = server_here(free_addresses(local=1), "local", 0)
    with tf.device("/job:local/task:0"):
        counter = tf.Variable(0.0)
        update = tf.assign_add(counter, 1.0).op
    with tf.Session(server.target) as session:
        session.run(tf.global_variables_initializer())
        return seconds_per_call(lambda: session.run(update))


def client_only() -> Sample:
    """Seconds of an assign_add from a process that runs no server, on a server in another process."""
    tf = framework()
    cluster = free_addresses(local=1)
    counter = tf.Variable(0.0)
    update = tf.assign_add(counter, 1.0).op
    with Children() as children:
        start_server(children, cluster, "local")
        with tf.Session(f"grpc://{cluster['local'][0]}") as session:
            session.run(tf.global_variables_initializer())
            return seconds_per_call(lambda: session.run(update))


def null_steps_1() -> Sample:
    return _null_steps(1)


def null_steps_8() -> Sample:
    return _null_steps(8)


def _null_steps(clients: int) -> Sample:
    """Steps per second of one server, all clients together, each with a step that does nothing."""
    cluster = free_addresses(local=1)
    with Children() as children:
        start_server(children, cluster, "local")
        target = f"grpc://{cluster['local'][0]}"
        workers = [children.start("benchmarks.programs.sessions:count_null_steps", target=target) for _ in range(clients)]
        for worker in workers:
            worker.hear()
        return once(rate_together(workers, seconds=COUNTING_S))


def count_null_steps(channel: Channel, target: str) -> None:
    """A child's role: open a session, say so, and when told, count the steps that finish in the given time."""
    tf = framework()
    nothing = tf.no_op()
    with tf.Session(target) as session:
        warm_up(lambda: session.run(nothing), seconds=0.5, calls=10)
        channel.send(ready=True)
        serve_steps(channel, lambda: session.run(nothing), process="client", profiled=1000)
