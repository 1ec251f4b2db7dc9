"""One connection of the tensor channel: a transport, the threads that read it, and the messages that go either way.

The rules are `protocol`'s; here are only the transport and the threads. A message is handled on the thread that read it,
so a step continues without a hop. That thread must not wait for the peer, or nothing would be read any more; therefore
`send` does not wait on it, whatever it is asked.

A connection's life, from its construction to `on_closed`, is that of `ConnectionLife`, whoever reads it:

    start        a thread of its own, or a pool, reads from now on; messages may be sent before
    close        its goodbye follows what is queued; no message is handled any more
    a loss       by the peer's end or goodbye, a failure, an abort, a handler that raises, or a close that takes too long
    the release  on the thread that has read last: descriptors go back, and the owner is told, once
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from weft.channel.heartbeats import HEARTBEAT, Watch, heartbeats
from weft.channel.message_reader import MessageReader
from weft.channel.outbox import MAX_QUEUED_BYTES, Outbox
from weft.channel.pulse import Pulse
from weft.channel.shared_memory.exchange import PayloadExchange
from weft.channel.transport.transport import Transport
from weft.channel.waiting.reader_pool import ReaderPool
from weft.channel.waiting.wait import role, wait_until
from weft.errors import UnavailableError
from weft.platform.logs.limited_log import peer_log
from weft.platform.process.fork_release import release_in_children
from weft.platform.process.interrupts import deferred_interrupts, main_thread
from weft.platform.waits.quick_lately import QuickLately
from weft.protocol.connection_life import ConnectionLife, LifeState, LifeStep
from weft.protocol.messages import Goodbye, Hello, Message, Ping, Pong, Reject, Welcome
from weft.protocol.protocol_error import CutShortError, ProtocolError, RemoteProtocolError
from weft.protocol.tensor_blob import Buffer
from weft.protocol.tensor_frame import FrameDecoder, encode
from weft.protocol.traffic import Traffic

OnMessage: TypeAlias = Callable[["Connection", Message], None]
OnClosed: TypeAlias = Callable[["Connection", Exception | None], None]

CLOSE_TIMEOUT_S: Final = 5.0
"""The time that a graceful close gives the peer by default."""

_OF_THE_CONNECTION: Final = frozenset((Hello, Welcome, Reject, Ping, Pong, Goodbye))

_log = logging.getLogger("weft")


def is_cut(cause: Exception | None) -> bool:
    """Whether a connection ended for this cause though its peer may well be there: the system reported an end or an error."""
    return isinstance(cause, CutShortError) or (cause is not None and isinstance(cause.__cause__, OSError))


class Connection:
    """A long-lived, ordered, two-way stream of messages to one peer.

        connection = Connection(transport, on_message, on_closed, "/job:ps/replica:0/task:0")
        connection.start()
        connection.send(message)
        connection.close()

    `on_message(connection, message)` is called for one message at a time, in order, on a thread that reads; a message's
    arrays are the callee's for good. If it raises, this connection is closed and nothing else.
    `on_closed(connection, cause)` is called exactly once, last, on the connection's thread, or its pool's; the cause is None
    after `close` here or there. Pings are answered here. With a `watch` there are heartbeats, and a peer that stands still or
    is cut off is a loss. `peer` is what the other side called itself; `outbox` knows what waits for it, and `reader` who reads
    what it sends. Any thread may call any method. A connection that is never started leaves the transport to be closed by its
    maker.
    """

    def __init__(
        self,
        transport: Transport,
        on_message: OnMessage,
        on_closed: OnClosed,
        name: str,
        *,
        peer: Hello | Welcome | None = None,
        decoder: FrameDecoder | None = None,
        received: Sequence[Message] = (),
        max_queued_bytes: int = MAX_QUEUED_BYTES,
        exchange: PayloadExchange | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Take over a transport that is established. `decoder` and `received` continue a stream that has been read from before.

        With an `exchange`, whose other side the peer has, large payloads between tasks go through shared memory.
        """
        self.name = name
        self.peer = peer
        self._transport = transport
        self._on_message = on_message
        self._on_closed = on_closed
        decoder = decoder or FrameDecoder()
        self._watch = watch
        self._pulse: Pulse | None = None
        self._exchange = exchange
        if exchange is not None:
            decoder.borrower = exchange.borrower
        self.outbox = Outbox(transport, name, max_queued_bytes, self._lose)
        self.reader = MessageReader(transport, name, decoder, received, self._handle, self._lose, self._release)
        self._handled_count = 0
        self._quick = QuickLately()  # of those that wait for messages
        self._thread: threading.Thread | None = None
        self._pool: ReaderPool | None = None
        self._lock = threading.Lock()  # guards the moves of the life
        self._life = ConnectionLife()
        self._close_timer: threading.Timer | None = None
        self._is_closed = threading.Event()
        self._is_forked = False
        release_in_children(self)

    def __repr__(self) -> str:
        return f"<Connection to {self.name}, {self._life.state.name.lower()}>"

    @property
    def is_closed(self) -> bool:
        """Whether the connection is over and `on_closed` has returned."""
        return self._is_closed.is_set()

    @property
    def cause(self) -> Exception | None:
        """Why the connection ended; None while it has not, and after a goodbye."""
        return self._life.cause

    @property
    def queued_bytes(self) -> int:
        """The number of bytes that wait here for a peer that does not read fast enough."""
        return self.outbox.queued_bytes

    @property
    def transport(self) -> str:
        """The kind of transport that carries this connection, such as "unix" or "tcp"."""
        return self._transport.kind

    @property
    def traffic(self) -> Traffic:
        """What went over it so far."""
        sent, received = self.outbox.sent_bytes, self.reader.received_bytes
        if self._exchange is not None:
            sent += self._exchange.lender.lent_bytes
            received += self._exchange.borrower.taken_bytes
        return Traffic(self.outbox.sent_count, sent, self._handled_count, received)

    def start(self, pool: ReaderPool | None = None) -> None:
        """Have the connection read: by the pool, or by a thread of its own.

        With a pool, this thread handles the messages that came behind the handshake, so it has to be one that reads; see
        `role`.
        """
        if self._watch is not None:
            self._pulse = Pulse(self.name, self._transport, self.reader, self.outbox, self.send_frame, self.abort)
            heartbeats.add(self._pulse, self._watch)
        if pool is None:
            self._thread = threading.Thread(target=self.reader.run, name=f"weft-read-{self.name}", daemon=True)
            self._thread.start()
            return
        self._pool = pool
        self.reader.handle_pending(pool.step_aside)
        try:
            pool.add(self.reader)
        except OSError as error:  # more than this system can watch
            self._lose(error)
            self._release()

    def step_aside(self) -> None:
        """For a message's handler: what follows may take long, so other connections shall be read meanwhile."""
        if self._pool is not None:
            self._pool.step_aside()

    def send(self, message: Message, *, block: bool = False) -> None:
        """Send a message after all that were sent before. Its arrays must not be changed any more.

        Does not wait for the peer. With `block`, on a thread that reads no connection, waits until no more than
        `max_queued_bytes` are queued: whoever produces faster than the peer reads shall ask for it.

        Raises:
            UnavailableError: the connection is closed. A message sent before may be lost with it.
            LocalProtocolError: the message cannot be sent; the connection goes on.
        """
        self.send_frame(self._encode(message) if message.may_be_lent else encode(message), block=block)

    def send_frame(self, frame: Sequence[Buffer], *, block: bool = False) -> None:
        """Send a message that is encoded already; see `send`."""
        if self._is_forked:
            raise self._unusable()
        may_wait = block and not role.reads
        # Half a message would end the connection. A wait for the peer, on the other hand, is nothing to put signals off for.
        if may_wait or main_thread.defers or threading.get_ident() != main_thread.ident:
            is_sent = self.outbox.send(frame, block=may_wait)
        else:
            with deferred_interrupts():
                is_sent = self.outbox.send(frame, block=False)
        if not is_sent:
            raise self._unusable()

    def hold(self, message: Message, *, if_small: bool = False) -> None:
        """Send a message when the next one is sent, or at `flush`: one that the peer can do nothing with before.

        With `if_small` one with large values is sent at once, for a peer that may read them meanwhile. Raises as `send` does,
        for this message; it may be lost with the connection later on.
        """
        if self._is_forked:
            raise self._unusable()
        frame = self._encode(message)
        if if_small and len(frame) > 1:
            self.send_frame(frame)
        elif not self.outbox.hold(frame):
            raise self._unusable()

    def flush(self) -> None:
        """Send what is held. A connection that is closed has told its owner, and this does nothing."""
        if self.outbox.is_holding:
            with contextlib.suppress(UnavailableError):
                self.send_frame(())

    def _unusable(self) -> UnavailableError:
        if self._is_forked:
            return UnavailableError.of(f"the connection to {self.name} belongs to the parent process")
        cause = self._life.cause
        why = f": {cause}" if cause is not None else ""
        return UnavailableError.of(f"the connection to {self.name} is closed{why}")

    def _encode(self, message: Message) -> Sequence[Buffer]:
        exchange = self._exchange
        if exchange is None:
            return encode(message)
        exchange.lender.note_message()
        return encode(message, exchange.lender)

    def wait_for(self, is_done: Callable[[], object], timeout_s: float | None = None) -> bool:
        """Wait until `is_done()`; return whether it is. Ends early when the connection does, after `on_closed`.

        Only messages of this connection, and its end, may make `is_done` true: this thread reads and handles messages
        itself where it can, which saves waking another. `is_done` must not wait.

        Raises:
            RuntimeError: this thread reads a connection, and would wait for itself.
        """
        if self._is_forked:
            raise self._unusable()
        if role.reads:
            raise RuntimeError(f"a message's handler waits for a message from {self.name}, which it would have to read")
        wait_until(is_done, (self.reader,), timeout_s, self._quick, sources_only=True)
        return bool(is_done())

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
            steps = self._life.close()
            if LifeStep.SAY_GOODBYE in steps:  # for which the peer has so long; under the lock, since a loss cancels it
                self._close_timer = threading.Timer(timeout_s, self._lose, (None,))
                self._close_timer.daemon = True
                self._close_timer.start()
        if LifeStep.SAY_GOODBYE in steps:
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
        """In a forked child: give up the child's copies of descriptors; the parent's connection goes on."""
        self._is_forked = True
        self._transport.close()
        if self._exchange is not None:
            self._exchange.release_after_fork()

    def _handle(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._handled_count += 1
            if self._life.state is not LifeState.OPEN:
                return
            if type(message) in _OF_THE_CONNECTION:
                self._handle_own(message)
                continue
            try:
                self._on_message(self, message)
            except Exception as error:
                peer_log.exception("closing the connection to %s: handling a %s failed", self.name, type(message).__name__)
                self._lose(error)

    def _handle_own(self, message: Message) -> None:
        match message:
            case Ping(nonce=nonce):
                with contextlib.suppress(UnavailableError):
                    self.send(Pong(nonce))
            case Pong(nonce=nonce) if nonce != HEARTBEAT:
                self._on_message(self, message)
            case Pong():
                pass  # that something was received is what counts
            case Goodbye():
                self._lose(None)
            case _:
                self._lose(RemoteProtocolError(f"a {type(message).__name__} came after the admission"))

    def _lose(self, cause: Exception | None) -> None:
        """Settle why the connection ends, and make every thread that waits for its transport return."""
        if isinstance(cause, OSError):
            lost = UnavailableError.of(f"the connection to {self.name} was lost: {cause}")
            lost.__cause__ = cause
            cause = lost
        with self._lock:
            steps = self._life.lose(cause)
            if LifeStep.SHUT_DOWN in steps:
                if self._close_timer is not None:
                    self._close_timer.cancel()
                self._transport.shut_down()
        if LifeStep.SHUT_DOWN in steps:
            self.reader.lease.stop()

    def _release(self) -> None:
        """Release everything, then tell the owner. On the thread that has read it last."""
        if self._pulse is not None:
            heartbeats.remove(self._pulse)
        self._lose(ConnectionError("its thread ended"))
        self.outbox.stop()
        self._transport.close()
        if self._exchange is not None:
            self._exchange.close()
        steps = self._life.release()
        assert steps == (LifeStep.TELL_OWNER,)
        cause = self._life.cause
        if isinstance(cause, ProtocolError):
            peer_log.warning("closed the connection to %s: protocol violation: %s", self.name, cause)
        try:
            self._on_closed(self, cause)
        except Exception:
            _log.exception("the owner of the connection to %s failed to take note of its end", self.name)
        finally:
            self._is_closed.set()
            self.reader.lease.note_closed()
