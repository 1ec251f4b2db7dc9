"""Orthogonal kernels of convolutions: they keep norms, have TensorFlow's values, and refuse shapes that cannot be so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

_framework = tf.contrib.framework


@pytest.mark.parametrize(
    ("initializer", "shape", "total", "first"),
    [
        (_framework.convolutional_orthogonal_1d, [3, 3, 4], 14.9002, [0.0497, -0.0852, -0.039]),
        (_framework.convolutional_orthogonal_2d, [3, 3, 2, 4], 17.4279, [-0.0316, -0.0315, 0.0335]),
        (_framework.convolutional_orthogonal_2d, [1, 1, 2, 4], 6.6262, [-1.2695, 0.2848, -1.4786]),
        (_framework.convolutional_orthogonal_3d, [2, 2, 2, 3, 3], 17.8893, [0.024, -0.3911, -0.3652]),
    ],
)
def test_a_kernel_of_a_seed_is_tensorflows(initializer: Any, shape: list[int], total: float, first: list[float]) -> None:
    # Sums of absolute values and first numbers that TensorFlow 1.15.5 gives.
    with tf.Session() as session:
        kernel = session.run(initializer(gain=2.0, seed=5)(shape))
    assert kernel.shape == tuple(shape)
    assert np.abs(kernel).sum() == pytest.approx(total, abs=1e-3)
    np.testing.assert_allclose(kernel.ravel()[:3], first, atol=1e-4)


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_a_circular_convolution_keeps_the_norm_but_for_the_gain(spatial: int) -> None:
    initializer = getattr(_framework, f"convolutional_orthogonal_{spatial}d")(gain=3.0, seed=11)
    with tf.Session() as session:
        kernel = session.run(initializer([3] * spatial + [2, 4]))
    image = np.random.default_rng(2).normal(size=[5] * spatial + [2])
    found = np.zeros([5] * spatial + [4])
    for place in np.ndindex(*[3] * spatial):
        found += np.roll(image, place, axis=tuple(range(spatial))) @ kernel[place]
    assert np.linalg.norm(found) == pytest.approx(3.0 * np.linalg.norm(image), rel=1e-5)


def test_each_random_node_has_a_seed_of_its_own() -> None:
    initializer = _framework.convolutional_orthogonal_2d(seed=5)
    initializer([2, 2, 1, 2])
    assert initializer.get_config() == {"gain": 1.0, "seed": 10, "dtype": "float32"}


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        ([3, 2, 4], r"must be four-dimensional, not of shape \[3, 2, 4\]"),
        ([3, 3, 5, 4], r"In_filters cannot be greater than out_filters. The shape is \[3, 3, 5, 4\]"),
        ([3, 2, 4, 4], "Kernel sizes must be equal"),
    ],
)
def test_other_shapes_are_refused(shape: list[int], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        _framework.convolutional_orthogonal_2d()(shape)
