"""Training of models that share layers, freeze each other, or take tensors of the graph."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

keras = tf.keras
layers = keras.layers


def _random(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.RandomState(seed).rand(*shape).astype(np.float32)


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield
    keras.backend.clear_session()


def _set(model) -> None:
    random = np.random.RandomState(0)
    model.set_weights([random.normal(size=each.shape) * 0.3 for each in model.get_weights()])


def test_a_shared_normalization_follows_the_calls_of_the_model_that_is_trained() -> None:
    inner = keras.Sequential([layers.Dense(4, input_shape=(3,)), layers.BatchNormalization(momentum=0.5)])
    left, right = keras.Input((3,)), keras.Input((3,))
    model = keras.Model([left, right], layers.add([inner(left), inner(right)]))
    model.compile(keras.optimizers.SGD(0.0), "mse")
    x = _random(8, 3)
    kernel, bias = inner.layers[0].get_weights()
    model.train_on_batch([x, x], np.zeros((8, 4)))
    # Two updates by the same mean, each of which moves the average half of the way from where it has read it.
    mean, moved = (x @ kernel + bias).mean(0), inner.layers[1].get_weights()[2]
    np.testing.assert_array_less(0.74, moved / mean)
    np.testing.assert_array_less(moved / mean, 1.01)
    assert len(model.updates) == len(inner.updates) == 6


def test_a_network_that_is_frozen_after_it_was_compiled_still_trains_by_itself() -> None:
    judge = keras.Sequential([layers.Dense(1, activation="sigmoid", input_shape=(3,))])
    judge.compile("sgd", "binary_crossentropy")
    judge.trainable = False
    maker = keras.Sequential([layers.Dense(3, input_shape=(2,))])
    both = keras.Model(maker.input, judge(maker.output))
    both.compile("sgd", "binary_crossentropy")
    assert (len(both.trainable_weights), len(judge.trainable_weights)) == (2, 0)
    frozen = judge.get_weights()
    both.train_on_batch(_random(4, 2), np.ones((4, 1)))
    np.testing.assert_array_equal(judge.get_weights()[0], frozen[0])
    judge.train_on_batch(_random(4, 3), np.zeros((4, 1)))
    assert np.abs(judge.get_weights()[0] - frozen[0]).max() > 0


def test_the_sums_of_adagrad_begin_at_0_where_only_its_name_is_given() -> None:
    named, made = keras.optimizers.get("adagrad"), keras.optimizers.Adagrad()
    assert named.get_config() == {**made.get_config(), "initial_accumulator_value": 0.0}
    assert keras.optimizers.Adagrad.from_config(made.get_config()).get_config()["initial_accumulator_value"] == 0.1
    model = keras.Sequential([layers.Dense(1, input_shape=(1,), use_bias=False, kernel_initializer="ones")])
    model.compile("adagrad", "mse")
    model.train_on_batch(np.ones((1, 1)), np.zeros((1, 1)))
    # TensorFlow 1.15.5: the first step is the whole rate.
    np.testing.assert_allclose(model.get_weights()[0], [[0.999]], rtol=1e-6)


def test_a_model_is_fitted_to_tensors_of_the_graph() -> None:
    x, y = _random(12, 3), _random(12, 2)
    fed, given = (keras.Sequential([layers.Dense(2, input_shape=(3,))]) for _ in range(2))
    for model in (fed, given):
        model.compile("sgd", "mse")
        _set(model)
    tensors = tf.data.Dataset.from_tensor_slices((x, y)).batch(4).repeat().make_one_shot_iterator().get_next()
    history = given.fit(*tensors, steps_per_epoch=3, verbose=0).history
    expected = fed.fit(x, y, batch_size=4, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["loss"], expected["loss"], rtol=1e-5)
    with pytest.raises(ValueError, match="specify the `steps_per_epoch` argument"):
        given.fit(*tensors)


def test_each_validation_begins_a_dataset_anew_and_callbacks_hear_of_it() -> None:
    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    model.compile(keras.optimizers.SGD(0.0), "mse")
    heard = []

    class Listener(keras.callbacks.Callback):
        def on_test_begin(self, logs=None) -> None:
            heard.append("begin")

        def on_test_batch_end(self, batch, logs=None) -> None:
            heard.append(batch)

    data = tf.data.Dataset.from_tensor_slices((_random(12, 3), _random(12, 2))).batch(4)
    history = model.fit(
        data.repeat(), steps_per_epoch=1, epochs=2, validation_data=data, validation_steps=2, verbose=0, callbacks=[Listener()]
    ).history
    assert history["val_loss"][0] == history["val_loss"][1]
    assert heard == ["begin", 0, 1] * 2


def test_a_clone_is_built_on_tensors_and_of_layers_that_a_function_makes() -> None:
    inputs = keras.Input((3,))
    model = keras.Model(inputs, layers.Dense(2)(layers.Dense(4, activation="relu")(inputs)))
    values = tf.placeholder(tf.float32, [None, 3])

    def wider(layer):
        return type(layer).from_config({**layer.get_config(), "use_bias": False})

    clone = keras.models.clone_model(model, input_tensors=values, clone_function=wider)
    assert [len(layer.weights) for layer in clone.layers] == [0, 1, 1]
    _set(clone)
    session = keras.backend.get_session()
    kernels = clone.get_weights()
    x = _random(2, 3)
    np.testing.assert_allclose(session.run(clone.output, {values: x}), np.maximum(x @ kernels[0], 0) @ kernels[1], rtol=1e-5)
