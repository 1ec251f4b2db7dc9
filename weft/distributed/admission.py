"""Runs the handshake of a fresh socket, on either side, within a time limit."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence

from weft.protocol.handshake import Acceptor, Admit, Close, Dialer, Instruction, Send
from weft.protocol.messages import Hello, Message, Welcome
from weft.protocol.tensor_frame import FrameDecoder, encode


class NotAdmittedError(Exception):
    """The handshake ended without a connection; the text says why."""


def admit(
    sock: socket.socket, side: Acceptor | Dialer, decoder: FrameDecoder, timeout_s: float
) -> tuple[Hello | Welcome, Sequence[Message]]:
    """Do the handshake; return how the peer named itself, and what it sent right behind that.

    Leaves the socket open, with some timeout set. Blocks, no longer than `timeout_s` even if the peer trickles.

    Raises:
        NotAdmittedError: a side refused, or the time is up.
        RemoteProtocolError: the peer speaks another protocol.
        OSError: the socket failed.
    """
    deadline_s = time.monotonic() + timeout_s
    received: Sequence[Message] = ()
    instructions: Sequence[Instruction] = side.start() if isinstance(side, Dialer) else ()
    while True:
        for instruction in instructions:
            match instruction:
                case Send(message=message):
                    sock.settimeout(max(deadline_s - time.monotonic(), 0.001))
                    sock.sendall(b"".join(encode(message)))
                case Admit(peer=peer):
                    return peer, received
                case Close(reason=reason):
                    raise NotAdmittedError(reason)
        received = _receive(sock, decoder, deadline_s)
        instructions = side.receive(received[0]) if received else side.timed_out(timeout_s)
        received = received[1:]


def _receive(sock: socket.socket, decoder: FrameDecoder, deadline_s: float) -> Sequence[Message]:
    """Return the next messages, at least one, or none when the time is up."""
    while (left_s := deadline_s - time.monotonic()) > 0:
        sock.settimeout(left_s)
        try:
            count = sock.recv_into(decoder.get_buffer())
        except TimeoutError:
            break
        if not count:
            decoder.end_of_stream()
            raise NotAdmittedError("the peer closed the connection without an answer")
        messages = decoder.buffer_received(count)
        if messages:
            return messages
    return ()
