"""Draws from a distribution over many classes in constant time each: the alias method, with the pairs that TensorFlow makes.

M. Vose, "A Linear Algorithm for Generating Random Numbers with a Given Distribution", 1991.
"""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array
from weft.ops.random.words import Words


class AliasTable:
    """A distribution: each class shares its place with one other. Immutable."""

    def __init__(self, weights: Array) -> None:
        count = len(weights)
        shares = (weights.astype(np.float64) * count / np.cumsum(weights, dtype=np.float64)[-1]).tolist()
        others = list(range(count))
        low = [place for place in range(count) if shares[place] < 1.0]
        high = [place for place in range(count) if shares[place] >= 1.0]
        while high and low:
            poor, rich = low.pop(), high.pop()
            others[poor] = rich
            shares[rich] -= 1.0 - shares[poor]
            (low if shares[rich] < 1.0 else high).append(rich)
        for place in (*low, *high):  # Rounding alone left these without a partner.
            shares[place], others[place] = 1.0, place
        self._shares, self._others = np.array(shares, np.float32), np.array(others, np.int64)

    def draw(self, words: Words, count: int) -> Array:
        """The next `count` classes, int64."""
        shares, places = words.shares_and_places(count, len(self._shares))
        return np.where(shares < self._shares[places], places, self._others[places])
