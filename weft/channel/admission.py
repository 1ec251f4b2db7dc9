"""Runs the handshake of a fresh transport, on either side, within a time limit."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from weft.channel.transport.transport import DescriptorTransport, Transport
from weft.protocol.handshake import Acceptor, Admit, Close, Dialer, Instruction, Send
from weft.protocol.messages import Hello, Message, Reject, Welcome
from weft.protocol.tensor_frame import FrameDecoder, encode


class NotAdmittedError(Exception):
    """The handshake ended without a connection; the text says why."""


class PeerLeftError(NotAdmittedError):
    """The peer has gone without a word: it asked for nothing, as a probe does, or died or was cut off while it connected."""


class RejectedError(NotAdmittedError):
    """The peer has said that it does not take this process."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """The message in which the peer named itself, those right behind it, and descriptors, which are the caller's now."""

    peer: Hello | Welcome
    received: Sequence[Message]
    descriptors: list[int]


def admit(
    transport: Transport, side: Acceptor | Dialer, decoder: FrameDecoder, timeout_s: float, attached: Sequence[int] = ()
) -> Admitted:
    """Do the transport's handshake, then the channel's. The descriptors `attached` go with this side's first message.

    Leaves the transport open. Blocks, no longer than `timeout_s` even if the peer trickles. `attached` takes a
    DescriptorTransport.

    Raises:
        NotAdmittedError: a side refused, or the time is up.
        RemoteProtocolError: the peer speaks another protocol.
        OSError: the transport failed.
    """
    admission = _Admission(transport, decoder, time.monotonic() + timeout_s, attached)
    try:
        transport.establish(timeout_s)
        peer, received = admission.run(side, timeout_s)
    except BaseException:
        close_all(admission.descriptors)
        raise
    return Admitted(peer, received, admission.descriptors)


def close_all(descriptors: Sequence[int]) -> None:
    """Close descriptors that came with an admission and are of no use."""
    for fd in descriptors:
        os.close(fd)


class _Admission:
    """Executes the instructions of one side, and brings it what the peer says."""

    def __init__(self, transport: Transport, decoder: FrameDecoder, deadline_s: float, attached: Sequence[int]) -> None:
        self._transport = transport
        self._passes_descriptors = transport if isinstance(transport, DescriptorTransport) else None
        self._decoder = decoder
        self._deadline_s = deadline_s
        self._attached = attached
        self.descriptors: list[int] = []
        self._has_heard = False
        self._poll = select.poll()
        self._poll.register(transport, select.POLLIN)

    def run(self, side: Acceptor | Dialer, timeout_s: float) -> tuple[Hello | Welcome, Sequence[Message]]:
        """Return the peer and the messages behind its own."""
        received: Sequence[Message] = ()
        is_rejected = False
        instructions: Sequence[Instruction] = side.start() if isinstance(side, Dialer) else ()
        while True:
            for instruction in instructions:
                match instruction:
                    case Send(message=message):
                        self._send(b"".join(encode(message)))
                    case Admit(peer=peer):
                        return peer, received
                    case Close(reason=reason):
                        raise (RejectedError if is_rejected else NotAdmittedError)(reason)
            received = self._receive()
            is_rejected = bool(received) and isinstance(received[0], Reject)
            instructions = side.receive(received[0]) if received else side.timed_out(timeout_s)
            received = received[1:]

    def _send(self, data: bytes) -> None:
        rest = memoryview(data)
        if self._attached and self._passes_descriptors is not None:
            rest = rest[self._passes_descriptors.send_with_descriptors(data, self._attached) :]
            self._attached = ()
        elif rest:
            rest = rest[self._transport.send_ready([rest]) :]
        if rest:
            # A long token for a peer that does not read. Sending has no time limit of its own, a shutdown ends it.
            limit = threading.Timer(max(self._deadline_s - time.monotonic(), 0.0), self._transport.shut_down)
            limit.start()
            try:
                while rest:
                    rest = rest[self._transport.send([rest]) :]
            finally:
                limit.cancel()

    def _receive(self) -> Sequence[Message]:
        """Return the next messages, at least one, or none when the time is up."""
        while (left_s := self._deadline_s - time.monotonic()) > 0:
            if not self._transport.pending_bytes and not self._poll.poll(int(left_s * 1000) + 1):
                continue
            try:
                count = self._receive_into(self._decoder.get_buffer())
            except BlockingIOError:
                continue
            if not count:
                self._decoder.end_of_stream()
                left = NotAdmittedError if self._has_heard else PeerLeftError
                raise left("the peer closed the connection without an answer")
            self._has_heard = True
            messages = self._decoder.buffer_received(count)
            if messages:
                return messages
        return ()

    def _receive_into(self, buffer: memoryview) -> int:
        if self._passes_descriptors is None:
            return self._transport.receive_ready(buffer)
        count, descriptors = self._passes_descriptors.receive_with_descriptors(buffer)
        self.descriptors += descriptors
        return count
