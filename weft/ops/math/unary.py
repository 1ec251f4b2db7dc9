"""Elementwise functions of one tensor: exponentials, logarithms, roots, sigmoid and tanh, rounding, tests for NaN."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.declaration import one_count, op, same_as_input
from weft.ops.dispatch import dispatchable
from weft.ops.math.elementwise import (
    COMPLEX,
    FLOATS,
    INEXACT,
    SIGNED,
    add,
    conj_if_complex,
    mul,
    neg,
    real_div,
    reciprocal,
    sub,
)

# Exponentials and logarithms.


@op("Exp", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=lambda node, grad: [mul(grad, conj_if_complex(node.outputs[0]))])  # fmt: skip
def exp(xp: ArrayModule, x: Array) -> Result:
    """`e ** x`: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.

    Returns:
        [...] tensor of the type and shape of the argument.

    Raises:
        TypeError: `x` is of another dtype.
    """
    return xp.exp(x)


@op("Expm1", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=lambda node, grad: [mul(grad, exp(conj_if_complex(node.inputs[0])))])  # fmt: skip
def expm1(xp: ArrayModule, x: Array) -> Result:
    """`e ** x - 1`, exact near zero: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.expm1(x)


@op("Log", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=lambda node, grad: [mul(grad, reciprocal(conj_if_complex(node.inputs[0])))])  # fmt: skip
def log(xp: ArrayModule, x: Array) -> Result:
    """The natural logarithm: `[...] -> [...]`.

    >>> sess.run(tf.log([1.0]))
    array([0.], dtype=float32)

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.

    Returns:
        [...] tensor of the type and shape of the argument.

    Raises:
        TypeError: `x` is of another dtype.
    """
    return xp.log(x)


@op("Log1p", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=lambda node, grad: [mul(grad, reciprocal(add(conj_if_complex(node.inputs[0]), 1)))])  # fmt: skip
def log1p(xp: ArrayModule, x: Array) -> Result:
    """The natural logarithm of `1 + x`, exact near zero: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.log1p(x)


# Roots.


def _sqrt_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [sqrt_grad(node.outputs[0], grad)]


@op("Sqrt", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=_sqrt_gradient)  # fmt: skip
def sqrt(xp: ArrayModule, x: Array) -> Result:
    """The square root: `[...] -> [...]`.

    >>> sess.run(tf.sqrt([4.0, 9.0]))
    array([2., 3.], dtype=float32)

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.

    Returns:
        [...] tensor of the type and shape of the argument.

    Raises:
        TypeError: `x` is of another dtype.
    """
    return xp.sqrt(x)


def _sqrt_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    ratio = real_div(grad, node.inputs[0])
    return [neg(mul(conj_if_complex(ratio), node.outputs[0])), mul(ratio, 0.5)]


@op("SqrtGrad", "y: T, dy: T -> z: T", infer=one_count, gradient=_sqrt_grad_gradient, types={"T": INEXACT})
def sqrt_grad(xp: ArrayModule, y: Array, dy: Array) -> Result:
    """The gradient of Sqrt, from its output: `[...], [...] -> [...]`, of one shape."""
    return dy * 0.5 / xp.conj(y)


def _rsqrt_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [rsqrt_grad(node.outputs[0], grad)]


@op("Rsqrt", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=_rsqrt_gradient)  # fmt: skip
def rsqrt(xp: ArrayModule, x: Array) -> Result:
    """`1 / sqrt(x)`: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.ones_like(x) / xp.sqrt(x)


def _rsqrt_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    y, dy = conj_if_complex(node.inputs[0]), node.inputs[1]
    return [mul(mul(conj_if_complex(grad), mul(dy, -1.5)), mul(y, y)), rsqrt_grad(y, grad)]


@op("RsqrtGrad", "y: T, dy: T -> z: T", infer=one_count, gradient=_rsqrt_grad_gradient, types={"T": INEXACT})
def rsqrt_grad(xp: ArrayModule, y: Array, dy: Array) -> Result:
    """The gradient of Rsqrt, from its output: `[...], [...] -> [...]`, of one shape."""
    y = xp.conj(y)
    return dy * -0.5 * (y * y * y)


# Sigmoid and tanh.


def _sigmoid_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [sigmoid_grad(conj_if_complex(node.outputs[0]), grad)]


@op("Sigmoid", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=_sigmoid_gradient)  # fmt: skip
def sigmoid_node(xp: ArrayModule, x: Array) -> Result:
    """`1 / (1 + exp(-x))`: `[...] -> [...]`."""
    if x.dtype.kind == "c":
        return 1 / (1 + xp.exp(-x))
    # Written so that neither end overflows.
    small = xp.exp(-xp.abs(x))
    if xp is np:
        # For 200,000 numbers NumPy takes 2.1 ms to choose between two values, and 0.1 so (two loaded cores, November 2026).
        return np.maximum(small, (x >= 0).astype(x.dtype)) / (1 + small)
    one = xp.ones_like(x)
    return xp.where(x >= 0, one, small) / (one + small)


@dispatchable
def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """`1 / (1 + exp(-x))`.

    >>> sess.run(tf.nn.sigmoid([0.0]))
    array([0.5], dtype=float32)

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.

    Returns:
        [...] tensor of the type and shape of the argument.

    Raises:
        TypeError: `x` is of another dtype.
    """
    return sigmoid_node(x, name=name)


def _sigmoid_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    y, dy = (conj_if_complex(tensor) for tensor in node.inputs)
    weighted = mul(grad, dy)
    return [sub(weighted, mul(mul(weighted, 2), y)), sigmoid_grad(y, grad)]


@op("SigmoidGrad", "y: T, dy: T -> z: T", infer=one_count, gradient=_sigmoid_grad_gradient, types={"T": INEXACT})
def sigmoid_grad(xp: ArrayModule, y: Array, dy: Array) -> Result:
    """The gradient of Sigmoid, from its output: `[...], [...] -> [...]`, of one shape."""
    return dy * y * (1 - y)


def _tanh_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [tanh_grad(conj_if_complex(node.outputs[0]), grad)]


@op("Tanh", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=_tanh_gradient)  # fmt: skip
def tanh(xp: ArrayModule, x: Array) -> Result:
    """The hyperbolic tangent: `[...] -> [...]`.

    >>> sess.run(tf.tanh([0.0]))
    array([0.], dtype=float32)

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.

    Returns:
        [...] tensor of the type and shape of the argument.

    Raises:
        TypeError: `x` is of another dtype.
    """
    return xp.tanh(x)


def _tanh_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    y, dy = (conj_if_complex(tensor) for tensor in node.inputs)
    return [mul(mul(grad, -2), mul(dy, y)), tanh_grad(y, grad)]


@op("TanhGrad", "y: T, dy: T -> z: T", infer=one_count, gradient=_tanh_grad_gradient, types={"T": INEXACT})
def tanh_grad(xp: ArrayModule, y: Array, dy: Array) -> Result:
    """The gradient of Tanh, from its output: `[...], [...] -> [...]`, of one shape."""
    return dy * (1 - y * y)


# Rounding.


@op("Floor", "x: T -> y: T", infer=same_as_input, gradient=lambda node, grad: [None], types={"T": FLOATS})
def floor(xp: ArrayModule, x: Array) -> Result:
    """The greatest integer that is not greater: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    return xp.floor(x)


@op("Ceil", "x: T -> y: T", infer=same_as_input, gradient=lambda node, grad: [None], types={"T": FLOATS})
def ceil(xp: ArrayModule, x: Array) -> Result:
    """The least integer that is not less: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.

    Returns:
        [...] tensor of the type and shape of the argument.

    Raises:
        TypeError: `x` is of another dtype.
    """
    return xp.ceil(x)


@op("Rint", "x: T -> y: T", infer=same_as_input, gradient=lambda node, grad: [None], types={"T": FLOATS})
def rint(xp: ArrayModule, x: Array) -> Result:
    """The nearest integer, an even one when there are two: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    return xp.rint(x)


@op("Round", "x: T -> y: T", infer=same_as_input, gradient=lambda node, grad: [None], types={"T": (*SIGNED, *COMPLEX)})
def round_node(xp: ArrayModule, x: Array) -> Result:
    """The nearest integer, an even one when there are two: `[...] -> [...]`."""
    return x if x.dtype.kind == "i" else xp.round(x) if x.dtype.kind == "c" else xp.rint(x)


@dispatchable
def round_to_integer(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integer, an even one when there are two; integers come back as they are.

    Args:
        x: [...] tensor of a numeric dtype.
    """
    tensor = convert_to_tensor(x, name="x")
    return tensor if tensor.dtype.is_integer else round_node(tensor, name=name)


# Tests for special values.


@op("IsNan", "x: T -> y: bool", infer=same_as_input, gradient=None, types={"T": FLOATS})
def is_nan(xp: ArrayModule, x: Array) -> Result:
    """Whether an element is not a number: `[...] -> [...] bool`.

    Args:
        x: [...] tensor of a floating dtype.
    """
    return xp.isnan(x)


@op("IsInf", "x: T -> y: bool", infer=same_as_input, gradient=None, types={"T": FLOATS})
def is_inf(xp: ArrayModule, x: Array) -> Result:
    """Whether an element is infinite: `[...] -> [...] bool`.

    Args:
        x: [...] tensor of a floating dtype.
    """
    return xp.isinf(x)


@op("IsFinite", "x: T -> y: bool", infer=same_as_input, gradient=None, types={"T": FLOATS})
def is_finite(xp: ArrayModule, x: Array) -> Result:
    """Whether an element is neither infinite nor NaN: `[...] -> [...] bool`.

    Args:
        x: [...] tensor of a floating dtype.
    """
    return xp.isfinite(x)
