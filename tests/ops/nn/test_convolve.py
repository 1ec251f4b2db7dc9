"""Convolutions whose windows are as wide as the images: the width counts as channels."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from weft.ops.nn.convolve import Convolution, convolve, to_filter, to_input

IMAGES, FILTERS = (3, 11, 6, 2), (4, 6, 2, 5)


def _random(shape: tuple[int, ...], seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _first(values: Any) -> Any:
    return np.moveaxis(values, 3, 1)


@pytest.mark.parametrize("xp", [np, jnp])
@pytest.mark.parametrize(
    ("padding", "stride", "dilation"),
    [("VALID", 1, 1), ("VALID", 2, 1), ("VALID", 1, 2), ((0, 0, 2, 1, 0, 0, 0, 0), 1, 1), ((0, 0, 2, 3, 0, 0, 0, 0), 3, 1)],
)
def test_they_give_what_the_same_convolution_gives_with_channels_first(
    xp: Any, padding: str | tuple[int, ...], stride: int, dilation: int
) -> None:
    kind, pairs = (padding, ()) if isinstance(padding, str) else ("EXPLICIT", padding)
    last = Convolution("NHWC", (1, stride, 1, 1), kind, (1, dilation, 1, 1), pairs)
    # With channels first nothing is merged.
    first = Convolution("NCHW", (1, 1, stride, 1), kind, (1, 1, dilation, 1), (*pairs[:2], *pairs[6:], *pairs[2:6]))
    images, filters = _random(IMAGES, 1), _random(FILTERS, 2)
    made = convolve(np, first, _first(images), filters)
    grad = _random((made.shape[0], *made.shape[2:], made.shape[1]), 3)
    pairs_of_results = [
        (lambda: convolve(xp, last, images, filters), np.moveaxis(made, 1, 3)),
        (
            lambda: to_input(xp, last, IMAGES, filters, grad),
            np.moveaxis(to_input(np, first, _first(images).shape, filters, _first(grad)), 1, 3),
        ),
        (lambda: to_filter(xp, last, images, FILTERS, grad), to_filter(np, first, _first(images), FILTERS, _first(grad))),
    ]
    for compute, expected in pairs_of_results:
        found = compute() if xp is np else jax.jit(compute)()
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
