"""Quantiles of streams are TensorFlow 1.15.5's, of which the numbers were asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

_OPS = tf.raw_ops


def _boundaries(seed: int, size: int, batches: int, epsilon: float, count: int, as_quantiles: bool) -> Any:
    random = np.random.RandomState(seed)
    with tf.Graph().as_default(), tf.Session() as session:
        handle = _OPS.BoostedTreesQuantileStreamResourceHandleOp(shared_name="streams", container="")
        streams = {"quantile_stream_resource_handle": handle}
        session.run(_OPS.BoostedTreesCreateQuantileStreamResource(**streams, epsilon=epsilon, num_streams=2))
        one, other, weights = (tf.placeholder(tf.float32, [size]) for _ in range(3))
        summaries = _OPS.BoostedTreesMakeQuantileSummaries(float_values=[one, other], example_weights=weights, epsilon=epsilon)
        add = _OPS.BoostedTreesQuantileStreamResourceAddSummaries(**streams, summaries=summaries)
        for _ in range(batches):
            fed = {one: random.randn(size), other: random.exponential(size=size)}
            session.run(add, {**fed, weights: random.rand(size) if seed % 2 else np.ones(size)})
        session.run(_OPS.BoostedTreesQuantileStreamResourceFlush(**streams, num_buckets=count, generate_quantiles=as_quantiles))
        return session.run(_OPS.BoostedTreesQuantileStreamResourceGetBucketBoundaries(**streams, num_features=2))


def test_boundaries_of_many_batches() -> None:
    one, other = _boundaries(6, 300, 40, 0.2, 5, as_quantiles=False)
    np.testing.assert_array_equal(
        one, np.float32([-4.302575588226318, -0.6940759420394897, -0.09503338485956192, 0.5640460252761841,
                         1.506946325302124, 4.378118991851807])
    )  # fmt: skip
    np.testing.assert_array_equal(
        other, np.float32([0.0001405591465299949, 0.28259173035621643, 0.5962677597999573, 1.1790002584457397,
                           2.611142158508301, 10.0254487991333])
    )  # fmt: skip


def test_quantiles_of_weighted_numbers() -> None:
    one, other = _boundaries(1, 50, 4, 0.1, 10, as_quantiles=True)
    assert len(one) == len(other) == 10
    np.testing.assert_array_equal(one[:3], np.float32([-2.434837818145752, -1.0998913049697876, -0.680678129196167]))
    np.testing.assert_array_equal(other[-3:], np.float32([1.624364972114563, 2.341762065887451, 5.92300271987915]))


def test_weights_of_another_number_are_refused() -> None:
    summaries = _OPS.BoostedTreesMakeQuantileSummaries(float_values=[[1.0, 2.0, 3.0]], example_weights=[1.0, 2.0], epsilon=0.1)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="2 weights for 3 examples"):
        session.run(summaries)


def test_what_streams_cannot_take_is_refused_and_leaves_them_as_they_were() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        handle = _OPS.BoostedTreesQuantileStreamResourceHandleOp(shared_name="refused", container="")
        streams = {"quantile_stream_resource_handle": handle}
        with pytest.raises(tf.errors.InvalidArgumentError, match="epsilon has to be above 0"):
            session.run(_OPS.BoostedTreesCreateQuantileStreamResource(**streams, epsilon=float("nan"), num_streams=1))
        assert not session.run(_OPS.IsBoostedTreesQuantileStreamResourceInitialized(**streams))
        session.run(_OPS.BoostedTreesCreateQuantileStreamResource(**streams, epsilon=0.1, num_streams=1))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected summaries of shape \[n, 4\], found \[2, 3\]"):
            session.run(_OPS.BoostedTreesQuantileStreamResourceAddSummaries(**streams, summaries=[tf.ones([2, 3])]))
