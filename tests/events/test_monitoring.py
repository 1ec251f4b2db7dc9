"""Counters, gauges and histograms of a process, as TensorFlow 1.15 was asked."""

from __future__ import annotations

import gc

import pytest
from weft.python.eager import monitoring

import weft as tf


def test_a_counter_counts_by_its_labels() -> None:
    counter = monitoring.Counter("/tests/counter", "what is counted", "kind")
    counter.get_cell("a").increase_by(3)
    counter.get_cell("a").increase_by(1)
    assert (counter.get_cell("a").value(), counter.get_cell("b").value()) == (4, 0)
    with pytest.raises(ValueError, match="The Counter expects taking 1 labels"):
        counter.get_cell("a", "b")


def test_a_name_is_taken_as_long_as_its_metric_is_held() -> None:
    held = monitoring.BoolGauge("/tests/name", "a gauge")
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another metric with the same name already exists"):
        monitoring.Counter("/tests/name", "a counter")
    del held
    gc.collect()
    assert monitoring.Counter("/tests/name", "a counter").get_cell().value() == 0


@pytest.mark.parametrize(
    ("kind", "first", "then"),
    [(monitoring.IntGauge, 0, 5), (monitoring.StringGauge, "", "on"), (monitoring.BoolGauge, False, True)],
)
def test_a_gauge_has_what_was_set_last(kind, first, then) -> None:
    gauge = kind(f"/tests/{kind.__name__}", "a gauge")
    assert gauge.get_cell().value() == first
    gauge.get_cell().set(then)
    assert gauge.get_cell().value() == then


def test_a_sampler_counts_by_buckets() -> None:
    sampler = monitoring.Sampler("/tests/sampler", monitoring.ExponentialBuckets(1.0, 2.0, 3), "samples")
    for sample in (1.5, 100.0):
        sampler.get_cell().add(sample)
    told = sampler.get_cell().value()
    assert (told.min, told.max, told.num, told.sum, told.sum_squares) == (1.5, 100.0, 2.0, 101.5, 10002.25)
    assert list(told.bucket_limit) == [1.0, 2.0, 4.0, 1.7976931348623157e308]
    assert list(told.bucket) == [0.0, 1.0, 0.0, 1.0]
