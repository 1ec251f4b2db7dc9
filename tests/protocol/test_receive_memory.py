"""Memory for payloads is used again as soon as nobody looks at it, and not before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft.protocol.receive_memory import MAX_KEPT_BYTES, MAX_KEPT_PIECES, ReceiveMemory
from weft.protocol.tensor_blob import ALIGNMENT

SIZE = 1 << 20


def _address(array: Any) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def test_a_piece_is_aligned_and_of_the_size_asked_for() -> None:
    memory = ReceiveMemory()
    for size in (1, 1000, SIZE, SIZE + 1):
        piece = memory.allocate(size)
        assert piece.nbytes == size
        assert _address(piece) % ALIGNMENT == 0


def test_a_piece_that_nobody_has_any_more_is_taken_again() -> None:
    memory = ReceiveMemory()
    first = memory.allocate(SIZE)
    address = _address(first)
    del first
    assert _address(memory.allocate(SIZE)) == address
    assert _address(memory.allocate(SIZE - 4096)) == address


@pytest.mark.parametrize(
    "look",
    [
        lambda piece: piece,
        lambda piece: piece[10:20],
        lambda piece: np.ndarray((4,), np.float32, piece, 64).reshape(2, 2),
        lambda piece: piece.view(np.float32).T[::2],
        memoryview,
    ],
    ids=["itself", "part", "as a matrix", "turned", "memoryview"],
)
def test_a_piece_that_somebody_looks_at_is_left_alone(look: Callable[[Any], Any]) -> None:
    memory = ReceiveMemory()
    piece = memory.allocate(SIZE)
    piece[:] = 1
    seen = look(piece)
    before = bytes(seen)
    del piece
    for _ in range(MAX_KEPT_PIECES + 1):
        memory.allocate(SIZE)[:] = 2
    assert bytes(seen) == before


def test_a_piece_much_larger_than_needed_is_not_taken() -> None:
    memory = ReceiveMemory()
    large = memory.allocate(8 * SIZE)
    address = _address(large)
    del large
    assert _address(memory.allocate(SIZE)) != address


def test_what_is_kept_has_a_bound() -> None:
    memory = ReceiveMemory()
    held = [memory.allocate(SIZE) for _ in range(20)]
    assert memory.kept_bytes <= MAX_KEPT_PIECES * (SIZE + ALIGNMENT)
    held.append(memory.allocate(MAX_KEPT_BYTES))
    assert memory.kept_bytes <= MAX_KEPT_BYTES


def test_nothing_is_kept_when_no_large_payload_has_come_for_long() -> None:
    memory = ReceiveMemory()
    memory.allocate(SIZE)
    for _ in range(999):
        memory.note_receipt()
    assert memory.kept_bytes
    memory.note_receipt()
    assert not memory.kept_bytes
