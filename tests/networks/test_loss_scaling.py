"""tf.keras' LossScaleOptimizer, with the numbers of TensorFlow 1.15."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

keras = tf.keras
LossScaleOptimizer = keras.mixed_precision.experimental.LossScaleOptimizer
X, Y = np.arange(12).reshape(4, 3) / 10.0, np.ones((4, 1))


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield
    keras.backend.clear_session()


def test_a_model_trains_as_without_a_scale_and_a_step_of_infinite_gradients_changes_the_scale_alone() -> None:
    optimizer = LossScaleOptimizer(keras.optimizers.SGD(0.25, momentum=0.5), "dynamic")
    model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones", input_shape=(3,))])
    model.compile(optimizer, "mse")
    history = model.fit(X, Y, epochs=3, batch_size=2, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["loss"], [1.6295738816, 1.7670475245, 1.4039049558], rtol=1e-5)
    trained = model.get_weights()
    np.testing.assert_allclose(trained[0][:, 0], [0.01024681, 0.04620779, 0.08216864], rtol=1e-4)
    np.testing.assert_allclose(trained[1], [0.35960907], rtol=1e-5)

    model.fit(np.full((2, 3), np.inf), Y[:2], verbose=0)
    for before, after in zip(trained, model.get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)
    assert keras.backend.get_session().run(optimizer.loss_scale()) == 16384.0
    assert keras.backend.get_value(optimizer.iterations) == 6
    assert optimizer.get_slot(model.weights[0], "momentum").shape.as_list() == [3, 1]


def test_a_rate_is_that_of_the_other_optimizer() -> None:
    inner = keras.optimizers.SGD(0.25)
    optimizer = LossScaleOptimizer(inner, 8)
    assert optimizer.lr is inner.learning_rate
    optimizer.lr = 0.125
    assert keras.backend.get_value(inner.lr) == 0.125


def test_losses_are_scaled_and_gradients_unscaled() -> None:
    optimizer = LossScaleOptimizer(keras.optimizers.SGD(0.25), 8)
    variable = keras.backend.variable(2.0)
    update = optimizer.minimize(lambda: variable * variable, [variable])
    found = [optimizer.get_scaled_loss(tf.constant(3.0)), *optimizer.get_unscaled_gradients([tf.constant(16.0)])]
    session = keras.backend.get_session()
    session.run(update)
    assert session.run([variable, *found]) == [1.0, 24.0, 2.0]
    assert session.run(optimizer.get_scaled_loss(lambda: tf.constant(2.0))()) == 16.0
    assert optimizer.get_unscaled_gradients([None]) == [None]


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: LossScaleOptimizer("sgd", 8), r'"opt" must be an instance of OptimizerV2, but got: sgd'),
        (lambda: LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), 8), r'"opt" must be an instance of OptimizerV2'),
        (lambda: LossScaleOptimizer(keras.optimizers.SGD(clipnorm=1.0), 8), r"does not support wrapping.*clipnorm 1\.0"),
        (lambda: LossScaleOptimizer(keras.optimizers.SGD(), "x"), r"Could not interpret loss scale identifier: x"),
    ],
)
def test_what_cannot_be_scaled_is_refused(make, told) -> None:
    with pytest.raises(ValueError, match=told):
        make()


def test_a_config_is_refused_with_what_to_do() -> None:
    with pytest.raises(NotImplementedError, match="save the model's weights"):
        LossScaleOptimizer(keras.optimizers.SGD(), 8).get_config()


def test_replicas_share_a_fixed_scale_and_no_dynamic_one() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])

    def fitted(loss_scale):
        with strategy.scope():
            model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones", input_shape=(3,))])
            sgd = keras.optimizers.SGD(0.25)
            model.compile(sgd if loss_scale is None else LossScaleOptimizer(sgd, loss_scale), "mse")
        model.fit(X, Y, verbose=0, shuffle=False)
        return model.get_weights()[0]

    np.testing.assert_allclose(fitted(8), fitted(None), rtol=1e-6)
    with pytest.raises(NotImplementedError, match="cannot share a dynamic loss scale"):
        fitted("dynamic")
