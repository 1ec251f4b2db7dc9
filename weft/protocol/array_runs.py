"""Runs of alike arrays: neighbours of one type and shape that lie at equal distances in one piece of memory.

To make an array over some memory takes NumPy longer than to take a row out of an array. So a hundred biases that lie one after
the other, in a payload or joined end to end, are made as one array with a hundred rows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np

from weft.protocol.messages import Array
from weft.protocol.tensor_blob import AnyDType

Shape: TypeAlias = tuple[int, ...]

_MOST_DIMENSIONS: Final = 16  # of arrays that are looked at together, well below what NumPy holds


# The type and the shape of neighbours, and how many of them there are. A plain tuple, of which each message needs some: a named
# one takes 0.3 µs more to make.
AlikeArrays: TypeAlias = tuple[AnyDType, Shape, int]


def runs_of(arrays: Iterable[Array]) -> Iterator[AlikeArrays]:
    """Count, in order, the neighbours that have the same type and shape."""
    dtype: AnyDType | None = None
    shape: Shape = ()
    count = 0
    for array in arrays:
        if array.shape == shape and array.dtype is dtype:
            count += 1
            continue
        if dtype is not None:
            yield dtype, shape, count
        dtype, shape, count = array.dtype, array.shape, 1
    if dtype is not None:
        yield dtype, shape, count


class ArrayRun:
    """Where alike arrays lie in memory; in bytes from its beginning.

    Args:
        alike: their type, their shape and their number.
        start: where the first one begins.
        distance: from where one begins to where the next one does; None where they lie end to end.
    """

    __slots__ = ("_distance", "_strides", "dtype", "end", "length", "shape", "start")

    def __init__(self, alike: AlikeArrays, start: int, distance: int | None = None) -> None:
        self.dtype, self.shape, self.length = alike
        self.start = start
        size = math.prod(self.shape) * self.dtype.itemsize
        self._distance = size if distance is None else distance
        self.end = start + self.length * self._distance
        self._strides = self._joint_strides() if size and 0 < len(self.shape) <= _MOST_DIMENSIONS else None

    def views(self, memory: bytearray | Array) -> Iterable[Array]:
        """The arrays, as views of the memory.

        Raises:
            ValueError, MemoryError: NumPy cannot hold such arrays.
        """
        if self._strides is not None:
            return np.ndarray((self.length, *self.shape), self.dtype, memory, self.start, self._strides)
        places = range(self.start, self.end, self._distance) if self._distance else [self.start] * self.length
        return map(np.ndarray, *map(itertools.repeat, (self.shape, self.dtype, memory)), places)

    def _joint_strides(self) -> Shape:
        """The strides of the one array whose rows the arrays are."""
        inner = itertools.accumulate(reversed(self.shape[1:]), int.__mul__, initial=self.dtype.itemsize)
        return (self._distance, *reversed(list(inner)))


class JoinedArrays:
    """How arrays of some shapes lie in one flat array, end to end."""

    __slots__ = ("_runs", "shapes")

    def __init__(self, shapes: Iterable[Shape]) -> None:
        self.shapes = tuple(shapes)
        self._runs: dict[AnyDType, Sequence[ArrayRun]] = {}

    def split(self, flat: Array) -> Iterator[Array]:
        """The arrays, as views of a flat, contiguous array of any type."""
        runs = self._runs.get(flat.dtype)
        if runs is None:
            runs = self._runs[flat.dtype] = list(self._runs_of(flat.dtype))
        return itertools.chain.from_iterable([run.views(flat) for run in runs])

    def _runs_of(self, dtype: AnyDType) -> Iterator[ArrayRun]:
        start = 0
        for shape, members in itertools.groupby(self.shapes):
            run = ArrayRun((dtype, shape, len(list(members))), start)
            start = run.end
            yield run
