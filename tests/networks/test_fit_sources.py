"""What a model is fitted with: datasets, generators and sequences of batches."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

keras = tf.keras
X = np.random.RandomState(0).rand(8, 3).astype(np.float32)
Y = X.sum(1, keepdims=True)


@pytest.fixture
def model():
    with tf.Graph().as_default():
        made = keras.Sequential([keras.layers.Dense(1, input_shape=(3,), kernel_initializer="zeros")])
        made.compile(keras.optimizers.SGD(0.1), "mse")
        yield made
    keras.backend.clear_session()


class Batches(keras.utils.Sequence):
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int):
        return X[index * 4 : index * 4 + 4], Y[index * 4 : index * 4 + 4]


def generated():
    while True:
        yield from Batches()


@pytest.mark.parametrize("kind", ["dataset", "generator", "sequence"])
def test_all_sources_train_like_arrays(model, kind: str) -> None:
    expected = model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0).history["loss"]
    model.set_weights([np.zeros((3, 1), np.float32), np.zeros(1, np.float32)])
    if kind == "dataset":
        history = model.fit(tf.data.Dataset.from_tensor_slices((X, Y)).batch(4), epochs=2, verbose=0)
    elif kind == "generator":
        history = model.fit_generator(generated(), steps_per_epoch=2, epochs=2, verbose=0)
    else:
        history = model.fit(Batches(), epochs=2, shuffle=False, verbose=0)
    np.testing.assert_allclose(history.history["loss"], expected, rtol=1e-5)
