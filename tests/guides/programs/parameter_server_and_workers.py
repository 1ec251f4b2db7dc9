"""Guide 0's final example: `parameter_server_and_workers.py STEPS WORKER_ADDRESS WORKER_ADDRESS PS_ADDRESS`.

The parent forks a parameter server and two workers; with STEPS > 0 it first runs that many steps on servers of its own.
"""

from __future__ import annotations

import sys
from multiprocessing import get_context
from time import sleep

import weft as tf
from weft.distributed.server.local_cluster import free_addresses

cluster = tf.train.ClusterSpec({"worker": sys.argv[2:4], "ps": sys.argv[4:5]})
PAUSE_S = 0.4


def parameter_server() -> None:
    with tf.device("/job:ps/task:0"):
        var = tf.Variable(0.0, name="var")

    server = tf.train.Server(cluster, job_name="ps", task_index=0)
    sess = tf.Session(target=server.target)

    print("Parameter server: waiting for cluster connection...")
    sess.run(tf.report_uninitialized_variables())
    print("Parameter server: cluster ready!")

    print("Parameter server: initializing variables...")
    sess.run(tf.global_variables_initializer())
    print("Parameter server: variables initialized")

    val = 0.0
    while val < 10.0:
        val = sess.run(var)
        print(f"Parameter server: var has value {val:.1f}")
        sleep(PAUSE_S)

    print("Parameter server: blocking...")
    server.join()


def worker(worker_n: int) -> None:
    with tf.device("/job:ps/task:0"):
        var = tf.Variable(0.0, name="var")

    server = tf.train.Server(cluster, job_name="worker", task_index=worker_n)
    sess = tf.Session(target=server.target)

    print(f"Worker {worker_n}: waiting for cluster connection...")
    sess.run(tf.report_uninitialized_variables())
    print(f"Worker {worker_n}: cluster ready!")

    while sess.run(tf.report_uninitialized_variables()):
        print(f"Worker {worker_n}: waiting for variable initialization...")
        sleep(PAUSE_S)
    print(f"Worker {worker_n}: variables initialized")

    for _ in range(5):
        print(f"Worker {worker_n}: incrementing var")
        sess.run(var.assign_add(1.0))
        sleep(PAUSE_S)

    print(f"Worker {worker_n}: blocking...")
    server.join()


def earlier_cells(steps: int) -> None:
    """What the notebook ran before: two servers in its own process, sessions on both, a variable that they share."""
    local = tf.train.ClusterSpec({"local": free_addresses(2)})
    servers = [tf.train.Server(local, job_name="local", task_index=index) for index in range(2)]
    var = tf.Variable(0.0, name="var")
    sessions = [tf.Session(server.target) for server in servers]
    sessions[0].run(tf.global_variables_initializer())
    for _ in range(steps):
        sessions[0].run(var.assign_add(1.0))
    print(f"Notebook: var has value {sessions[1].run(var):.1f}")
    tf.reset_default_graph()


def main() -> None:
    if int(sys.argv[1]):
        earlier_cells(int(sys.argv[1]))
    fork = get_context("fork")
    processes = [fork.Process(target=parameter_server, daemon=True)]
    processes += [fork.Process(target=worker, args=(n,), daemon=True) for n in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


if __name__ == "__main__":
    main()
