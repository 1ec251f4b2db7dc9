"""What a step costs as the cluster, the model and the graph grow."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.children import Children
from benchmarks.cluster import free_addresses, server_here, start_server, start_servers
from benchmarks.framework import framework
from benchmarks.timing import Point, Points, seconds_per_call

FLOATS_PER_VARIABLE = 10


def tasks(count: int) -> Points:
    """Seconds of a step that adds to one scalar on each of `count` tasks; this process is the first of them."""
    tf = framework()
    cluster = free_addresses(task=count)
    with Children() as children:
        start_servers(children, cluster, "task", range(1, count))
        server = server_here(cluster, "task", 0)
        updates = []
        for index in range(count):
            with tf.device(f"/job:task/task:{index}"):
                updates.append(tf.assign_add(tf.Variable(0.0), 1.0).op)
        step = tf.group(*updates)
        with tf.Session(server.target) as session:
            session.run(tf.global_variables_initializer())
            return _timed(count, lambda: session.run(step))


def variables(count: int) -> Points:
    """Seconds of a gradient descent step of `count` small variables on a parameter server, by a worker in this process."""
    tf = framework()
    cluster = free_addresses(ps=1, worker=1)
    with Children() as children:
        start_server(children, cluster, "ps")
        server = server_here(cluster, "worker", 0)
        with tf.device("/job:ps/task:0"):
            held = [tf.Variable(tf.ones([FLOATS_PER_VARIABLE])) for _ in range(count)]
        with tf.device("/job:worker/task:0"):
            loss = tf.add_n([tf.reduce_sum(tf.square(each)) for each in held])
            step = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
        with tf.Session(server.target) as session:
            session.run(tf.global_variables_initializer())
            return _timed(count, lambda: session.run(step))


def nodes(count: int) -> Points:
    """Seconds of a step of a few nodes in a graph of `count`, once its plan is ready."""
    tf = framework()
    x = tf.placeholder(tf.float32, [])
    wanted = tf.sqrt(x * 2.0)
    other = tf.constant(0.0)
    graph = tf.get_default_graph()
    for _ in range(count - len(graph.get_operations())):
        other = tf.identity(other)
    with tf.Session() as session:
        return _timed(count, lambda: session.run(wanted, {x: 2.0}))


def _timed(size: int, step: Callable[[], object]) -> Points:
    sample = seconds_per_call(step, warm_up_s=0.7, measure_s=1.0)
    return Points([Point(size, {"median": sample.value, "best": sample.best})])
