"""Memory: a transport between two connections of one process, for tests. It has no address."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Final

from weft.channel.transport.transport import RECEIVE_TIMEOUT_S
from weft.protocol.heartbeat import Evidence
from weft.protocol.tensor_blob import Buffer

CAPACITY_BYTES: Final = 256 << 10
"""The bytes that a direction holds before the other end has received some."""


def memory_pair(capacity_bytes: int = CAPACITY_BYTES) -> tuple[MemoryTransport, MemoryTransport]:
    """Return two transports that are each other's peer. A small capacity makes every send a partial one."""
    there, back = _Stream(capacity_bytes), _Stream(capacity_bytes)
    return MemoryTransport(back, there), MemoryTransport(there, back)


class _Stream:
    """One direction. A pipe of its own holds a byte exactly while there is something to receive, or the end: so poll works."""

    def __init__(self, capacity_bytes: int) -> None:
        self._capacity_bytes = capacity_bytes
        self._changed = threading.Condition()
        self._bytes = bytearray()
        self._has_ended = False  # nothing more will come
        self._is_cut = False  # nothing more passes at all
        self._is_readable = False
        self._open: tuple[int, ...]
        self.readable_fd, self._signal_fd = self._open = os.pipe()

    def put(self, buffers: Sequence[Buffer], waits: bool) -> int:
        with self._changed:
            while not self._has_ended and len(self._bytes) >= self._capacity_bytes:
                if not waits:
                    raise BlockingIOError
                self._changed.wait()
            if self._has_ended:
                raise BrokenPipeError("the stream has ended")
            before = len(self._bytes)
            for buffer in buffers:
                self._bytes += buffer[: self._capacity_bytes - len(self._bytes)]
            self._note_change()
            return len(self._bytes) - before

    def get(self, buffer: memoryview, timeout_s: float) -> int:
        with self._changed:
            if not self._changed.wait_for(lambda: self._bytes or self._has_ended, timeout_s):
                raise BlockingIOError
            count = 0 if self._is_cut else min(len(buffer), len(self._bytes))
            buffer[:count] = self._bytes[:count]
            del self._bytes[:count]
            self._note_change()
            return count

    def end(self, is_cut: bool) -> None:
        with self._changed:
            self._has_ended = True
            self._is_cut = self._is_cut or is_cut
            self._note_change()

    def _note_change(self) -> None:
        self._changed.notify_all()
        is_readable = bool(self._bytes) or self._has_ended
        if is_readable and not self._is_readable:
            os.write(self._signal_fd, b"\0")
        elif self._is_readable and not is_readable:
            os.read(self.readable_fd, 1)
        self._is_readable = is_readable

    def close(self) -> None:
        """Close the pipe, the first time: its descriptors' numbers are others' afterwards, and a forked child closes again."""
        descriptors, self._open = self._open, ()
        for descriptor in descriptors:
            os.close(descriptor)


class MemoryTransport:
    """One end of a pair; see `memory_pair`. Each end closes the pipe of the direction that it receives."""

    kind = "memory"
    peer_name = "this process"
    peer_user = os.getuid()
    pending_bytes = 0

    def __init__(self, incoming: _Stream, outgoing: _Stream) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    def fileno(self) -> int:
        """The pipe that is readable while there is something to receive."""
        return self._incoming.readable_fd

    def evidence(self, silent_s: float) -> Evidence:
        """UNKNOWN: there is no kernel between."""
        return Evidence.UNKNOWN

    def establish(self, timeout_s: float) -> None:
        """Do nothing: a pair is ready."""

    def receive_ready(self, buffer: memoryview) -> int:
        """Receive the bytes that are there."""
        return self._incoming.get(buffer, 0.0)

    def receive_all(self, buffer: memoryview) -> int:
        """Receive the bytes that are there: fewer than asked for is allowed."""
        return self._incoming.get(buffer, RECEIVE_TIMEOUT_S)

    def send_ready(self, buffers: Sequence[Buffer]) -> int:
        """Send the bytes that there is room for."""
        return self._outgoing.put(buffers, waits=False)

    def send(self, buffers: Sequence[Buffer]) -> int:
        """Send some bytes, waiting for room."""
        return self._outgoing.put(buffers, waits=True)

    def end_sending(self) -> None:
        """End the outgoing direction."""
        self._outgoing.end(is_cut=False)

    def shut_down(self) -> None:
        """End both directions; the peer receives what it has not received yet."""
        self._incoming.end(is_cut=True)
        self._outgoing.end(is_cut=False)

    def close(self) -> None:
        """Close the incoming direction's pipe."""
        self._incoming.close()
