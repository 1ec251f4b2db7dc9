"""Boosted trees learn what they learn in TensorFlow 1.15.5, from the same examples; the numbers were asked of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

_N = 40
_RANDOM = np.random.RandomState(3)
_X = _RANDOM.randn(_N).astype(np.float32)
_Y = _RANDOM.exponential(size=_N).astype(np.float32)
_C = np.array(["a", "b", "z", "b"], object)[_RANDOM.randint(0, 4, _N)]
_V = _RANDOM.randn(_N, 2).astype(np.float32)
_W = (_RANDOM.randint(1, 4, _N) * 0.5).astype(np.float32)
_CLASSES = ((_X + (_C == "b") * 0.7 + 0.3 * _RANDOM.randn(_N)) > 0.2).astype(np.int64)
_NUMBERS = (_X * 2 + _Y - (_C == "a") * 1.5 + 0.1 * _RANDOM.randn(_N)).astype(np.float32)

_COLUMN = tf.feature_column
_NUMERIC = [_COLUMN.numeric_column("x"), _COLUMN.numeric_column("v", shape=(2,))]
_COLUMNS = [
    _COLUMN.bucketized_column(_COLUMN.numeric_column("x"), [-1.0, -0.5, 0.0, 0.5, 1.0]),
    _COLUMN.bucketized_column(_COLUMN.numeric_column("y"), [0.5, 1.0, 2.0]),
    _COLUMN.indicator_column(_COLUMN.categorical_column_with_vocabulary_list("c", ["a", "b"])),
]


def _input(labels: np.ndarray[Any, Any], batch: int, repeat: bool = True) -> Callable[[], tf.data.Dataset]:
    def input_fn() -> tf.data.Dataset:
        features = {"x": _X, "y": _Y, "c": _C, "v": _V, "w": _W}
        examples = tf.data.Dataset.from_tensor_slices((features, labels))
        return (examples.repeat() if repeat else examples).batch(batch)

    return input_fn


def _asked(estimator: Any, labels: np.ndarray[Any, Any], key: str) -> tuple[Any, Any, Any]:
    """Metrics, and of the first example the prediction and its explanation."""
    metrics = estimator.evaluate(_input(labels, _N), steps=1)
    first = next(estimator.experimental_predict_with_explanations(_input(labels, _N, repeat=False)))
    return metrics, first[key], first


def test_a_classifier_of_numbers_in_two_batches_is_tensorflows(tmp_path: Path) -> None:
    classifier = tf.estimator.BoostedTreesClassifier(
        _COLUMNS + _NUMERIC, 2, str(tmp_path), n_trees=2, max_depth=2, center_bias=True
    )
    classifier.train(_input(_CLASSES, 20))
    metrics, logits, explained = _asked(classifier, _CLASSES, "logits")
    assert metrics["global_step"] == 12
    np.testing.assert_allclose(metrics["loss"], 0.47551507, rtol=1e-5)
    np.testing.assert_allclose(metrics["auc"], 0.9923273, rtol=1e-5)
    np.testing.assert_allclose(logits, [0.4831218], rtol=1e-5)
    np.testing.assert_allclose(explained["bias"], 0.4250001, rtol=1e-5)
    assert list(explained["dfc"])[:2] == ["x", "c"]
    np.testing.assert_allclose(list(explained["dfc"].values())[:3], [0.1418159, 0.0516688, 0], rtol=1e-4)
    gains = classifier.experimental_feature_importances(normalize=True)
    assert list(gains)[:3] == ["x", "c", "x_bucketized"]
    np.testing.assert_allclose(list(gains.values())[:3], [0.8629378, 0.0817455, 0.0553167], rtol=1e-4)


def test_a_regressor_with_bias_is_tensorflows(tmp_path: Path) -> None:
    regressor = tf.estimator.BoostedTreesRegressor(
        _COLUMNS, 1, str(tmp_path), n_trees=3, max_depth=3, center_bias=True, min_node_weight=0.05
    )
    regressor.train(_input(_NUMBERS, _N))
    metrics, prediction, explained = _asked(regressor, _NUMBERS, "predictions")
    assert metrics["global_step"] == 11
    np.testing.assert_allclose(metrics["loss"], 1.4802268, rtol=1e-5)
    np.testing.assert_allclose(prediction, [1.9768213], rtol=1e-5)
    np.testing.assert_allclose(explained["bias"], -0.2392468, rtol=1e-5)
    np.testing.assert_allclose([explained["dfc"]["x_bucketized"], explained["dfc"]["c"]], [1.4624101, 0], rtol=1e-5)


def test_examples_in_memory_grow_the_trees_that_batches_grow(tmp_path: Path) -> None:
    def all_at_once() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensors(({"x": _X, "y": _Y, "c": _C}, _NUMBERS))

    regressor = tf.contrib.estimator.boosted_trees_regressor_train_in_memory(
        all_at_once, _COLUMNS, str(tmp_path), n_trees=2, max_depth=2, center_bias=True
    )
    metrics, prediction, _ = _asked(regressor, _NUMBERS, "predictions")
    assert metrics["global_step"] == 6
    np.testing.assert_allclose(metrics["loss"], 2.9118619, rtol=1e-5)
    np.testing.assert_allclose(prediction, [0.9294728], rtol=1e-5)


def test_training_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    def made() -> Any:
        return tf.estimator.BoostedTreesRegressor(_COLUMNS, 1, str(tmp_path), n_trees=3, max_depth=2, learning_rate=0.5)

    made().train(_input(_NUMBERS, _N), max_steps=3)
    first = made().evaluate(_input(_NUMBERS, _N), steps=1)
    made().train(_input(_NUMBERS, _N))
    last = made().evaluate(_input(_NUMBERS, _N), steps=1)
    assert (first["global_step"], last["global_step"]) == (3, 6)
    assert last["loss"] < first["loss"]


def test_an_exported_model_predicts(tmp_path: Path) -> None:
    estimator = tf.estimator.BoostedTreesEstimator(
        _COLUMNS[:2], 1, tf.contrib.estimator.regression_head(), str(tmp_path / "model"), n_trees=1, max_depth=1
    )
    estimator.train(_input(_NUMBERS, _N))
    receive = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None]), "y": tf.placeholder(tf.float32, [None])}
    )
    folder = estimator.export_saved_model(str(tmp_path / "saved"), receive).decode()
    exported = tf.contrib.predictor.from_saved_model(folder, "predict")({"x": _X, "y": _Y})
    own = [each["predictions"] for each in estimator.predict(_input(_NUMBERS, _N, repeat=False))]
    np.testing.assert_array_equal(exported["predictions"], own)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"tree_complexity": 0.1}, "no effect unless pruning mode"),
        ({"pruning_mode": "post"}, "tree_complexity must be positive"),
        ({"pruning_mode": "all"}, "must be one of: none, post, pre"),
        ({"n_classes": 3}, "only binary classification"),
        ({"feature_columns": [_COLUMN.categorical_column_with_identity("c", 3)]}, "must be wrapped by IndicatorColumn"),
        ({"feature_columns": [_COLUMN.numeric_column("m", shape=(2, 2))]}, "Dense column with rank of 1"),
    ],
)
def test_what_does_not_go_together_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        tf.estimator.BoostedTreesClassifier(**{"feature_columns": _COLUMNS, "n_batches_per_layer": 1, **given})


def test_explanations_need_a_bias(tmp_path: Path) -> None:
    classifier = tf.estimator.BoostedTreesClassifier(_COLUMNS, 1, str(tmp_path))
    with pytest.raises(ValueError, match="center_bias must be enabled"):
        classifier.experimental_predict_with_explanations(_input(_CLASSES, _N))


_KEPT = {
    "BoostedTreesEnsembleResourceHandleOp", "BoostedTreesQuantileStreamResourceHandleOp", "ConditionalAccumulator",
    "VarHandleOp",
}  # fmt: skip


def test_what_branches_change_is_on_the_task_of_the_global_step(tmp_path: Path) -> None:
    classifier = tf.estimator.BoostedTreesClassifier(_NUMERIC, 2, str(tmp_path), n_trees=2, max_depth=2, center_bias=True)
    with tf.Graph().as_default() as graph:
        features, labels = tf.data.make_one_shot_iterator(_input(_CLASSES, 20)()).get_next()
        classifier.model_fn(features, labels, "train", classifier.config)
        kept = [each for each in graph.get_operations() if each.type in _KEPT and each.name.startswith("boosted_trees")]
        assert {each.type for each in kept} == _KEPT
        assert {tuple(each.colocation_groups()) for each in kept} == {(b"loc:@global_step",)}


_PROGRAM = """
import sys
import numpy as np
import weft as tf

features = np.random.RandomState(0).randn(2000, 3).astype(np.float32)
labels = ((features[:, 0] > 0.3) ^ (features[:, 1] < -0.2)).astype(np.int32)

def input_fn():
    return tf.data.Dataset.from_tensor_slices((dict(zip("abc", features.T)), labels)).repeat().batch(200)

config = tf.estimator.RunConfig(sys.argv[1], experimental_max_worker_delay_secs=0)
columns = [tf.feature_column.numeric_column(name) for name in "abc"]
classifier = tf.estimator.BoostedTreesClassifier(columns, 2, n_trees=8, max_depth=3, center_bias=True, config=config)
tf.estimator.train_and_evaluate(classifier, tf.estimator.TrainSpec(input_fn), tf.estimator.EvalSpec(input_fn, steps=10))
if config.is_chief:
    print("accuracy", classifier.evaluate(input_fn, steps=10)["accuracy"])
"""


@pytest.mark.slow
def test_trees_grow_over_two_parameter_servers(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM, encoding="utf-8")
    tasks = ["--ps", "2", "--chief", "1", "--worker", "1"]
    command = [sys.executable, "-m", "weft.cli", "launch", *tasks, "--no-flags", str(program), str(tmp_path / "model")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    assert float(done.stdout.partition("accuracy ")[2].split()[0]) > 0.9
