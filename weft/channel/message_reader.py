"""The receiving half of a connection: messages out of a transport, on whichever thread has the turn to read it."""

from __future__ import annotations

import logging
import select
import time
from collections.abc import Callable, Sequence

from weft.channel.transport.transport import RECEIVE_TIMEOUT_S, Transport
from weft.channel.waiting.busy_poll import BusyPoll
from weft.channel.waiting.read_turn import ReadTurn
from weft.channel.waiting.wait import role, wait_until
from weft.protocol.messages import Message
from weft.protocol.protocol_error import ProtocolError
from weft.protocol.tensor_frame import FrameDecoder

_log = logging.getLogger("weft")


class MessageReader:
    """Receives from a transport and hands on what comes. For one thread at a time, the one that has the `turn`.

    `handle(messages)` is called with the messages that some bytes have completed. `lose(cause)` is called with what ends the
    stream: its end, an error of the transport, a violation of the protocol, or an interrupt that may have cut a message in
    half. `finish()` is called once, last, on the thread that reads when there is nothing more to read.
    Is a `Source` for threads that wait, and a `Readable` for a crew.
    """

    def __init__(
        self,
        transport: Transport,
        name: str,
        decoder: FrameDecoder,
        received: Sequence[Message],
        handle: Callable[[Sequence[Message]], None],
        lose: Callable[[Exception], None],
        finish: Callable[[], None],
    ) -> None:
        self.turn = ReadTurn()
        self.turn.take()  # what has been received already comes before all that a waiter could read
        self.finish = finish
        self._name = name
        self._transport = transport
        self._decoder = decoder
        self._received = received  # by a handshake, behind its own message
        self._handle = handle
        self._lose = lose
        self._buffer: memoryview | None = None  # where the next bytes go
        self._poll = select.poll()
        self._poll.register(transport, select.POLLIN)
        self._busy_poll = BusyPoll()
        self._waiters_busy_poll = BusyPoll()
        self._step_aside: Callable[[], None] = _nothing

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be read."""
        return self.turn.is_stopped

    def fileno(self) -> int:
        """The transport's descriptor."""
        return self._transport.fileno()

    def run(self) -> None:
        """Read until the connection is over: the life of the connection's own thread."""
        role.reads = True
        try:
            self.begin(_nothing)
            self.turn.give()
            while self.turn.take():
                self._read_next()
                while not self.turn.has_waiters and not self.turn.is_stopped:
                    self._read_next()
                self.turn.give()
        finally:
            self.finish()

    def begin(self, step_aside: Callable[[], None]) -> None:
        """Handle what has come and no poll shows. On a thread that reads, before any other reading.

        `step_aside` is called before the rest of a large payload is waited for: a crew has other connections to read meanwhile.
        """
        self._step_aside = step_aside
        self._handle(self._received)
        self._received = ()
        if self._transport.pending_bytes:
            self._read(self._transport.receive_ready)

    def read_ready(self) -> None:
        """For one of a crew, when something has come: handle it, and all of a large payload that has begun."""
        try:
            self._read_whole()
        except Exception as error:  # such as that there is no memory
            _log.exception("closing the connection to %s: reading it failed", self._name)
            self._lose(error)
        if self.turn.has_waiters:
            self.turn.tell_waiters()

    def read_as_waiter(self, is_alone: bool) -> bool:
        """For a thread that waits for a message, and has the turn: see `Source`."""
        transport = self._transport
        has_begun = is_alone and self._decoder.missing_payload_bytes
        return self._read_waiting(transport.receive_all if has_begun else transport.receive_ready)

    def wait_for(self, is_done: Callable[[], object], timeout_s: float | None) -> None:
        """Wait until `is_done()`, which only messages from here and the connection's end may make true, or the time is over."""
        if self.turn.take_alone():
            deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
            try:
                self._read_until(is_done, deadline_s)
            finally:
                self.turn.give_alone()
            if is_done():
                return
            timeout_s = None if deadline_s is None else deadline_s - time.monotonic()
        wait_until(lambda: is_done() or self.turn.is_ended, (self,), timeout_s, self._waiters_busy_poll)

    def _read(self, receive: Callable[[memoryview], int]) -> bool:
        """Receive once, and what no poll would show behind that. Returns whether there was something, be it the end."""
        try:
            while True:
                count = receive(self._buffer or self._decoder.get_buffer())
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

    def _read_whole(self) -> None:
        decoder, turn, receive = self._decoder, self.turn, self._transport.receive_ready
        self._read(receive)
        if decoder.missing_payload_bytes:
            self._read(receive)
            if decoder.missing_payload_bytes and not turn.is_stopped:
                self._step_aside()
            while decoder.missing_payload_bytes and not turn.is_stopped:
                self._read(self._transport.receive_all)

    def _read_next(self) -> None:
        """For the connection's own thread: wait for what comes next, and handle it."""
        transport = self._transport
        # The rest of a large payload is waited for as a whole: one call instead of hundreds.
        if self._decoder.missing_payload_bytes:
            self._read(transport.receive_all)
            return
        if not self._busy_poll.look(self._poll.poll):
            self._poll.poll()
        self._read(transport.receive_ready)

    def _read_waiting(self, receive: Callable[[memoryview], int]) -> bool:
        role.reads = True
        try:
            return self._read(receive)
        except BaseException:
            # An interrupt (Ctrl-C) between taking bytes and handling them loses a message.
            self._lose(ConnectionError("the thread that was reading it was interrupted"))
            raise
        finally:
            role.reads = False

    def _read_until(self, is_done: Callable[[], object], deadline_s: float | None) -> None:
        """Read until `is_done()`, the deadline or the end, on a thread that has the turn: nothing else can come meanwhile."""
        turn, look, poll = self.turn, self._waiters_busy_poll.look, self._poll.poll
        transport, decoder = self._transport, self._decoder
        may_sleep = True  # in the call that receives, which ends by itself after a while; a longer wait sleeps in another
        while not is_done() and not turn.is_stopped:
            left_s = None if deadline_s is None else deadline_s - time.monotonic()
            if left_s is not None and left_s < RECEIVE_TIMEOUT_S:
                if left_s <= 0:
                    return
                may_sleep = False
            if decoder.missing_payload_bytes:
                receive = transport.receive_all
            else:
                is_there = look(poll) or (not may_sleep and poll(None if left_s is None else int(left_s * 1000) + 1))
                receive = transport.receive_ready if is_there or not may_sleep else transport.receive
            if not self._read_waiting(receive):
                may_sleep = False
            elif turn.has_waiters:
                turn.tell_waiters()


def _nothing() -> None:
    """Stand for a crew where there is none."""
