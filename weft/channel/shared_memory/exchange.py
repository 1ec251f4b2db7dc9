"""PayloadExchange: both directions of a connection's shared memory."""

from __future__ import annotations

import os
import socket

from weft.channel.shared_memory.borrower import SegmentBorrower
from weft.channel.shared_memory.descriptor_door import DescriptorDoor
from weft.channel.shared_memory.lender import SegmentLender
from weft.channel.shared_memory.segment import shared_memory_use


class PayloadExchange:
    """The lender of a connection's large payloads and the borrower of its peer's. `close` it with the connection."""

    def __init__(self, door: DescriptorDoor) -> None:
        self._door = door
        self.lender = SegmentLender(door.send)
        self.borrower = SegmentBorrower(door.receive)

    def close(self) -> None:
        """Put and find nothing more; payloads that have been found stay valid."""
        self._door.close()
        self.lender.close()
        self.borrower.close()

    def release_after_fork(self) -> None:
        """In a forked child: the peer keeps talking with the parent alone."""
        self._door.close()


def open_exchange() -> tuple[PayloadExchange, socket.socket] | None:
    """One side of an exchange, and the socket that the other side needs; None where there is no shared memory to be had."""
    if not shared_memory_use.is_possible:
        return None
    try:
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    except OSError:  # no descriptor is left
        return None
    return PayloadExchange(DescriptorDoor(here)), there


def join_exchange(fds: list[int]) -> PayloadExchange | None:
    """The other side, of the descriptors that came from a peer: the one that `open_exchange` made. Closes any others."""
    exchange = None
    for fd in fds:
        try:
            sock = socket.socket(fileno=fd)
        except OSError:  # it is something else
            os.close(fd)
            continue
        is_door = sock.family == socket.AF_UNIX and sock.type == socket.SOCK_SEQPACKET
        if is_door and shared_memory_use.is_possible and exchange is None:
            exchange = PayloadExchange(DescriptorDoor(sock))
        else:
            sock.close()
    return exchange
