"""Aligned memory for payloads, used again when nobody looks at what was received into it.

The system hands out large pieces as untouched pages, and filling those costs about as much as the transfer itself. So a decoder
keeps a few pieces. Python counts who refers to a piece: the arrays that are views of it, and what was made of them without a
copy. Whoever has only the address, such as a foreign library, has to keep one of the arrays.
"""

from __future__ import annotations

import sys
from typing import Final

import numpy as np
import numpy.typing as npt

from weft.protocol.tensor_blob import ALIGNMENT, padding

MAX_KEPT_BYTES: Final = 256 << 20
"""The most that is kept for one connection, whether in use or not."""

MAX_KEPT_PIECES: Final = 4

_SMALL_BYTES: Final = 128 << 10  # below, the allocator is as fast
_QUIET: Final = 1000  # so many receipts without a large payload end the keeping

_FREE_REFERENCES: Final = 3  # the list's, the loop variable's and the argument's


class ReceiveMemory:
    """The pieces of one decoder. For one thread at a time."""

    __slots__ = ("_pieces", "_quiet")

    def __init__(self) -> None:
        self._pieces: list[npt.NDArray[np.uint8]] = []
        self._quiet = 0

    @property
    def kept_bytes(self) -> int:
        """How much is kept, in use or not."""
        return sum(piece.size for piece in self._pieces)

    def take(self, size: int) -> npt.NDArray[np.uint8]:
        """`[size]` bytes that begin at a multiple of ALIGNMENT; whatever was in them before.

        Raises:
            MemoryError: there is not so much.
        """
        needed = size + ALIGNMENT
        if size < _SMALL_BYTES:
            return _aligned(np.empty(needed, np.uint8), size)
        self._quiet = 0
        for piece in self._pieces:
            if needed <= piece.size <= 2 * needed and sys.getrefcount(piece) == _FREE_REFERENCES:
                return _aligned(piece, size)
        fresh = np.empty(needed, np.uint8)
        self._keep(fresh)
        return _aligned(fresh, size)

    def note_receipt(self) -> None:
        """Something came that needed no large piece."""
        if self._pieces:
            self._quiet += 1
            if self._quiet >= _QUIET:
                self._pieces.clear()

    def _keep(self, fresh: npt.NDArray[np.uint8]) -> None:
        if fresh.size > MAX_KEPT_BYTES:
            return
        self._pieces.append(fresh)
        while len(self._pieces) > MAX_KEPT_PIECES or self.kept_bytes > MAX_KEPT_BYTES:
            # A piece that is in use, as by a variable, lives on without being kept.
            del self._pieces[0]


def _aligned(memory: npt.NDArray[np.uint8], size: int) -> npt.NDArray[np.uint8]:
    start = padding(memory.__array_interface__["data"][0])
    return memory[start : start + size]
