"""Updates of rows by gradients, in compiled code as on the host."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import own_graph as own_graph
from tests.ops.both_ways import session


@pytest.mark.parametrize(("use_resource", "wrong"), [(False, -1), (True, np.iinfo(np.int64).max)])
def test_an_index_that_is_no_row_is_refused_and_changes_nothing(use_resource: bool, wrong: int) -> None:
    table = tf.get_variable("table", initializer=tf.ones([3, 2]), use_resource=use_resource)
    sums = tf.get_variable("sums", initializer=tf.ones([3, 2]), use_resource=use_resource)
    indices, gradients = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None, 2])
    apply = tf.raw_ops.ResourceSparseApplyAdagrad if use_resource else tf.raw_ops.SparseApplyAdagrad
    handles = (table.handle, sums.handle) if use_resource else (table._ref(), sums._ref())
    update = apply(var=handles[0], accum=handles[1], lr=1.0, grad=gradients, indices=indices)
    with session("compiled") as sess:
        sess.run(update, {indices: [0], gradients: [[2.0, 2.0]]})
        before = sess.run([table, sums])
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match=f"Index {wrong} at offset 1 in indices is out of range"):
                sess.run(update, {indices: [1, wrong], gradients: np.ones((2, 2))})
        for had, has in zip(before, sess.run([table, sums]), strict=True):
            np.testing.assert_array_equal(has, had)
