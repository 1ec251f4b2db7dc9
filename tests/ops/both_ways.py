"""Sessions for tests of control flow, which must do the same interpreted as compiled, and finite differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf


def session(way: str) -> Any:
    """A session that never compiles, or compiles at once, with the variables initialized."""
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = {"interpreted": -1, "compiled": 1}[way]
    made = tf.Session(config=config)
    made.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    return made


each_way = pytest.mark.parametrize("way", ["interpreted", "compiled"])


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[None]:
    """A default graph of the test's own."""
    with tf.Graph().as_default():
        yield


def assert_gradient(sess: Any, y: Any, x: Any, value: Any, gradient: Any = None, step: float = 1e-4, **feeds: Any) -> None:
    """Compare the gradient of the sum of `y` for placeholder `x` (float64) with finite differences at `value`."""
    gradient = tf.gradients(y, x)[0] if gradient is None else gradient
    total = tf.reduce_sum(y)
    others = feeds.get("feed_dict", {})
    at = np.asarray(value, np.float64)
    expected = np.zeros_like(at)
    for place in np.ndindex(*at.shape):
        moved = [at.copy(), at.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        high, low = (sess.run(total, {x: each, **others}) for each in moved)
        expected[place] = (high - low) / (2 * step)
    np.testing.assert_allclose(sess.run(gradient, {x: at, **others}), expected, rtol=1e-5, atol=1e-6)
