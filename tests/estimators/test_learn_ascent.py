"""contrib.learn's linear models that dual coordinate ascent trains. All numbers are what TensorFlow 1.15.5 ends with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

_AGES = np.float32([[0.1], [0.9], [0.4], [0.6], [0.3], [0.8], [0.5], [0.2]])
_WORDS = [b"a", b"b", b"c", b"a", b"b", b"c", b"b", b"a"]
_CLASSES = np.array([[0], [1], [0], [1], [1], [1], [1], [0]])
_AGE = tf.contrib.layers.real_valued_column("age")
_WORD = tf.contrib.layers.sparse_column_with_keys("word", ["a", "b", "c"])
_BUCKET = tf.contrib.layers.bucketized_column(_AGE, [0.35, 0.65])


def _input(labels: np.ndarray = _CLASSES) -> tuple[dict[str, Any], tf.Tensor]:
    return {
        "id": tf.constant([f"e{number}" for number in range(8)]),
        "age": tf.constant(_AGES),
        "word": tf.SparseTensor([[number, 0] for number in range(8)], _WORDS, [8, 1]),
        "w": tf.constant(np.float32([[1], [2], [1], [0.5], [1], [1], [1], [1]])),
    }, tf.constant(labels)


def _optimizer(**options: float) -> Any:
    return tf.contrib.linear_optimizer.SDCAOptimizer("id", adaptive=False, **options)


def _weights(estimator: Any) -> dict[str, list[float]]:
    names = [name for name in estimator.get_variable_names() if name.startswith("linear/") and "unshrinked" not in name]
    return {name.removeprefix("linear/"): np.ravel(estimator.get_variable_value(name)).tolist() for name in names}


def _check(estimator: Any, weights: dict[str, list[float]]) -> None:
    found = _weights(estimator)
    assert sorted(found) == sorted(weights)
    for name, values in weights.items():
        np.testing.assert_allclose(found[name], values, atol=5e-3)


def test_a_linear_classifier_is_trained_by_dual_coordinate_ascent() -> None:
    optimizer = _optimizer(symmetric_l1_regularization=0.1, symmetric_l2_regularization=2.0)
    columns = [_AGE, _WORD, _BUCKET]
    estimator = tf.contrib.learn.LinearClassifier(columns, weight_column_name="w", optimizer=optimizer)
    estimator.fit(input_fn=_input, steps=30)
    found = estimator.evaluate(input_fn=_input, steps=1)
    assert found["loss"] == pytest.approx(0.4708, abs=2e-4)
    assert found["accuracy"] == pytest.approx(0.8824, abs=1e-4)
    assert found["global_step"] == 30
    _check(estimator, {
        "age/weight": [0.321], "bias_weight": [0.107], "word/weights": [-0.255, 0.515, -0.052],
        "age_bucketized/weights": [-0.192, 0, 0.343],
    })  # fmt: skip


def test_a_linear_regressor_is_trained_by_dual_coordinate_ascent() -> None:
    estimator = tf.contrib.learn.LinearRegressor([_AGE, _WORD], optimizer=_optimizer())
    estimator.fit(input_fn=lambda: _input(np.float32(3 * _AGES + _CLASSES)), steps=40)
    _check(estimator, {"age/weight": [1.605], "bias_weight": [0.884], "word/weights": [-0.099, 0.68, 0.302]})


def test_a_support_vector_machine_tells_sides_and_distances() -> None:
    estimator = tf.contrib.learn.SVM("id", [_AGE, _WORD])
    estimator.fit(input_fn=_input, steps=150)
    found = estimator.evaluate(input_fn=_input, steps=1)
    assert sorted(found) == ["accuracy", "global_step", "loss"]
    assert found["loss"] == pytest.approx(0.4045, abs=2e-3)
    predicted = list(estimator.predict(input_fn=lambda: _input()[0]))
    assert sorted(predicted[0]) == ["classes", "logits"]
    classes = list(estimator.predict_classes(input_fn=lambda: _input()[0]))
    assert classes == [int(each["logits"][0] > 0) for each in predicted]


def test_what_the_ascent_cannot_train_is_told() -> None:
    learn = tf.contrib.learn
    with pytest.raises(ValueError, match="Kernel SVMs are not currently supported"):
        learn.SVM("id", [_AGE], kernels=[1])
    with pytest.raises(ValueError, match="SDCAOptimizer trains a linear model alone"):
        learn.DNNLinearCombinedClassifier(
            linear_feature_columns=[_AGE], linear_optimizer=_optimizer(), dnn_feature_columns=[_AGE], dnn_hidden_units=[2]
        )
    with pytest.raises(ValueError, match="SDCA only applies to binary classification"):
        learn.LinearClassifier([_AGE], n_classes=3, optimizer=_optimizer()).fit(input_fn=_input, steps=1)
    with pytest.raises(ValueError, match="SDCAOptimizer does not support column type NumericColumn"):
        learn.LinearClassifier([tf.feature_column.numeric_column("age")], optimizer=_optimizer()).fit(input_fn=_input, steps=1)
    with pytest.raises(ValueError, match="the features have no 'name', its example_id_column, only age, "):
        learn.SVM("name", [_AGE]).fit(input_fn=_input, steps=1)
