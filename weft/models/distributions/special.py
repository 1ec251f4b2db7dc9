"""Tails of the normal and the Laplace distribution, exact where a plain logarithm or difference would lose all digits."""

from __future__ import annotations

import math

import numpy as np

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.selection import where_v2
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import maximum, minimum
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import square
from weft.ops.math.special_functions import erf, erfc
from weft.ops.math.unary import exp, log, log1p

# Where the logarithm of the normal distribution function changes its form: below, the asymptotic series; above, -ndtr(-x).
_SEGMENTS = {dtypes.float32: (-10.0, 5.0), dtypes.float64: (-20.0, 8.0)}
_SERIES_TERMS = 3


def _real(x: TensorLike) -> Tensor:
    tensor = convert_to_tensor(x, name="x")
    if tensor.dtype.base_dtype not in _SEGMENTS:
        raise TypeError(f"x.dtype={tensor.dtype!r} is not handled, expected float32 or float64.")
    return tensor


def ndtr(x: TensorLike, name: str = "ndtr") -> Tensor:
    """The distribution function of the standard normal distribution, elementwise."""
    with input_scope(name, name, [x]):
        return _ndtr(_real(x))


def _ndtr(x: Tensor) -> Tensor:
    half = math.sqrt(0.5)
    scaled = x * half
    distance = absolute(scaled)
    tail = erfc(distance)
    return 0.5 * where_v2(distance < half, 1.0 + erf(scaled), where_v2(scaled > 0.0, 2.0 - tail, tail))


def log_ndtr(x: TensorLike, name: str = "log_ndtr") -> Tensor:
    """The logarithm of the distribution function of the standard normal distribution, elementwise, exact in both tails."""
    with input_scope(name, name, [x]):
        tensor = _real(x)
        lower, upper = _SEGMENTS[tensor.dtype.base_dtype]
        middle = log(_ndtr(maximum(tensor, lower)))
        # The minimum keeps the series, and its gradient, finite in the places that it is not taken for.
        return where_v2(tensor > upper, -_ndtr(-tensor), where_v2(tensor > lower, middle, _lower_tail(minimum(tensor, lower))))


def _lower_tail(x: Tensor) -> Tensor:
    """The asymptotic expansion for `x` far below zero (Abramowitz and Stegun, 26.2.12)."""
    squared = square(x)
    term: Tensor | float = 1.0
    series: Tensor | float = 1.0
    for n in range(1, _SERIES_TERMS + 1):
        term = -(2 * n - 1) * term / squared
        series = series + term
    return -0.5 * squared - log(-x) - 0.5 * float(np.log(2.0 * np.pi)) + log(series)


def log_cdf_laplace(x: TensorLike, name: str = "log_cdf_laplace") -> Tensor:
    """The logarithm of the distribution function of the standard Laplace distribution, elementwise."""
    with input_scope(name, name, [x]):
        tensor = convert_to_tensor(x, name="x")
        return where_v2(tensor < 0.0, tensor - math.log(2.0), log1p(-0.5 * exp(-absolute(tensor))))
