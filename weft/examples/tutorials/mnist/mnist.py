"""The model of the MNIST tutorials: two hidden layers, a loss and a training step, each a function of tensors."""

from __future__ import annotations

import math
from typing import Any, Final

from weft.framework.building.graph_functions import name_scope
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import zeros
from weft.ops.array.topk import in_top_k
from weft.ops.math.casting import cast
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_mean, reduce_sum
from weft.ops.nn.activation import relu
from weft.ops.nn.softmax import sparse_softmax_cross_entropy_with_logits
from weft.ops.random.functions import truncated_normal
from weft.ops.summary.nodes import scalar
from weft.ops.variables.variable import Variable as _Variable
from weft.training.optimizers.gradient_descent import GradientDescentOptimizer

NUM_CLASSES: Final = 10
IMAGE_SIZE: Final = 28
IMAGE_PIXELS: Final = IMAGE_SIZE * IMAGE_SIZE

# Which class a call makes, and so what it takes, depends on its arguments.
Variable: Any = _Variable


def inference(images: Tensor, hidden1_units: int, hidden2_units: int) -> Tensor:
    """The logits `[batch, 10]` of images `[batch, 784]`.

    Args:
        images: float32.
        hidden1_units, hidden2_units: the sizes of the two hidden layers.
    """
    with name_scope("hidden1"):
        hidden = relu(_affine(images, IMAGE_PIXELS, hidden1_units))
    with name_scope("hidden2"):
        hidden = relu(_affine(hidden, hidden1_units, hidden2_units))
    with name_scope("softmax_linear"):
        logits: Tensor = _affine(hidden, hidden2_units, NUM_CLASSES)
    return logits


def _affine(inputs: Tensor, size: int, units: int) -> Any:
    weights = Variable(truncated_normal([size, units], stddev=1.0 / math.sqrt(size)), name="weights")
    biases = Variable(zeros([units]), name="biases")
    return matmul(inputs, weights) + biases


def loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The mean cross entropy between logits `[batch, 10]` and labels `[batch]`.

    Args:
        logits: float32.
        labels: integers from 0 to 9.
    """
    labels = cast(labels, dtypes.int64)
    entropies = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
    return reduce_mean(entropies, name="xentropy_mean")


def training(loss: Tensor, learning_rate: float) -> Operation:
    """The operation of one step of gradient descent; the loss is summarized, and a variable `global_step` counts the steps.

    Args:
        loss: the loss, [] float32.
        learning_rate: the learning rate.
    """
    scalar("loss", loss)
    global_step = Variable(0, name="global_step", trainable=False)
    return GradientDescentOptimizer(learning_rate).minimize(loss, global_step=global_step)


def evaluation(logits: Tensor, labels: Tensor) -> Tensor:
    """How many of the batch are classified correctly, int32.

    Args:
        logits: `[batch, 10]` float32.
        labels: `[batch]` integers.
    """
    return reduce_sum(cast(in_top_k(logits, labels, 1), dtypes.int32))
