"""Columns of Keras' layers that share a table have TensorFlow 1.15.5's variable and values, which it was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.python.feature_column.feature_column_v2 import shared_embedding_columns_v2

import weft as tf


def _columns(**changes: Any) -> Any:
    ids = tf.feature_column.categorical_column_with_identity("a", 5)
    others = tf.feature_column.categorical_column_with_identity("b", 5)
    weighted = tf.feature_column.weighted_categorical_column(others, "w")
    return shared_embedding_columns_v2([weighted, ids], **{"dimension": 2, **changes})


def _features() -> dict[str, Any]:
    given = {"a": [[1], [3]], "b": [[0, 1], [4, 4]], "w": [[1.0, 3.0], [1.0, 1.0]]}
    return {name: tf.constant(values) for name, values in given.items()}


def test_columns_and_layers_use_one_table_in_each_graph() -> None:
    columns = _columns(max_norm=1.5)
    assert [column.name for column in columns] == ["b_weighted_by_w_shared_embedding", "a_shared_embedding"]
    for _ in range(2):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(4)
            features = _features()
            for _ in range(2):
                rows = tf.keras.layers.DenseFeatures(columns)(features)
            assert [each.name for each in tf.global_variables()] == ["a_b_weighted_by_w_shared_embedding:0"]
            session.run(tf.global_variables_initializer())
            np.testing.assert_allclose(
                session.run(rows), [[-0.14835, -0.05305, -0.23096, 0.0604], [0.529, 0.27393, 0.75191, -0.57452]], atol=1e-5
            )


def test_a_table_begins_with_that_of_a_checkpoint(tmp_path: Path) -> None:
    path = str(tmp_path / "table")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("known", initializer=np.arange(10, dtype=np.float32).reshape(5, 2))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)
    columns = _columns(ckpt_to_load_from=path, tensor_name_in_ckpt="known", shared_embedding_collection_name="mine")
    with tf.Session() as session:
        rows = tf.keras.layers.DenseFeatures(columns)(_features())
        assert [each.name for each in tf.global_variables()] == ["mine:0"]
        session.run(tf.global_variables_initializer())
        assert session.run(rows).tolist() == [[2, 3, 1.5, 2.5], [6, 7, 8, 9]]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="Invalid dimension 0"):
        _columns(dimension=0)
    with pytest.raises(ValueError, match="initializer must be callable"):
        _columns(initializer=3)
    more = tf.feature_column.categorical_column_with_identity("c", 6)
    with pytest.raises(ValueError, match="same number of buckets"):
        shared_embedding_columns_v2([tf.feature_column.categorical_column_with_identity("a", 5), more], dimension=2)
