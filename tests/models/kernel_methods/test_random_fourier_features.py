"""Random Fourier features: the map itself, the kernel that it approximates, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.models.kernel_methods.random_fourier_features import InvalidShapeError

VECTORS = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)


def test_the_map_is_that_of_numpys_generator_and_leaves_the_programs_own_alone() -> None:
    mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(3, 5, stddev=2.0, seed=7, name="gauss")
    assert (mapper.name, mapper.input_dim, mapper.output_dim) == ("gauss", 3, 5)
    np.random.seed(3)
    expected_next = np.random.RandomState(3).normal()
    with tf.Session() as session:
        mapped = session.run(mapper.map(tf.constant(VECTORS)))
    assert np.random.normal() == expected_next
    drawn = np.random.RandomState(7)
    weights = drawn.normal(scale=0.5, size=[3, 5])
    offsets = drawn.uniform(high=2 * np.pi, size=[5])
    np.testing.assert_allclose(mapped, np.sqrt(2 / 5) * np.cos(VECTORS @ weights + offsets), rtol=1e-4, atol=1e-5)


def test_inner_products_approximate_the_gaussian_kernel() -> None:
    mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(3, 20000, stddev=1.5)
    with tf.Session() as session:
        mapped = session.run(mapper.map(VECTORS))
    distances = ((VECTORS[:, None] - VECTORS) ** 2).sum(-1)
    np.testing.assert_allclose(mapped @ mapped.T, np.exp(-distances / (2 * 1.5**2)), atol=0.05)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (np.zeros([3], np.float32), r"The shape of the tensor should be 2. Got 1 instead: vectors:0 has shape \(3,\)"),
        (np.zeros([4, 2], np.float32), "expected 3 input features, got 2 instead, in vectors:0"),
    ],
)
def test_other_shapes_are_refused(given: np.ndarray, told: str) -> None:
    mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(3, 5)
    with pytest.raises(InvalidShapeError, match=told):
        mapper.map(tf.constant(given, name="vectors"))
