"""contrib.learn's canned estimators train to the numbers of TensorFlow 1.15.5, from the same variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.estimators.equal_starts import SetAll

_X = np.linspace(-1, 1, 12).reshape(6, 2).astype(np.float32)
_Y = np.array([0, 1, 1, 0, 1, 0])
_learn, _layers = tf.contrib.learn, tf.contrib.layers


def _input_fn() -> Any:
    ids = tf.SparseTensor([[row, 0] for row in range(6)], tf.constant(list("abcabz")), [6, 1])
    return {"x": tf.constant(_X), "c": ids}, tf.constant(_Y)


def _made(kind: str, model_dir: str) -> Any:
    x = _layers.real_valued_column("x", dimension=2)
    c = _layers.sparse_column_with_keys("c", ["a", "b", "c"])
    match kind:
        case "dnn":
            return _learn.DNNClassifier([3], [x], model_dir)
        case "linear":
            return _learn.LinearClassifier([x, c], model_dir, n_classes=3)
        case "regressor":
            return _learn.DNNRegressor([2], [x, _layers.embedding_column(c, 2)], model_dir, gradient_clip_norm=0.5)
        case _:
            return _learn.DNNLinearCombinedClassifier(
                model_dir, linear_feature_columns=[c], dnn_feature_columns=[x], dnn_hidden_units=[2]
            )


@pytest.mark.parametrize(
    ("kind", "loss", "predictions"),
    [
        ("dnn", 0.716, [1, 1, 1, 1, 1, 1]),
        ("linear", 0.755, [0, 1, 1, 0, 1, 0]),
        ("regressor", 0.289, [0.297, 0.443, 0.317, 0.548, 0.708, 0.693]),
        ("combined", 0.610, [1, 1, 1, 0, 1, 1]),
    ],
)
def test_training_gives_tensorflows_loss_and_predictions(
    kind: str, loss: float, predictions: list[float], tmp_path: Path
) -> None:
    estimator = _made(kind, str(tmp_path))
    estimator.fit(input_fn=_input_fn, steps=3, monitors=[SetAll()])
    metrics = estimator.evaluate(input_fn=_input_fn, steps=1)
    assert metrics["global_step"] == 3
    assert metrics["loss"] == pytest.approx(loss, abs=6e-4)
    assert list(estimator.predict(input_fn=_input_fn)) == pytest.approx(predictions, abs=6e-4)


def test_columns_of_feature_column_are_read_as_tensorflow_reads_them(tmp_path: Path) -> None:
    x = tf.feature_column.numeric_column("x", shape=2)
    cut = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x", shape=2), [0.0])
    c = tf.feature_column.categorical_column_with_vocabulary_list("c", ["a", "b", "c"])
    linear = _learn.LinearRegressor([x, cut, c, tf.feature_column.crossed_column([cut, "c"], 7)], str(tmp_path / "linear"))
    linear.fit(input_fn=_input_fn, steps=3)
    assert linear.evaluate(input_fn=_input_fn, steps=1)["loss"] == pytest.approx(0.04185, abs=1e-4)
    model = "linear/linear_model"
    assert {f"{model}/bias_weights", f"{model}/x/weights", f"{model}/c_X_x_bucketized/weights"} < {*linear.get_variable_names()}

    both = _learn.DNNLinearCombinedClassifier(
        str(tmp_path / "both"), linear_feature_columns=[c], dnn_feature_columns=[x, tf.feature_column.embedding_column(c, 2)],
        dnn_hidden_units=[2],
    )  # fmt: skip
    both.fit(input_fn=_input_fn, steps=1)
    assert {f"{model}/c/weights", "dnn/input_from_feature_columns/input_layer/c_embedding/embedding_weights"} < {
        *both.get_variable_names()
    }


def test_layers_that_take_no_columns_of_feature_column_say_what_does() -> None:
    column = tf.feature_column.indicator_column(tf.feature_column.categorical_column_with_identity("c", 3))
    with pytest.raises(TypeError, match=r"IndicatorColumn.*is one of tf\.feature_column.*tf\.feature_column\.input_layer"):
        _layers.input_from_feature_columns({"c": tf.constant([[1]])}, [column])
