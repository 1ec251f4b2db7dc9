"""The receiving half of a connection: messages out of a socket, on whichever thread has the turn to read it."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Sequence
from typing import Final

from weft.channel.waiting.busy_poll import BusyPoll
from weft.channel.waiting.read_turn import ReadTurn
from weft.channel.waiting.wait import role, wait_until
from weft.protocol.messages import Message
from weft.protocol.protocol_error import ProtocolError
from weft.protocol.tensor_frame import FrameDecoder

RECEIVE_TIMEOUT_S: Final = 0.1
"""How long the socket, which is its maker's, waits in a receiving call."""


class MessageReader:
    """Receives from a stream socket and hands on what comes. For one thread at a time, the one that has the `turn`.

    `handle(messages)` is called with the messages that some bytes have completed. `lose(cause)` is called with what ends the
    stream: its end, an error of the socket, a violation of the protocol, or an interrupt that may have cut a message in half.
    Is a `Source` for threads that wait.
    """

    def __init__(
        self,
        sock: socket.socket,
        decoder: FrameDecoder,
        handle: Callable[[Sequence[Message]], None],
        lose: Callable[[Exception], None],
    ) -> None:
        self.turn = ReadTurn()
        self._sock = sock
        self._decoder = decoder
        self._handle = handle
        self._lose = lose
        self._buffer: memoryview | None = None  # where the next bytes go
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)
        self._busy_poll = BusyPoll()
        self._waiters_busy_poll = BusyPoll()

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._sock.fileno()

    def read(self, is_alone: bool, flags: int = socket.MSG_DONTWAIT) -> bool:
        """Receive once, what is there or the rest of a large payload, and handle it.

        Who `is_alone` waits a moment for the rest of a payload, others have something else to read; with `flags` 0, for
        anything. Returns whether there was something, be it the end.
        """
        try:
            # The rest of a large payload is waited for as a whole: one call instead of hundreds.
            if is_alone and self._decoder.missing_payload_bytes:
                flags = socket.MSG_WAITALL
            count = self._sock.recv_into(self._buffer or self._decoder.get_buffer(), 0, flags)
            if count:
                self._handle(self._decoder.buffer_received(count))
                self._buffer = self._decoder.get_buffer()  # a violation behind these messages shows here
            else:
                self._decoder.end_of_stream()
                self._lose(ConnectionError("the peer closed it without a goodbye"))
        except BlockingIOError:
            return False
        except (OSError, ProtocolError) as error:
            self._lose(error)
        return True

    def read_next(self) -> None:
        """For the connection's own thread: wait for what comes next, and handle it."""
        if not self._decoder.missing_payload_bytes and not self._busy_poll.look(self._poll.poll):
            self._poll.poll()
        self.read(is_alone=True)

    def read_message(self, step_aside: Callable[[], None]) -> None:
        """For one of a crew, when something has come: handle it, and all of a large payload that has begun.

        `step_aside` is called before the rest of a payload is waited for.
        """
        self.read(is_alone=False)
        if self._decoder.missing_payload_bytes:
            self.read(is_alone=False)
            if self._decoder.missing_payload_bytes and not self.turn.is_stopped:
                step_aside()
            while self._decoder.missing_payload_bytes and not self.turn.is_stopped:
                self.read(is_alone=True)

    def read_as_waiter(self, is_alone: bool, flags: int = socket.MSG_DONTWAIT) -> bool:
        """For a thread that waits for a message, and has the turn: as `read`. See `Source`."""
        role.reads = True
        try:
            return self.read(is_alone, flags)
        except BaseException:
            # An interrupt (Ctrl-C) between taking bytes and handling them loses a message.
            self._lose(ConnectionError("the thread that was reading it was interrupted"))
            raise
        finally:
            role.reads = False

    def wait_for(self, is_done: Callable[[], bool], timeout_s: float | None) -> None:
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

    def _read_until(self, is_done: Callable[[], bool], deadline_s: float | None) -> None:
        """Read until `is_done()`, the deadline or the end, on a thread that has the turn: nothing else can come meanwhile."""
        turn, look, poll = self.turn, self._waiters_busy_poll.look, self._poll.poll
        flags = 0  # sleeps in the call that receives, which ends by itself after a while; a longer wait sleeps in another
        while not is_done() and not turn.is_stopped:
            left_s = None if deadline_s is None else deadline_s - time.monotonic()
            if left_s is not None and left_s < RECEIVE_TIMEOUT_S:
                if left_s <= 0:
                    return
                flags = socket.MSG_DONTWAIT
            if not look(poll) and flags:
                poll(None if left_s is None else int(left_s * 1000) + 1)
            if not self.read_as_waiter(True, flags):
                flags = socket.MSG_DONTWAIT
            elif turn.has_waiters:
                turn.tell_waiters()
