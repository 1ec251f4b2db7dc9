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
