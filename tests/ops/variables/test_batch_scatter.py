"""batch_scatter_update replaces rows in each element of a batch."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize("use_resource", [False, True])
def test_each_element_has_its_own_rows(use_resource: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(np.zeros((2, 3, 2), np.float32), use_resource=use_resource)
        session.run(variable.initializer)
        updates = np.arange(1.0, 9.0, dtype=np.float32).reshape(2, 2, 2)
        result = session.run(tf.batch_scatter_update(variable, [[0, 2], [1, 0]], updates))
        assert result.tolist() == [[[1, 2], [0, 0], [3, 4]], [[7, 8], [5, 6], [0, 0]]]


def test_batches_may_have_several_dimensions_or_none() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        deep, flat = tf.Variable(np.zeros((2, 1, 2), np.float32)), tf.Variable(np.zeros(3, np.float32))
        session.run(tf.global_variables_initializer())
        slices = tf.IndexedSlices(tf.constant([[[5.0]], [[6.0]]]), tf.constant([[[1]], [[0]]]))
        assert session.run(deep.batch_scatter_update(slices)).tolist() == [[[0, 5]], [[6, 0]]]
        assert session.run(tf.batch_scatter_update(flat, [2, 0], [1.0, 2.0])).tolist() == [2, 0, 1]


def test_indices_of_unknown_rank_are_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="the rank of indices must be known"):
        tf.batch_scatter_update(tf.Variable([1.0]), tf.placeholder(tf.int32), [1.0])
