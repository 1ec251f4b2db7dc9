"""Estimators, canned and of the program's own; feature columns."""

from typing import Any, assert_type

import numpy as np

import weft as tf

age = tf.feature_column.numeric_column("age")
town = tf.feature_column.categorical_column_with_vocabulary_list("town", ["a", "b"])
columns = [age, tf.feature_column.indicator_column(town), tf.feature_column.embedding_column(town, dimension=2)]
buckets = tf.feature_column.bucketized_column(age, boundaries=[18, 65])
crossed = tf.feature_column.crossed_column([buckets, town], hash_bucket_size=10)


def input_fn() -> tf.data.Dataset:
    """Features and labels."""
    return tf.data.Dataset.from_tensor_slices(({"age": [10.0, 20.0], "town": ["a", "b"]}, [0, 1])).repeat().batch(2)


def model_fn(
    features: dict[str, tf.Tensor], labels: tf.Tensor, mode: str, params: dict[str, Any]
) -> tf.estimator.EstimatorSpec:
    """A linear model."""
    net = tf.feature_column.input_layer(features, columns)
    logits = tf.layers.dense(net, params["classes"])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdagradOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


config = tf.estimator.RunConfig(save_checkpoints_steps=10, session_config=tf.ConfigProto(), tf_random_seed=1)
estimator = tf.estimator.Estimator(model_fn, config=config, params={"classes": 2})
canned = tf.estimator.DNNClassifier([4], feature_columns=columns, n_classes=2, optimizer=tf.train.AdamOptimizer(0.01))
linear = tf.estimator.LinearClassifier([crossed, town])
arrays = tf.estimator.inputs.numpy_input_fn({"x": np.zeros([4, 1])}, np.zeros(4), batch_size=2, shuffle=False)
train_spec = tf.estimator.TrainSpec(input_fn, max_steps=2)
eval_spec = tf.estimator.EvalSpec(input_fn, steps=1, throttle_secs=0)
assert_type(estimator.train(input_fn, steps=1), tf.estimator.Estimator)
assert_type(canned.model_dir, str)
