"""What a job's processes compute for a step as workers, servers and messages grow: CPU time, which a busy machine tells too."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

from benchmarks.channel import Channel
from benchmarks.children import Child, Children
from benchmarks.cluster import free_addresses, server_here, start_server, start_servers
from benchmarks.framework import framework
from benchmarks.timing import Point, Points, warm_up

LIGHT_WORKERS = 8
FLOATS = 1000
COUNTING_S = 3.0
RESTORED, RESTORED_BYTES, RESTORES = 64, 64 << 20, 10
PULLS, LEAST_PULLS_BYTES = 200, 2 << 30
# Plans, connections and memory for what is received are made in the first steps, which are not to be counted.
WARM_STEPS = 120


def workers(count: int) -> Points:
    """CPU seconds of the parameter server and of a worker for a light step, and steps per second, of so many workers."""
    return Points([Point(count, _train(servers=1, count=count))])


def servers(count: int) -> Points:
    """The same of eight workers and so many parameter servers, each of which has a variable of the model."""
    return Points([Point(count, _train(servers=count, count=LIGHT_WORKERS))])


def payload(size_bytes: int) -> Points:
    """CPU seconds of the parameter server and of the worker that pulls a variable of so many bytes, and seconds of a pull."""
    tf = framework()
    cluster = free_addresses(ps=1, worker=1)
    with Children() as children:
        ps = start_server(children, cluster, "ps")
        server = server_here(cluster, "worker", 0)
        with tf.device("/job:ps/task:0"):
            held = tf.get_variable("held", [size_bytes // 4], initializer=tf.ones_initializer())
        with tf.device("/job:worker/task:0"):
            first = held[0]
        with tf.Session(server.target) as session:
            session.run(tf.global_variables_initializer())
            count = max(5, min(PULLS, LEAST_PULLS_BYTES // size_bytes))
            for _ in range(min(WARM_STEPS, count)):
                session.run(first)
            before, begin_s, begin_ps_s = time.process_time(), time.perf_counter(), cpu_seconds(ps.pid)
            for _ in range(count):
                session.run(first)
            spent = {
                "worker_cpu": time.process_time() - before,
                "seconds": time.perf_counter() - begin_s,
                "ps_cpu": cpu_seconds(ps.pid) - begin_ps_s,
            }
    return Points([Point(size_bytes, {name: value / count for name, value in spent.items()})])


def build(nodes: int) -> Points:
    """CPU seconds from an empty graph of so many nodes to the end of the first step that needs all of them."""
    tf = framework()
    begin_s = time.process_time()
    x = tf.placeholder(tf.float32, [])
    value = x
    for _ in range(nodes - 2):
        value = tf.identity(value)
    built_s = time.process_time()
    with tf.Session() as session:
        session.run(value, {x: 1.0})
        return Points([Point(nodes, {"build": built_s - begin_s, "first": time.process_time() - built_s})])


def restore(count: int) -> Points:
    """CPU seconds of all parameter servers together and of the worker that restores a model of 64 MB spread over so many."""
    tf = framework()
    cluster = free_addresses(ps=count, worker=1)
    with Children() as children, tempfile.TemporaryDirectory() as folder:
        ps = start_servers(children, cluster, "ps", range(count))
        server = server_here(cluster, "worker", 0)
        for number in range(RESTORED):
            with tf.device(f"/job:ps/task:{number % count}"):
                tf.get_variable(f"held{number}", [RESTORED_BYTES // RESTORED // 4], initializer=tf.ones_initializer())
        saver = tf.train.Saver(sharded=True)
        with tf.Session(server.target) as session:
            session.run(tf.global_variables_initializer())
            path = saver.save(session, os.path.join(folder, "model"))
            saver.restore(session, path)
            before, of_servers = time.process_time(), sum(cpu_seconds(child.pid) for child in ps)
            for _ in range(RESTORES):
                saver.restore(session, path)
            worker_s = time.process_time() - before
            servers_s = sum(cpu_seconds(child.pid) for child in ps) - of_servers
    return Points([Point(count, {"ps_cpu": servers_s / RESTORES, "worker_cpu": worker_s / RESTORES})])


def cpu_seconds(pid: int) -> float:
    """How much a process has computed on all threads, in hundredths of seconds (Linux)."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _train(servers: int, count: int) -> dict[str, float]:
    cluster = free_addresses(ps=servers, worker=count)
    with Children() as children:
        ps = start_servers(children, cluster, "ps", range(servers))
        role = "benchmarks.programs.growth_of_jobs:train"
        started = [children.start(role, cluster=cluster, index=index) for index in range(count)]
        for worker in started:
            worker.hear()
        for worker in started:
            worker.ask(prepare=True)
        return _counted(started, ps)


def _counted(started: list[Child], ps: list[Child]) -> dict[str, float]:
    before = [cpu_seconds(child.pid) for child in ps]
    for worker in started:
        worker.tell(seconds=COUNTING_S)
    heard = [worker.hear() for worker in started]
    steps = sum(each["steps"] for each in heard)
    of_servers = sum(cpu_seconds(child.pid) - spent for child, spent in zip(ps, before, strict=True))
    return {
        "ps_cpu": of_servers / steps,
        "worker_cpu": sum(each["cpu"] for each in heard) / steps,
        "rate": sum(each["rate"] for each in heard),
    }


def train(channel: Channel, cluster: dict[str, list[str]], index: int) -> None:
    """A child's role: one worker, whose step reads and updates one small variable on each parameter server."""
    tf = framework()
    server = server_here(cluster, "worker", index)
    session, step = _light_step(tf, len(cluster["ps"]), index, server.target)
    channel.send(ready=True)
    channel.receive()
    if index == 0:
        session.run(tf.global_variables_initializer())
    warm_up(step, seconds=1.0, calls=WARM_STEPS)
    channel.send(warm=True)
    message = channel.receive()
    if message is None:
        return
    before, begin_s, steps = time.process_time(), time.perf_counter(), 0
    while time.perf_counter() - begin_s < message["seconds"]:
        step()
        steps += 1
    took_s = time.perf_counter() - begin_s
    channel.send(steps=steps, rate=steps / took_s, cpu=time.process_time() - before)
    channel.receive()


def _light_step(tf: Any, servers: int, index: int, target: str) -> tuple[Any, Callable[[], object]]:
    held = []
    for number in range(servers):
        with tf.device(f"/job:ps/task:{number}"):
            held.append(tf.get_variable(f"held{number}", [FLOATS], initializer=tf.ones_initializer()))
    with tf.device(f"/job:worker/task:{index}"):
        loss = tf.add_n([tf.reduce_sum(tf.square(each)) for each in held])
        update = tf.train.GradientDescentOptimizer(1e-6).minimize(loss)
    session = tf.Session(target)
    return session, lambda: session.run(update)
