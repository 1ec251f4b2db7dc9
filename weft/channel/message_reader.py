"""The receiving half of a connection: messages out of a transport, on whichever thread has the lease."""

from __future__ import annotations

import select
from collections.abc import Callable, Sequence

from weft.channel.transport.transport import Transport
from weft.channel.waiting.busy_poll import busy_poll
from weft.channel.waiting.lease import Lease
from weft.channel.waiting.wait import role
from weft.platform.logs.limited_log import peer_log
from weft.platform.waits.quick_lately import QuickLately
from weft.protocol.messages import Message
from weft.protocol.protocol_error import ProtocolError
from weft.protocol.tensor_frame import FrameDecoder


class MessageReader:
    """Receives from a transport and hands on what comes. For one thread at a time, the one that has the `lease`.

    `handle(messages)` is called with the messages that some bytes have completed. `lose(cause)` is called with what ends the
    stream: its end, an error of the transport, a violation of the protocol, or an interrupt that may have cut a message in
    half. `release()` is called once, last, on the thread that reads when there is nothing more to read.
    Is a `Source` for threads that wait, and a `Readable` for a pool.
    """

    def __init__(
        self,
        transport: Transport,
        name: str,
        decoder: FrameDecoder,
        received: Sequence[Message],
        handle: Callable[[Sequence[Message]], None],
        lose: Callable[[Exception], None],
        release: Callable[[], None],
    ) -> None:
        self.lease = Lease()
        self.fd = transport.fileno()
        self.received_count = 0  # of receiving calls that brought something: what heartbeats look at
        self.received_bytes = 0
        self.release = release
        self._name = name
        self._transport = transport
        self._decoder = decoder
        self._received = received  # by a handshake, behind its own message
        self._handle = handle
        self._lose = lose
        self._buffer: memoryview | None = None  # where the next bytes go
        poll = select.poll()
        poll.register(transport, select.POLLIN)
        self.poll = poll.poll
        self._quick = QuickLately()
        self._step_aside: Callable[[], None] = _nothing

    def run(self) -> None:
        """Read until the connection is over: the life of the connection's own thread."""
        role.reads = True
        try:
            self.handle_pending(_nothing)
            rules = self.lease.rules
            self.lease.give_as_owner()
            while self.lease.take_as_owner():
                self._read_next()
                while not rules.waiting and not rules.is_stopped:
                    self._read_next()
                self.lease.give_as_owner()
        finally:
            self.release()

    def handle_pending(self, step_aside: Callable[[], None]) -> None:
        """Handle what has come and no poll shows. On a thread that reads, before any other reading.

        `step_aside` is called before the rest of a large payload is waited for: a pool has other connections to read meanwhile.
        """
        self._step_aside = step_aside
        self._handle(self._received)
        self._received = ()
        if self._transport.pending_bytes:
            self._read(self._transport.receive_ready)

    def read_ready(self) -> bool:
        """For one of a pool, when something has come: handle it, and all of a large payload that has begun.

        Returns whether there may be more to read.
        """
        decoder, rules, receive = self._decoder, self.lease.rules, self._transport.receive_ready
        try:
            self._read(receive)
            if decoder.missing_payload_bytes:
                self._read(receive)
                if decoder.missing_payload_bytes and not rules.is_stopped:
                    self._step_aside()
                while decoder.missing_payload_bytes and not rules.is_stopped:
                    self._read(self._transport.receive_all)
        except Exception as error:  # such as that there is no memory
            peer_log.exception("closing the connection to %s: reading it failed", self._name)
            self._lose(error)
        if rules.waiting:
            self.lease.tell_waiters()
        return not rules.is_stopped

    def read_as_waiter(self, is_alone: bool) -> bool:
        """For a thread that waits for a message, and has the lease: see `Source`."""
        transport = self._transport
        is_rest = is_alone and self._decoder.missing_payload_bytes
        receive = transport.receive_all if is_rest else transport.receive_ready
        role.reads = True
        try:
            return self._read(receive)
        except BaseException:
            # An interrupt (Ctrl-C) between taking bytes and handling them loses a message.
            self._lose(ConnectionError("the thread that was reading it was interrupted"))
            raise
        finally:
            role.reads = False

    def _read(self, receive: Callable[[memoryview], int]) -> bool:
        """Receive once, and what no poll would show behind that. Returns whether there was something, be it the end."""
        try:
            while True:
                count = receive(self._buffer or self._decoder.get_buffer())
                self.received_count += 1
                self.received_bytes += count
                if not count:
                    self._decoder.end_of_stream()
                    self._lose(ConnectionError("the peer closed it without a goodbye"))
                    return True
                self._handle(self._decoder.buffer_received(count))
                self._buffer = self._decoder.get_buffer()  # a violation behind these messages shows here
                if not self._transport.pending_bytes:
                    return True
        except BlockingIOError:
            return False
        except (OSError, ProtocolError) as error:
            self._lose(error)
        return True

    def _read_next(self) -> None:
        """For the connection's own thread: wait for what comes next, and handle it."""
        transport = self._transport
        # The rest of a large payload is waited for as a whole: one call instead of hundreds.
        if self._decoder.missing_payload_bytes:
            self._read(transport.receive_all)
            return
        if not busy_poll(self._quick, self.poll):
            self.poll()
        self._read(transport.receive_ready)


def _nothing() -> None:
    """Stand for a pool where there is none."""
