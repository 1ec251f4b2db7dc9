"""Sines, cosines, tangents, their inverses and their hyperbolic forms."""

from __future__ import annotations

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.declaration import broadcast, op, same_as_input
from weft.ops.math.elementwise import (
    FLOATS,
    INEXACT,
    add,
    conj_if_complex,
    mul,
    neg,
    real_div,
    reciprocal,
    square,
    sub,
    unbroadcast,
)
from weft.ops.math.unary import rsqrt


def _input(node: Operation) -> Tensor:
    return conj_if_complex(node.inputs[0])


def _one_minus_square(node: Operation) -> Tensor:
    x = _input(node)
    # Of a negated difference the zero at 1 were negative, and its root's reciprocal minus infinity.
    return sub(convert_to_tensor(1, x.dtype), square(x))


def _sin_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [mul(grad, cos(_input(node)))]


@op("Sin", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=_sin_gradient)  # fmt: skip
def sin(xp: ArrayModule, x: Array) -> Result:
    """The sine: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.sin(x)


@op("Cos", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=lambda node, grad: [neg(mul(grad, sin(_input(node))))])  # fmt: skip
def cos(xp: ArrayModule, x: Array) -> Result:
    """The cosine: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.cos(x)


@op("Tan", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=lambda node, grad: [mul(grad, square(reciprocal(cos(_input(node)))))])  # fmt: skip
def tan(xp: ArrayModule, x: Array) -> Result:
    """The tangent: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.tan(x)


@op("Asin", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=lambda node, grad: [mul(grad, rsqrt(_one_minus_square(node)))])  # fmt: skip
def asin(xp: ArrayModule, x: Array) -> Result:
    """The inverse of the sine: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.arcsin(x)


@op("Acos", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=lambda node, grad: [neg(mul(grad, rsqrt(_one_minus_square(node))))])  # fmt: skip
def acos(xp: ArrayModule, x: Array) -> Result:
    """The inverse of the cosine: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.arccos(x)


@op("Atan", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=lambda node, grad: [mul(grad, reciprocal(add(square(_input(node)), 1)))])  # fmt: skip
def atan(xp: ArrayModule, x: Array) -> Result:
    """The inverse of the tangent: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.arctan(x)


def _atan2_gradient(node: Operation, grad: Tensor) -> Gradients:
    y, x = node.inputs
    scaled = real_div(grad, add(square(x), square(y)))
    return [unbroadcast(mul(x, scaled), y, x), unbroadcast(mul(neg(y), scaled), x, y)]


@op("Atan2", "y: T, x: T -> z: T", infer=broadcast, gradient=_atan2_gradient, types={"T": FLOATS})
def atan2(xp: ArrayModule, y: Array, x: Array) -> Result:
    """The angle of the point `(x, y)`, between -pi and pi: `[...], [...] -> [...]`, broadcast.

    Args:
        y, x: [...] tensors of one floating dtype, whose shapes broadcast: the ordinates first.
    """
    return xp.arctan2(y, x)


def _sinh_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [mul(grad, cosh(_input(node)))]


@op("Sinh", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=_sinh_gradient)  # fmt: skip
def sinh(xp: ArrayModule, x: Array) -> Result:
    """The hyperbolic sine: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.sinh(x)


@op("Cosh", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=lambda node, grad: [mul(grad, sinh(_input(node)))])  # fmt: skip
def cosh(xp: ArrayModule, x: Array) -> Result:
    """The hyperbolic cosine: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.cosh(x)


@op("Asinh", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=lambda node, grad: [real_div(grad, cosh(conj_if_complex(node.outputs[0])))])  # fmt: skip
def asinh(xp: ArrayModule, x: Array) -> Result:
    """The inverse of the hyperbolic sine: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.arcsinh(x)


@op("Acosh", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=lambda node, grad: [real_div(grad, sinh(conj_if_complex(node.outputs[0])))])  # fmt: skip
def acosh(xp: ArrayModule, x: Array) -> Result:
    """The inverse of the hyperbolic cosine: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.arccosh(x)


@op("Atanh", "x: T -> y: T", infer=same_as_input, types={"T": INEXACT},
    gradient=lambda node, grad: [mul(grad, reciprocal(_one_minus_square(node)))])  # fmt: skip
def atanh(xp: ArrayModule, x: Array) -> Result:
    """The inverse of the hyperbolic tangent: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating or complex dtype; the result has its shape and dtype.
    """
    return xp.arctanh(x)
