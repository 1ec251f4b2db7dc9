"""Aligned memory that payloads are received into, used again when no array of the last one is left."""

from __future__ import annotations

import weakref
from typing import Final

import numpy as np
import numpy.typing as npt

from weft.platform.machine.aligned_memory import aligned_empty, aligned_memory, lent
from weft.protocol.buffer_pool import BufferPool

MAX_KEPT_BYTES: Final = 256 << 20
"""The most that is kept for one connection, whether in use or not."""

MAX_KEPT_PIECES: Final = 4

_SMALL_BYTES: Final = 128 << 10  # below, the allocator is as fast
_BYTE: Final = np.dtype(np.uint8)


class ReceiveMemory:
    """The pieces of one decoder, or of another that fills large arrays. For one thread at a time; the arrays may go anywhere.

    Args:
        max_kept_bytes: the most that is kept, in use or not.
    """

    __slots__ = ("_pool",)

    def __init__(self, max_kept_bytes: int = MAX_KEPT_BYTES) -> None:
        self._pool: BufferPool[_LocalPiece] = BufferPool(MAX_KEPT_PIECES, max_kept_bytes)

    @property
    def kept_bytes(self) -> int:
        """How much is kept, in use or not."""
        return self._pool.kept_bytes

    def allocate(self, size_bytes: int) -> npt.NDArray[np.uint8]:
        """`[size_bytes]` bytes that begin at a multiple of ALIGNMENT; whatever was in them before.

        They are the caller's until the last array made of them is gone.

        Raises:
            MemoryError, ValueError: there is not so much.
        """
        if size_bytes < _SMALL_BYTES:
            return aligned_empty((size_bytes,), _BYTE)
        piece = self._pool.find(size_bytes)
        if piece is None:
            piece = _LocalPiece(size_bytes)
            if self._pool.make_room(size_bytes):
                self._pool.add(piece)
        return piece.lend(size_bytes)

    def note_receipt(self) -> None:
        """Something came that needed no large piece."""
        if self._pool.is_idle():
            self._pool.let_go()


class _LocalPiece:
    """Memory of this process; one that is in use, as by a variable, lives on without being kept."""

    __slots__ = ("_lease", "_memory", "capacity")

    may_go: Final = True

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._memory = aligned_memory(capacity)
        self._lease: weakref.ref[npt.NDArray[np.uint8]] | None = None

    @property
    def is_free(self) -> bool:
        return self._lease is None or self._lease() is None

    def lend(self, size_bytes: int) -> npt.NDArray[np.uint8]:
        payload = lent(self._memory, (size_bytes,), _BYTE)
        self._lease = weakref.ref(payload)
        return payload

    def drop(self) -> None:
        """Nothing is to be done: the memory goes with the last array of it."""
