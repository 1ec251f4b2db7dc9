"""Initializers: their values, their arguments, and their plain form."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(tensor):
    with tf.Session() as session:
        return session.run(tensor)


def test_constant_ones():
    assert run(tf.zeros_initializer()([2])).tolist() == [0.0, 0.0]
    assert run(tf.ones_initializer()([2], tf.int32)).tolist() == [1, 1]
    assert run(tf.constant_initializer([1, 2])([4])).tolist() == [1.0, 2.0, 2.0, 2.0]
    assert run(tf.initializers.identity(gain=2.0)([2, 3])).tolist() == [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]


def test_a_constant_may_insist_on_its_shape():
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        tf.constant_initializer([1, 2], verify_shape=True)([4])
    with pytest.raises(TypeError, match="Invalid type for initial value"):
        tf.constant_initializer({})


def test_random_ones_take_seeds_and_tensors():
    first = tf.random_normal_initializer(stddev=tf.constant(0.5), seed=2)([50])
    second = tf.random_normal_initializer(stddev=1.0, seed=2)([50])
    one, two = run([first, second])
    assert np.allclose(one * 2.0, two)
    assert run(tf.random_uniform_initializer(2, 5, dtype=tf.int32)([50])).min() >= 2
    assert np.abs(run(tf.truncated_normal_initializer(stddev=0.1)([50]))).max() <= 0.2


@pytest.mark.parametrize(
    ("mode", "distribution", "shape", "wanted"),
    [
        ("fan_in", "truncated_normal", [400, 100], 1 / 400),
        ("fan_out", "uniform", [400, 100], 1 / 100),
        ("fan_avg", "untruncated_normal", [400, 100], 1 / 250),
        ("fan_in", "normal", [3, 3, 40, 60], 1 / 360),
        ("fan_in", "uniform", [20000], 1 / 20000),
    ],
)
def test_variance_scaling_has_the_variance_wanted(mode, distribution, shape, wanted):
    values = run(tf.variance_scaling_initializer(mode=mode, distribution=distribution, seed=1)(shape))
    assert abs(values.var() / wanted - 1.0) < 0.05


def test_variance_scaling_checks_its_arguments():
    with pytest.raises(ValueError, match="`scale` must be positive float"):
        tf.variance_scaling_initializer(scale=0.0)
    with pytest.raises(ValueError, match="Invalid `mode` argument: fan"):
        tf.variance_scaling_initializer(mode="fan")
    with pytest.raises(ValueError, match="Invalid `distribution` argument: gamma"):
        tf.variance_scaling_initializer(distribution="Gamma")
    with pytest.raises(ValueError, match="Expected floating point type"):
        tf.random_normal_initializer(dtype=tf.int32)


def test_the_scale_is_that_of_the_whole_variable():
    class Place:
        full_shape = (400, 100)

    values = run(tf.glorot_uniform_initializer(seed=1)([10, 100], partition_info=Place()))
    assert np.abs(values).max() <= np.sqrt(3 / 250)
    values = run(tf.uniform_unit_scaling_initializer(seed=1)([10, 100], partition_info=Place()))
    assert np.abs(values).max() <= np.sqrt(3 / 400)


@pytest.mark.parametrize("shape", [[4, 4], [6, 3], [3, 6], [2, 3, 4]])
def test_orthogonal_matrices_are_orthogonal(shape):
    matrix = run(tf.orthogonal_initializer(gain=2.0, seed=1)(shape)).reshape(-1, shape[-1])
    small = matrix @ matrix.T if matrix.shape[0] < matrix.shape[1] else matrix.T @ matrix
    assert np.allclose(small, 4.0 * np.eye(len(small)), atol=1e-5)


def test_matrices_have_two_dimensions():
    with pytest.raises(ValueError, match="must be at least two-dimensional"):
        tf.orthogonal_initializer()([4])
    with pytest.raises(ValueError, match="can only be used for 2D matrices"):
        tf.initializers.identity()([4])


@pytest.mark.parametrize(
    "initializer",
    [
        tf.zeros_initializer(),
        tf.constant_initializer(3.0),
        tf.random_uniform_initializer(1.0, 2.0, seed=3),
        tf.random_normal_initializer(seed=3),
        tf.truncated_normal_initializer(stddev=2.0, seed=3),
        tf.variance_scaling_initializer(2.0, "fan_out", seed=3),
        tf.glorot_normal_initializer(seed=3),
        tf.orthogonal_initializer(0.5, seed=3),
        tf.uniform_unit_scaling_initializer(1.5, seed=3),
    ],
    ids=lambda initializer: type(initializer).__name__,
)
def test_an_initializer_can_be_made_again_from_its_config(initializer):
    copy = type(initializer).from_config(initializer.get_config())
    assert copy.get_config() == initializer.get_config()
    one, two = run([initializer([3, 2]), copy([3, 2])])
    assert np.array_equal(one, two)


def test_he_and_lecun_differ_by_their_scale():
    he, lecun = run([tf.initializers.he_normal(seed=1)([50, 50]), tf.initializers.lecun_normal(seed=1)([50, 50])])
    assert np.allclose(he, lecun * np.sqrt(2.0), atol=1e-6)
    he, lecun = run([tf.initializers.he_uniform(seed=1)([50, 50]), tf.initializers.lecun_uniform(seed=1)([50, 50])])
    assert np.allclose(he, lecun * np.sqrt(2.0), atol=1e-6)
