"""Servers: whether one can be reached, and if not, why; who it is, its clock, and the replicas that train on it."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from typing import Final

from tensorboard.compat.proto.config_pb2 import ConfigProto

from weft.cli.doctor.finding import Finding, problem, warning
from weft.client.session import Session
from weft.credentials.cluster_token import FILE_VARIABLE
from weft.distributed.client.observation.observing import TaskObserver
from weft.distributed.client.server_status import server_status
from weft.distributed.rpc.status import STANDS_STILL, TUNNEL, is_misfit
from weft.errors import (
    DeadlineExceededError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnavailableError,
)
from weft.framework.graphs.graph import Graph
from weft.framework.version import WEFT_VERSION
from weft.ops.process.clock import timestamp
from weft.platform.hosts.host_port import split_address
from weft.training.sessions.board import Board
from weft.training.sessions.board_view import Replica, is_replica
from weft.training.sessions.model_signature import SignatureDiff

# Timeouts and the ages of notes are told by clocks of one host each; certificates and files are not.
_SKEW_S: Final = 2.0
_CHANNEL: Final = (
    "let the tensor channel's port through the firewall, too: one of net.ipv4.ip_local_port_range on the server's host; else "
    "look at its log"
)
_SILENT: Final = "look whether its process is stopped, or its host overloaded; or whether it is a server of weft at all"
_CREDENTIALS: Final = f"set {FILE_VARIABLE} or WEFT_CREDENTIALS to those of its cluster, and run as its user on its own host"

_TUNNEL: Final = "run weft doctor there, with the server's own address"


def examine(address: str, timeout_s: float) -> Iterator[Finding]:
    """What can be told of the server at `host:port`, up to the first thing that is wrong."""
    unreached = _connection(address, timeout_s)
    if unreached is not None:
        yield unreached
        return
    try:
        status = server_status(address, timeout_s)
    except OpError as error:
        yield _refused(address, error)
        return
    devices = ", ".join(name.rpartition("/device:")[2] for name in status.devices)
    yield Finding(address, f"{status.task} answers, with {devices}")
    yield from _version(address, timeout_s)
    config = ConfigProto(device_filters=[status.task], operation_timeout_in_ms=int(timeout_s * 1000))
    try:
        yield _clock(address, status.task, config)
        yield _replicas(address, status.task, config)
    except (UnavailableError, DeadlineExceededError) as error:
        yield problem(address, f"answers, but does not run steps: {error.message}", _CHANNEL)
    except OpError as error:
        yield problem(address, f"does not run steps: {error.message}", "look at its log; weft stop ends it")


def _version(address: str, timeout_s: float) -> Iterator[Finding]:
    """Whether the server has this version of weft: tasks of a cluster speak the tensor channel's protocol of their own."""
    observer = TaskObserver(address)
    try:
        found = observer.report(timeout_s).version
    except OpError as error:
        yield warning(address, f"tells nothing of itself: {error.message}", "it may have an older version of weft than this")
        return
    finally:
        observer.close()
    if found != WEFT_VERSION:
        remedy = f"pip install weft=={found} here, or {WEFT_VERSION} there: all tasks and clients of a cluster should have one"
        yield problem(address, f"has version {found} of weft, and this is {WEFT_VERSION}", remedy)


def _connection(address: str, timeout_s: float) -> Finding | None:
    """What keeps a connection from being made; None when there is one."""
    host, port = split_address(address)
    try:
        with contextlib.closing(socket.create_connection((host, port), timeout_s)):
            return None
    except TimeoutError:
        remedy = "a firewall may drop the packets: let this port and the tensor channel's through; or the host is down"
        return problem(address, f"no connection within {timeout_s:g} s", remedy)
    except ConnectionRefusedError:
        text = "connection refused: nothing listens there"
        return problem(address, text, "start the server, or look at its log and its port")
    except OSError as error:
        return problem(address, f"cannot be reached: {error.strerror}", "look at the name, at routes, and at firewalls")


def _refused(address: str, error: OpError) -> Finding:
    match error:
        case PermissionDeniedError() | NotFoundError() | InvalidArgumentError():
            # Its word, or of what this process would show it: no file, or no token in it.
            return problem(address, error.message, _CREDENTIALS)
        case UnavailableError() if STANDS_STILL in error.message:
            return problem(address, f"takes connections, but does not answer: {error.message}", _SILENT)
        case UnavailableError() if TUNNEL in error.message:
            return problem(address, error.message, _TUNNEL)
        case UnavailableError() if is_misfit(error):
            return problem(address, error.message, _CREDENTIALS)
        case UnavailableError():
            remedy = f"if it is a server of weft: {_CREDENTIALS}"
            return problem(address, f"something listens, but does not talk as a server here: {error.message}", remedy)
        case DeadlineExceededError():
            return problem(address, f"takes connections, but does not answer: {error.message}", _SILENT)
    return problem(address, error.message, "look whether it is a server of weft, and of which version")


def _clock(address: str, task: str, config: ConfigProto) -> Finding:
    """How far the clock of the server's host is from this one's, as well as the way there and back lets it be told."""
    with Graph().as_default() as graph, graph.device(task):
        now = timestamp()
        with Session(f"grpc://{address}", graph=graph, config=config) as session:
            session.run(now)
            before_s = time.time()
            there_s = float(session.run(now))
            after_s = time.time()
    off_s, known_s = there_s - (before_s + after_s) / 2, (after_s - before_s) / 2
    text = f"its clock is {abs(off_s):.3f} s {'ahead' if off_s > 0 else 'behind'}, known to {known_s:.3f} s"
    if abs(off_s) - known_s > _SKEW_S:
        remedy = "let both hosts keep time (chrony, systemd-timesyncd): certificates and the times of files need it"
        return warning(address, text, remedy)
    return Finding(address, text)


def _replicas(address: str, task: str, config: ConfigProto) -> Finding:
    """Whether the replicas that have left notes on this task have the model of their chief."""
    board = Board(f"grpc://{address}", config, [task])
    try:
        notes = [Replica.from_note(note) for member, (note, _) in board.read().items() if is_replica(member)]
    finally:
        board.close()
    chief = next((replica for replica in notes if replica.is_chief), None)
    if chief is None:
        return Finding(address, f"{len(notes)} replicas train on it" if notes else "no replicas have left notes there")
    for replica in notes:
        difference = SignatureDiff(replica.signature, chief.signature)
        if difference.is_related and str(difference):
            text = f"the graph of the {replica} is not that of the {chief}: {difference}"
            return problem(address, text, "run the same program, with the same flags, as every replica")
    return Finding(address, f"{len(notes)} replicas train on it, all with the model of the {chief}")
