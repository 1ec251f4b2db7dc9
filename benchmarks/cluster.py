"""Clusters of real processes on this machine.

A static ClusterSpec must name ports before any server runs. They are chosen as weft's launcher chooses them, so that neither a
connection nor the page of a task's metrics can be given one meanwhile.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks import scraping
from benchmarks.channel import Channel
from benchmarks.children import Child, Children
from benchmarks.framework import ROOT, framework


def free_addresses(host: str = "127.0.0.1", **tasks: int) -> dict[str, list[str]]:
    """Return distinct free addresses of a host for so many tasks of each job: `free_addresses(ps=1, worker=2)`."""
    ports = iter(_free_ports(sum(tasks.values())))
    return {job: [f"{host}:{next(ports)}" for _ in range(count)] for job, count in tasks.items()}


def _free_ports(count: int) -> list[int]:
    # By its file: TensorFlow's interpreters cannot import the package that it is in.
    module = runpy.run_path(str(ROOT / "weft" / "platform" / "hosts" / "free_ports.py"))
    ports: list[int] = module["free_ports"](count)
    return ports


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
