"""Linear estimators that dual coordinate ascent trains. All numbers and names are TensorFlow 1.15.5's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

_FEATURES = {
    "age": np.float32([[0.5, 0.1], [0.9, 0.4], [0.2, 0.8], [0.7, 0.7], [0.1, 0.3], [0.8, 0.0]]),
    "w": np.float32([[1], [2], [1], [0.5], [1], [1]]),
    "tags": np.array([["a", "b"], ["c", ""], ["a", ""], ["b", "c"], ["a", "a"], ["d", "zz"]]),
    "id": np.array([f"e{number}" for number in range(6)]),
}
_CLASSES = np.array([[1], [1], [0], [1], [0], [0]])
_NUMBERS = np.float32(_CLASSES * 2 - 0.5)
_AGE = tf.feature_column.numeric_column("age", shape=2)
_TAGS = tf.feature_column.categorical_column_with_vocabulary_list("tags", ["a", "b", "c", "d"])


def _sdca(l1: float = 0.0, l2: float = 1.0, **options: Any) -> Any:
    return tf.estimator.experimental.LinearSDCA(
        "id", symmetric_l1_regularization=l1, symmetric_l2_regularization=l2, **options
    )  # fmt: skip


def _batches(labels: np.ndarray, steps: int) -> Any:
    return lambda: tf.data.Dataset.from_tensors((_FEATURES, labels)).repeat(steps)


def _trained(estimator: Any, labels: np.ndarray, steps: int = 40) -> dict[str, list[float]]:
    estimator.train(_batches(labels, steps))
    names = [each for each in estimator.get_variable_names() if each.startswith("linear/linear_model/")]
    return {name.removeprefix("linear/linear_model/"): estimator.get_variable_value(name).ravel().tolist() for name in names}


def _check(found: dict[str, list[float]], age: list[float], tags: list[float], bias: float) -> None:
    assert sorted(found) == ["age/weights", "bias_weights", "tags/weights"]
    np.testing.assert_allclose(found["age/weights"], age, atol=1e-3)
    np.testing.assert_allclose(found["tags/weights"], tags, atol=1e-3)
    np.testing.assert_allclose(found["bias_weights"], [bias], atol=1e-3)


@pytest.mark.parametrize(
    ("options", "weight_column", "age", "tags", "bias", "loss"),
    [
        ({}, None, [0.2355, -0.0464], [-0.4687, 0.6595, 0.5545, -0.4244], -0.069, 2.5688),
        ({"l1": 0.1, "l2": 2.0}, "w", [0.1933, 0.0], [-0.2909, 0.2685, 0.3904, -0.195], 0.0, 3.4428),
        ({"l2": 0.5, "adaptive": True}, None, [0.3402, -0.1294], [-0.631, 1.0463, 0.8228, -0.7189], -0.1309, 2.0041),
    ],
)
def test_a_classifier_ends_where_tensorflows_does(
    tmp_path: Path, options: dict[str, Any], weight_column: str | None, age: list[float], tags: list[float], bias: float,
    loss: float,
) -> None:  # fmt: skip
    estimator = tf.estimator.LinearClassifier(
        [_AGE, _TAGS], model_dir=str(tmp_path), weight_column=weight_column, optimizer=_sdca(**options)
    )
    _check(_trained(estimator, _CLASSES), age, tags, bias)
    found = estimator.evaluate(_batches(_CLASSES, 1))
    assert found["loss"] == pytest.approx(loss, abs=2e-3)
    assert (found["accuracy"], found["global_step"]) == (1.0, 40)


def test_a_regressor_ends_where_tensorflows_does_and_spreads_its_examples_over_tables(tmp_path: Path) -> None:
    estimator = tf.estimator.LinearRegressor(
        [_AGE, _TAGS], model_dir=str(tmp_path), weight_column="w", optimizer=_sdca(num_table_shards=2)
    )
    _check(_trained(estimator, _NUMBERS), [0.4307, -0.1209], [-0.2138, 0.6347, 0.6388, -0.5042], 0.1639)
    names = estimator.get_variable_names()
    assert [each for each in names if "Table" in each] == [
        f"ShardedMutableHashTable-{number}-of-2-{part}" for number in (1, 2) for part in ("keys", "values")
    ]
    assert "linear/linear/linear_model/tags/weights/part_0_unshrunk" in names
    predicted = [each["predictions"][0] for each in estimator.predict(_batches(_NUMBERS, 1))]
    np.testing.assert_allclose(predicted, [0.7881, 1.142, -0.0605, 1.6543, -0.2569, 0.0042], atol=2e-3)


def test_training_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    for _ in range(4):
        estimator = tf.estimator.LinearRegressor([_AGE, _TAGS], model_dir=str(tmp_path), optimizer=_sdca(0.1, 0.5))
        found = _trained(estimator, _NUMBERS, steps=10)
    _check(found, [0.4535, -0.1266], [-0.1424, 0.7954, 0.605, -0.5105], 0.003)


def test_weights_may_be_cut(tmp_path: Path) -> None:
    estimator = tf.estimator.LinearClassifier(
        [_AGE, _TAGS], model_dir=str(tmp_path), optimizer=_sdca(), partitioner=tf.fixed_size_partitioner(2)
    )
    _check(_trained(estimator, _CLASSES), [0.2355, -0.0464], [-0.4687, 0.6595, 0.5545, -0.4244], -0.069)
    assert "linear/linear/linear_model/tags/weights/part_1_unshrunk" in estimator.get_variable_names()


def test_an_embeddings_table_stays_as_it_began(tmp_path: Path) -> None:
    column = tf.feature_column.embedding_column(_TAGS, 3, initializer=tf.constant_initializer(0.5))
    estimator = tf.estimator.LinearClassifier([column], model_dir=str(tmp_path), optimizer=_sdca())
    found = _trained(estimator, _CLASSES, steps=2)
    assert sorted(found) == ["bias_weights", "tags_embedding/embedding_weights", "tags_embedding/weights"]
    assert found["tags_embedding/embedding_weights"] == [0.5] * 12
    assert all(found["tags_embedding/weights"])


def test_classes_may_have_names_and_weights_a_column(tmp_path: Path) -> None:
    halves = tf.feature_column.numeric_column("w", normalizer_fn=lambda weights: weights / 2)
    named = tf.estimator.LinearClassifier(
        [_AGE, _TAGS], str(tmp_path / "named"), label_vocabulary=["n", "y"], weight_column=halves, optimizer=_sdca()
    )
    numbered = tf.estimator.LinearClassifier(
        [_AGE, _TAGS], str(tmp_path / "numbered"), weight_column="w", optimizer=_sdca(l2=2.0)
    )
    _check(
        _trained(named, np.where(_CLASSES, "y", "n")),
        *((found := _trained(numbered, _CLASSES))["age/weights"], found["tags/weights"], found["bias_weights"][0]),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("LinearClassifier", {"n_classes": 3}, "cannot be used in a multi-class setting"),
        ("LinearClassifier", {"sparse_combiner": "mean"}, 'sparse_combiner must be "sum"'),
        ("LinearRegressor", {"label_dimension": 2}, "one-dimensional label"),
        ("LinearRegressor", {"feature_columns": [tf.contrib.layers.real_valued_column("age")]}, "V2 feature columns required"),
    ],
)
def test_an_estimator_that_the_ascent_cannot_train_is_refused(kind: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        getattr(tf.estimator, kind)(**{"feature_columns": [_AGE], "optimizer": _sdca(), **options})


@pytest.mark.parametrize(
    ("columns", "optimizer", "error", "said"),
    [
        ([tf.feature_column.indicator_column(_TAGS)], _sdca(), ValueError, "has rank 2, larger than 1"),
        ([_AGE], _sdca(l2=0.0), ValueError, "symmetric_l2_regularization should be positive"),
        ([_AGE], _sdca(l1=-1.0), ValueError, "symmetric_l1_regularization should be non-negative"),
        ([_AGE], tf.estimator.experimental.LinearSDCA("name"), KeyError, "no 'name', its example_id_column"),
    ],
)
def test_what_the_ascent_lacks_is_told_as_training_begins(
    tmp_path: Path, columns: list[Any], optimizer: Any, error: type[Exception], said: str
) -> None:
    estimator = tf.estimator.LinearClassifier(columns, model_dir=str(tmp_path), optimizer=optimizer)
    with pytest.raises(error, match=said):
        estimator.train(_batches(_CLASSES, 1))


def test_a_head_of_several_classes_has_no_loss_of_the_ascent(tmp_path: Path) -> None:
    estimator = tf.estimator.LinearEstimator(
        tf.contrib.estimator.multi_class_head(3), [_AGE], model_dir=str(tmp_path), optimizer=_sdca()
    )
    with pytest.raises(ValueError, match="Unsupported head type"):
        estimator.train(_batches(_CLASSES, 1))
