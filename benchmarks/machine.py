"""The machine's own limits, measured beside the frameworks: no runtime can be faster than these.

Plain blocking sockets between two processes, TCP over loopback and Unix: a round trip of 64 bytes, and 100 MB one way
until one byte acknowledges it. Copying 100 MB in memory. Multiplying matrices.
"""

from __future__ import annotations

import os
import platform
import socket
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.channel import Channel
from benchmarks.children import Children

SMALL_BYTES = 64
LARGE_BYTES = 100_000_000


@dataclass(frozen=True)
class Limits:
    """Seconds, bytes per second and floating point operations per second of the bare machine."""

    tcp_round_trip_s: float
    unix_round_trip_s: float
    tcp_rate: float
    unix_rate: float
    copy_rate: float
    matmul_rate: float


def describe() -> dict[str, Any]:
    """Say what machine this is, for the record."""
    return {"cores": os.cpu_count(), "architecture": platform.machine(), "system": platform.platform()}


def measure() -> Limits:
    """Measure all limits; takes about three seconds."""
    tcp_round_trip_s, tcp_rate = _socket_limits(socket.AF_INET, ("127.0.0.1", 0))
    with tempfile.TemporaryDirectory() as directory:
        unix_round_trip_s, unix_rate = _socket_limits(socket.AF_UNIX, str(Path(directory) / "echo"))
    return Limits(tcp_round_trip_s, unix_round_trip_s, tcp_rate, unix_rate, _copy_rate(), _matmul_rate())


def _socket_limits(family: socket.AddressFamily, address: tuple[str, int] | str) -> tuple[float, float]:
    """Return the round trip in seconds and the rate in bytes per second of one kind of socket."""
    with Children() as children, closing(socket.socket(family, socket.SOCK_STREAM)) as listener:
        listener.bind(address)
        listener.listen()
        children.start("benchmarks.machine:echo", family=int(family), address=listener.getsockname())
        connection, _ = listener.accept()
        with closing(connection):
            _set_no_delay(connection)
            small, answer = bytes(SMALL_BYTES), bytearray(SMALL_BYTES)

            def round_trip() -> None:
                connection.sendall(small)
                _receive_exactly(connection, memoryview(answer))

            round_trip_s = _median_s(round_trip, warm_up=500, calls=3000)
            large, acknowledgement = np.ones(LARGE_BYTES, np.uint8), bytearray(1)

            def transfer() -> None:
                connection.sendall(large.data)
                _receive_exactly(connection, memoryview(acknowledgement))

            connection.sendall(b"L" * SMALL_BYTES)
            _receive_exactly(connection, memoryview(answer))
            return round_trip_s, LARGE_BYTES / _median_s(transfer, warm_up=2, calls=8)


def echo(channel: Channel, family: int, address: list[object] | str) -> None:
    """A child's role: answer small messages; after one that starts with L, take large ones and acknowledge each."""
    with closing(socket.socket(family, socket.SOCK_STREAM)) as connection:
        connection.connect(tuple(address) if isinstance(address, list) else address)
        _set_no_delay(connection)
        small, large = bytearray(SMALL_BYTES), np.zeros(LARGE_BYTES, np.uint8)
        while not small.startswith(b"L"):
            if not _receive_exactly(connection, memoryview(small)):
                return
            connection.sendall(small)
        while _receive_exactly(connection, large.data):
            connection.sendall(b"A")


def _set_no_delay(connection: socket.socket) -> None:
    if connection.family == socket.AF_INET:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _receive_exactly(connection: socket.socket, buffer: memoryview) -> bool:
    """Fill `buffer`; False if the other end closed."""
    while buffer:
        received = connection.recv_into(buffer)
        if not received:
            return False
        buffer = buffer[received:]
    return True


def _median_s(call: Callable[[], object], *, warm_up: int, calls: int) -> float:
    seconds: list[float] = []
    for _ in range(warm_up + calls):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[warm_up:])


def _copy_rate() -> float:
    source, target = np.ones(LARGE_BYTES, np.uint8), np.zeros(LARGE_BYTES, np.uint8)
    return LARGE_BYTES / _median_s(lambda: np.copyto(target, source), warm_up=2, calls=15)


def _matmul_rate() -> float:
    """Ask a process of its own, so that XLA's threads are gone before anything else is measured."""
    with Children() as children:
        rate: float = children.start("benchmarks.arithmetic:multiply").hear()["rate"]
        return rate
