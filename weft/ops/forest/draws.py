"""Draws: the whole numbers by which leaves choose features."""

from __future__ import annotations

import secrets
from typing import Final

import numpy as np

from weft.ops.random import philox

_BLOCKS: Final = 64
_WORD: Final = 1 << 32


class Draws:
    """TensorFlow's sequence of a seed. Not safe from several threads.

    Args:
        seed: the seed; 0 for another sequence each time.
    """

    def __init__(self, seed: int) -> None:
        self._stream = philox.stream_of_seeds(seed or secrets.randbits(63), 0)
        self._next_block = 0
        self._words: list[int] = []

    def below(self, count: int) -> int:
        """A number from 0 to below `count`, each as likely.

        Args:
            count: at least 1.
        """
        if count & (count - 1) == 0:
            return self._word() & (count - 1)
        # The first words would make the numbers that they leave likelier.
        least = (_WORD - 1) % count + 1
        while (word := self._word()) < least:
            pass
        return word % count

    def _word(self) -> int:
        if not self._words:
            index = np.arange(self._next_block, self._next_block + _BLOCKS, dtype=np.uint64)
            self._next_block += _BLOCKS
            self._words = np.stack(philox.blocks(self._stream, index), axis=1).ravel()[::-1].tolist()
        return self._words.pop()
