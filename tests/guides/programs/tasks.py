"""A guide's functions as processes forked by one parent, as its notebook runs them: `tasks.py NAME ADDRESS ADDRESS [STEPS]`.

NAME is one of the functions below that take no argument. With STEPS the parent first runs that many steps on servers of its
own, as the notebook's earlier cells do.
"""

from __future__ import annotations

import sys
from multiprocessing import get_context
from time import sleep
from typing import Any

import weft as tf
from weft.distributed.server.local_cluster import free_addresses

cluster = tf.train.ClusterSpec({"local": sys.argv[2:4]})


def _server(index: int) -> tf.train.Server:
    return tf.train.Server(cluster, job_name="local", task_index=index)


def _start(*functions: Any) -> list[Any]:
    processes = [get_context("fork").Process(target=function, daemon=True) for function in functions]
    for process in processes:
        process.start()
    return processes


def _run_steps_here(count: int) -> None:
    """The notebook's first cells: servers and sessions in this process."""
    spec = tf.train.ClusterSpec({"local": free_addresses(2)})
    servers = [tf.train.Server(spec, job_name="local", task_index=index) for index in range(2)]
    var = tf.Variable(0.0, name="of_the_parent")
    first, second = (tf.Session(server.target) for server in servers)
    first.run(tf.global_variables_initializer())
    for _ in range(count):
        first.run(var.assign_add(1.0))
    print("parent: var has value", second.run(var))
    tf.reset_default_graph()


def blocks_until_all_joined() -> None:
    def one() -> None:
        server = _server(0)
        session = tf.Session(server.target)
        print("server 1: running no-op...")
        session.run(tf.no_op())
        print("server 1: no-op run!")
        server.join()

    def two() -> None:
        sleep(1.0)
        print("server 2: connecting")
        _server(1).join()

    processes = _start(one, two)
    for process in processes:
        process.join()


def waits_for_initialization() -> None:
    def one() -> None:
        server = _server(0)
        tf.Variable(0.0, name="var")
        session = tf.Session(server.target)
        print("server 1: waiting for connection...")
        session.run(tf.report_uninitialized_variables())
        while len(session.run(tf.report_uninitialized_variables())) > 0:
            print("server 1: waiting for initialization...")
            sleep(0.2)
        print("server 1: variables initialized!")

    def two() -> None:
        server = _server(1)
        tf.Variable(0.0, name="var")
        session = tf.Session(server.target)
        sleep(1.0)
        print("server 2: initializing")
        session.run(tf.global_variables_initializer())
        server.join()

    _start(one, two)[0].join()


def a_server_leaves_and_comes_back() -> None:
    def one() -> None:
        server = _server(0)
        with tf.device("/job:local/task:0"):
            here = tf.no_op()
        with tf.device("/job:local/task:1"):
            there = tf.no_op()
        session = tf.Session(server.target)
        session.run([here, there])
        print("server 1: success!")
        is_lost = False
        while True:
            session.run(here)
            try:
                session.run(there)
            except (tf.errors.UnavailableError, tf.errors.AbortedError) as error:
                if not is_lost:
                    print("server 1: failed without", "task:1" if "/job:local/replica:0/task:1" in str(error) else error)
                is_lost = True
            else:
                if is_lost:
                    break
            sleep(0.1)
        print("server 1: success again!")

    def two() -> None:
        _server(1)
        sleep(2.0)
        print("server 2: dying...")

    (first,) = _start(one)
    _start(two)[0].join()
    sleep(1.0)
    print("restarting server 2")
    _start(two)
    first.join()


if __name__ == "__main__":
    if len(sys.argv) > 4:
        _run_steps_here(int(sys.argv[4]))
    globals()[sys.argv[1]]()
