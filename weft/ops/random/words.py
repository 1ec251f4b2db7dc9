"""The words of a stream one behind the other, and what TensorFlow's host kernels make of them: its candidate samplers do.

What is drawn in one go is what would be drawn one by one, so a caller may draw more than it turns out to need.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.ops.random import philox, sampling

WORDS_OF_BLOCK: Final = 4
_LOW, _SHIFT = np.uint64(0xFFFFF), np.uint64(32)


class Words:
    """A place in a stream; draws move it on. One owner."""

    def __init__(self, stream: philox.Stream, first_block: int = 0) -> None:
        self._stream = stream
        self._place = first_block * WORDS_OF_BLOCK

    @classmethod
    def of_seeds(cls, seed: int, seed2: int, first_block: int) -> Words:
        """Those of a node's two seeds, from a block on."""
        return cls(philox.stream_of_seeds(seed, seed2), first_block)

    def take(self, count: int) -> Array:
        """The next words, as uint64 below 2**32."""
        block, skipped = divmod(self._place, WORDS_OF_BLOCK)
        self._place += count
        start = np.uint64(block % 2**64)
        return sampling.draw(np, self._stream, start, skipped + count, sampling.WORDS32)[skipped:]

    def doubles(self, count: int) -> Array:
        """float64 in [0, 1), two words each."""
        high, low = self.take(2 * count).reshape(count, 2).T
        mantissa = ((high & _LOW) << _SHIFT) | low
        drawn: Array = (mantissa | np.uint64(0x3FF0000000000000)).view(np.float64) - 1.0
        return drawn

    def floats(self, count: int) -> Array:
        """float32 in [0, 1), a word each."""
        return _unit(self.take(count))

    def below(self, count: int, limit: int) -> Array:
        """int64 in [0, limit), of two words each: one that would favour small numbers is drawn again."""
        return self._bounded(count, limit, 64)

    def below_32(self, count: int, limit: int) -> Array:
        """int64 in [0, limit), of one word each."""
        return self._bounded(count, limit, 32)

    def _bounded(self, count: int, limit: int, bits: int) -> Array:
        drawn = self._integers(count, bits)
        if limit & (limit - 1) == 0:
            return (drawn & np.uint64(limit - 1)).astype(np.int64)
        least = (2**bits - 1) % limit + 1
        while True:
            fair = drawn[drawn >= np.uint64(least)]
            if len(fair) >= count:
                return (fair[:count] % np.uint64(limit)).astype(np.int64)
            drawn = np.concatenate([fair, self._integers(count - len(fair), bits)])

    def _integers(self, count: int, bits: int) -> Array:
        if bits == 32:
            return self.take(count)
        low, high = self.take(2 * count).reshape(count, 2).T
        joined: Array = low | high << _SHIFT
        return joined

    def shares_and_places(self, count: int, limit: int) -> tuple[Array, Array]:
        """Pairs of a float32 in [0, 1) and an int64 in [0, limit), a word for each but for what is drawn again."""
        least = 0 if limit & (limit - 1) == 0 else (2**32 - 1) % limit + 1
        words = self.take(2 * count).reshape(count, 2)
        unfair = np.flatnonzero(words[:, 1] < least)
        if len(unfair):
            return self._one_by_one(words.ravel(), count, limit, least)
        return _unit(words[:, 0]), (words[:, 1] % np.uint64(limit)).astype(np.int64)

    def _one_by_one(self, words: Array, count: int, limit: int, least: int) -> tuple[Array, Array]:
        shares: list[int] = []
        places: list[int] = []
        at = 0
        while len(places) < count:
            shares.append(int(words[at]))
            at += 1
            while (words := self._with(words, at + 2))[at] < least:
                at += 1
            places.append(int(words[at]) % limit)
            at += 1
            words = self._with(words, at + 2)
        return _unit(np.array(shares, np.uint64)), np.array(places, np.int64)

    def _with(self, words: Array, count: int) -> Array:
        return words if len(words) >= count else np.concatenate([words, self.take(16)])


def _unit(words: Array) -> Array:
    unit: Array = ((words & np.uint64(0x7FFFFF)) | np.uint64(0x3F800000)).astype(np.uint32).view(np.float32) - np.float32(1)
    return unit
