"""SegmentLender: the sender's side of a connection's shared memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from weft.channel.shared_memory.segment import LENT, SharedSegment, create_memory
from weft.protocol.buffer_pool import BufferPool
from weft.protocol.tensor_blob import Buffer

MAX_SEGMENTS: Final = 64
"""How many segments a connection has at most in one direction; each takes a descriptor on either side."""

MAX_FREE_BYTES: Final = 256 << 20
"""The most that is kept to be used again; larger payloads do not come here at all."""

MAX_UNTAKEN_BYTES: Final = 16 << 20
"""How much may wait for a peer to take it, beyond a first payload of any size; more is sent, which is counted and bounded."""


class SegmentLender:
    """Puts payloads into shared memory, each into a segment of its own, which comes back when the peer has no use for it.

    A payload that is kept, as by a variable that is assigned, keeps its segment; others are made. `offer(fd, number, capacity)`
    tells the peer of a new one and returns whether it could; it does not wait. Thread-safe.
    """

    def __init__(self, offer: Callable[[int, int, int], bool]) -> None:
        self._offer = offer
        self._lock = threading.Lock()
        self._pool: BufferPool[SharedSegment] = BufferPool(MAX_SEGMENTS, MAX_FREE_BYTES)
        self._made = 0
        self._is_closed = False
        self.lent_bytes = 0
        """The bytes of all payloads that were put."""

    @property
    def free_bytes(self) -> int:
        """How much is kept to be used again."""
        return self._pool.kept_bytes

    def put(self, parts: Sequence[Buffer], size_bytes: int) -> int | None:
        """Copy a payload to where the peer sees it, and return the number of its segment; None if it has to go another way."""
        with self._lock:
            segment = self._find(size_bytes)
            if segment is None:
                return None
            segment.state = LENT
            self.lent_bytes += size_bytes
        memory = segment.view(size_bytes)
        start = 0
        for part in parts:
            end = start + len(part)
            memory[start:end] = np.frombuffer(part, np.uint8)
            start = end
        return segment.number

    def note_message(self) -> None:
        """A message was sent without this."""
        # Without the lock: counting somewhat wrong does no harm, and there is nothing to count for most connections.
        if self._pool.is_idle():
            with self._lock:
                self._pool.let_go()

    def close(self) -> None:
        """Put nothing more, and keep nothing."""
        with self._lock:
            self._is_closed = True
            self._pool.let_go()
            self._pool.pieces.clear()

    def _find(self, size_bytes: int) -> SharedSegment | None:
        if self._is_closed:
            return None
        untaken = sum(segment.capacity for segment in self._pool.pieces if segment.state == LENT)
        if untaken and untaken + size_bytes > MAX_UNTAKEN_BYTES:
            return None
        return self._pool.find(size_bytes) or self._make(size_bytes)

    def _make(self, size_bytes: int) -> SharedSegment | None:
        if not self._pool.make_room(size_bytes):
            return None
        try:
            fd = create_memory(size_bytes)
        except OSError:
            return None
        try:
            segment = SharedSegment(fd, self._made, size_bytes)
            is_known = self._offer(fd, segment.number, size_bytes)
        except OSError:
            is_known = False
        finally:
            os.close(fd)
        if not is_known:
            return None
        self._made += 1
        self._pool.add(segment)
        return segment
