"""Special functions: error functions, gamma and beta functions, Bessel functions, zeta."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, broadcast_dims, merge_dims
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros_like
from weft.ops.array.selection import where_v2
from weft.ops.declaration import broadcast, op, same_as_input
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import equal
from weft.ops.math.complex_numbers import absolute, sign
from weft.ops.math.division import div
from weft.ops.math.elementwise import FLOATS, add, mul, neg, square, sub, unbroadcast
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import exp, log, log1p
from weft.platform.imports.jax_modules import jax, jnp, special

_WIDE = (dtypes.float32, dtypes.float64)


def _each(function: Callable[[float], float], x: Array) -> Array:
    """A function of Python's `math` on an array."""
    # Of a scalar NumPy gives a float of Python's.
    return np.asarray(np.frompyfunc(function, 1, 1)(x.astype(np.float64))).astype(x.dtype)


def _guarded_lgamma(value: float) -> float:
    if value == -math.inf or (value <= 0 and value == math.floor(value)):
        return math.inf
    return math.lgamma(value)


# Error functions.

_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


def _bell(x: Tensor) -> Tensor:
    return exp(neg(square(x)))


@op("Erf", "x: T -> y: T", infer=same_as_input, types={"T": FLOATS},
    gradient=lambda node, grad: [mul(grad, mul(_bell(node.inputs[0]), _TWO_OVER_ROOT_PI))])  # fmt: skip
def erf(xp: ArrayModule, x: Array) -> Result:
    """The error function: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    return _each(math.erf, x) if xp is np else special.erf(x)


@op("Erfc", "x: T -> y: T", infer=same_as_input, types={"T": FLOATS},
    gradient=lambda node, grad: [mul(grad, mul(_bell(node.inputs[0]), -_TWO_OVER_ROOT_PI))])  # fmt: skip
def erfc(xp: ArrayModule, x: Array) -> Result:
    """One minus the error function, exact where that is small: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    return _each(math.erfc, x) if xp is np else special.erfc(x)


@op("Erfinv", "x: T -> y: T", infer=same_as_input, types={"T": FLOATS}, compiled_only=True,
    gradient=lambda node, grad: [mul(grad, mul(exp(square(node.outputs[0])), 1 / _TWO_OVER_ROOT_PI))])  # fmt: skip
def erfinv(xp: ArrayModule, x: Array) -> Result:
    """The inverse of the error function: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    return special.erfinv(x)


def _ndtri_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [mul(grad, mul(exp(mul(square(node.outputs[0]), 0.5)), math.sqrt(2 * math.pi)))]


@op("Ndtri", "x: T -> y: T", infer=same_as_input, gradient=_ndtri_gradient, types={"T": FLOATS}, compiled_only=True)
def ndtri(xp: ArrayModule, x: Array) -> Result:
    """The quantiles of the normal distribution: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    # JAX has it for 32 and 64 bits only.
    return special.ndtri(x.astype(jnp.float32) if x.dtype.itemsize < 4 else x)


# Gamma functions.


def _lgamma_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [mul(grad, digamma(node.inputs[0]))]


@op("Lgamma", "x: T -> y: T", infer=same_as_input, gradient=_lgamma_gradient,
    types={"T": FLOATS})  # fmt: skip
def lgamma(xp: ArrayModule, x: Array) -> Result:
    """The logarithm of the absolute value of the gamma function: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    return _each(_guarded_lgamma, x) if xp is np else jax.lax.lgamma(x)


def _digamma_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [mul(grad, polygamma(_ones_like(node.inputs[0]), node.inputs[0]))]


@op("Digamma", "x: T -> y: T", infer=same_as_input, compiled_only=True, types={"T": FLOATS},
    gradient=_digamma_gradient)  # fmt: skip
def digamma(xp: ArrayModule, x: Array) -> Result:
    """The derivative of Lgamma: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    return _digamma(jnp.asarray(x))


def _digamma(x: Array) -> Array:
    # At its poles, 0 and below, TensorFlow has infinity, as Lgamma has there; JAX has NaN.
    return jnp.where((x <= 0) & (x == jnp.floor(x)), jnp.asarray(jnp.inf, x.dtype), jax.lax.digamma(x))


def _ones_like(tensor: Tensor) -> Tensor:
    return constant(1, tensor.dtype.base_dtype)


def _polygamma_gradient(node: Operation, grad: Tensor) -> Gradients:
    order, x = node.inputs
    return [None, unbroadcast(mul(grad, polygamma(add(order, 1), x)), x, order)]


@op("Polygamma", "a: T, x: T -> z: T", infer=broadcast, gradient=_polygamma_gradient, types={"T": _WIDE},
    compiled_only=True)  # fmt: skip
def polygamma(xp: ArrayModule, a: Array, x: Array) -> Result:
    """The `a`-th derivative of Digamma, for integral `a`: `[...], [...] -> [...]`, broadcast.

    Args:
        a: [...] tensor of float32 or float64: the order of the derivative, an integer that is not negative.
        x: [...] tensor of the dtype of `a`; shapes broadcast.
    """
    a, x = jnp.broadcast_arrays(a, x)
    magnitude = jnp.exp(jax.lax.lgamma(a + 1)) * special.zeta(a + 1, x)
    return jnp.where(a == 0, _digamma(x), jnp.where(a % 2 == 0, -magnitude, magnitude))


def _zeta_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, q = node.inputs
    return [None, unbroadcast(mul(grad, mul(neg(x), zeta(add(x, 1), q))), q, x)]


@op("Zeta", "x: T, q: T -> z: T", infer=broadcast, gradient=_zeta_gradient, types={"T": _WIDE}, compiled_only=True)
def zeta(xp: ArrayModule, x: Array, q: Array) -> Result:
    """The Hurwitz zeta function, the sum of `(q + n) ** -x` over all n from 0: `[...], [...] -> [...]`, broadcast.

    Args:
        x: [...] tensor of float32 or float64, the exponents, greater than 1.
        q: [...] tensor of the dtype of `x`, the first term; shapes broadcast.
    """
    return special.zeta(*jnp.broadcast_arrays(x, q))


def _density(a: Tensor, x: Tensor) -> Tensor:
    """The density of the gamma distribution, by logarithms."""
    return exp(sub(sub(mul(sub(a, 1), log(x)), x), lgamma(a)))


def _igamma_gradient(node: Operation, grad: Tensor) -> Gradients:
    a, x = node.inputs
    return [unbroadcast(mul(grad, igamma_grad_a(a, x)), a, x), unbroadcast(mul(grad, _density(a, x)), x, a)]


@op("Igamma", "a: T, x: T -> z: T", infer=broadcast, gradient=_igamma_gradient, types={"T": FLOATS}, compiled_only=True)
def igamma(xp: ArrayModule, a: Array, x: Array) -> Result:
    """The lower regularized incomplete gamma function: `[...], [...] -> [...]`, broadcast.

    Args:
        a: [...] tensor of a floating dtype: the parameter, positive.
        x: [...] tensor of the dtype of `a`: where the integral is cut, not negative; shapes broadcast.
    """
    return special.gammainc(*jnp.broadcast_arrays(a, x))


@op("Igammac", "a: T, x: T -> z: T", infer=broadcast, types={"T": FLOATS}, compiled_only=True,
    gradient=lambda node, grad: _igamma_gradient(node, neg(grad)))  # fmt: skip
def igammac(xp: ArrayModule, a: Array, x: Array) -> Result:
    """The upper regularized incomplete gamma function: `[...], [...] -> [...]`, broadcast.

    Args:
        a: [...] tensor of a floating dtype: the parameter, positive.
        x: [...] tensor of the dtype of `a`: where the integral is cut, not negative; shapes broadcast.
    """
    return special.gammaincc(*jnp.broadcast_arrays(a, x))


@op("IgammaGradA", "a: T, x: T -> z: T", infer=broadcast, gradient=None, types={"T": _WIDE}, compiled_only=True)
def igamma_grad_a(xp: ArrayModule, a: Array, x: Array) -> Result:
    """The derivative of Igamma by `a`: `[...], [...] -> [...]`, broadcast."""
    return jax.lax.igamma_grad_a(*jnp.broadcast_arrays(a, x))


def _broadcast_three(node: Operation) -> list[Dims]:
    a, b, x = (tensor.dims for tensor in node.inputs)
    known = [dims for dims in (a, b, x) if dims]
    for dims in known[1:]:
        # Scalars are all that is broadcast.
        merge_dims(known[0], dims)
    return [broadcast_dims(broadcast_dims(a, b), x)]


def _betainc_gradient(node: Operation, grad: Tensor) -> Gradients:
    a, b, x = node.inputs
    log_beta = sub(add(lgamma(a), lgamma(b)), lgamma(add(a, b)))
    log_density = sub(add(mul(sub(b, 1), log1p(neg(x))), mul(sub(a, 1), log(x))), log_beta)
    return [None, None, unbroadcast(mul(grad, exp(log_density)), x, a, b)]


@op("Betainc", "a: T, b: T, x: T -> z: T", infer=_broadcast_three, gradient=_betainc_gradient, types={"T": _WIDE},
    compiled_only=True)  # fmt: skip
def betainc(xp: ArrayModule, a: Array, b: Array, x: Array) -> Result:
    """The regularized incomplete beta function: `[...], [...], [...] -> [...]`, broadcast.

    Args:
        a, b: [...] tensors of float32 or of float64: the parameters, positive and finite; NaN comes of others, of infinite
            ones between the ends of `x`.
        x: [...] tensor of their dtype, between 0 and 1; shapes are equal, or scalars.
    """
    a, b, x = jnp.broadcast_arrays(a, b, x)
    # At its ends it is 0 and 1 whatever the parameters are, infinite ones too.
    is_end = (x == 0) | (x == 1)
    are_parameters = (a > 0) & (b > 0) & (is_end | (jnp.isfinite(a) & jnp.isfinite(b)))
    return jnp.where(are_parameters, jnp.where(is_end, x, special.betainc(a, b, x)), jnp.nan)


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the beta function, over the last dimension of `x`.

    Args:
        x: [..., n] tensor of a floating dtype, positive.

    Returns:
        [...] tensor of the dtype of `x`.
    """
    with input_scope(name, "lbeta", (x,)):
        tensor = convert_to_tensor(x, name="x")
        return sub(reduce_sum(lgamma(tensor), axis=[-1]), lgamma(reduce_sum(tensor, axis=[-1])), name="sub")


# Bessel functions.


def _i0e_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs[0], node.outputs[0]
    return [mul(grad, sub(bessel_i1e(x), mul(sign(x), y)))]


@op("BesselI0e", "x: T -> y: T", infer=same_as_input, gradient=_i0e_gradient, types={"T": FLOATS}, compiled_only=True)
def bessel_i0e(xp: ArrayModule, x: Array) -> Result:
    """The modified Bessel function of order 0, times `exp(-|x|)`: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    return special.i0e(x)


def _i1e_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs[0], node.outputs[0]
    half = constant(0.5, x.dtype)
    # At 0 the quotient's limit, and a divisor that is none, for its own gradient.
    is_zero = equal(x, 0)
    quotient = where_v2(is_zero, half, div(y, where_v2(is_zero, half, x)))
    return [mul(grad, sub(sub(bessel_i0e(x), mul(sign(x), y)), quotient))]


@op("BesselI1e", "x: T -> y: T", infer=same_as_input, gradient=_i1e_gradient, types={"T": FLOATS}, compiled_only=True)
def bessel_i1e(xp: ArrayModule, x: Array) -> Result:
    """The modified Bessel function of order 1, times `exp(-|x|)`: `[...] -> [...]`.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    return special.i1e(x)


def bessel_i0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 0.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    with input_scope(name, "bessel_i0", (x,)):
        tensor = convert_to_tensor(x, name="x")
        return mul(exp(absolute(tensor)), bessel_i0e(tensor))


def bessel_i1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 1.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
    """
    with input_scope(name, "bessel_i1", (x,)):
        tensor = convert_to_tensor(x, name="x")
        return mul(exp(absolute(tensor)), bessel_i1e(tensor))


def _next_gradient(node: Operation, grad: Tensor) -> Gradients:
    x1, x2 = node.inputs
    return [unbroadcast(grad, x1, x2), zeros_like(x2)]


@op("NextAfter", "x1: T, x2: T -> output: T", infer=broadcast, types={"T": _WIDE}, defaults={"T": dtypes.float32},
    gradient=_next_gradient)  # fmt: skip
def nextafter(xp: ArrayModule, x1: Array, x2: Array) -> Result:
    """The number next to `x1` in the direction of `x2`: `[...], [...] -> [...]`, broadcast.

    Args:
        x1, x2: [...] tensors of float32 or of float64, whose shapes broadcast.
    """
    return xp.nextafter(x1, x2)
