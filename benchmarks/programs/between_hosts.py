"""A worker's steps on variables of a parameter server on another host: weft's go by TLS 1.3, both sides with certificates.

One machine stands for two: the parameter server listens on an address that other hosts can reach, and its process takes itself
for another host's, so that neither Unix sockets nor shared memory serve. TensorFlow 1.x has no encryption; its bytes go in the
clear. So the ratio is encryption and weft against plain text and TensorFlow, without a cable between them.
"""

from __future__ import annotations

import importlib
import os
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from benchmarks.channel import Channel
from benchmarks.children import Children
from benchmarks.cluster import free_addresses, server_here
from benchmarks.framework import WEFT, framework_name
from benchmarks.programs.remote_variables import (
    FLOATS_IN_100_MB,
    seconds_to_assign,
    seconds_to_pull,
    worker_session,
)
from benchmarks.timing import Sample, per_second

_PROBE = ("192.0.2.1", 9)  # of a range kept for documentation; connecting a datagram socket sends nothing


def outward_address() -> str:
    """Return the address by which other hosts reach this one.

    Raises:
        RuntimeError: this machine has only loopback.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_PROBE)
        except OSError as error:
            raise RuntimeError("this machine has no address that another host could reach") from error
        return str(probe.getsockname()[0])


def serve_elsewhere(channel: Channel, cluster: dict[str, list[str]], job: str, index: int) -> None:
    """A child's role: be one task of `cluster`, as if on another host, until the parent closes the channel."""
    if framework_name() == WEFT:
        unix: Any = importlib.import_module("weft.channel.transport.unix")
        unix.host_identity = lambda: "another host"
    server = server_here(cluster, job, index)
    channel.send(ready=server.target)
    channel.receive()


def _start_elsewhere(children: Children, cluster: dict[str, list[str]], job: str) -> None:
    children.start("benchmarks.programs.between_hosts:serve_elsewhere", cluster=cluster, job=job, index=0).hear()


def _sessions() -> AbstractContextManager[Callable[[], Any]]:
    """A parameter server as if on another host, a worker in this process, and what opens a session on the worker."""
    if framework_name() == WEFT:
        os.environ["WEFT_CLUSTER_TOKEN"] = os.urandom(32).hex()
    return worker_session(free_addresses(outward_address(), ps=1, worker=1), _start_elsewhere)


def between_hosts_assign() -> Sample:
    """Seconds to add to a scalar on the parameter server, nothing fetched."""
    return seconds_to_assign(_sessions())


def between_hosts_pull() -> Sample:
    """Bytes per second of reading one variable of 100 MB on the worker."""
    return per_second(seconds_to_pull(_sessions(), 1, FLOATS_IN_100_MB), FLOATS_IN_100_MB * 4)
