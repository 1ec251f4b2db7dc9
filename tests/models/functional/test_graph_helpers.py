"""contrib.framework's small functions of graphs and variables."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


def test_a_variable_is_set_to_zeros_once() -> None:
    variable = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    zeros = tf.contrib.framework.zero_initializer(variable)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(zeros), [0, 0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="v: input is already initialized"):
            session.run(zeros)
