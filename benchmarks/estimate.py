"""A figure out of many that scatter: their median, and how far off it may be."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

# What makes a standard deviation of the median deviation, and the standard error of a median, where values scatter normally.
_OF_DEVIATIONS, _OF_A_MEDIAN = 1.4826, math.sqrt(math.pi / 2)


@dataclass(frozen=True)
class Estimate:
    """A median and its standard error, which is None where fewer than four values tell too little of it."""

    value: float
    error: float | None


def estimate(values: Iterable[float]) -> Estimate | None:
    """Return the estimate of `values`, None if there are none; a few that something disturbed move neither part of it."""
    known = list(values)
    if not known:
        return None
    middle = statistics.median(known)
    if len(known) < 4:
        return Estimate(middle, None)
    deviation = statistics.median(abs(each - middle) for each in known)
    return Estimate(middle, _OF_A_MEDIAN * _OF_DEVIATIONS * deviation / math.sqrt(len(known)))
