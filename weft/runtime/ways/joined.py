"""Arrays of one type, joined end to end: what handles arrays at a price for each then handles one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

_MOST_ALIKE: Final = 16  # dimensions of arrays that are taken apart together, well below what NumPy holds

Shape = tuple[int, ...]


class Joint:
    """How arrays of some shapes lie in one flat array."""

    __slots__ = ("_runs", "shapes")

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self.shapes = tuple(shapes)
        self._runs = list(_runs(self.shapes))

    def split(self, flat: Any) -> Iterator[Any]:
        """The arrays, as views of a flat NumPy array; neighbours of one shape are taken apart by one operation."""
        return itertools.chain.from_iterable(self._pieces(flat))

    def _pieces(self, flat: Any) -> Iterator[Any]:
        for start, count, shape in self._runs:
            size = math.prod(shape)
            if 0 < len(shape) <= _MOST_ALIKE:
                yield flat[start : start + count * size].reshape(count, *shape)
            else:
                yield [flat[place : place + size].reshape(shape) for place in _steps(start, count, size)]


def _steps(start: int, count: int, size: int) -> Sequence[int]:
    return [start + number * size for number in range(count)]


def _runs(shapes: Sequence[Shape]) -> Iterator[tuple[int, int, Shape]]:
    """The start, the number and the shape of neighbours that have the same one."""
    start = 0
    for shape, alike in itertools.groupby(shapes):
        count = len(list(alike))
        yield start, count, shape
        start += count * math.prod(shape)
