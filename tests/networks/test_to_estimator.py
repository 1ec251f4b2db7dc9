"""Estimators of compiled models: what they train, report, begin with and refuse."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

keras = tf.keras
layers = keras.layers
X = np.random.RandomState(0).rand(12, 3).astype(np.float32)
Y = (np.arange(12) % 2)[:, None]


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield
    keras.backend.clear_session()


def _model(optimizer):
    inputs = keras.Input((3,), name="a")
    hidden = layers.BatchNormalization()(layers.Dense(4, activation="relu")(inputs))
    made = keras.Model(inputs, layers.Dense(2, activation="softmax", name="y")(hidden))
    made.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    random = np.random.RandomState(0)
    made.set_weights([np.abs(random.normal(size=each.shape)) for each in made.get_weights()])
    return made


def _batches():
    return tf.data.Dataset.from_tensor_slices(({"a": X}, Y)).batch(4)


@pytest.mark.parametrize(
    "optimizer", [lambda: keras.optimizers.SGD(0.1, momentum=0.9), lambda: tf.train.MomentumOptimizer(0.1, 0.9)]
)
def test_an_estimator_trains_a_model_as_the_model_trains_itself(optimizer, tmp_path) -> None:
    model = _model(optimizer())
    estimator = keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))
    estimator.train(_batches, steps=3)
    found = estimator.evaluate(_batches)
    predicted = np.stack([each["y"] for each in estimator.predict(lambda: _batches().map(lambda x, y: x))])
    model.fit(X, Y, batch_size=4, shuffle=False, verbose=0)
    loss, accuracy = model.evaluate(X, Y, batch_size=4, verbose=0)
    assert found["global_step"] == 3
    np.testing.assert_allclose([found["loss"], found["acc"]], [loss, accuracy], rtol=1e-5)
    np.testing.assert_allclose(predicted, model.predict(X), rtol=1e-5)
    assert "dense/kernel" in estimator.get_variable_names()


def test_an_optimizer_of_the_program_s_own_is_made_again_from_its_name(tmp_path) -> None:
    class Slow(keras.optimizers.SGD):
        pass

    estimator = keras.estimator.model_to_estimator(_model(Slow(0.1)), custom_objects={"Slow": Slow}, model_dir=str(tmp_path))
    estimator.train(_batches, steps=1)
    assert estimator.get_variable_value("global_step") == 1


def test_what_cannot_be_an_estimator_is_refused(tmp_path) -> None:
    to_estimator = keras.estimator.model_to_estimator
    with pytest.raises(ValueError, match="needs to be provided"):
        to_estimator()
    with pytest.raises(ValueError, match="has not been compiled yet"):
        to_estimator(keras.Sequential([layers.Dense(1, input_shape=(2,))]))
    unknown = keras.Sequential([layers.Dense(1)])
    unknown.compile("sgd", "mse")
    with pytest.raises(NotImplementedError, match="no known input"):
        to_estimator(unknown)
    estimator = to_estimator(_model("sgd"), model_dir=str(tmp_path))
    with pytest.raises(ValueError, match=r"features names and model input names: \['a'\]"):
        estimator.train(lambda: tf.data.Dataset.from_tensors(({"b": X}, Y)), steps=1)
