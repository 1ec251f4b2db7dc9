"""Work on a long array piece by piece, on all cores when it is long: NumPy lets go of the interpreter while it computes."""

from __future__ import annotations

import itertools
import math
import os
import threading
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from weft.framework.building.aliases import Array

PIECE: Final = 1 << 16
"""Two threads hand the interpreter to and fro at each of NumPy's calls, some ninety for a piece, and wait for it: of pieces of
12,288 blocks, which fit the second-level cache, 43 million uniform numbers made them wait 7,100 to 9,600 times, of these 470 to
830 times, and took 0.65 to 0.9 s of CPU, of these 0.45 to 0.55. Pieces twice as large gain nothing more (two cores without
AVX-512, December 2026)."""

_PARALLEL: Final = 1 << 18
"""Each thread has at least so many elements, which take it 10 ms: to start one takes 0.1."""


class Scratch:
    """One thread's arrays for what is made of a piece, the same for each: the allocator would give memory of that size back to
    the system and ask for it again, which takes longer than the work.

    Args:
        count: the length of most arrays that are asked for.
    """

    __slots__ = ("_arrays", "_count")

    def __init__(self, count: int) -> None:
        self._count = count
        self._arrays: dict[tuple[int, npt.DTypeLike], Array] = {}

    def array(self, number: int, shape: tuple[int, ...], dtype: type[np.generic] = np.uint64) -> Array:
        """An array of this shape, whatever is in it; the next call with the same number and type gets its memory."""
        size = math.prod(shape)
        found = self._arrays.get((number, dtype))
        if found is None or len(found) < size:
            self._arrays[number, dtype] = found = np.empty(max(size, self._count), dtype)
        return found[:size].reshape(shape)


def for_pieces(count: int, work: Callable[[slice, Scratch], None]) -> None:
    """Call `work` for slices of at most `PIECE` that make up `range(count)`; else as `for_parts`."""

    def run(pieces: Iterator[slice], scratch: Scratch) -> None:
        for piece in pieces:
            work(piece, scratch)

    for_parts(count, run)


def for_parts(count: int, work: Callable[[Iterator[slice], Scratch], None]) -> None:
    """Give each thread a part of `range(count)` in slices of at most `PIECE`: `work` is called for several of them at once.

    Each thread has a scratch of its own, which `work` gets. The threads end with the call: a process may be forked between two.
    The first error is raised, when all have ended.
    """
    if count <= PIECE:
        # A draw of a number or two costs less than to ask for the cores.
        work(slices(0, count), Scratch(count))
        return
    threads = max(1, min(count // _PARALLEL, _cores()))
    errors: list[BaseException] = []

    def run(begin: int, end: int) -> None:
        try:
            work(slices(begin, end), Scratch(min(PIECE, end - begin)))
        except BaseException as error:
            errors.append(error)

    def run_quietly(begin: int, end: int) -> None:
        # What to ignore is each thread's own.
        with np.errstate(all="ignore"):
            run(begin, end)

    bounds = [count * number // threads // PIECE * PIECE for number in range(threads)] + [count]
    others = [
        threading.Thread(target=run_quietly, args=part, name="weft-random", daemon=True)
        for part in itertools.pairwise(bounds[1:])
    ]
    for thread in others:
        thread.start()
    run(bounds[0], bounds[1])
    for thread in others:
        thread.join()
    if errors:
        raise errors[0]


def slices(begin: int, end: int) -> Iterator[slice]:
    """The slices of at most `PIECE` that make up `range(begin, end)`."""
    for low in range(begin, end, PIECE):
        yield slice(low, min(low + PIECE, end))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
