"""Special functions that XLA has not: Bessel functions, integrals of exponentials and of Fresnel. They run on the host."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable

import numpy as np

from weft.framework.building.aliases import Array, Gradients, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.constant import constant
from weft.ops.array.selection import where_v2
from weft.ops.declaration import op, same_as_input
from weft.ops.math.comparison import equal
from weft.ops.math.elementwise import FLOATS, add, mul, neg, real_div, reciprocal, square, sub
from weft.ops.math.trigonometry import cos, sin
from weft.ops.math.unary import exp, log

_Slope = Callable[[Tensor, Tensor], Tensor]
_Builder = Callable[..., Tensor]


@functools.cache
def _scipy(name: str) -> Callable[[Array], Array]:
    # Few programs need it, and importing it takes long.
    function: Callable[[Array], Array] = getattr(importlib.import_module("scipy.special"), name)
    return function


def _declared(name: str, function: str, slope: _Slope, text: str, below: float | None = None) -> _Builder:
    """Declare a function of each element.

    Args:
        name: the op type.
        function: its name in SciPy, with the number of the result where there are several.
        slope: the derivative, of `x` and the function's value there.
        text: what it is.
        below: the value for negative numbers, for which TensorFlow does not go on.
    """

    function, _, place = function.partition(" ")

    def gradient(node: Operation, grad: Tensor) -> Gradients:
        return [mul(grad, slope(node.inputs[0], node.outputs[0]))]

    def kernel(ctx: OpContext, x: Array) -> Result:
        with np.errstate(all="ignore"):
            computed = _scipy(function)(x.astype(np.float64))
        made = computed[int(place)] if place else computed
        return np.asarray(made if below is None else np.where(x < 0, below, made)).astype(x.dtype)

    kernel.__doc__ = f"{text}: `[...] -> [...]`."
    return op(name, "x: T -> y: T", infer=same_as_input, gradient=gradient, types={"T": FLOATS})(kernel)


def _of_order_1(order_0: _Builder, at_zero: float) -> _Slope:
    """The derivative of a function of order 1: that of order 0 there, less the function over `x`.

    Args:
        order_0: builds the function of order 0.
        at_zero: TensorFlow's derivative at zero, where the quotient is none.
    """

    def slope(x: Tensor, y: Tensor) -> Tensor:
        is_zero = equal(x, 0)
        limit = constant(at_zero, x.dtype)
        # A divisor that is none at zero, either, for the slope's own gradient.
        return where_v2(is_zero, limit, sub(order_0(x), real_div(y, where_v2(is_zero, limit, x))))

    return slope


bessel_j0: _Builder = _declared("BesselJ0", "j0", lambda x, _: neg(bessel_j1(x)), "The Bessel function of order 0")
bessel_j1: _Builder = _declared("BesselJ1", "j1", _of_order_1(bessel_j0, 0.5), "The Bessel function of order 1")
bessel_y0: _Builder = _declared(
    "BesselY0",
    "y0",
    lambda x, _: neg(bessel_y1(x)),
    "The Bessel function of the second kind of order 0",
    below=-np.inf,
)
bessel_y1: _Builder = _declared(
    "BesselY1",
    "y1",
    lambda x, y: sub(bessel_y0(x), real_div(y, x)),
    "The Bessel function of the second kind of order 1",
    below=-np.inf,
)
bessel_i0: _Builder = _declared("BesselI0", "i0", lambda x, _: bessel_i1(x), "The modified Bessel function of order 0")
bessel_i1: _Builder = _declared("BesselI1", "i1", _of_order_1(bessel_i0, 1.0), "The modified Bessel function of order 1")
bessel_k0: _Builder = _declared(
    "BesselK0",
    "k0",
    lambda x, _: neg(bessel_k1(x)),
    "The modified Bessel function of the second kind of order 0",
    below=np.inf,
)
bessel_k1: _Builder = _declared(
    "BesselK1", "k1", lambda x, y: sub(neg(bessel_k0(x)), real_div(y, x)),
    "The modified Bessel function of the second kind of order 1", below=np.inf,
)  # fmt: skip
bessel_k0e: _Builder = _declared("BesselK0e", "k0e", lambda x, y: sub(y, bessel_k1e(x)), "BesselK0 times `exp(x)`", np.inf)
bessel_k1e: _Builder = _declared(
    "BesselK1e", "k1e", lambda x, y: sub(mul(y, add(neg(reciprocal(x)), 1.0)), bessel_k0e(x)), "BesselK1 times `exp(x)`", np.inf
)
expint: _Builder = _declared(
    "Expint", "expi", lambda x, _: real_div(exp(x), x), "The exponential integral Ei of positive numbers", np.nan
)
dawsn: _Builder = _declared("Dawsn", "dawsn", lambda x, y: add(mul(mul(x, y), -2.0), 1.0), "Dawson's integral")
spence: _Builder = _declared(
    "Spence", "spence", lambda x, _: real_div(log(x), add(neg(x), 1.0)), "Spence's integral, the dilogarithm"
)
fresnel_sin: _Builder = _declared(
    "FresnelSin", "fresnel 0", lambda x, _: sin(mul(square(x), math.pi / 2)), "The Fresnel integral of the sine"
)
fresnel_cos: _Builder = _declared(
    "FresnelCos", "fresnel 1", lambda x, _: cos(mul(square(x), math.pi / 2)), "The Fresnel integral of the cosine"
)
