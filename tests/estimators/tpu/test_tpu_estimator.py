"""A program for TPUs trains, evaluates and predicts with `use_tpu=False`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

CONFIG = tf.estimator.tpu


def input_fn(params: dict[str, Any]) -> tf.data.Dataset:
    x = np.arange(12, dtype=np.float32).reshape(12, 1) / 12
    return tf.data.Dataset.from_tensor_slices(({"x": x}, 2 * x)).batch(params["batch_size"])


def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> Any:
    predicted = tf.layers.dense(features["x"], 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        size = tf.fill([tf.shape(predicted)[0]], params["batch_size"])
        return CONFIG.TPUEstimatorSpec(mode, predictions={"y": predicted, "size": size})
    loss = tf.losses.mean_squared_error(labels, predicted)
    optimizer = tf.tpu.CrossShardOptimizer(tf.train.MomentumOptimizer(params["rate"], 0.9))
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    assert optimizer.get_slot_names() == ["momentum"]

    def metric_fn(labels: Any, predicted: Any) -> Any:
        return {"mse": tf.metrics.mean_squared_error(labels, predicted)}

    calls = tf.get_variable("calls", [], tf.int32, tf.zeros_initializer(), trainable=False)
    return CONFIG.TPUEstimatorSpec(
        mode,
        loss=loss,
        train_op=train_op,
        eval_metrics=(metric_fn, [labels, predicted]),
        host_call=(lambda value: tf.assign_add(calls, tf.cast(value >= 0, tf.int32)), [loss]),
        scaffold_fn=tf.train.Scaffold,
    )


def made(directory: Path, **sizes: int) -> Any:
    config = CONFIG.RunConfig(model_dir=str(directory), tf_random_seed=1, tpu_config=CONFIG.TPUConfig(iterations_per_loop=5))
    return CONFIG.TPUEstimator(model_fn, config=config, params={"rate": 0.1}, use_tpu=False, **sizes)


def test_each_mode_is_told_the_size_of_its_batches(tmp_path: Path) -> None:
    estimator = made(tmp_path, train_batch_size=4, eval_batch_size=6, predict_batch_size=3)
    estimator.train(input_fn)
    assert (estimator.get_variable_value("global_step"), estimator.get_variable_value("calls")) == (3, 3)
    found = estimator.evaluate(input_fn)
    assert found["mse"] == pytest.approx(found["loss"], rel=1e-5)
    predictions = list(estimator.predict(input_fn))
    assert len(predictions) == 12
    assert {int(each["size"]) for each in predictions} == {3}


def test_what_it_cannot_do_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="pass use_tpu=False"):
        CONFIG.TPUEstimator(model_fn, config=CONFIG.RunConfig(), params={})
    with pytest.raises(ValueError, match=r"\['batch_size', 'context'\] are reserved keys but existed in params"):
        CONFIG.TPUEstimator(model_fn, config=CONFIG.RunConfig(), params={"batch_size": 1}, use_tpu=False)
    with pytest.raises(ValueError, match=r"`config` must be provided with type `tpu_config\.RunConfig`"):
        CONFIG.TPUEstimator(model_fn, config=tf.estimator.RunConfig(), use_tpu=False)
    with pytest.raises(ValueError, match="eval_metrics should have two elements"):
        CONFIG.TPUEstimatorSpec("eval", loss=tf.ones([]), eval_metrics=(1,))
    with pytest.raises(ValueError, match="Unsupported reduction: none"):
        tf.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1), reduction="none")


def test_the_settings_are_tensorflows() -> None:
    # tf.estimator.tpu.RunConfig(tpu_config=tf.estimator.tpu.TPUConfig(5)).tpu_config of TensorFlow 1.15
    config = tf.contrib.tpu.RunConfig(tpu_config=tf.contrib.tpu.TPUConfig(5), save_checkpoints_steps=7)
    assert tuple(config.tpu_config) == (5, None, None, 2, None, None, None, 2, 1)
    assert (config.master, config.cluster, config.save_checkpoints_steps) == ("", None, 7)
    assert config.replace(tpu_config=CONFIG.TPUConfig("5m")).tpu_config.iterations_per_loop == "5m"
    with pytest.raises(ValueError, match="Invalid TPUConfig `iterations_per_loop` value"):
        CONFIG.TPUConfig(0)


def test_a_random_node_of_the_model_has_tensorflows_seed(tmp_path: Path) -> None:
    seeds = []

    def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> Any:
        seeds.append(tf.get_seed(None))
        step = tf.train.get_global_step()
        return CONFIG.TPUEstimatorSpec(mode, loss=tf.constant(1.0), train_op=tf.assign_add(step, 1))

    config = CONFIG.RunConfig(model_dir=str(tmp_path), tf_random_seed=3)
    estimator = CONFIG.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=2)
    estimator.train(lambda params: tf.data.Dataset.from_tensors((tf.zeros([2]), tf.zeros([2]))), steps=1)
    assert seeds == [(3, 30 - 3)]  # A draw of uniform numbers has three nodes before the one with the seed.
