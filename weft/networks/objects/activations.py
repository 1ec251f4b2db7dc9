"""tf.keras.activations: functions of tensors that layers take by name."""

from __future__ import annotations

from typing import Final

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.networks.objects import registry
from weft.ops.array.selection import where
from weft.ops.math import unary
from weft.ops.math.casting import cast
from weft.ops.math.clip import clip_by_value
from weft.ops.math.comparison import greater
from weft.ops.math.reduce_functions import reduce_max, reduce_sum
from weft.ops.nn import activation as nn
from weft.ops.nn.softmax import softmax as nn_softmax


def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Softmax over an axis; ValueError for vectors, which have no batch.

    Args:
        x: a tensor of rank 2 or more and of a floating dtype.
        axis: the dimension whose elements come to a sum of 1.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: `x` is a vector.
    """
    tensor = convert_to_tensor(x)
    rank = tensor.shape.ndims
    if rank == 2:
        return nn_softmax(tensor)
    if rank is not None and rank > 2:
        shifted = unary.exp(tensor - reduce_max(tensor, axis=axis, keepdims=True))
        return shifted / reduce_sum(shifted, axis=axis, keepdims=True)
    raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {tensor}")


def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """`x` where positive, else `alpha * (exp(x) - 1)`.

    Args:
        x: a tensor of a floating dtype, any shape.
        alpha: what very negative elements come to, with a minus.

    Returns:
        A tensor of the same shape and dtype.
    """
    tensor = convert_to_tensor(x)
    made = nn.elu(tensor)
    return made if alpha == 1 else where(greater(tensor, 0.0), made, alpha * made)


def selu(x: TensorLike) -> Tensor:
    """The scaled exponential linear unit of Klambauer et al. (2017).

    Args: those of `tf.keras.activations.tanh`.
    """
    with get_default_graph().node_count.as_many_as(8):  # of TensorFlow's scaled elu
        return nn.selu(convert_to_tensor(x))


def softplus(x: TensorLike) -> Tensor:
    """`log(exp(x) + 1)`.

    Args: those of `tf.keras.activations.tanh`.
    """
    return nn.softplus(x)


def softsign(x: TensorLike) -> Tensor:
    """`x / (|x| + 1)`.

    Args: those of `tf.keras.activations.tanh`.
    """
    return nn.softsign(x)


def relu(x: TensorLike, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0) -> Tensor:
    """`x` above the threshold, up to `max_value`, and `alpha * (x - threshold)` below it.

    Args:
        x: a tensor of numbers, any shape.
        alpha: the slope below the threshold.
        max_value: the greatest result; none when None.
        threshold: where the upper line begins.

    Returns:
        A tensor of the same shape and dtype.
    """
    if alpha == 0 and threshold == 0 and max_value is None:
        return nn.relu(x)
    if alpha == 0 and threshold == 0 and max_value == 6:
        return nn.relu6(x)
    tensor = convert_to_tensor(x)
    if alpha != 0 and max_value is None and threshold == 0:
        return nn.leaky_relu(tensor, alpha)
    negative = nn.relu(-tensor + threshold if threshold != 0 else -tensor) if alpha != 0 else None
    positive = _clipped_above(tensor, threshold, max_value)
    return positive if negative is None else positive - alpha * negative


def _clipped_above(tensor: Tensor, threshold: float, max_value: float | None) -> Tensor:
    if threshold == 0 and max_value == 6:
        return nn.relu6(tensor)
    made = tensor * cast(greater(tensor, threshold), tensor.dtype) if threshold != 0 else nn.relu(tensor)
    return made if max_value is None else clip_by_value(made, 0.0, max_value)


def tanh(x: TensorLike) -> Tensor:
    """The hyperbolic tangent.

    Args:
        x: a tensor of a floating dtype, any shape.

    Returns:
        A tensor of the same shape and dtype.
    """
    return unary.tanh(x)


def sigmoid(x: TensorLike) -> Tensor:
    """`1 / (1 + exp(-x))`.

    Args: those of `tf.keras.activations.tanh`.
    """
    return unary.sigmoid(x)


def exponential(x: TensorLike) -> Tensor:
    """`exp(x)`.

    Args: those of `tf.keras.activations.tanh`.
    """
    return unary.exp(x)


def hard_sigmoid(x: TensorLike) -> Tensor:
    """A sigmoid of three straight lines: `0.2 x + 0.5`, between 0 and 1.

    Args: those of `tf.keras.activations.tanh`.
    """
    return clip_by_value(convert_to_tensor(x) * 0.2 + 0.5, 0.0, 1.0)


def linear(x: TensorLike) -> TensorLike:
    """The argument.

    Args:
        x: anything.
    """
    return x


OBJECTS: Final = {
    each.__name__: each
    for each in (
        softmax, elu, selu, softplus, softsign, relu, tanh, sigmoid, exponential, hard_sigmoid, linear,
    )
}  # fmt: skip


def get(identifier: Nest) -> Nest:
    """The function that a name stands for; `linear` for None.

    Args:
        identifier: a name such as "relu", a function, or None.

    Raises:
        ValueError: nobody knows the name.
        TypeError: it is none of these.
    """
    if identifier is None:
        return linear
    if isinstance(identifier, str):
        return registry.deserialize_keras_object(identifier, OBJECTS, printable_module_name="activation function")
    if callable(identifier):
        return identifier
    raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")


def serialize(activation: Nest) -> Nest:
    """The name of an activation; an object's config.

    Args:
        activation: a function, or an object with `get_config`.
    """
    return registry.serialize_keras_object(activation)


deserialize = registry.deserializer(OBJECTS, "activation function", "name")
