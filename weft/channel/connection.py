"""One connection of the tensor channel: a socket, the threads that read it, and the messages that go either way.

The rules are `protocol`'s; here are only the socket and the threads. A message is handled on the thread that read it,
so a step continues without a hop. That thread must not wait for the peer, or nothing would be read any more; therefore
`send` does not wait on it, whatever it is asked.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from weft.channel.message_reader import RECEIVE_TIMEOUT_S, MessageReader
from weft.channel.outbox import MAX_QUEUED_BYTES, Outbox
from weft.channel.shared_memory.exchange import PayloadExchange
from weft.channel.waiting.wait import role
from weft.errors import UnavailableError
from weft.platform.fork_release import release_in_children
from weft.platform.interrupts import deferred_interrupts, may_be_interrupted
from weft.protocol.messages import Goodbye, Hello, Message, Ping, Pong, Push, Reject, RunGraph, Welcome
from weft.protocol.protocol_error import ProtocolError, RemoteProtocolError
from weft.protocol.tensor_blob import Buffer
from weft.protocol.tensor_frame import FrameDecoder, encode

OnMessage: TypeAlias = Callable[["Connection", Message], None]
OnClosed: TypeAlias = Callable[["Connection", Exception | None], None]

CLOSE_TIMEOUT_S: Final = 5.0
"""How long a graceful close waits for the peer by default."""

_LOCAL_BUFFER_BYTES: Final = 1 << 20  # measured: doubles the rate of loopback TCP, adds a quarter to Unix sockets
_OF_THE_CONNECTION: Final = frozenset((Hello, Welcome, Reject, Ping, Goodbye))
_BETWEEN_TASKS: Final = frozenset((Push, RunGraph))

_log = logging.getLogger("weft")


class Connection:
    """A long-lived, ordered, two-way stream of messages to one peer.

        connection = Connection(sock, on_message, on_closed, "/job:ps/replica:0/task:0")
        connection.start()
        connection.send(message)
        connection.close()

    `on_message(connection, message)` is called for one message at a time, in order, on a thread that reads; a message's
    arrays are the callee's for good. If it raises, this connection is closed and nothing else.
    `on_closed(connection, cause)` is called exactly once, last, on the connection's thread, or its crew's; the cause is None
    after `close` here or there. Pings are answered here. `peer` is what the other side called itself; `outbox` knows what
    waits for it, and `reader` who reads what it sends. Any thread may call any method. Before `start`, `run` or `begin` the
    socket is all there is: who does not get that far closes it itself.
    """

    def __init__(
        self,
        sock: socket.socket,
        on_message: OnMessage,
        on_closed: OnClosed,
        name: str,
        *,
        peer: Hello | Welcome | None = None,
        decoder: FrameDecoder | None = None,
        received: Sequence[Message] = (),
        max_queued_bytes: int = MAX_QUEUED_BYTES,
        exchange: PayloadExchange | None = None,
    ) -> None:
        """Take over a connected socket. `decoder` and `received` continue a stream that has been read from before.

        With an `exchange`, whose other side the peer has, large payloads between tasks go through shared memory.
        """
        self.name = name
        self.peer = peer
        self._sock = sock
        self._on_message = on_message
        self._on_closed = on_closed
        decoder = decoder or FrameDecoder()
        self._exchange = exchange
        if exchange is not None:
            decoder.borrower = exchange.borrower
        self._received = received
        self.outbox = Outbox(sock, name, max_queued_bytes, self._lose)
        self.reader = MessageReader(sock, decoder, self._handle, self._lose)
        self._thread: threading.Thread | None = None
        self._step_aside: Callable[[], None] | None = None  # where a crew reads
        self._lock = threading.Lock()  # guards the cause
        self._cause: Exception | None = None
        self._is_lost = False  # the cause is settled
        self._is_closing = False
        self._close_timer: threading.Timer | None = None
        self._is_closed = threading.Event()
        self._is_forked = False
        sock.settimeout(None)
        _tune(sock)
        release_in_children(self)

    def __repr__(self) -> str:
        state = "closed" if self.is_closed else "closing" if self._is_closing else "open"
        return f"<Connection to {self.name}, {state}>"

    @property
    def is_closed(self) -> bool:
        """Whether the connection is over and `on_closed` has returned."""
        return self._is_closed.is_set()

    @property
    def queued_bytes(self) -> int:
        """How much waits here for a peer that does not read fast enough."""
        return self.outbox.queued_bytes

    @property
    def transport(self) -> str:
        """What carries this connection: "unix" or "tcp"."""
        return "unix" if self._sock.family == getattr(socket, "AF_UNIX", None) else "tcp"

    def start(self) -> None:
        """Read on a thread of the connection's own."""
        self._thread = threading.Thread(target=self.run, name=f"weft-read-{self.name}", daemon=True)
        self._thread.start()

    def run(self) -> None:
        """Read on this thread until the connection is over. Instead of `start`."""
        self._thread = threading.current_thread()
        before, role.reads = role.reads, True
        try:
            self._handle(self._received)
            self._received = ()
            turn = self.reader.turn
            while turn.take():
                self.reader.read_next()
                while not turn.has_waiters and not self._is_lost:
                    self.reader.read_next()
                turn.give()
        finally:
            self.finish()
            role.reads = before

    def begin(self, step_aside: Callable[[], None]) -> None:
        """Handle what came behind the handshake, and be read by a crew from then on. Instead of `start`. See `ReadingCrew`."""
        self._step_aside = step_aside
        self.reader.turn.take()
        before, role.reads = role.reads, True
        try:
            self._handle(self._received)
            self._received = ()
        finally:
            role.reads = before

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be read."""
        return self._is_lost

    def read_ready(self) -> None:
        """For a thread of the crew: receive what has come and handle it."""
        try:
            self.reader.read_message(self.step_aside)
        except Exception as error:  # such as that there is no memory
            _log.exception("closing the connection to %s: reading it failed", self.name)
            self._lose(error)
        if self.reader.turn.has_waiters:
            self.reader.turn.tell_waiters()

    def step_aside(self) -> None:
        """For a message's handler: what follows may take long, so other connections shall be read meanwhile."""
        if self._step_aside is not None:
            self._step_aside()

    def send(self, message: Message, *, block: bool = False) -> None:
        """Send a message after all that were sent before. Its arrays must not be changed any more.

        Does not wait for the peer. With `block`, on a thread that reads no connection, waits until no more than
        `max_queued_bytes` are queued: whoever produces faster than the peer reads shall ask for it.

        Raises:
            UnavailableError: the connection is closed. A message sent before may be lost with it.
            LocalProtocolError: the message cannot be sent; the connection goes on.
        """
        self.send_frame(self._encode(message), block=block)

    def send_frame(self, frame: Sequence[Buffer], *, block: bool = False) -> None:
        """Send a message that is encoded already; see `send`."""
        if self._is_forked:
            self._check_owned()
        may_wait = block and not role.reads
        # Half a message would end the connection. A wait for the peer, on the other hand, is nothing to put signals off for.
        if may_wait or not may_be_interrupted():
            is_sent = self.outbox.send(frame, block=may_wait)
        else:
            with deferred_interrupts():
                is_sent = self.outbox.send(frame, block=False)
        if not is_sent:
            raise self._closed_error()

    def hold(self, message: Message) -> None:
        """Send a message when the next one is sent, or at `flush`: one that the peer can do nothing with before.

        Raises as `send` does, for this message; it may be lost with the connection later on.
        """
        if self._is_forked:
            self._check_owned()
        frame = self._encode(message)
        if len(frame) > 1:
            self.send_frame(frame)
        elif not self.outbox.hold(bytes(frame[0])):
            raise self._closed_error()

    def flush(self) -> None:
        """Send what is held. A connection that is closed has told its owner, and this does nothing."""
        if self.outbox.is_holding:
            with contextlib.suppress(UnavailableError):
                self.send_frame(())

    def _closed_error(self) -> UnavailableError:
        why = f": {self._cause}" if self._cause is not None else ""
        return UnavailableError(None, None, f"the connection to {self.name} is closed{why}")

    def _encode(self, message: Message) -> Sequence[Buffer]:
        exchange = self._exchange
        if exchange is None or type(message) not in _BETWEEN_TASKS:
            return encode(message)
        exchange.lender.note_message()
        return encode(message, exchange.lender)

    def wait_for(self, is_done: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Wait until `is_done()`; return whether it is. Ends early when the connection does, after `on_closed`.

        Only messages of this connection, and its end, may make `is_done` true: this thread reads and handles messages
        itself where it can, which saves waking another. `is_done` must not wait.

        Raises:
            RuntimeError: this thread reads a connection, and would wait for itself.
        """
        self._check_owned()
        if role.reads:
            raise RuntimeError(f"a message's handler waits for a message from {self.name}, which it would have to read")
        self.reader.wait_for(is_done, timeout_s)
        return is_done()

    def close(self, reason: str = "", timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        """Send what is queued, say goodbye, and wait for the end; after the timeout, just end.

        No message is handled any more. On a thread that reads, returns at once, and the rest happens behind it.
        """
        self.begin_close(reason, timeout_s)
        if role.reads or self._is_forked:
            return
        self._is_closed.wait()
        self.join()

    def begin_close(self, reason: str = "", timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        """Close gracefully, but do not wait for the end."""
        if self._is_forked:
            return
        with self._lock:
            if self._is_closing or self._is_lost:
                return
            self._is_closing = True
            self._close_timer = threading.Timer(timeout_s, self._lose, (None,))
            self._close_timer.daemon = True
            self._close_timer.start()
        self.outbox.finish(encode(Goodbye(reason)))

    def abort(self, cause: Exception | None) -> None:
        """End the connection now; what is queued is lost. Does not wait. `on_closed` gets the cause."""
        if not self._is_forked:
            self._lose(cause)

    def join(self) -> None:
        """Wait until the connection's thread has ended. Not for that thread."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def release_after_fork(self) -> None:
        """In a forked child: give up the child's copy of the socket; the parent's connection goes on."""
        self._is_forked = True
        self._sock.close()
        if self._exchange is not None:
            self._exchange.release_after_fork()

    def _check_owned(self) -> None:
        if self._is_forked:
            raise UnavailableError(None, None, f"the connection to {self.name} belongs to the parent process")

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._sock.fileno()

    def _handle(self, messages: Sequence[Message]) -> None:
        for message in messages:
            if self._is_closing or self._is_lost:
                return
            if type(message) in _OF_THE_CONNECTION:
                self._handle_own(message)
                continue
            try:
                self._on_message(self, message)
            except Exception as error:
                _log.exception("closing the connection to %s: handling a %s failed", self.name, type(message).__name__)
                self._lose(error)

    def _handle_own(self, message: Message) -> None:
        match message:
            case Ping(nonce=nonce):
                with contextlib.suppress(UnavailableError):
                    self.send(Pong(nonce))
            case Goodbye():
                self._lose(None)
            case _:
                self._lose(RemoteProtocolError(f"a {type(message).__name__} came after the admission"))

    def _lose(self, cause: Exception | None) -> None:
        """Settle why the connection ends, and make every thread that waits for its socket return."""
        with self._lock:
            if self._is_lost:
                return
            self._is_lost = True
            if self._close_timer is not None:
                self._close_timer.cancel()
            if self._is_closing:
                self._cause = None
            elif isinstance(cause, OSError):
                text = f"the connection to {self.name} was lost: {cause}"
                self._cause = UnavailableError(None, None, text)
                self._cause.__cause__ = cause
            else:
                self._cause = cause
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
        self.reader.turn.stop()

    def finish(self) -> None:
        """Release everything, then tell the owner. On the thread that has read it last."""
        self._lose(ConnectionError("its thread ended"))
        self.outbox.stop()
        self._sock.close()
        if self._exchange is not None:
            self._exchange.close()
        if isinstance(self._cause, ProtocolError):
            _log.warning("closed the connection to %s: protocol violation: %s", self.name, self._cause)
        try:
            self._on_closed(self, self._cause)
        except Exception:
            _log.exception("the owner of the connection to %s failed to take note of its end", self.name)
        finally:
            self._is_closed.set()
            self.reader.turn.end()


def _tune(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, int(RECEIVE_TIMEOUT_S * 1e6)))
    is_local = sock.family == getattr(socket, "AF_UNIX", None)
    if not is_local:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        # Between hosts the kernel's own tuning finds larger windows than a fixed buffer would allow.
        with contextlib.suppress(OSError):
            is_local = sock.getpeername()[0] == sock.getsockname()[0]
    if is_local:
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            sock.setsockopt(socket.SOL_SOCKET, option, _LOCAL_BUFFER_BYTES)
