"""BufferPool: pieces of memory for large payloads, used again when the last payload in them is no longer looked at.

The system hands out large pieces as untouched pages, and filling those costs about as much as the transfer itself. So a few are
kept. One policy holds for all kinds of memory, such as a receiver's own and segments that two processes share; a kind says for
itself when a piece of it is free again, and whether it may be let go.
"""

from __future__ import annotations

from typing import Final, Generic, Protocol, TypeVar

QUIET: Final = 1000
"""So many messages without a large payload end the keeping."""

_WASTE: Final = 2  # a piece may be so many times as large as what is put into it


class Piece(Protocol):
    """Memory for one payload at a time."""

    @property
    def capacity(self) -> int:
        """The largest payload, in bytes."""
        ...

    @property
    def is_free(self) -> bool:
        """Whether nobody looks at the last payload any more."""
        ...

    @property
    def may_go(self) -> bool:
        """Whether the pool may let go of it as it is; only such pieces count against a pool's bytes."""
        ...

    def drop(self) -> None:
        """Take note that the pool has let go of it."""
        ...


PieceT = TypeVar("PieceT", bound=Piece)


class BufferPool(Generic[PieceT]):
    """The pieces that are kept, oldest first, some of them in use. For one thread at a time.

    Args:
        max_pieces: how many there are at most.
        max_bytes: how many bytes those may have together that may go.
    """

    __slots__ = ("_max_bytes", "_max_pieces", "_quiet", "pieces")

    def __init__(self, max_pieces: int, max_bytes: int) -> None:
        self._max_pieces = max_pieces
        self._max_bytes = max_bytes
        self._quiet = 0
        self.pieces: list[PieceT] = []

    @property
    def kept_bytes(self) -> int:
        """How much is kept that may go."""
        return sum(piece.capacity for piece in self.pieces if piece.may_go)

    def find(self, size_bytes: int) -> PieceT | None:
        """A free piece for a payload of this size; None if it needs a new one."""
        self._quiet = 0
        for piece in self.pieces:
            if size_bytes <= piece.capacity <= _WASTE * size_bytes and piece.is_free:
                return piece
        return None

    def make_room(self, size_bytes: int) -> bool:
        """Let go of the oldest pieces until one more of this size fits; return whether it does."""
        if size_bytes > self._max_bytes:
            return False
        for piece in list(self.pieces):
            if len(self.pieces) < self._max_pieces and self.kept_bytes + size_bytes <= self._max_bytes:
                return True
            self._let_go(piece)
        return len(self.pieces) < self._max_pieces

    def add(self, piece: PieceT) -> None:
        """Keep a new piece, for which there is room."""
        self.pieces.append(piece)

    def is_idle(self) -> bool:
        """Take note of a message without a large payload; return whether it is time to `let_go`."""
        if not self.pieces:
            return False
        self._quiet += 1
        return self._quiet >= QUIET

    def let_go(self) -> None:
        """Let go of all pieces that may go."""
        self._quiet = 0
        for piece in list(self.pieces):
            self._let_go(piece)

    def _let_go(self, piece: PieceT) -> None:
        if piece.may_go:
            piece.drop()
            self.pieces.remove(piece)
