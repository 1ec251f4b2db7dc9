"""The models that several measures train, as a program of TensorFlow 1 would write them."""

from __future__ import annotations

from typing import Any

import numpy as np


def layered_weights(tf: Any, name: str, shape: list[int]) -> tuple[Any, Any]:
    """Return the weight and bias variables of a dense or convolution layer."""
    weight = tf.get_variable(f"{name}/weight", shape, initializer=tf.truncated_normal_initializer(stddev=0.1, seed=1))
    bias = tf.get_variable(f"{name}/bias", shape[-1:], initializer=tf.zeros_initializer())
    return weight, bias


def dense(tf: Any, name: str, x: Any, inputs: int, outputs: int) -> Any:
    weight, bias = layered_weights(tf, name, [inputs, outputs])
    return tf.matmul(x, weight) + bias


def perceptron(tf: Any, images: Any, hidden: int) -> Any:
    """Logits of 784 - `hidden` - 10."""
    return dense(tf, "output", tf.nn.relu(dense(tf, "hidden", images, 784, hidden)), hidden, 10)


def convolution(tf: Any, name: str, x: Any, inputs: int, outputs: int) -> Any:
    """A 5x5 convolution, relu, and pooling by two."""
    weight, bias = layered_weights(tf, name, [5, 5, inputs, outputs])
    activated = tf.nn.relu(tf.nn.conv2d(x, weight, strides=[1, 1, 1, 1], padding="SAME") + bias)
    return tf.nn.max_pool(activated, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")


def convolutional(tf: Any, images: Any) -> Any:
    """Logits of two convolutions of 32 and 64 channels and a dense layer of 512."""
    x = convolution(tf, "conv1", tf.reshape(images, [-1, 28, 28, 1]), 1, 32)
    x = convolution(tf, "conv2", x, 32, 64)
    x = tf.nn.relu(dense(tf, "dense", tf.reshape(x, [-1, 7 * 7 * 64]), 7 * 7 * 64, 512))
    return dense(tf, "output", x, 512, 10)


def residual(tf: Any, images: Any) -> Any:
    """Logits of ResNet-20 for small pictures: three groups of three blocks, of 16, 32 and 64 channels."""
    x = tf.nn.relu(_normalized_convolution(tf, "first", images, 16, 1))
    for group, channels in enumerate((16, 32, 64)):
        for block in range(3):
            stride = 2 if group and not block else 1
            made = tf.nn.relu(_normalized_convolution(tf, f"group{group}/block{block}/first", x, channels, stride))
            made = _normalized_convolution(tf, f"group{group}/block{block}/second", made, channels, 1)
            if stride == 2:
                # The shortcut takes every second element, and has zeros for further channels.
                x = tf.pad(x[:, ::2, ::2, :], [[0, 0], [0, 0], [0, 0], [0, channels // 2]])
            x = tf.nn.relu(x + made)
    return dense(tf, "output", tf.reduce_mean(x, [1, 2]), 64, 10)


def _normalized_convolution(tf: Any, name: str, x: Any, outputs: int, stride: int) -> Any:
    weight, offset = layered_weights(tf, name, [3, 3, int(x.shape[-1]), outputs])
    scale = tf.get_variable(f"{name}/scale", [outputs], initializer=tf.ones_initializer())
    made = tf.nn.conv2d(x, weight, strides=[1, stride, stride, 1], padding="SAME")
    return tf.nn.fused_batch_norm(made, scale, offset)[0]


def cross_entropy(tf: Any, logits: Any, labels: Any) -> Any:
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def embedding_loss(tf: Any, table: Any, ids: Any, strategy: str = "mod") -> Any:
    """A loss whose gradient to `table` is sparse: the mean square of the looked-up rows against one."""
    rows = tf.nn.embedding_lookup(table, ids, partition_strategy=strategy)
    return tf.reduce_mean(tf.square(rows - 1.0))


def digits(count: int) -> tuple[np.ndarray[Any, np.dtype[np.float32]], np.ndarray[Any, np.dtype[np.int32]]]:
    """`[count, 784] float32` noise and `[count] int32` labels, the same for both frameworks."""
    generator = np.random.default_rng(0)
    return generator.random((count, 784), np.float32), generator.integers(0, 10, count, np.int32)


def pictures(count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """`[count, 32, 32, 3] float32` noise, the same for both frameworks."""
    return np.random.default_rng(0).random((count, 32, 32, 3), np.float32)


def random_ids(count: int, limit: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.random.default_rng(seed).integers(0, limit, count, np.int32)
