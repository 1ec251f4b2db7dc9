"""Canned networks begin with TensorFlow's values: random nodes get their seeds by how many nodes are before them."""

from __future__ import annotations

import pytest

import weft as tf

fc = tf.feature_column
words = [fc.categorical_column_with_vocabulary_list(name, ["a", "b"]) for name in "st"]
embedded = [fc.embedding_column(each, 2) for each in words]
numbers = [fc.numeric_column("x")]

# What is made, and the seeds of TensorFlow 1.15.5's random nodes for it.
NETWORKS = {
    "two hidden layers": (lambda: tf.estimator.DNNClassifier([4, 3], numbers), [21, 74, 127]),
    "dropout": (lambda: tf.estimator.DNNRegressor([4], numbers, dropout=0.5), [21, 45, 90]),
    "normalized": (lambda: tf.estimator.DNNClassifier([4], numbers, batch_norm=True, n_classes=3), [21, 126]),
    "embeddings": (lambda: tf.estimator.DNNClassifier([4], embedded + numbers), [11, 21, 203, 256]),
    "a shared embedding": (lambda: tf.estimator.DNNClassifier([4], fc.shared_embedding_columns(words, 2)), [28, 184, 237]),
    "wide and deep": (
        lambda: tf.estimator.DNNLinearCombinedClassifier(
            linear_feature_columns=words, dnn_feature_columns=embedded, dnn_hidden_units=[3]
        ),
        [11, 21, 195, 248],
    ),
}


def random_seeds(make):
    """The seeds of the random nodes of a network that is to be trained."""
    estimator = make()
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        tf.train.get_or_create_global_step()
        features = {"x": tf.zeros([2, 1]), "s": tf.constant(["a", "b"]), "t": tf.constant(["b", "b"])}
        estimator.model_fn(features, tf.constant([[0], [1]]), "train", estimator.config)
        kinds = ("RandomUniform", "TruncatedNormal")
        return [each.get_attr("seed2") for each in graph.get_operations() if each.type in kinds]


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_has_tensorflows_seeds(name):
    make, seeds = NETWORKS[name]
    assert random_seeds(make) == seeds
