"""Cells and layers of graphs in layers of Keras: their variables are the layer's, and fit trains them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf

_X = np.random.RandomState(0).rand(8, 4, 2).astype(np.float32)
_Y = np.random.RandomState(1).rand(8, 1).astype(np.float32)


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield
    tf.keras.backend.clear_session()


class _Over(tf.keras.layers.Layer):
    """The last outputs of a cell of tf.nn.rnn_cell."""

    def __init__(self, cell: Any) -> None:
        super().__init__(name="over")
        self.cell = cell

    def call(self, inputs: Any) -> Any:
        return tf.nn.dynamic_rnn(self.cell, inputs, dtype=tf.float32)[0][:, -1]


class _WithDense(tf.keras.Model):
    """A cell of tf.nn.rnn_cell and a layer of tf.layers, both held by a model."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = tf.nn.rnn_cell.GRUCell(3)
        self.dense = tf.layers.Dense(1)

    def call(self, inputs: Any) -> Any:
        return self.dense(tf.nn.static_rnn(self.cell, tf.unstack(inputs, axis=1), dtype=tf.float32)[1])


def _model(layer: Any) -> Any:
    inputs = tf.keras.Input((4, 2))
    return tf.keras.Model(inputs, layer(inputs))


def _losses(model: Any, target: np.ndarray = _Y) -> list[float]:
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    return model.fit(_X, target, epochs=4, verbose=0, shuffle=False, batch_size=8).history["loss"]


def test_the_weights_of_a_cell_in_a_layer_are_the_layers() -> None:
    model = _model(_Over(tf.nn.rnn_cell.GRUCell(3)))
    assert [each.op.name for each in model.trainable_weights] == [
        f"rnn/gru_cell/{part}/{kind}" for part in ("gates", "candidate") for kind in ("kernel", "bias")
    ]
    assert model.count_params() == 54


def test_fit_trains_a_cell_and_a_graphs_layer_that_a_model_holds() -> None:
    tf.set_random_seed(3)
    model = _WithDense()
    losses = _losses(model)
    assert losses == sorted(losses, reverse=True)
    assert len(model.trainable_weights) == 6


def test_a_model_with_a_cell_of_the_same_seed_has_the_losses_of_tensorflow() -> None:
    tf.set_random_seed(3)

    class Model(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.cell, self.dense = tf.nn.rnn_cell.GRUCell(3), tf.keras.layers.Dense(1)

        def call(self, inputs: Any) -> Any:
            return self.dense(tf.nn.static_rnn(self.cell, tf.unstack(inputs, axis=1), dtype=tf.float32)[1])

    random = np.random.RandomState(0)
    model = Model()
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    x, y = random.rand(8, 4, 2).astype(np.float32), random.rand(8, 1).astype(np.float32)
    losses = model.fit(x, y, epochs=4, verbose=0, shuffle=False, batch_size=8).history["loss"]
    np.testing.assert_allclose(losses, [0.576689, 0.182642, 0.10217, 0.0835614], rtol=1e-5)


def test_a_layer_that_is_held_makes_resource_variables_and_one_that_is_not_those_of_the_scope() -> None:
    model = _WithDense()
    model(tf.constant(_X))
    assert {type(each).__name__ for each in model.weights} == {"ResourceVariable"}
    free = tf.layers.Dense(1)
    free(tf.constant(_Y))
    assert {type(each).__name__ for each in free.weights} == {"RefVariable"}


def test_a_frozen_layer_freezes_its_cell() -> None:
    model = _model(_Over(tf.nn.rnn_cell.BasicRNNCell(3)))
    model.layers[1].trainable = False
    assert model.trainable_weights == []
    assert len(model.non_trainable_weights) == 2


def test_weights_of_a_cell_are_saved_and_restored_with_the_model(tmp_path: Any) -> None:
    model = _WithDense()
    _losses(model)
    model.save_weights(str(tmp_path / "weights"))
    saved = model.get_weights()
    names = [name for name, _ in tf.train.list_variables(str(tmp_path / "weights"))]
    assert "cell/gates.Skernel/.ATTRIBUTES/VARIABLE_VALUE" in names
    model.set_weights([np.zeros_like(each) for each in saved])
    model.load_weights(str(tmp_path / "weights"))
    for now, before in zip(model.get_weights(), saved, strict=True):
        np.testing.assert_array_equal(now, before)


@pytest.mark.parametrize(("cell", "numbers"), [("GRUCell", 54), ("LSTMCell", 72), ("BasicRNNCell", 18)])
def test_a_layer_of_keras_runs_and_trains_a_cell_of_tensorflows(cell: str, numbers: int) -> None:
    tf.set_random_seed(4)
    model = _model(tf.keras.layers.RNN(getattr(tf.nn.rnn_cell, cell)(3)))
    assert model.count_params() == numbers
    losses = _losses(model, np.ones((8, 3), np.float32))
    assert losses == sorted(losses, reverse=True)


def test_a_layer_of_keras_gives_what_dynamic_rnn_gives_of_the_same_cell() -> None:
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(3), tf.nn.rnn_cell.GRUCell(2)])
    ours, *last = tf.keras.layers.RNN(cell, return_sequences=True, return_state=True)(tf.constant(_X))
    theirs, states = tf.nn.dynamic_rnn(cell, tf.constant(_X), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run([ours, *last])
        wanted = session.run([theirs, *states[0], states[1]])
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
