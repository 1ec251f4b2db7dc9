"""Select takes elements as they are, however many there are."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8, np.complex64, ml_dtypes.bfloat16, np.bool_])
@pytest.mark.parametrize("rows", [3, 3000])
def test_the_elements_are_those_that_numpy_chooses(dtype: Any, rows: int) -> None:
    generator = np.random.default_rng(0)
    x, y = (generator.normal(size=(rows, 5)).astype(dtype) for _ in range(2))
    condition = generator.random((rows, 5)) < 0.5
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(each.dtype, each.shape) for each in (condition, x, y)]
        made = session.run([tf.where(*fed), tf.where_v2(*fed)], dict(zip(fed, (condition, x, y), strict=True)))
    for each in made:
        np.testing.assert_array_equal(each, np.where(condition, x, y))
        assert each.dtype == dtype


def test_signs_of_zeros_infinities_and_nans_are_taken_as_they_are() -> None:
    special = np.array([-0.0, 0.0, np.inf, -np.inf, np.nan, 1e-45], np.float32)
    x, y = np.repeat(special, 1000), np.tile(special, 1000)
    condition = np.arange(6000) % 7 < 3
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(tf.float32, [6000]) for _ in range(2)]
        made = session.run(tf.where(tf.constant(condition), *fed), dict(zip(fed, (x, y), strict=True)))
    np.testing.assert_array_equal(made.view(np.int32), np.where(condition, x, y).view(np.int32))


def test_transposed_and_broadcast_elements_are_chosen_too() -> None:
    x = np.arange(12_000.0).reshape(100, 120)
    condition = x % 3 == 0
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float64, [100, 120])
        turned = tf.where(tf.constant(condition.T), tf.transpose(fed), tf.zeros([120, 100], tf.float64))
        spread = tf.where_v2(tf.constant(condition), fed, tf.constant(-1.0, tf.float64))
        made = session.run([turned, spread], {fed: x})
    np.testing.assert_array_equal(made[0], np.where(condition, x, 0.0).T)
    np.testing.assert_array_equal(made[1], np.where(condition, x, -1.0))
