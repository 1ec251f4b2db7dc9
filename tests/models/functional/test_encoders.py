"""contrib.layers' encoders of symbols against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

layers = tf.contrib.layers
TABLE = np.arange(36, dtype=np.float32).reshape(6, 2, 3)
IDS = [[1, 2, 0], [0, 0, 0], [3, 3, 1]]


def test_rows_are_looked_up_once_each() -> None:
    table = [tf.constant(TABLE[:3]), tf.constant(TABLE[3:])]
    found = layers.embedding_lookup_unique(table, IDS, partition_strategy="div")
    assert found.shape.as_list() == [3, 3, 2, 3]
    assert any(operation.type == "Unique" for operation in tf.get_default_graph().get_operations())
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(found), TABLE[np.array(IDS)])


def test_a_document_is_the_mean_of_its_symbols_rows() -> None:
    rows = TABLE.reshape(6, 6)
    initializer = tf.constant_initializer(rows)
    padded = layers.bow_encoder(IDS, 6, 6, initializer=initializer, scope="bow")
    whole = layers.bow_encoder(tf.constant(IDS), 6, 6, sparse_lookup=False, scope="bow", reuse=True)
    assert [variable.name for variable in tf.model_variables()] == ["bow/embeddings:0"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run([padded, whole])
    np.testing.assert_allclose(found[0], [(rows[1] + rows[2]) / 2, rows[0], (2 * rows[3] + rows[1]) / 3], rtol=1e-6)
    np.testing.assert_allclose(found[1], rows[np.array(IDS)].mean(1), rtol=1e-6)


def test_what_an_encoder_cannot_do_is_refused() -> None:
    with pytest.raises(ValueError, match="Must specify vocab size and embedding dimension: got vocab_size=0"):
        layers.bow_encoder(IDS, 0, 6)
    sparse = layers.dense_to_sparse(tf.constant(IDS))
    with pytest.raises(TypeError, match="ids are expected to be dense Tensor"):
        layers.bow_encoder(sparse, 6, 6, sparse_lookup=False)
