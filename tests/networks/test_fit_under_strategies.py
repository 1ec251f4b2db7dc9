"""A model that is made under a strategy's scope is trained by its replicas, each on a part of the batch."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

keras = tf.keras
X = np.arange(8, dtype=np.float32).reshape(8, 1)


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield
    keras.backend.clear_session()


def _strategy():
    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


def _model(strategy):
    with strategy.scope():
        model = keras.Sequential([keras.layers.BatchNormalization(momentum=0.5, input_shape=(1,))])
        model.compile("sgd", "mse")
    return model


def test_each_replica_normalizes_its_part_and_the_averages_are_saved_as_their_mean() -> None:
    model = _model(_strategy())
    model.fit(X, X, batch_size=8, verbose=0, shuffle=False)
    mean = model.layers[0].moving_mean
    assert [float(each[0]) for each in keras.backend.get_session().run(list(mean.values))] == [0.75, 2.75]
    assert float(model.get_weights()[2][0]) == 1.75
    model.set_weights([each + 1 for each in model.get_weights()])
    assert [float(each[0]) for each in keras.backend.get_session().run(list(mean.values))] == [2.75, 2.75]


def test_predictions_take_a_batch_that_replicas_cannot_share_evenly_and_training_says_so() -> None:
    model = _model(_strategy())
    assert model.predict(X[:7], batch_size=4).shape == (7, 1)
    with pytest.raises(ValueError, match="batch of 3 examples cannot be divided evenly among 2 replicas"):
        model.train_on_batch(X[:3], X[:3])


def test_a_model_from_outside_the_scope_cannot_be_compiled_there() -> None:
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
    with _strategy().scope(), pytest.raises(ValueError, match="was not created in the distribution strategy scope"):
        model.compile("sgd", "mse")


def test_a_strategy_over_servers_names_the_way_by_an_estimator() -> None:
    strategy = tf.distribute.experimental.ParameterServerStrategy()
    with strategy.scope(), pytest.raises(NotImplementedError, match="model_to_estimator"):
        keras.Sequential()


def test_added_metrics_and_losses_are_those_of_the_replicas() -> None:
    with _strategy().scope():
        inputs = keras.Input((1,))
        outputs = keras.layers.Dense(1, kernel_initializer="ones", activity_regularizer=keras.regularizers.l2(0.5))(inputs)
        model = keras.Model(inputs, outputs)
        model.add_metric(tf.reduce_mean(outputs), name="height", aggregation="mean")
        model.compile("sgd", keras.losses.MeanSquaredError(reduction="sum"))
    found = model.evaluate(X, X, batch_size=8, verbose=0)
    # Each replica's penalty is divided by its number of examples, and the penalties' mean is taken.
    np.testing.assert_allclose(found, [0.5 * (X[:4] ** 2).sum() / 8 + 0.5 * (X[4:] ** 2).sum() / 8, 3.5], rtol=1e-5)


def test_histograms_are_written_of_a_model_on_replicas(tmp_path) -> None:
    with tf.Graph().as_default():
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
            model.compile("sgd", "mse")
        x, y = np.ones((4, 3)), np.ones((4, 1))
        board = tf.keras.callbacks.TensorBoard(str(tmp_path), histogram_freq=1)
        model.fit(x, y, verbose=0, validation_data=(x, y), callbacks=[board])
    (path,) = tmp_path.iterdir()
    tags = [value.tag for event in tf.train.summary_iterator(str(path)) for value in event.summary.value]
    assert tags[:3] == ["dense/kernel_0", "dense/bias_0", "dense_out"]
