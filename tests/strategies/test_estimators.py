"""Estimators under strategies; the numbers are those that TensorFlow 1.15.5 gives for the same program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

_X = np.random.RandomState(0).rand(32, 3).astype(np.float32)
_Y = (_X.sum(1, keepdims=True) > 1.5).astype(np.float32)


def _input_fn(mode: str) -> Any:
    count = 1 if mode == tf.estimator.ModeKeys.EVAL else None
    return tf.data.Dataset.from_tensor_slices(({"x": _X}, _Y)).repeat(count).batch(4)


def _model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    hidden = tf.layers.dense(features["x"], 4, tf.nn.tanh, kernel_initializer=tf.constant_initializer(0.3), name="h")
    logits = tf.layers.dense(hidden, 1, kernel_initializer=tf.constant_initializer(0.2), name="l")
    loss = tf.losses.sigmoid_cross_entropy(labels, logits, reduction=params)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"acc": tf.metrics.accuracy(labels, tf.cast(logits > 0, tf.float32)), "mean": tf.metrics.mean(logits)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    tf.summary.scalar("logit", tf.reduce_mean(logits))
    train_op = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


class _Losses(tf.train.SessionRunHook):
    """Keeps the losses that are reported."""

    def __init__(self) -> None:
        self.found: list[float] = []

    def begin(self) -> None:
        self._loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.found.append(run_values.results)


_MEAN, _SUM = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS, tf.losses.Reduction.SUM
_TWO = [0.54378, 0.83286, 0.73433, 0.76422]
_ONE = [0.51123, 0.53492, 0.90673, 0.92389]


@pytest.mark.parametrize(
    ("make", "reduction", "losses", "last"),
    [
        (lambda: tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]), _MEAN, _TWO, 0.57116),
        (lambda: tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]), _SUM, [4.3502, 6.6629, 5.87464, 6.1138], 4.56929),
        (lambda: tf.contrib.distribute.OneDeviceStrategy("/cpu:0"), _MEAN, _ONE, 0.61204),
        (lambda: tf.contrib.distribute.ParameterServerStrategy(), _MEAN, _ONE, 0.61204),
        (lambda: tf.contrib.distribute.CollectiveAllReduceStrategy(), _MEAN, _ONE, 0.61204),
    ],
)
def test_an_estimator_trains_and_evaluates_as_tensorflows_does(
    make: Any, reduction: str, losses: list[float], last: float, tmp_path: Path
) -> None:
    strategy = make()
    config = tf.estimator.RunConfig(
        str(tmp_path), train_distribute=strategy, eval_distribute=strategy, save_checkpoints_steps=20, save_summary_steps=10
    )
    estimator = tf.estimator.Estimator(_model_fn, config=config, params=reduction)
    told = _Losses()
    metrics, _ = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(_input_fn, max_steps=20, hooks=[told]),
        tf.estimator.EvalSpec(_input_fn, steps=None, start_delay_secs=0, throttle_secs=0),
    )
    assert len(told.found) == 20
    np.testing.assert_allclose(told.found[:4], losses, rtol=1e-4)
    np.testing.assert_allclose(told.found[-1], last, rtol=1e-4)
    assert metrics["global_step"] == 20
    assert metrics["acc"] == np.mean((_logits(estimator) > 0) == _Y)
    np.testing.assert_allclose(metrics["mean"], np.mean(_logits(estimator)), rtol=1e-4)
    assert not any("replica" in name for name in estimator.get_variable_names())
    tags = {value.tag for path in tmp_path.glob("events*") for event in tf.train.summary_iterator(str(path))
            for value in event.summary.value}  # fmt: skip
    assert {"logit", "loss"} <= tags
    assert not any(tag.startswith("replica") for tag in tags)


def _logits(estimator: Any) -> Any:
    value = estimator.get_variable_value
    hidden = np.tanh(_X @ value("h/kernel") + value("h/bias"))
    return hidden @ value("l/kernel") + value("l/bias")


def test_a_distribute_config_has_both_strategies() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    both = tf.contrib.distribute.DistributeConfig(train_distribute=strategy, eval_distribute=strategy)
    config = tf.estimator.RunConfig(experimental_distribute=both)
    assert config.train_distribute is strategy
    assert config.eval_distribute is strategy
    with pytest.raises(ValueError, match=r"Either `train_distribute` or `experimental_distribute.train_distribute` can be set"):
        tf.estimator.RunConfig(train_distribute=strategy, experimental_distribute=both)
    with pytest.raises(NotImplementedError, match="standalone client"):
        tf.estimator.RunConfig(
            experimental_distribute=tf.contrib.distribute.DistributeConfig(remote_cluster={"worker": ["a:1"]})
        )


@pytest.mark.parametrize("name", ["train_distribute", "eval_distribute", "experimental_distribute"])
def test_what_is_no_strategy_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match=f"RunConfig: {name} must be a"):
        tf.estimator.RunConfig(**{name: object()})


def test_a_cluster_of_workers_alone_has_its_first_worker_as_chief(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": %d}}'
    strategy = tf.contrib.distribute.CollectiveAllReduceStrategy()
    for index in (0, 1):
        monkeypatch.setenv("TF_CONFIG", environment % index)
        config = tf.estimator.RunConfig(train_distribute=strategy)
        assert (config.is_chief, config.master, config.num_worker_replicas) == (index == 0, "", 2)
    with pytest.raises(ValueError, match='must have one "chief" node'):
        tf.estimator.RunConfig()


def test_an_input_that_is_no_dataset_is_refused(tmp_path: Path) -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    estimator = tf.estimator.Estimator(_model_fn, tmp_path, tf.estimator.RunConfig(train_distribute=strategy), params=_MEAN)
    with pytest.raises(TypeError, match=r"A strategy divides a tf.data.Dataset among its replicas"):
        estimator.train(lambda: ({"x": tf.constant(_X)}, tf.constant(_Y)), steps=1)
