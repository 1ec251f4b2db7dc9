"""Activation functions of neural networks and their gradient ops: relu and its kin, elu, selu, softplus, softsign, swish."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import zeros_like
from weft.ops.array.joining import concat
from weft.ops.array.selection import select_node
from weft.ops.declaration import one_shape, op, same_as_input
from weft.ops.dispatch import dispatchable
from weft.ops.gradient_nodes import always
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import to_float
from weft.ops.math.comparison import less
from weft.ops.math.elementwise import FLOATS, REAL, add, mul, neg, real_div
from weft.ops.math.unary import exp, sigmoid
from weft.ops.nn.masking import chosen, masked
from weft.ops.ragged.elementwise import take_ragged

_SELU_SCALE: Final = 1.0507009873554804934193349852946
_SELU_SCALED_ALPHA: Final = 1.7580993408473768599402175208123


def _zero(x: Array) -> Array:
    return np.zeros((), x.dtype)


def _linear_gradient(grad_op: Callable[..., Tensor], node: Operation, grad: Tensor) -> Gradients:
    """The gradient of a gradient op that is linear in its first input and piecewise constant in its second."""
    features = node.inputs[1]
    attrs = {"alpha": node.attrs["alpha"]} if "alpha" in node.attrs else {}
    return [grad_op(grad, features, **attrs), zeros_like(features)]


# Relu and its kin.


def _relu_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [relu_grad(grad, node.outputs[0])]


@op("Relu", "features: T -> activations: T", infer=same_as_input, types={"T": REAL},
    gradient=_relu_gradient)  # fmt: skip
def relu(xp: ArrayModule, features: Array) -> Result:
    """`max(features, 0)`: `[...] -> [...]`.

    >>> sess.run(tf.nn.relu([-1.0, 2.0]))
    array([0., 2.], dtype=float32)

    Args:
        features: [...] tensor of a floating or integer dtype; the result has its shape and dtype.

    Returns:
        [...] tensor of the type and shape of the argument.

    Raises:
        TypeError: `features` is of another dtype.
    """
    return xp.maximum(features, _zero(features))


def _relu_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    return _linear_gradient(relu_grad, node, grad)


@op("ReluGrad", "gradients: T, features: T -> backprops: T", infer=one_shape, types={"T": REAL},
    gradient=_relu_grad_gradient, gradient_nodes=always(4))  # fmt: skip
def relu_grad(xp: ArrayModule, gradients: Array, features: Array) -> Result:
    """The gradient of Relu, from its input or its output: `[...], [...] -> [...]`."""
    return masked(xp, features > _zero(features), gradients)


def _relu6_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [relu6_grad(grad, node.outputs[0])]


@op("Relu6", "features: T -> activations: T", infer=same_as_input, types={"T": REAL},
    gradient=_relu6_gradient)  # fmt: skip
def relu6(xp: ArrayModule, features: Array) -> Result:
    """`min(max(features, 0), 6)`: `[...] -> [...]`.

    Args: those of `tf.nn.relu`.
    """
    return xp.minimum(xp.maximum(features, _zero(features)), np.asarray(6, features.dtype))


def _relu6_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    return _linear_gradient(relu6_grad, node, grad)


@op("Relu6Grad", "gradients: T, features: T -> backprops: T", infer=one_shape, types={"T": REAL},
    gradient=_relu6_grad_gradient, gradient_nodes=always(4))  # fmt: skip
def relu6_grad(xp: ArrayModule, gradients: Array, features: Array) -> Result:
    """The gradient of Relu6, from its input or its output: `[...], [...] -> [...]`."""
    inside = (features > _zero(features)) & (features < np.asarray(6, features.dtype))
    return masked(xp, inside, gradients)


def _leaky_relu_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [leaky_relu_grad(grad, node.inputs[0], alpha=node.attrs["alpha"])]


@op("LeakyRelu", "features: T -> activations: T", infer=same_as_input, types={"T": FLOATS}, defaults={"T": dtypes.float32},
    gradient=_leaky_relu_gradient)  # fmt: skip
def leaky_relu_node(xp: ArrayModule, features: Array, *, alpha: float = 0.2) -> Result:
    """`features` where positive, else `alpha * features`: `[...] -> [...]`."""
    return chosen(xp, features > _zero(features), features, features * np.asarray(alpha, features.dtype))


def _leaky_relu_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    return _linear_gradient(leaky_relu_grad, node, grad)


@op("LeakyReluGrad", "gradients: T, features: T -> backprops: T", infer=one_shape, types={"T": FLOATS},
    defaults={"T": dtypes.float32}, gradient=_leaky_relu_grad_gradient, gradient_nodes=always(4))  # fmt: skip
def leaky_relu_grad(xp: ArrayModule, gradients: Array, features: Array, *, alpha: float = 0.2) -> Result:
    """The gradient of LeakyRelu, from its input: `[...], [...] -> [...]`."""
    return chosen(xp, features > _zero(features), gradients, gradients * np.asarray(alpha, gradients.dtype))


def leaky_relu(features: TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """`features` where positive, else `alpha * features`; integers become float32.

    Args:
        features: [...] tensor of a floating or integer dtype.
        alpha: the slope below zero.
    """
    with input_scope(name, "LeakyRelu", (features, alpha)) as scope:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = to_float(features)
        return leaky_relu_node(features, alpha=float(alpha), name=scope)


def crelu(features: TensorLike, name: str | None = None, axis: int = -1) -> Tensor:
    """Relu of `features` and of `-features`, joined along `axis`.

    Args:
        features: [..., n] tensor of a floating or integer dtype.
        axis: the dimension along which the two are joined; one below zero counts from the end.

    Returns:
        [..., 2 * n] tensor of the same dtype, for the last axis.
    """
    with input_scope(name, "CRelu", (features,)) as scope:
        features = convert_to_tensor(features, name="features")
        return relu(concat([features, neg(features)], axis, name=scope))


# Elu and selu.


def _exponential_gradient(grad_op: Callable[..., Tensor], node: Operation, grad: Tensor) -> Gradients:
    gradients, outputs = node.inputs
    curved = select_node(less(outputs, 0), mul(grad, gradients), zeros_like(outputs))
    return [grad_op(grad, outputs), curved]


def _elu_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [elu_grad(grad, node.outputs[0])]


@op("Elu", "features: T -> activations: T", infer=same_as_input, types={"T": FLOATS},
    gradient=_elu_gradient)  # fmt: skip
def elu(xp: ArrayModule, features: Array) -> Result:
    """`exp(features) - 1` where negative, else `features`: `[...] -> [...]`.

    Args: those of `tf.math.softplus`.

    Returns:
        [...] tensor of the type and shape of the argument.

    Raises:
        TypeError: `features` is of another dtype.
    """
    zero = _zero(features)
    return chosen(xp, features < zero, _exp_less_one(xp, xp.minimum(features, zero)), features)


def _exp_less_one(xp: ArrayModule, x: Array) -> Array:
    """`exp(x) - 1`; in half precision rounded in between, as TensorFlow does it."""
    return xp.exp(x) - np.ones((), x.dtype) if x.dtype.itemsize == 2 else xp.expm1(x)


def _elu_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    return _exponential_gradient(elu_grad, node, grad)


@op("EluGrad", "gradients: T, outputs: T -> backprops: T", infer=one_shape, types={"T": FLOATS},
    gradient=_elu_grad_gradient)  # fmt: skip
def elu_grad(xp: ArrayModule, gradients: Array, outputs: Array) -> Result:
    """The gradient of Elu, from its output: `[...], [...] -> [...]`."""
    return chosen(xp, outputs < _zero(outputs), (outputs + np.ones((), outputs.dtype)) * gradients, gradients)


def _selu_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [selu_grad(grad, node.outputs[0])]


@op("Selu", "features: T -> activations: T", infer=same_as_input, types={"T": FLOATS},
    gradient=_selu_gradient)  # fmt: skip
def selu(xp: ArrayModule, features: Array) -> Result:
    """Elu scaled so that means and variances of 0 and 1 reproduce themselves: `[...] -> [...]`.

    Args: those of `tf.math.softplus`.
    """
    zero, scale, alpha = (np.asarray(v, features.dtype) for v in (0, _SELU_SCALE, _SELU_SCALED_ALPHA))
    return chosen(xp, features < zero, alpha * _exp_less_one(xp, xp.minimum(features, zero)), scale * features)


def _selu_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    return _exponential_gradient(selu_grad, node, grad)


@op("SeluGrad", "gradients: T, outputs: T -> backprops: T", infer=one_shape, types={"T": FLOATS},
    gradient=_selu_grad_gradient)  # fmt: skip
def selu_grad(xp: ArrayModule, gradients: Array, outputs: Array) -> Result:
    """The gradient of Selu, from its output: `[...], [...] -> [...]`."""
    zero, scale, alpha = (np.asarray(v, outputs.dtype) for v in (0, _SELU_SCALE, _SELU_SCALED_ALPHA))
    return chosen(xp, outputs < zero, gradients * (outputs + alpha), gradients * scale)


# Softplus and softsign.


@op("Softplus", "features: T -> activations: T", infer=same_as_input, types={"T": FLOATS},
    gradient=lambda node, grad: [mul(grad, sigmoid(node.inputs[0]))])  # fmt: skip
def softplus(xp: ArrayModule, features: Array) -> Result:
    """`log(1 + exp(features))`, without overflow: `[...] -> [...]`.

    Args:
        features: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    return xp.maximum(features, _zero(features)) + xp.log1p(xp.exp(-xp.abs(features)))


def _softplus_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    gradients, features = node.inputs
    below = add(add(exp(neg(features)), 2.0), exp(features))
    return [softplus_grad(grad, features), real_div(mul(grad, gradients), below)]


@op("SoftplusGrad", "gradients: T, features: T -> backprops: T", infer=one_shape, types={"T": FLOATS},
    gradient=_softplus_grad_gradient)  # fmt: skip
def softplus_grad(xp: ArrayModule, gradients: Array, features: Array) -> Result:
    """The gradient of Softplus, from its input: `[...], [...] -> [...]`."""
    return gradients / (xp.exp(-features) + np.ones((), features.dtype))


def _softsign_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [softsign_grad(grad, node.inputs[0])]


@op("Softsign", "features: T -> activations: T", infer=same_as_input, types={"T": FLOATS},
    gradient=_softsign_gradient)  # fmt: skip
def softsign(xp: ArrayModule, features: Array) -> Result:
    """`features / (1 + |features|)`: `[...] -> [...]`.

    Args: those of `tf.math.softplus`.
    """
    return features / (xp.abs(features) + np.ones((), features.dtype))


@op("SoftsignGrad", "gradients: T, features: T -> backprops: T", infer=one_shape, types={"T": FLOATS},
    gradient=None)  # fmt: skip
def softsign_grad(xp: ArrayModule, gradients: Array, features: Array) -> Result:
    """The gradient of Softsign, from its input: `[...], [...] -> [...]`."""
    widened = xp.abs(features) + np.ones((), features.dtype)
    return gradients / (widened * widened)


def swish(features: TensorLike) -> Tensor:
    """`features * sigmoid(features)`.

    Args:
        features: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    features = convert_to_tensor(features, name="features")
    get_default_graph().node_count.total += 2  # TensorFlow has a gradient of its own here, behind two nodes more.
    return features * sigmoid(features)


@dispatchable
def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """`log(1 / (1 + exp(-x)))`, without overflow.

    Args: those of `tf.exp`.
    """
    with input_scope(name, "LogSigmoid", (x,)) as scope:
        tensor = convert_to_tensor(x, name="x")
        return neg(softplus(neg(tensor)), name=scope)


for _function, _argument in ((log_sigmoid, "x"), (relu, "features"), (softplus, "features")):
    take_ragged(_function, _argument)
