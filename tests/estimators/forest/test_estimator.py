"""Estimators of random forests: losses and metrics are TensorFlow 1.15.5's, of which the numbers were asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.contrib.tensor_forest.client import eval_metrics, random_forest
from weft.contrib.tensor_forest.python import tensor_forest

import weft as tf

_RANDOM = np.random.RandomState(0)
_X = _RANDOM.randn(150, 4).astype(np.float32)
_Y = (_X[:, 0] > 0).astype(int) + (_X[:, 1] > 0)


def _params(**changes: Any) -> Any:
    given = {"num_classes": 3, "num_features": 4, "num_trees": 3, "max_nodes": 50, "split_after_samples": 20}
    return tensor_forest.ForestHParams(**{**given, "base_random_seed": 3, **changes})


def _input(labels: Any, times: int | None = None) -> Any:
    def input_fn() -> Any:
        slices = ({"a": _X[:, :2], "b": _X[:, 2:]}, labels)
        return tf.data.Dataset.from_tensor_slices(slices).repeat(times).batch(50).make_one_shot_iterator().get_next()

    return input_fn


_CASES: list[tuple[str, dict[str, Any], Any, dict[str, float]]] = [
    (
        "two", {"num_classes": 2}, (_Y > 0).astype(np.int64),
        {"accuracy": 0.98, "auc": 0.99859, "loss": 0.07853, "precision": 0.98039, "recall": 0.9901, "prediction/mean": 0.67117},
    ),
    ("three", {}, _Y.astype(np.int64), {"accuracy": 0.93333, "loss": 0.66443, "average_loss": 0.66443}),
    (
        "numbers", {"num_classes": 1, "regression": True}, _X[:, :1] * 2,
        {"average_loss": 0.08714, "label/mean": -0.07449, "prediction/mean": -0.05862},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "labels", "expected"), [case[1:] for case in _CASES], ids=[case[0] for case in _CASES])
def test_core_estimators(changes: dict[str, Any], labels: Any, expected: dict[str, float], tmp_path: Path) -> None:
    estimator = random_forest.CoreTensorForestEstimator(
        _params(**changes), model_dir=str(tmp_path), report_feature_importances=True
    )
    estimator.train(_input(labels), steps=12)
    found = estimator.evaluate(_input(labels, 1))
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-5)
    prediction = next(iter(estimator.predict(_input(labels, 1))))
    if "regression" in changes:
        assert prediction["predictions"] == pytest.approx([3.12962], abs=1e-5)
        assert prediction["prediction_variance"] == pytest.approx([0.54171], abs=1e-5)
    elif not changes:
        assert prediction["logits"] == pytest.approx([0, 0.0303, 0.9697], abs=1e-4)
        assert prediction["class_ids"] == [2]


def test_an_estimator_of_contrib_learn(tmp_path: Path) -> None:
    estimator = random_forest.TensorForestEstimator(
        _params(inference_tree_paths=True, base_random_seed=1), model_dir=str(tmp_path), keys_column="key"
    )

    def input_fn() -> Any:
        return {"x": tf.constant(_X), "key": tf.range(150)}, tf.constant(_Y)

    estimator.fit(input_fn=input_fn, steps=20)
    found = estimator.evaluate(input_fn=input_fn, steps=1, metrics={"mine": tf.contrib.learn.MetricSpec(
        eval_metrics.get_metric("accuracy"), prediction_key=eval_metrics.get_prediction_key("accuracy"))})  # fmt: skip
    assert found["accuracy"] == found["mine"] > 0.9
    predictions = list(estimator.predict(input_fn=input_fn))
    assert [each["key"] for each in predictions] == list(range(150))
    assert set(predictions[0]) == {"classes", "probabilities", "logits", "key", "tree_paths", "prediction_variance"}


def test_training_stops_when_trees_grow_no_more(tmp_path: Path) -> None:
    estimator = random_forest.CoreTensorForestEstimator(
        _params(max_nodes=3), model_dir=str(tmp_path), early_stopping_rounds=4, early_stopping_loss_threshold=0.0
    )
    estimator.train(_input(_Y.astype(np.int64)), steps=100)
    assert estimator.get_variable_value("global_step") < 30


def test_weights_and_columns(tmp_path: Path) -> None:
    columns = [tf.feature_column.numeric_column("a", shape=[2]), tf.feature_column.numeric_column("b", shape=[2])]

    def input_fn() -> Any:
        return {"a": tf.constant(_X[:, :2]), "b": tf.constant(_X[:, 2:]), "w": tf.ones([150, 1])}, tf.constant(_Y)

    estimator = random_forest.CoreTensorForestEstimator(
        _params(), model_dir=str(tmp_path), feature_columns=columns, weight_column="w"
    )
    estimator.train(input_fn, steps=10)
    assert estimator.evaluate(input_fn, steps=1)["accuracy"] > 0.8


def test_a_forest_for_each_output(tmp_path: Path) -> None:
    labels = np.stack([_X[:, 0] > 0, _X[:, 1] > 0], axis=1).astype(np.int64)
    estimator = random_forest.MultiForestMultiHeadEstimator([_params(num_classes=3), _params()], model_dir=str(tmp_path))

    def input_fn() -> Any:
        return {"x": tf.constant(_X)}, tf.constant(labels)

    estimator.fit(input_fn=input_fn, steps=10)
    found = estimator.predict(input_fn=input_fn, iterate_batches=True)
    batch = next(iter(found))
    assert batch["probabilities"].shape == (150, 6)
    assert (batch["classes"] == labels).mean() > 0.9


def test_the_whole_prediction_is_exported(tmp_path: Path) -> None:
    estimator = random_forest.CoreTensorForestEstimator(
        _params(), model_dir=str(tmp_path / "model"), include_all_in_serving=True
    )
    estimator.train(_input(_Y.astype(np.int64)), steps=3)
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"a": tf.placeholder(tf.float32, [None, 2]), "b": tf.placeholder(tf.float32, [None, 2])}
    )
    path = estimator.export_saved_model(str(tmp_path / "export"), receiver).decode()
    predict = tf.contrib.predictor.from_saved_model(path, signature_def_key=random_forest.ALL_SERVING_KEY)
    assert predict({"a": _X[:2, :2], "b": _X[:2, 2:]})["prediction_variance"].shape == (2, 3)


def test_metrics_by_name() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        probabilities = tf.constant([[0.2, 0.8], [0.6, 0.4], [0.1, 0.9]])
        targets = tf.constant([[1], [0], [0]])
        updates = {
            name: eval_metrics.get_metric(name)(probabilities, targets)[1]
            for name in ("auc", "sigmoid_entropy", "classification_log_loss", "softmax_entropy")
        }
        updates["r2"] = eval_metrics.get_metric("r2")(tf.constant([[1.0], [2.0], [4.0]]), tf.constant([[1.0], [2.0], [3.0]]))[1]
        session.run(tf.local_variables_initializer())
        found = session.run(updates)
    expected = {"auc": 0.5, "sigmoid_entropy": 0.734216, "classification_log_loss": 1.012184, "softmax_entropy": 0.735576}
    assert found == pytest.approx({**expected, "r2": 0.5}, abs=1e-5)
    assert eval_metrics.get_prediction_key("r2") == "scores"
