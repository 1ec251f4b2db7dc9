"""Layers and wrappers that programs write themselves, in the ways of 2019. Names and counts are TensorFlow 1.15's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf

layers = tf.keras.layers


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield
    tf.keras.backend.clear_session()


class WeightNorm(layers.Wrapper):  # type: ignore[misc]
    """A kernel in two parts, length and direction, as wrappers of several libraries have it."""

    def __init__(self, layer: Any) -> None:
        super().__init__(layer, input_shape=(3,))
        self._track_trackable(self.layer, name="layer")

    def build(self, input_shape: Any = None) -> None:
        self.layer.build(input_shape)
        self.layer.built = False
        self.layer.v = self.layer.kernel
        self.layer.g = self.layer.add_variable(name="g", shape=(4,), initializer=tf.keras.initializers.get("ones"))
        self.layer.built = True
        super().build()

    def call(self, inputs: tf.Tensor) -> Any:
        self.layer.kernel = tf.nn.l2_normalize(self.layer.v, axis=[0]) * self.layer.g
        return self.layer(inputs)


def test_a_wrapper_may_take_a_layer_apart() -> None:
    model = tf.keras.Sequential([WeightNorm(layers.Dense(4)), layers.Dense(1)])
    assert [each.name for each in model.trainable_weights] == [
        "weight_norm/kernel:0", "weight_norm/bias:0", "weight_norm/g:0", "dense_1/kernel:0", "dense_1/bias:0"
    ]  # fmt: skip
    model.compile("sgd", "mse")
    losses = model.fit(np.ones((8, 3), "f"), np.ones((8, 1), "f"), verbose=0, epochs=4).history["loss"]
    assert losses[-1] < losses[0]


def test_a_wrapper_may_be_as_trainable_as_what_it_wraps() -> None:
    class Plain(layers.Wrapper):  # type: ignore[misc]
        @property
        def trainable(self) -> bool:
            return bool(self.layer.trainable)

        @trainable.setter
        def trainable(self, value: bool) -> None:
            self.layer.trainable = value

        def call(self, inputs: tf.Tensor) -> Any:
            return self.layer(inputs)

    wrapped = Plain(layers.Dense(2, trainable=False))
    wrapped(tf.ones([1, 3]))
    assert (wrapped.trainable, wrapped.layer.trainable, len(wrapped.trainable_weights)) == (False, False, 0)
    wrapped.trainable = True
    assert (wrapped.layer.trainable, len(wrapped.trainable_weights)) == (True, 2)
    assert not layers.TimeDistributed(layers.Dense(2, trainable=False)).layer.trainable


def test_weights_that_a_layer_puts_into_the_lists_are_its_own() -> None:
    class Scaled(layers.Layer):  # type: ignore[misc]
        def build(self, input_shape: Any) -> None:
            self.scale = tf.Variable(2.0, name="scale")
            self._trainable_weights.append(self.scale)
            self._non_trainable_weights.append(tf.Variable(1.0, name="seen"))
            self.shift = self.add_weight("shift", (1,))
            super().build(input_shape)

        def call(self, inputs: tf.Tensor) -> Any:
            return inputs * self.scale + self.shift

    layer = Scaled()
    layer(tf.ones([2, 3]))
    assert [each.op.name for each in layer.trainable_weights] == ["scaled/scale", "scaled/shift"]
    assert [each.op.name for each in layer.non_trainable_weights] == ["scaled/seen"]
    layer.trainable = False
    assert layer.trainable_weights == []
    assert len(layer.non_trainable_weights) == 3


def test_a_layer_may_hold_another_one_before_its_constructor_has_run() -> None:
    class Tied(layers.Layer):  # type: ignore[misc]
        def __init__(self, dense: Any) -> None:
            self.dense = dense
            super().__init__()

        def call(self, inputs: tf.Tensor) -> Any:
            return tf.matmul(inputs, self.dense.kernel, transpose_b=True)

    dense = layers.Dense(2)
    tied = Tied(dense)
    assert tied(dense(layers.Input((3,)))).shape.as_list() == [None, 3]
    assert [each.op.name for each in tied.weights] == ["dense/kernel", "dense/bias"]


def test_a_recurrent_layer_of_a_programs_own_may_set_its_states() -> None:
    class Begun(layers.LSTM):  # type: ignore[misc]
        def __init__(self, units: int) -> None:
            super().__init__(units)
            self.states = [None, None]

    layer = Begun(2)
    assert layer(layers.Input((4, 3))).shape.as_list() == [None, 2]
    first, second = tf.zeros([1, 2]), tf.ones([1, 2])
    layer.states = [first, second]
    assert list(layer.states) == [first, second]


def test_a_clone_of_other_layers_has_the_inputs_of_the_model() -> None:
    model = tf.keras.Sequential([layers.Dense(2, input_shape=(3,)), layers.Dense(1)])
    clone = tf.keras.models.clone_model(model, clone_function=lambda layer: layers.Dense(layer.units, name=layer.name))
    assert clone.built
    assert [each.shape for each in clone.get_weights()] == [(3, 2), (2,), (2, 1), (1,)]
    late = tf.keras.Sequential([layers.Dense(2)])
    assert not tf.keras.models.clone_model(late, clone_function=lambda layer: layers.Dense(layer.units)).built
