"""A worker's steps on variables of a parameter server on another host: weft's go by TLS 1.3, both sides with certificates.

One machine stands for two: the parameter server listens on an address that other hosts can reach, and its process takes itself
for another host's, so that neither Unix sockets nor shared memory serve. TensorFlow 1.x has no encryption; its bytes go in the
clear. So the ratio is encryption and weft against plain text and TensorFlow, without a cable between them.
"""

from __future__ import annotations

import importlib
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.channel import Channel
from benchmarks.children import Children
from benchmarks.cluster import Addresses, server_here
from benchmarks.framework import WEFT, framework, framework_name
from benchmarks.timing import Sample, per_second, seconds_per_call

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"
FLOATS_IN_100_MB = 25_000_000

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


def serve_elsewhere(channel: Channel, cluster: Addresses, job: str, index: int) -> None:
    """A child's role: be one task of `cluster`, as if on another host, until the parent closes the channel."""
    if framework_name() == WEFT:
        unix: Any = importlib.import_module("weft.channel.transport.unix")
        unix.host_identity = lambda: "another host"
    server = server_here(cluster, job, index)
    channel.send(ready=server.target)
    channel.receive()


@contextmanager
def worker_session() -> Iterator[Callable[[], Any]]:
    """Run a parameter server as if on another host, a worker in this process, and yield what opens a session on the worker."""
    tf = framework()
    cluster = _addresses(outward_address())
    if framework_name() == WEFT:
        os.environ["WEFT_CLUSTER_TOKEN"] = os.urandom(32).hex()
    with Children() as children:
        children.start("benchmarks.programs.between_hosts:serve_elsewhere", cluster=cluster, job="ps", index=0).hear()
        server = server_here(cluster, "worker", 0)

        def open_session() -> Any:
            session = tf.Session(server.target)
            session.run(tf.global_variables_initializer())
            return session

        yield open_session


def _addresses(host: str) -> Addresses:
    with socket.socket() as ps, socket.socket() as worker:
        ps.bind((host, 0))
        worker.bind((host, 0))
        return {"ps": [f"{host}:{ps.getsockname()[1]}"], "worker": [f"{host}:{worker.getsockname()[1]}"]}


def between_hosts_assign() -> Sample:
    """Seconds to add to a scalar on the parameter server, nothing fetched."""
    tf = framework()
    with worker_session() as open_session:
        with tf.device(PS):
            update = tf.assign_add(tf.Variable(0.0), 1.0).op
        session = open_session()
        return seconds_per_call(lambda: session.run(update))


def between_hosts_pull() -> Sample:
    """Bytes per second of reading one variable of 100 MB on the worker."""
    tf = framework()
    with worker_session() as open_session:
        with tf.device(PS):
            held = tf.get_variable("v", [FLOATS_IN_100_MB], initializer=tf.ones_initializer())
        with tf.device(WORKER):
            first = held[0]
        session = open_session()
        return per_second(seconds_per_call(lambda: session.run(first)), FLOATS_IN_100_MB * 4)
