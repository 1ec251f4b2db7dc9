"""QuantileSummary: what is kept of many weighted numbers to tell their quantiles (Greenwald and Khanna 2001; Chen and Guestrin
2016, appendix).

A summary has some of the numbers in ascending order, each with its weight and with bounds of its rank: of the weight of all
numbers before it, and of that up to it. Two summaries can be merged, and one made smaller at the cost of wider bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array

_VALUE, _WEIGHT, _LEAST, _MOST = range(4)
EMPTY: Final = np.zeros((0, 4), np.float32)


def summary_of(values: Array, weights: Array) -> Array:
    """The summary of numbers and their weights, equal numbers as one: `[n], [n] -> [m, 4]`."""
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    starts = np.flatnonzero(np.diff(values, prepend=np.float32(np.nan)) != 0)
    if len(starts) < len(values):
        weights = np.add.reduceat(weights, starts).astype(np.float32)
        values = values[starts]
    most = np.add.accumulate(weights, dtype=np.float32)
    least = np.concatenate([np.zeros(1, np.float32), most[:-1]])[: len(values)]
    return np.stack([values, weights, least, most], axis=1).astype(np.float32)


def merged(one: Array, other: Array) -> Array:
    """The summary of what two summaries stand for together: `[n, 4], [m, 4] -> [k, 4]`."""
    if not len(one) or not len(other):
        return one if len(one) else other
    values = np.union1d(one[:, _VALUE], other[:, _VALUE])
    left, right = _placed(one, values), _placed(other, values)
    return np.stack([values, *(left[column] + right[column] for column in range(3))], axis=1).astype(np.float32)


def _placed(summary: Array, values: Array) -> tuple[Array, Array, Array]:
    """Weights and bounds that a summary gives numbers, its own and others: of a number between two of its own, the weight is
    none, and the rank within that after the one and before the other."""
    after = np.searchsorted(summary[:, _VALUE], values, side="right")
    at = np.searchsorted(summary[:, _VALUE], values, side="left")
    is_own = after > at
    own = summary[np.minimum(at, len(summary) - 1)]
    before = np.concatenate([np.zeros(1, np.float32), summary[:, _LEAST] + summary[:, _WEIGHT]])
    behind = np.concatenate([summary[:, _MOST] - summary[:, _WEIGHT], summary[-1:, _MOST]])
    return (
        np.where(is_own, own[:, _WEIGHT], np.float32(0)),
        np.where(is_own, own[:, _LEAST], before[after]),
        np.where(is_own, own[:, _MOST], behind[after]),
    )


def compressed(summary: Array, size: int, error: float = 0.0) -> Array:
    """A summary of about `size` entries, the first and the last among them: `[n, 4] -> [m, 4]`.

    Entries are passed over as long as the ranks between two that stay differ by no more than the larger of `1 / size` and
    `error` of the whole weight, and no faster than what would leave `size` of them.
    """
    size = max(size, 2)
    count = len(summary)
    if count <= size:
        return summary
    widest = float(summary[-1, _MOST]) * max(1.0 / size, error)
    before, behind = summary[:, _MOST] - summary[:, _WEIGHT], summary[:, _LEAST] + summary[:, _WEIGHT]
    kept, at, credit = [0], 0, 0
    while at + 1 != count:
        following = at + 1
        while following != count and credit < count and float(before[following] - behind[at]) <= widest:
            credit += size
            following += 1
        at = at + 1 if at == following - 1 else following - 1
        kept.append(at)
        credit -= count
    if kept[-1] + 1 != count:
        kept.append(count - 1)
    return summary[kept]


def approximation_error(summary: Array) -> float:
    """The widest gap between the bounds of ranks, as a part of the whole weight."""
    if len(summary) < 2:
        return 0.0
    own = summary[1:, _MOST] - summary[1:, _LEAST] - summary[1:, _WEIGHT]
    between = (summary[1:, _MOST] - summary[1:, _WEIGHT]) - (summary[:-1, _LEAST] + summary[:-1, _WEIGHT])
    return float(max(np.float32(0), own.max(), between.max()) / summary[-1, _MOST])


def boundaries(summary: Array, count: int) -> Array:
    """About `count` numbers with as much weight between any two of them: `[n, 4] -> [m]`."""
    return np.unique(
        compressed(summary, count, float(np.float32(float(approximation_error(summary)) + 1.0 / count)))[:, _VALUE]
    )


def quantiles(summary: Array, count: int) -> Array:
    """The `count` numbers that cut the whole weight in equal parts, first and last included, those that are equal once:
    `[n, 4] -> [m]`."""
    parts = max(count - 1, 2)
    found, at = [], 0
    for rank in range(parts + 1):
        twice = np.float32(2 * (rank * summary[-1, _MOST] / parts))
        following = at + 1
        while following < len(summary) and twice >= summary[following, _LEAST] + summary[following, _MOST]:
            following += 1
        at = following - 1
        is_nearer = following == len(summary) or twice < (
            summary[at, _LEAST] + summary[at, _WEIGHT] + summary[following, _MOST] - summary[following, _WEIGHT]
        )
        found.append(summary[at if is_nearer else following, _VALUE])
    return np.unique(np.asarray(found, np.float32))


class QuantileSketch:
    """A stream of weighted numbers in little memory: summaries of levels, each of twice as many numbers as the one below.

    Args:
        error: how far a quantile's rank may be off, as a part of the whole weight.
        most: how many numbers there are at most.
    """

    def __init__(self, error: float, most: int) -> None:
        levels, self._block = 1, 2
        if error <= np.finfo(np.float64).eps:
            self._block = max(most, 2)
        else:
            while (1 << levels) * self._block < most:
                self._block = int(np.ceil(levels / error) + 1)
                levels += 1
        self._error = error
        self._buffer_size = min(self._block << 1, most)
        self._levels: list[Array] = []

    def push(self, values: Array, weights: Array) -> None:
        """Take numbers in: `[n] float32, [n] float32`; those without weight do not count."""
        counted = weights > 0
        values, weights = values[counted], weights[counted]
        for start in range(0, len(values), self._buffer_size):
            end = start + self._buffer_size
            self.push_summary(summary_of(values[start:end], weights[start:end]))

    def push_summary(self, summary: Array) -> None:
        """Take in what a summary stands for."""
        own = compressed(summary, self._block, self._error)
        if not len(own):
            return
        for level, below in enumerate(self._levels):
            own = merged(own, below)
            if not len(below) or len(own) <= self._block + 1:
                self._levels[level] = own
                return
            own = compressed(own, self._block, self._error)
            self._levels[level] = EMPTY
        self._levels.append(own)

    def summary(self) -> Array:
        """The summary of all numbers: `[n, 4] float32`."""
        return merge_all(self._levels)


def merge_all(summaries: Sequence[Array]) -> Array:
    """The summary of what several stand for together."""
    whole = EMPTY
    for each in summaries:
        whole = merged(whole, each)
    return whole
