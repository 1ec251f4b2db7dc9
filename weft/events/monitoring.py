"""tensorflow.python.eager.monitoring: counters, gauges and histograms of a process, by name and labels."""

from __future__ import annotations

import sys
import threading
import weakref
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from tensorboard.compat.proto.summary_pb2 import HistogramProto

from weft import errors
from weft.framework.types.printed import printed

_Cell = TypeVar("_Cell")
_Value = TypeVar("_Value")
# A metric that nobody holds any more gives its name back.
_METRICS: Final[weakref.WeakValueDictionary[str, object]] = weakref.WeakValueDictionary()


class Metric(Generic[_Cell]):
    """A named family of cells, one for each combination of values of its labels; may be used by several threads.

    Args:
        name: its name, which no other metric that is held may have.
        make: makes a cell.
        labels: the names of the labels.

    Raises:
        AlreadyExistsError: there is a metric of this name.
    """

    __repr__ = printed("tensorflow.python.eager.monitoring")

    def __init__(self, name: str, make: Callable[[], _Cell], labels: Sequence[str]) -> None:
        self._name, self._make, self._labels = name, make, tuple(labels)
        self._cells: dict[tuple[str, ...], _Cell] = {}
        self._lock = threading.Lock()
        if _METRICS.setdefault(name, self) is not self:
            raise errors.AlreadyExistsError(None, None, f"Another metric with the same name already exists: {name}")

    def get_cell(self, *labels: str) -> _Cell:
        """The cell of these values of the labels, made when it is first asked for; ValueError for another number of them.

        Args:
            labels: a value for each label.
        """
        if len(labels) != len(self._labels):
            raise ValueError(f"The {type(self).__name__} expects taking {len(self._labels)} labels")
        with self._lock:
            if labels not in self._cells:
                self._cells[labels] = self._make()
            return self._cells[labels]


class CounterCell:
    """A number that is counted up."""

    def __init__(self) -> None:
        self._value = 0
        self._lock = threading.Lock()

    def increase_by(self, value: int) -> None:
        """Add to it.

        Args:
            value: how much.
        """
        with self._lock:
            self._value += value

    def value(self) -> int:
        """The number now."""
        return self._value


class _GaugeCell(Generic[_Value]):
    """A value that is set."""

    def __init__(self, value: _Value) -> None:
        self._value = value

    def set(self, value: _Value) -> None:
        """Set it.

        Args:
            value: the new value.
        """
        self._value = value

    def value(self) -> _Value:
        """The value that was set last."""
        return self._value


class IntGaugeCell(_GaugeCell[int]):
    """A whole number that is set; 0 before."""

    def __init__(self) -> None:
        super().__init__(0)


class StringGaugeCell(_GaugeCell[str]):
    """A text that is set; empty before."""

    def __init__(self) -> None:
        super().__init__("")


class BoolGaugeCell(_GaugeCell[bool]):
    """A truth that is set; False before."""

    def __init__(self) -> None:
        super().__init__(False)


class Buckets:
    """The limits between which samples are counted together.

    Args:
        limits: the upper limit of each bucket but the last, rising; a sample at a limit counts above it.
    """

    def __init__(self, limits: Sequence[float]) -> None:
        self.limits = [*map(float, limits), sys.float_info.max]


class ExponentialBuckets(Buckets):
    """Buckets each of which is wider than the one before by a factor.

    Args:
        scale: the first limit.
        growth_factor: what a limit is multiplied by for the next.
        bucket_count: how many limits there are.
    """

    def __init__(self, scale: float, growth_factor: float, bucket_count: int) -> None:
        super().__init__([scale * growth_factor**index for index in range(bucket_count)])


class SamplerCell:
    """Samples, counted by buckets.

    Args:
        buckets: the limits.
    """

    def __init__(self, buckets: Buckets) -> None:
        self._limits = buckets.limits
        self._told = HistogramProto(bucket_limit=self._limits, bucket=[0.0] * len(self._limits))
        self._lock = threading.Lock()

    def add(self, value: float) -> None:
        """Take a sample in.

        Args:
            value: the sample.
        """
        with self._lock:
            told = self._told
            told.min = min(told.min, value) if told.num else value
            told.max = max(told.max, value) if told.num else value
            told.num += 1
            told.sum += value
            told.sum_squares += value * value
            told.bucket[min(bisect_right(self._limits, value), len(self._limits) - 1)] += 1

    def value(self) -> HistogramProto:
        """The samples so far, as a HistogramProto."""
        with self._lock:
            made = HistogramProto()
            made.CopyFrom(self._told)
            return made


class Counter(Metric[CounterCell]):
    """Numbers that are counted up.

    Args:
        name: its name.
        description: what it is for people.
        labels: the names of its labels.

    Raises:
        AlreadyExistsError: there is a metric of this name.
    """

    def __init__(self, name: str, description: str, *labels: str) -> None:
        super().__init__(name, CounterCell, labels)


class IntGauge(Metric[IntGaugeCell]):
    """Whole numbers that are set; arguments as of Counter."""

    def __init__(self, name: str, description: str, *labels: str) -> None:
        super().__init__(name, IntGaugeCell, labels)


class StringGauge(Metric[StringGaugeCell]):
    """Texts that are set; arguments as of Counter."""

    def __init__(self, name: str, description: str, *labels: str) -> None:
        super().__init__(name, StringGaugeCell, labels)


class BoolGauge(Metric[BoolGaugeCell]):
    """Truths that are set; arguments as of Counter."""

    def __init__(self, name: str, description: str, *labels: str) -> None:
        super().__init__(name, BoolGaugeCell, labels)


class Sampler(Metric[SamplerCell]):
    """Histograms of samples.

    Args:
        name: its name.
        buckets: the limits between which samples are counted together.
        description: what it is for people.
        labels: the names of its labels.

    Raises:
        AlreadyExistsError: there is a metric of this name.
    """

    def __init__(self, name: str, buckets: Buckets, description: str, *labels: str) -> None:
        super().__init__(name, lambda: SamplerCell(buckets), labels)
