"""RandomNumbers: TensorFlow's generator one 32-bit number at a time, as shuffling takes them."""

from __future__ import annotations

import secrets
from typing import Final

import numpy as np
import numpy.typing as npt

from weft.ops.random.philox import Stream, blocks, stream_of_seeds

# Blocks of four numbers that are made at once.
_AT_ONCE: Final = 256
_NONE: Final[npt.NDArray[np.int64]] = np.empty(0, np.int64)


def settled_seeds(seed: int, seed2: int) -> tuple[int, int]:
    """The seeds given; fresh ones for (0, 0), which stands for none."""
    return (secrets.randbits(63), secrets.randbits(63)) if seed == 0 and seed2 == 0 else (seed, seed2)


class RandomNumbers:
    """The numbers of a stream in order.

    Args:
        seed, seed2: the stream.
        taken: how many of its numbers have been taken already.
    """

    def __init__(self, seed: int, seed2: int, taken: int = 0) -> None:
        self.seeds = (seed, seed2)
        self.taken = taken
        self._stream: Stream = stream_of_seeds(seed, seed2)
        self._numbers = _NONE

    def go_on(self, seed: int, seed2: int, taken: int) -> None:
        """Become the numbers of a stream behind those that have been taken."""
        if (seed, seed2) != self.seeds:
            self.seeds = (seed, seed2)
            self._stream = stream_of_seeds(seed, seed2)
        self.taken = taken
        self._numbers = _NONE

    def next_some(self, count: int) -> npt.NDArray[np.int64]:
        """The next numbers."""
        found: list[npt.NDArray[np.int64]] = []
        left = count
        while left:
            place = self._made()
            more = self._numbers[place : place + left]
            self.taken += len(more)
            left -= len(more)
            found.append(more)
        return found[0] if len(found) == 1 else np.concatenate([*found, self._numbers[:0]])

    def next(self) -> int:
        """The next number, below 2**32."""
        place = self._made()
        self.taken += 1
        return int(self._numbers[place])

    def _made(self) -> int:
        """Where the next number is among those that are made, of which there is one then."""
        place = self.taken % (4 * _AT_ONCE)
        if place == 0 or not len(self._numbers):
            first = self.taken // (4 * _AT_ONCE) * _AT_ONCE
            index = np.arange(first, first + _AT_ONCE, dtype=np.uint64)
            self._numbers = np.stack(blocks(self._stream, index), axis=1).ravel().view(np.int64)
        return place
