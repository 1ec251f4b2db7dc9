"""A pool keeps few pieces, finds those that are free and fit, and lets go of what nobody needs."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from weft.protocol.buffer_pool import QUIET, BufferPool


@dataclass(eq=False)
class Piece:
    capacity: int
    is_free: bool = True
    may_go: bool = True
    is_dropped: bool = False

    def drop(self) -> None:
        self.is_dropped = True


def pool_of(*pieces: Piece, max_pieces: int = 4, max_bytes: int = 1000) -> BufferPool[Piece]:
    pool: BufferPool[Piece] = BufferPool(max_pieces, max_bytes)
    for piece in pieces:
        pool.add(piece)
    return pool


def test_the_oldest_free_piece_that_fits_is_found() -> None:
    used, large, fitting = Piece(100, is_free=False), Piece(201), Piece(200)
    pool = pool_of(used, Piece(99), large, fitting, Piece(100))
    assert pool.find(100) is fitting
    assert pool.find(101) is large
    assert pool.find(202) is None


@pytest.mark.parametrize(("size", "left"), [(400, 3), (401, 2), (700, 2), (701, 1), (1000, 0)])
def test_the_oldest_go_until_there_is_room(size: int, left: int) -> None:
    pieces = [Piece(300), Piece(150), Piece(150)]
    pool = pool_of(*pieces)
    assert pool.make_room(size)
    assert pool.pieces == pieces[3 - left :]
    assert [piece.is_dropped for piece in pieces] == [True] * (3 - left) + [False] * left


def test_there_is_no_room_for_more_than_the_bound() -> None:
    pool = pool_of(Piece(100))
    assert not pool.make_room(1001)
    assert len(pool.pieces) == 1


def test_pieces_that_may_not_go_stay_and_count_as_pieces_only() -> None:
    pool = pool_of(*(Piece(600, may_go=False) for _ in range(3)), Piece(600))
    assert pool.kept_bytes == 600
    assert pool.make_room(100)
    assert len(pool.pieces) == 3
    pool.add(Piece(100, may_go=False))
    assert not pool.make_room(100)
    assert len(pool.pieces) == 4


def test_what_may_go_goes_after_a_quiet_time() -> None:
    stays = Piece(100, may_go=False)
    pool = pool_of(Piece(100), stays)
    assert not any(pool.is_idle() for _ in range(QUIET - 1))
    pool.find(5000)
    assert not any(pool.is_idle() for _ in range(QUIET - 1))
    assert pool.is_idle()
    pool.let_go()
    assert pool.pieces == [stays]
    assert not pool.is_idle()


def test_an_empty_pool_is_never_idle() -> None:
    pool = pool_of()
    assert not any(pool.is_idle() for _ in range(2 * QUIET))
