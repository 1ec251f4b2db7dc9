"""Networks whose arithmetic is written once and runs as a weft graph and in bare JAX.

A model is its parameters and a loss of them. The loss names operations of a `Library`, which has one version for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, Any]


@dataclass(frozen=True)
class Library:
    """The operations that the models need; arrays are whatever the library computes with."""

    matmul: Callable[[Any, Any], Any]
    relu: Callable[[Any], Any]
    softmax: Callable[[Any], Any]
    rsqrt: Callable[[Any], Any]
    mean: Callable[[Any], Any]
    """Over the last axis, which stays."""
    reshape: Callable[[Any, list[int]], Any]
    transpose: Callable[[Any, list[int]], Any]
    convolve: Callable[[Any, Any], Any]
    """NHWC by HWIO, padded to the same size."""
    pool: Callable[[Any], Any]
    """The greatest of each 2x2."""
    cross_entropy: Callable[[Any, Any], Any]
    """The mean over all rows of logits."""


def tf_library(tf: Any) -> Library:
    """Return the operations of a framework with TF1's names."""
    return Library(
        tf.matmul,
        tf.nn.relu,
        tf.nn.softmax,
        tf.rsqrt,
        lambda x: tf.reduce_mean(x, axis=-1, keepdims=True),
        tf.reshape,
        tf.transpose,
        lambda x, w: tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME"),
        lambda x: tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"),
        lambda z, labels: tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=z)),
    )


def jax_library() -> Library:
    """Return the operations of bare JAX."""
    return Library(
        jnp.matmul,
        jax.nn.relu,
        jax.nn.softmax,
        jax.lax.rsqrt,
        lambda x: jnp.mean(x, axis=-1, keepdims=True),
        jnp.reshape,
        jnp.transpose,
        lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"),
        lambda z, labels: -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(z), labels[:, None], axis=-1)),
    )


@dataclass(frozen=True)
class Model:
    """Shapes of the parameters, the batch, and the loss of both: `loss(library, parameters, inputs, labels)`."""

    shapes: dict[str, list[int]]
    inputs: NDArray[np.float32]
    labels: NDArray[np.int32]
    loss: Callable[[Library, Arrays, Any, Any], Any]

    def initial_values(self) -> dict[str, NDArray[np.float32]]:
        """Return the values to begin with: scaled noise, and zeros for biases, which have one axis."""
        random = np.random.default_rng(1)
        return {name: _initial(random, shape) for name, shape in self.shapes.items()}


def _initial(random: np.random.Generator, shape: list[int]) -> NDArray[np.float32]:
    if len(shape) == 1:
        return np.zeros(shape, np.float32)
    return random.standard_normal(shape, np.float32) * np.float32(1 / math.sqrt(math.prod(shape[:-1])))


def _batch(shape: list[int], rows: int, classes: int) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    random = np.random.default_rng(0)
    return random.random(shape, np.float32), random.integers(0, classes, rows, np.int32)


def perceptron(batch: int, hidden: int) -> Model:
    """784 - `hidden` - `hidden` - 10."""
    sizes = [784, hidden, hidden, 10]
    shapes: dict[str, list[int]] = {}
    for layer in range(3):
        shapes[f"w{layer}"], shapes[f"b{layer}"] = [sizes[layer], sizes[layer + 1]], [sizes[layer + 1]]

    def loss(lib: Library, p: Arrays, x: Any, labels: Any) -> Any:
        for layer in range(3):
            x = lib.matmul(x, p[f"w{layer}"]) + p[f"b{layer}"]
            x = lib.relu(x) if layer < 2 else x
        return lib.cross_entropy(x, labels)

    return Model(shapes, *_batch([batch, 784], batch, 10), loss)


def convolutional(batch: int, channels: int) -> Model:
    """Two 5x5 convolutions with pooling on 28x28, a dense layer of 512, and 10 classes."""
    flat = 7 * 7 * 2 * channels
    shapes = {
        "conv1": [5, 5, 1, channels],
        "conv2": [5, 5, channels, 2 * channels],
        "dense": [flat, 512],
        "dense_bias": [512],
        "output": [512, 10],
        "output_bias": [10],
    }

    def loss(lib: Library, p: Arrays, x: Any, labels: Any) -> Any:
        x = lib.pool(lib.relu(lib.convolve(x, p["conv1"])))
        x = lib.pool(lib.relu(lib.convolve(x, p["conv2"])))
        x = lib.relu(lib.matmul(lib.reshape(x, [batch, flat]), p["dense"]) + p["dense_bias"])
        return lib.cross_entropy(lib.matmul(x, p["output"]) + p["output_bias"], labels)

    return Model(shapes, *_batch([batch, 28, 28, 1], batch, 10), loss)


def transformer(batch: int, length: int, width: int, *, heads: int = 8, layers: int = 2, classes: int = 1000) -> Model:
    """Layers of self-attention and a feed-forward part of four times the width, normalized before each; a class per place."""
    shapes: dict[str, list[int]] = {}
    for layer in range(layers):
        shapes[f"qkv{layer}"], shapes[f"out{layer}"] = [width, 3 * width], [width, width]
        shapes[f"up{layer}"], shapes[f"down{layer}"] = [width, 4 * width], [4 * width, width]
    shapes["classes"] = [width, classes]

    def normalized(lib: Library, x: Any) -> Any:
        centred = x - lib.mean(x)
        return centred * lib.rsqrt(lib.mean(centred * centred) + 1e-5)

    def split(lib: Library, x: Any) -> Any:
        return lib.transpose(lib.reshape(x, [batch, length, heads, width // heads]), [0, 2, 1, 3])

    def attention(lib: Library, x: Any, qkv: Any, out: Any) -> Any:
        projected = lib.matmul(lib.reshape(x, [batch * length, width]), qkv)
        q, k, v = (split(lib, projected[:, i * width : (i + 1) * width]) for i in range(3))
        scores = lib.matmul(q, lib.transpose(k, [0, 1, 3, 2])) * (1 / math.sqrt(width // heads))
        mixed = lib.transpose(lib.matmul(lib.softmax(scores), v), [0, 2, 1, 3])
        return lib.reshape(lib.matmul(lib.reshape(mixed, [batch * length, width]), out), [batch, length, width])

    def feed_forward(lib: Library, x: Any, up: Any, down: Any) -> Any:
        hidden = lib.relu(lib.matmul(lib.reshape(x, [batch * length, width]), up))
        return lib.reshape(lib.matmul(hidden, down), [batch, length, width])

    def loss(lib: Library, p: Arrays, x: Any, labels: Any) -> Any:
        for layer in range(layers):
            x = x + attention(lib, normalized(lib, x), p[f"qkv{layer}"], p[f"out{layer}"])
            x = x + feed_forward(lib, normalized(lib, x), p[f"up{layer}"], p[f"down{layer}"])
        logits = lib.matmul(lib.reshape(normalized(lib, x), [batch * length, width]), p["classes"])
        return lib.cross_entropy(logits, labels)

    return Model(shapes, *_batch([batch, length, width], batch * length, classes), loss)
