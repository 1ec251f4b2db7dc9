"""The ranks of inputs that declarations tell."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

_VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_a_known_rank_that_does_not_fit_is_refused_where_the_node_is_built() -> None:
    with pytest.raises(ValueError, match=r"Shape must be rank 0 but is rank 1 \(dimension\) for 'ArgMax'"):
        tf.raw_ops.ArgMax(input=_VALUES, dimension=[0])


@pytest.mark.parametrize("level", [-1, 1])
def test_a_rank_that_only_the_run_tells_is_refused_by_the_run(level: int) -> None:
    dimension = tf.placeholder(tf.int32, None)
    found = tf.raw_ops.ArgMax(input=_VALUES, dimension=dimension)
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = level
    with tf.Session(config=config) as session:
        assert session.run(found, {dimension: 1}).tolist() == [2, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"dimension must have rank 0, a scalar, but has shape \[1\]"):
            session.run(found, {dimension: [1]})


def test_an_argument_behind_a_list_has_its_own_rank() -> None:
    axis = tf.placeholder(tf.int32, None)
    joined = tf.raw_ops.ConcatV2(values=[_VALUES, _VALUES], axis=axis)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="axis must have rank 0"):
        session.run(joined, {axis: [0]})
