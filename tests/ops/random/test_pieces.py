"""Long arrays are worked on by all cores, each element once; what a part raises is raised."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from weft.ops.random import philox, pieces, sampling, truncated
from weft.ops.random.pieces import PIECE, Scratch, for_pieces

UNIFORM = [0.14121377, 0.634094, 0.385741, 0.48180258]
NORMAL = [-1.4767166, -1.3169163, 0.15747447, -1.3712695]
CUT = [-1.4767166, -1.3169163, -0.34139147, 0.51386124]
SUMS = [505.704008102417, 17.863848365144804, -27.741592636422865]


@pytest.mark.parametrize("count", [0, 1, PIECE, PIECE + 1, 5 * PIECE + 3])
@pytest.mark.parametrize("cores", [1, 2, 3])
def test_each_element_is_worked_on_once(monkeypatch: pytest.MonkeyPatch, count: int, cores: int) -> None:
    monkeypatch.setattr(pieces, "_PARALLEL", 1)
    monkeypatch.setattr(pieces, "_cores", lambda: cores)
    seen = np.zeros(count, np.int64)

    def work(piece: slice, scratch: Scratch) -> None:
        assert piece.stop - piece.start <= PIECE
        seen[piece] += 1

    for_pieces(count, work)
    assert (seen == 1).all()


def test_short_arrays_need_no_thread() -> None:
    threads = set()
    for_pieces(3 * PIECE, lambda piece, scratch: threads.add(threading.get_ident()))
    assert threads == {threading.get_ident()}


def test_an_error_of_any_part_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_PARALLEL", 1)
    monkeypatch.setattr(pieces, "_cores", lambda: 2)

    def work(piece: slice, scratch: Scratch) -> None:
        if piece.start >= 2 * PIECE:
            raise ValueError(f"at {piece.start}")

    with pytest.raises(ValueError, match=f"at {2 * PIECE}"):
        for_pieces(4 * PIECE, work)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("kind", ["uniform", "normal", "truncated"])
def test_the_numbers_do_not_depend_on_the_threads(monkeypatch: pytest.MonkeyPatch, kind: str, dtype: type) -> None:
    stream, size = philox.stream_of_seeds(7, 8), 6 * PIECE + 5

    def draw() -> np.ndarray:
        if kind == "truncated":
            return truncated.truncated_normal(np, stream, np.uint64(3), size, dtype)
        rules = sampling.UNIFORM if kind == "uniform" else sampling.NORMAL
        return sampling.draw(np, stream, np.uint64(3), size, rules[np.dtype(dtype)])

    alone = draw()
    monkeypatch.setattr(pieces, "_PARALLEL", 1)
    monkeypatch.setattr(pieces, "_cores", lambda: 3)
    np.testing.assert_array_equal(draw(), alone)


def test_the_same_bits_as_ever() -> None:
    """Of 1,000 numbers of each kind: a model's initial values are to be the same with every release."""
    stream, start = philox.stream_of_seeds(1, 2), np.uint64(5)
    uniform = sampling.draw(np, stream, start, 1000, sampling.UNIFORM[np.dtype(np.float32)])
    normal = sampling.draw(np, stream, start, 1000, sampling.NORMAL[np.dtype(np.float32)])
    cut = truncated.truncated_normal(np, stream, start, 1000, np.float32)
    np.testing.assert_array_equal(uniform[[0, 1, 998, 999]], np.array(UNIFORM, np.float32))
    np.testing.assert_allclose(normal[[0, 1, 998, 999]], np.array(NORMAL, np.float32), rtol=1e-6)
    np.testing.assert_allclose(cut[[0, 1, 998, 999]], np.array(CUT, np.float32), rtol=1e-6)
    assert (np.abs(cut) < 2).all()
    np.testing.assert_allclose(
        [uniform.sum(dtype=np.float64), normal.sum(dtype=np.float64), cut.sum(dtype=np.float64)], SUMS, rtol=1e-6
    )


@pytest.mark.parametrize("start", [0, 2**32 - PIECE - 7, 2**40 + 3])
def test_blocks_of_one_upper_word_are_those_of_any(start: int) -> None:
    stream = philox.stream_of_seeds(31**13, 5**27)
    index = np.arange(2 * PIECE, dtype=np.uint64) + np.uint64(start)
    words = philox.blocks(stream, index)
    for place in (0, 1, PIECE, PIECE + 7, PIECE + 8, 2 * PIECE - 1):
        np.testing.assert_array_equal([word[place] for word in words], philox.blocks(stream, index[place]))
