"""Runs the handshake of a fresh socket, on either side, within a time limit."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from weft.protocol.handshake import Acceptor, Admit, Close, Dialer, Instruction, Send
from weft.protocol.messages import Hello, Message, Welcome
from weft.protocol.tensor_frame import FrameDecoder, encode

_FD: Final = struct.Struct("i")
_CLOSE_ON_EXEC: Final = getattr(socket, "MSG_CMSG_CLOEXEC", 0)  # not on every platform


class NotAdmittedError(Exception):
    """The handshake ended without a connection; the text says why."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """How the peer named itself, what it sent right behind that, and the descriptors that came with it, now the caller's."""

    peer: Hello | Welcome
    received: Sequence[Message]
    descriptors: list[int]


def admit(
    sock: socket.socket, side: Acceptor | Dialer, decoder: FrameDecoder, timeout_s: float, attached: Sequence[int] = ()
) -> Admitted:
    """Do the handshake. The descriptors `attached`, over a Unix socket, go with this side's first message.

    Leaves the socket open, with some timeout set. Blocks, no longer than `timeout_s` even if the peer trickles.

    Raises:
        NotAdmittedError: a side refused, or the time is up.
        RemoteProtocolError: the peer speaks another protocol.
        OSError: the socket failed.
    """
    descriptors: list[int] = []
    try:
        peer, received = _admit(sock, side, decoder, timeout_s, attached, descriptors)
    except BaseException:
        close_all(descriptors)
        raise
    return Admitted(peer, received, descriptors)


def close_all(descriptors: Sequence[int]) -> None:
    """Close descriptors that came with an admission and are of no use."""
    for fd in descriptors:
        os.close(fd)


def _admit(
    sock: socket.socket,
    side: Acceptor | Dialer,
    decoder: FrameDecoder,
    timeout_s: float,
    attached: Sequence[int],
    descriptors: list[int],
) -> tuple[Hello | Welcome, Sequence[Message]]:
    deadline_s = time.monotonic() + timeout_s
    received: Sequence[Message] = ()
    instructions: Sequence[Instruction] = side.start() if isinstance(side, Dialer) else ()
    while True:
        for instruction in instructions:
            match instruction:
                case Send(message=message):
                    sock.settimeout(max(deadline_s - time.monotonic(), 0.001))
                    _send(sock, b"".join(encode(message)), attached)
                    attached = ()
                case Admit(peer=peer):
                    return peer, received
                case Close(reason=reason):
                    raise NotAdmittedError(reason)
        received = _receive(sock, decoder, deadline_s, descriptors)
        instructions = side.receive(received[0]) if received else side.timed_out(timeout_s)
        received = received[1:]


def _send(sock: socket.socket, data: bytes, attached: Sequence[int]) -> None:
    if attached:
        data = data[socket.send_fds(sock, [data], attached) :]
    sock.sendall(data)


def _receive(sock: socket.socket, decoder: FrameDecoder, deadline_s: float, descriptors: list[int]) -> Sequence[Message]:
    """Return the next messages, at least one, or none when the time is up."""
    while (left_s := deadline_s - time.monotonic()) > 0:
        sock.settimeout(left_s)
        try:
            count = _receive_into(sock, decoder.get_buffer(), descriptors)
        except TimeoutError:
            break
        if not count:
            decoder.end_of_stream()
            raise NotAdmittedError("the peer closed the connection without an answer")
        messages = decoder.buffer_received(count)
        if messages:
            return messages
    return ()


def _receive_into(sock: socket.socket, buffer: memoryview, descriptors: list[int]) -> int:
    """As `recv_into`; takes a descriptor that comes along. The system closes what it has no room for."""
    if sock.family != getattr(socket, "AF_UNIX", None):
        return sock.recv_into(buffer)
    count, attached, _, _ = sock.recvmsg_into([buffer], socket.CMSG_SPACE(_FD.size), _CLOSE_ON_EXEC)
    for level, kind, data in attached:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors += (fd for (fd,) in _FD.iter_unpack(data[: len(data) - len(data) % _FD.size]))
    return count
