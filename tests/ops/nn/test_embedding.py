"""Lookups of rows: in one table, in parts of one, sparse, with limits of the norm."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

ROWS = np.arange(21, dtype=np.float32).reshape(7, 3)


def test_the_gather_is_colocated_with_the_table_and_its_result_is_not() -> None:
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            table = tf.Variable(ROWS, name="table")
        with tf.device("/job:worker/task:0"):
            found = tf.nn.embedding_lookup(table, [1, 2])
        gathered = found.op.inputs[0].op
        assert found.name == "embedding_lookup/Identity:0"
        assert (gathered.type, gathered.colocation_groups()) == ("GatherV2", [b"loc:@table"])
        assert found.op.colocation_groups() == [b"loc:@embedding_lookup/Identity"]


def test_the_gradient_of_a_lookup_is_rows() -> None:
    with tf.Graph().as_default():
        table = tf.Variable(ROWS)
        (grad,) = tf.gradients(tf.nn.embedding_lookup(table, [[1, 2], [2, 0]]), table)
        assert isinstance(grad, tf.IndexedSlices)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(grad.indices).tolist() == [1, 2, 2, 0]


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_parts_give_the_rows_of_the_whole_table(strategy: str) -> None:
    parts = [ROWS[i::3] for i in range(3)] if strategy == "mod" else [ROWS[:3], ROWS[3:5], ROWS[5:]]
    ids = np.array([[0, 6], [3, 2], [5, 5]])
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.nn.embedding_lookup([tf.constant(part) for part in parts], ids, partition_strategy=strategy)
        assert found.shape.as_list() == [3, 2, 3]
        assert np.array_equal(session.run(found), ROWS[ids])


def test_rows_are_no_longer_than_the_norm_allowed() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(tf.nn.embedding_lookup(tf.constant(ROWS), [0, 6], max_norm=5.0))
        assert np.linalg.norm(found, axis=1) == pytest.approx([np.linalg.norm(ROWS[0]), 5.0], rel=1e-5)


@pytest.mark.parametrize(("combiner", "power"), [("sum", 0.0), ("mean", 1.0), ("sqrtn", 0.5)])
def test_sparse_ids_combine_rows_with_and_without_weights(combiner: str, power: float) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 4, 2], [2, 2])
        found = session.run(tf.nn.embedding_lookup_sparse(tf.constant(ROWS), ids, None, combiner=combiner))
        assert np.allclose(found, [(ROWS[1] + ROWS[4]) / 2**power, ROWS[2]])
        weights = tf.SparseTensor(ids.indices, [3.0, 4.0, 0.5], [2, 2])
        found = session.run(tf.nn.embedding_lookup_sparse(tf.constant(ROWS), ids, weights, combiner=combiner))
        below = {"sum": 1.0, "mean": 7.0, "sqrtn": 5.0}[combiner]
        assert np.allclose(found[0], (3 * ROWS[1] + 4 * ROWS[4]) / below)


def test_safe_lookups_give_zeros_or_the_default_row_for_empty_rows() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        ids = tf.SparseTensor([[0, 0], [2, 0]], np.array([3, -1]), [3, 1])
        zeros = tf.nn.safe_embedding_lookup_sparse(tf.constant(ROWS), ids)
        default = tf.nn.safe_embedding_lookup_sparse(tf.constant(ROWS), ids, default_id=1)
        assert np.array_equal(session.run(zeros), [ROWS[3], [0, 0, 0], [0, 0, 0]])
        assert np.array_equal(session.run(default), [ROWS[3], ROWS[1], ROWS[1]])


def test_safe_lookups_take_ids_of_which_only_a_run_tells_the_rank() -> None:
    ids = tf.SparseTensor(*(tf.placeholder(tf.int64) for _ in range(3)))
    table = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    found = tf.nn.safe_embedding_lookup_sparse([table], ids, combiner="sum")
    with tf.Session() as session:
        flat = tf.SparseTensorValue([[0, 0], [2, 1]], [1, 0], [3, 2])
        assert session.run(found, {ids: flat}).tolist() == [[3.0, 5.0], [0.0, 0.0], [1.0, 2.0]]
        deep = tf.SparseTensorValue([[0, 0, 0], [0, 1, 1]], [1, 0], [1, 2, 2])
        assert session.run(found, {ids: deep}).tolist() == [[[3.0, 5.0], [1.0, 2.0]]]


def test_lookups_name_what_is_wrong_with_their_arguments() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="params must be specified"):
            tf.nn.embedding_lookup(None, [0])
        with pytest.raises(ValueError, match="Need at least one param"):
            tf.nn.embedding_lookup([], [0])
        with pytest.raises(ValueError, match="Unrecognized partition strategy: by hand"):
            tf.nn.embedding_lookup([tf.constant(ROWS)] * 2, [0], partition_strategy="by hand")
        with pytest.raises(TypeError, match="sp_ids must be SparseTensor"):
            tf.nn.embedding_lookup_sparse(tf.constant(ROWS), [0], None, combiner="sum")
