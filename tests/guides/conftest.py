"""What the tests of the guides share: clusters of servers in this process, and programs in others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import weft as tf
from tests.guides.running import Program
from weft.distributed.server.local_cluster import free_addresses

Cluster = dict[str, list[tf.train.Server]]
StartServers = Callable[[Mapping[str, int]], Cluster]
StartProgram = Callable[..., Program]


@pytest.fixture
def start_servers() -> Iterator[StartServers]:
    """Start a cluster of servers in this process: the numbers of tasks by job in, the servers by job out."""
    started: list[tf.train.Server] = []

    def start(jobs: Mapping[str, int]) -> Cluster:
        addresses = iter(free_addresses(sum(jobs.values())))
        spec = tf.train.ClusterSpec({job: [next(addresses) for _ in range(count)] for job, count in jobs.items()})
        cluster = {job: [tf.train.Server(spec, job, index) for index in range(count)] for job, count in jobs.items()}
        for servers in cluster.values():
            started.extend(servers)
        return cluster

    yield start
    for server in started:
        server.stop(grace_s=0)


@pytest.fixture
def start_program() -> Iterator[StartProgram]:
    """Start a program with arguments; it is killed, with all processes that it started, when the test ends."""
    started: list[Program] = []

    def start(path: str | Path, *arguments: object) -> Program:
        program = Program(path, *arguments)
        started.append(program)
        return program

    yield start
    for program in started:
        program.kill()
