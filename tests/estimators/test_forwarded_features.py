"""Features that are handed on as predictions, and gradients that are clipped before an optimizer takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

COLUMN = tf.feature_column.numeric_column("x")


def input_fn() -> Any:
    tags = tf.SparseTensor([[0, 0], [2, 0]], [7, 9], [3, 1])
    return {"x": tf.constant([[1.0], [2.0], [3.0]]), "id": tf.constant([[5], [6], [7]]), "tags": tags}, tf.ones([3, 1])


def test_features_stand_beside_the_predictions(tmp_path: Path) -> None:
    inner = tf.estimator.LinearRegressor([COLUMN], model_dir=str(tmp_path / "m"))
    inner.train(input_fn, steps=1)
    outer = tf.contrib.estimator.forward_features(inner, ["id", "tags"], sparse_default_values={"tags": -1})
    found = next(outer.predict(input_fn, yield_single_examples=False))
    assert (found["id"].tolist(), found["tags"].tolist()) == ([[5], [6], [7]], [[7], [-1], [9]])
    assert found["predictions"].shape == (3, 1)
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 1]), "id": tf.placeholder(tf.int32, [None, 1])}
    )
    exported = tf.contrib.estimator.forward_features(inner, "id").export_saved_model(str(tmp_path / "e"), receiver)
    ask = tf.contrib.predictor.from_saved_model(exported.decode(), "predict")
    assert ask({"x": [[1.0]], "id": [[4]]})["id"].tolist() == [[4]]


@pytest.mark.parametrize(
    ("keys", "told"), [(["no"], 'Key "no" is not in features dict'), (None, r"Feature \(tags\) should be a Tensor")]
)
def test_what_cannot_be_handed_on_is_named(tmp_path: Path, keys: Any, told: str) -> None:
    inner = tf.estimator.LinearRegressor([COLUMN], model_dir=str(tmp_path))
    with pytest.raises(ValueError, match=told):
        next(tf.contrib.estimator.forward_features(inner, keys).predict(input_fn))


def test_gradients_are_clipped_by_their_global_norm() -> None:
    first, second = (tf.get_variable(name, [], initializer=tf.zeros_initializer()) for name in ("first", "second"))
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(tf.train.MomentumOptimizer(1.0, 0.9), 1.0)
    train = optimizer.minimize(3 * first + 4 * second)
    assert (optimizer.get_name(), optimizer.get_slot_names()) == ("ClipByNormMomentum", ["momentum"])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run([first, second]), [-0.6, -0.8], rtol=1e-6)


def test_slim_has_the_initializers_and_regularizers_as_modules() -> None:
    slim = tf.contrib.slim
    assert slim.initializers.xavier_initializer is slim.xavier_initializer
    assert slim.regularizers.l2_regularizer is slim.l2_regularizer
