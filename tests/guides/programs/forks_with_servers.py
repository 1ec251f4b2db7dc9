"""Servers and sessions here, then a fork: `forks_with_servers.py ADDRESS ADDRESS`; the child tells what it inherited."""

from __future__ import annotations

import os
import sys
from multiprocessing import get_context

import weft as tf


def child() -> None:
    links = []
    for name in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink(f"/proc/self/fd/{name}"))
        except FileNotFoundError:
            continue
    print("event loops shared with the parent:", sum("eventpoll" in link for link in links))


if __name__ == "__main__":
    cluster = tf.train.ClusterSpec({"local": sys.argv[1:3]})
    servers = [tf.train.Server(cluster, job_name="local", task_index=index) for index in range(2)]
    var = tf.Variable(1.0, name="var")
    sessions = [tf.Session(server.target) for server in servers]
    sessions[0].run(var.initializer)
    print("parent:", sessions[1].run(var))
    process = get_context("fork").Process(target=child)
    process.start()
    process.join()
    print("parent:", sessions[1].run(var))
