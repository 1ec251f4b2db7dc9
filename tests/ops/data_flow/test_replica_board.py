"""Notes that members post, renew and take away."""

from __future__ import annotations

from weft.ops.data_flow.replica_board import ReplicaBoard


def test_notes_are_posted_renewed_and_taken_away() -> None:
    board = ReplicaBoard()
    assert not board.post(b"a", b"", 0.0)
    assert board.post(b"a", b"note", 1.0)
    assert board.post(b"b", b"other", 2.0)
    assert board.post(b"a", b"", 5.0)
    assert board.read(6.0) == [(b"a", b"note", 1.0), (b"b", b"other", 4.0)]
    board.leave(b"a")
    board.leave(b"never there")
    assert board.read(6.0) == [(b"b", b"other", 4.0)]


def test_who_is_silent_for_long_is_forgotten() -> None:
    board = ReplicaBoard()
    board.post(b"a", b"note", 0.0)
    assert board.read(700.0) == []
    assert not board.post(b"a", b"", 701.0)
