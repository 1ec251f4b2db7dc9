"""Distributions of positive numbers beside the gamma one: chi-squared, inverse gamma and half normal."""

from __future__ import annotations

import math

import numpy as np

from weft.framework.building.aliases import TensorLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, ScalarDistribution
from weft.models.distributions.gamma import Gamma
from weft.ops.array.filling import fill, zeros
from weft.ops.array.identity import identity
from weft.ops.array.selection import where_v2
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_less, assert_positive, assert_same_float_dtype
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import square, squared_difference
from weft.ops.math.special_functions import digamma, erf, igammac, lgamma, ndtri
from weft.ops.math.unary import exp, floor, log
from weft.ops.random.functions import random_gamma, random_normal


class Chi2(Gamma):
    """The distribution of the sum of the squares of `df` standard normal numbers.

    Args:
        df: the degrees of freedom, positive, floating point.
        validate_args: whether parameters and values are checked to be positive.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.
    """

    _PARAMETERS = ("df",)

    def __init__(self, df: TensorLike, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2") -> None:
        parameters = dict(locals())
        with input_scope(name, "Chi2", [df]) as scope:
            with control_dependencies([assert_positive(df)] if validate_args else []):
                self._df = identity(df, name="df")
            super().__init__(0.5 * self._df, convert_to_tensor(0.5, self._df.dtype), validate_args, allow_nan_stats, scope)
        self._parameters = parameters

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df


class Chi2WithAbsDf(Chi2):
    """Chi2 with `floor(abs(df))` degrees of freedom; the arguments are its.

    Args:
        df: numbers of a floating dtype.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self, df: TensorLike, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2WithAbsDf"
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "Chi2WithAbsDf", [df]) as scope:
            whole = floor(absolute(df, name="abs_df"), name="floor_abs_df")
            super().__init__(whole, validate_args, allow_nan_stats, scope)
        self._parameters = parameters


class InverseGamma(ScalarDistribution):
    """The distribution of `1 / x` where `x` has the gamma distribution of `concentration` and `rate`.

    Args:
        concentration: the shapes, positive, floating point.
        rate: the scales, positive; both broadcast.
        validate_args: whether parameters and values are checked to be positive.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.
    """

    _PARAMETERS = ("concentration", "rate")

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGamma",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "InverseGamma", [concentration, rate]) as scope:
            with control_dependencies([assert_positive(concentration), assert_positive(rate)] if validate_args else []):
                self._concentration = identity(concentration, name="concentration")
                self._rate = identity(rate, name="rate")
            made = [self._concentration, self._rate]
            assert_same_float_dtype(made)
        kind = self._concentration.dtype
        super().__init__(kind, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, made, scope)

    @property
    def concentration(self) -> Tensor:
        """The shapes."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The scales."""
        return self._rate

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return self._concentration, self._rate

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        return 1.0 / random_gamma([n], self._concentration, self._rate, dtype=self.dtype, seed=seed)

    def _checked(self, value: Tensor) -> Tensor:
        assert_same_float_dtype([value], self.dtype)
        return with_dependencies([assert_positive(value)], value) if self.validate_args else value

    def _log_prob(self, value: Tensor) -> Tensor:
        x = self._checked(value)
        normalizer = lgamma(self._concentration) - self._concentration * log(self._rate)
        return -(1.0 + self._concentration) * log(x) - self._rate / x - normalizer

    def _cdf(self, value: Tensor) -> Tensor:
        return igammac(self._concentration, self._rate / self._checked(value))

    def _entropy(self) -> Tensor:
        shape = self._concentration
        return shape + log(self._rate) + lgamma(shape) - (1.0 + shape) * digamma(shape)

    def _where_defined(self, value: Tensor, least: float, what: str) -> Tensor:
        if self.allow_nan_stats:
            nan = fill(self.batch_shape_tensor(), np.array(np.nan, self.dtype.as_numpy_dtype), name="nan")
            return where_v2(self._concentration > least, value, nan)
        bound = convert_to_tensor(least, self.dtype)
        message = f"{what} undefined when any concentration <= {least:g}"
        return with_dependencies([assert_less(bound, self._concentration, message=message)], value)

    def _mean(self) -> Tensor:
        return self._where_defined(self._rate / (self._concentration - 1.0), 1.0, "mean")

    def _variance(self) -> Tensor:
        spread = square(self._rate) / squared_difference(self._concentration, 1.0) / (self._concentration - 2.0)
        return self._where_defined(spread, 2.0, "variance")

    def _mode(self) -> Tensor:
        return self._rate / (1.0 + self._concentration)


class HalfNormal(ScalarDistribution):
    """The distribution of the magnitude of a normal number of mean 0.

    Args:
        scale: the standard deviations of the normal number, positive, floating point.
        validate_args: whether `scale` is checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    _PARAMETERS = ("scale",)

    def __init__(
        self, scale: TensorLike, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "HalfNormal"
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "HalfNormal", [scale]) as scope:
            checks = [assert_positive(scale)] if validate_args else []
            with control_dependencies(checks):
                self._scale = identity(scale, name="scale")
        kind = self._scale.dtype
        super().__init__(kind, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._scale], scope)

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normal number."""
        return self._scale

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return (self._scale,)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = random_normal(self._sizes(n), mean=0.0, stddev=1.0, dtype=self.dtype, seed=seed)
        return absolute(drawn * self._scale)

    def _prob(self, value: Tensor) -> Tensor:
        density = math.sqrt(2.0 / math.pi) / self._scale * exp(-0.5 * square(value / self._scale))
        return density * cast(value >= 0.0, self.dtype)

    def _cdf(self, value: Tensor) -> Tensor:
        return erf(maximum(value, 0.0) / self._scale / math.sqrt(2.0))

    def _quantile(self, value: Tensor) -> Tensor:
        return self._scale * ndtri((value + 1.0) / 2.0)

    def _entropy(self) -> Tensor:
        return 0.5 * log(math.pi * square(self._scale) / 2.0) + 0.5

    def _mean(self) -> Tensor:
        return self._scale * math.sqrt(2.0 / math.pi)

    def _mode(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _variance(self) -> Tensor:
        return square(self._scale) * (1.0 - 2.0 / math.pi)
