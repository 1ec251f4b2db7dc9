"""The sending half of a connection: a message goes out on its sender's thread as far as the transport takes it at once.

The rest is queued and written by a thread that is started when it is first needed. So `send` never
waits for the peer, unless asked to; two peers that push at each other from the threads that read cannot deadlock.

An array handed to `send` belongs to the connection until it is written, which may be after `send` returns: nobody may
change it any more. Views of JAX arrays, which are immutable, and freshly made arrays satisfy that by themselves.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from weft.channel.transport.transport import Transport
from weft.platform.waits.wait_watch import Watched
from weft.protocol.tensor_blob import Buffer

MAX_QUEUED_BYTES: Final = 256 << 20
"""The default bound on what waits for a slow peer before senders that can wait are made to."""

_MAX_BUFFERS: Final = 512  # how much of a long queue is looked at for one call
_OF_PEERS: Final = (
    "The peer lives and takes nothing from its connection: look at its log and at what its process does (`weft doctor`), and "
    "at the network between."
)


class Outbox:
    """The queue in front of a transport's sending side. Thread-safe; the transport stays its maker's.

    `on_failure` is called at most once, with the lock held, when the transport fails.
    """

    def __init__(self, transport: Transport, name: str, max_queued_bytes: int, on_failure: Callable[[OSError], None]) -> None:
        self._transport = transport
        self._name = name
        self._max_queued_bytes = max_queued_bytes
        self._on_failure = on_failure
        self._lock = threading.Lock()
        self._queued = threading.Condition(self._lock)  # the writer waits here
        self._room = threading.Condition(self._lock)  # blocking senders wait here
        self._queue: deque[Buffer] = deque()
        self._queued_bytes = 0
        self._held: list[Buffer] = []  # what goes out before the next message, and with it
        self._is_open = True  # takes messages
        self._is_stopped = False  # writes nothing any more
        self._writer: threading.Thread | None = None
        self._waiting: deque[Callable[[], None]] = deque()  # what is to produce more, in order
        self._is_started = False  # the first of them has been started and has not gone on yet
        self._blocked = 0  # how many senders wait for room
        self.sent_count = 0
        """How many messages were sent here; those of `hold`, too."""
        self.sent_bytes = 0
        """How many bytes the transport has taken."""

    @property
    def has_room(self) -> bool:
        """Whether whoever produces values for the peer may go on; a look without the lock."""
        return self._queued_bytes <= self._max_queued_bytes and not self._waiting

    def wait_for_room(self, start: Callable[[], None]) -> bool:
        """Whether a producer has to wait; then `start` is called once, when there is room or nothing is sent any more.

        Those that wait are started one at a time, each when the one before has called `go_on`, so that what they make together
        never exceeds the bound by more than one of them makes. `start` must not wait: it is called with the lock held.
        """
        with self._lock:
            if self.has_room or not self._is_open:
                return False
            self._waiting.append(start)
            return True

    def go_on(self) -> None:
        """Say that the producer that was started has sent what it had, or will not."""
        with self._lock:
            self._is_started = False
            self._start_next()

    @property
    def queued_bytes(self) -> int:
        """The bytes that wait for the peer, beyond those that the transport holds."""
        return self._queued_bytes

    def send(self, buffers: Sequence[Buffer], *, block: bool) -> bool:
        """Send the buffers after everything sent before; return False if the outbox is closed.

        With `block`, first wait until at most `max_queued_bytes` are queued.
        """
        with self._lock:
            if block:
                self._wait_until_room()
            if not self._is_open:
                return False
            if buffers:
                self.sent_count += 1
            if self._held:
                buffers = self._behind_held(buffers)
            if not self._queue and len(buffers) == 1:
                # The commonest message is one small buffer for a peer that reads.
                try:
                    sent = self._transport.send_ready(buffers)
                    self.sent_bytes += sent
                    if sent == len(buffers[0]):
                        return True
                    buffers = (memoryview(buffers[0])[sent:],)
                except BlockingIOError:
                    pass
                except OSError as error:
                    self._fail(error)
                    return False
            self._put(buffers)
            return self._is_open

    def _wait_until_room(self) -> None:
        """The writer's notice tells of this wait."""
        self._blocked += 1
        try:
            while self._queued_bytes > self._max_queued_bytes and self._is_open:
                self._room.wait()
        finally:
            self._blocked -= 1

    def _told(self) -> str:
        """What to say of a write that the peer does not take; nothing while no one waits for it. Without the lock."""
        if not self._blocked and not self._waiting:
            return ""
        return f"Values wait to go to {self._name}, and what makes more of them waits too: it has taken nothing"

    def hold(self, buffers: Sequence[Buffer]) -> bool:
        """Send a message just before the next one; return False if the outbox is closed.

        Both then go with one call, and the peer wakes once for them. `send` with no buffers sends what is held alone.
        """
        with self._lock:
            if self._is_open:
                self._held.extend(buffers)
                self.sent_count += 1
            return self._is_open

    @property
    def is_holding(self) -> bool:
        """Whether a message waits for the next one; a look without the lock."""
        return bool(self._held)

    def _behind_held(self, buffers: Sequence[Buffer]) -> Sequence[Buffer]:
        held, self._held = self._held, []
        held.extend(buffers)
        return held

    def finish(self, last: Sequence[Buffer]) -> None:
        """Take `last` and nothing more; end the stream when all is written. Does not wait."""
        with self._lock:
            if self._is_open:
                self._put(self._behind_held(last) if self._held else last)
                self._is_open = False
                self._room.notify_all()
                self._start_all()
                self._end_if_written()

    def stop(self) -> None:
        """Drop what is queued and wait for the writer, whose pending write the caller has made fail by a shutdown."""
        with self._lock:
            self._is_open = False
            self._is_stopped = True
            self._drop()
        if self._writer is not None:
            self._writer.join()

    def _put(self, buffers: Sequence[Buffer]) -> None:
        if not self._queue:
            buffers = self._send_now(buffers)
            if not buffers:
                return
        if self._is_stopped:  # by a failure just now
            return
        self._queue.extend(buffers)
        self._queued_bytes += sum(map(len, buffers))
        if self._writer is None:
            self._writer = threading.Thread(target=self._write, name=f"weft-send-{self._name}", daemon=True)
            self._writer.start()
        self._queued.notify()

    def _send_now(self, buffers: Sequence[Buffer]) -> Sequence[Buffer]:
        """Write what the transport takes without waiting; return the rest."""
        try:
            while buffers:
                sent = self._transport.send_ready(buffers)
                self.sent_bytes += sent
                buffers = _after(buffers, sent)
        except BlockingIOError:
            pass
        except OSError as error:
            self._fail(error)
            return ()
        return buffers

    def _write(self) -> None:
        """The writer thread: write the queue, waiting for the peer as long as it takes."""
        while True:
            with self._lock:
                while not self._queue and not self._is_stopped and self._is_open:
                    self._queued.wait()
                if not self._queue:
                    return
                batch = list(itertools.islice(self._queue, _MAX_BUFFERS))
            try:
                with Watched(self._told, _OF_PEERS):
                    sent = self._transport.send(batch)
            except OSError as error:
                with self._lock:
                    self._fail(error)
                return
            with self._lock:
                self._written(sent)

    def _written(self, sent: int) -> None:
        if self._is_stopped:
            return
        self._queued_bytes -= sent
        self.sent_bytes += sent
        while sent:
            first = self._queue.popleft()
            if sent < len(first):
                self._queue.appendleft(memoryview(first)[sent:])
                break
            sent -= len(first)
        if self._queued_bytes <= self._max_queued_bytes:
            self._room.notify_all()
            self._start_next()
        self._end_if_written()

    def _start_next(self) -> None:
        if self._waiting and not self._is_started and self._queued_bytes <= self._max_queued_bytes:
            self._is_started = True
            self._waiting.popleft()()

    def _end_if_written(self) -> None:
        if not self._is_open and not self._queue and not self._is_stopped:
            # The peer reads the end of the stream after the last message, and may close in its turn.
            with contextlib.suppress(OSError):
                self._transport.end_sending()

    def _fail(self, error: OSError) -> None:
        was_stopped = self._is_stopped
        self._is_open = False
        self._is_stopped = True
        self._drop()
        if not was_stopped:
            self._on_failure(error)

    def _drop(self) -> None:
        self._queue.clear()
        self._held = []
        self._queued_bytes = 0
        self._queued.notify_all()
        self._room.notify_all()
        self._start_all()

    def _start_all(self) -> None:
        """Let everybody go on who waits, and fail."""
        while self._waiting:
            self._waiting.popleft()()


def _after(buffers: Sequence[Buffer], sent: int) -> Sequence[Buffer]:
    """Return what is left of the buffers after so many bytes."""
    for i, buffer in enumerate(buffers):
        if sent < len(buffer):
            return [memoryview(buffer)[sent:], *buffers[i + 1 :]] if sent else buffers[i:]
        sent -= len(buffer)
    return ()
