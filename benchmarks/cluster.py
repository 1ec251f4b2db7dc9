"""Clusters of real processes on this machine.

Ports are chosen by binding to port 0 and letting go again: a static ClusterSpec must name them before any server runs.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks import scraping
from benchmarks.channel import Channel
from benchmarks.children import Child, Children
from benchmarks.framework import framework


def free_addresses(**tasks: int) -> dict[str, list[str]]:
    """Return distinct free loopback addresses for so many tasks of each job: `free_addresses(ps=1, worker=2)`."""
    with contextlib.ExitStack() as held:
        cluster: dict[str, list[str]] = {}
        for job, count in tasks.items():
            sockets = [held.enter_context(socket.socket()) for _ in range(count)]
            for each in sockets:
                each.bind(("127.0.0.1", 0))
            cluster[job] = [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]
        return cluster


def server_here(cluster: dict[str, list[str]], job: str, index: int) -> Any:
    """Start a task of `cluster` in this process."""
    tf = framework()
    server = tf.train.Server(tf.train.ClusterSpec(cluster), job_name=job, task_index=index)
    scraping.note_threads(server)
    return server


def serve(channel: Channel, cluster: dict[str, list[str]], job: str, index: int) -> None:
    """A child's role: be one task of `cluster` until the parent closes the channel."""
    server = server_here(cluster, job, index)
    channel.send(ready=server.target)
    channel.receive()


def idle(channel: Channel) -> None:
    """A child's role: be there, and import nothing, until the parent closes the channel."""
    channel.send(ready=True)
    channel.receive()


def start_server(children: Children, cluster: dict[str, list[str]], job: str, index: int = 0) -> Child:
    """Start a task in its own process and return once it serves."""
    child = children.start("benchmarks.cluster:serve", cluster=cluster, job=job, index=index)
    child.hear()
    return child


def start_servers(children: Children, cluster: dict[str, list[str]], job: str, indices: Iterable[int]) -> list[Child]:
    """Start several tasks beside each other; return once all of them serve."""
    started = [children.start("benchmarks.cluster:serve", cluster=cluster, job=job, index=index) for index in indices]
    for child in started:
        child.hear()
    return started


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process (Linux)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {pid} reports no VmRSS")
