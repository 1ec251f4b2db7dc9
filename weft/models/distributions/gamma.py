"""The gamma and the exponential distribution."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from weft.framework.building.aliases import TensorLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED, ScalarDistribution
from weft.models.distributions.divergence import RegisterKL
from weft.ops.array.filling import fill, ones
from weft.ops.array.identity import identity
from weft.ops.array.selection import where_v2
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_less, assert_positive, assert_same_float_dtype
from weft.ops.input_scope import input_scope
from weft.ops.math.division import xlogy
from weft.ops.math.elementwise import square
from weft.ops.math.special_functions import digamma, igamma, lgamma
from weft.ops.math.unary import log, sqrt
from weft.ops.random.functions import random_gamma, random_uniform


class Gamma(ScalarDistribution):
    """The gamma distribution with shape `concentration` and inverse scale `rate`.

    Args:
        concentration: the shapes, positive, floating point.
        rate: the inverse scales, positive; both broadcast.
        validate_args: whether parameters and values are checked to be positive.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.
    """

    _PARAMETERS: ClassVar[tuple[str, ...]] = ("concentration", "rate")

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "Gamma", [concentration, rate]) as scope:
            with control_dependencies([assert_positive(concentration), assert_positive(rate)] if validate_args else []):
                self._concentration = identity(concentration, name="concentration")
                self._rate = identity(rate, name="rate")
            made = [self._concentration, self._rate]
            assert_same_float_dtype(made)
        super().__init__(
            self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, made, scope
        )

    @property
    def concentration(self) -> Tensor:
        """The shapes."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The inverse scales."""
        return self._rate

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return self._concentration, self._rate

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        return random_gamma([n], self._concentration, self._rate, dtype=self.dtype, seed=seed)

    def _checked(self, value: Tensor) -> Tensor:
        assert_same_float_dtype([value], self.dtype)
        return with_dependencies([assert_positive(value)], value) if self.validate_args else value

    def _log_prob(self, value: Tensor) -> Tensor:
        x = self._checked(value)
        normalizer = lgamma(self._concentration) - self._concentration * log(self._rate)
        return xlogy(self._concentration - 1.0, x) - self._rate * x - normalizer

    def _cdf(self, value: Tensor) -> Tensor:
        return igamma(self._concentration, self._rate * self._checked(value))

    def _entropy(self) -> Tensor:
        shape = self._concentration
        return shape - log(self._rate) + lgamma(shape) + (1.0 - shape) * digamma(shape)

    def _mean(self) -> Tensor:
        return self._concentration / self._rate

    def _variance(self) -> Tensor:
        return self._concentration / square(self._rate)

    def _stddev(self) -> Tensor:
        return sqrt(self._concentration) / self._rate

    def _mode(self) -> Tensor:
        mode = (self._concentration - 1.0) / self._rate
        if self.allow_nan_stats:
            nan = fill(self.batch_shape_tensor(), np.array(np.nan, self.dtype.as_numpy_dtype), name="nan")
            return where_v2(self._concentration > 1.0, mode, nan)
        message = "mode not defined when any concentration <= 1"
        return with_dependencies([assert_less(ones([], self.dtype), self._concentration, message=message)], mode)


@RegisterKL(Gamma, Gamma)
def _kl_gamma_gamma(a: Gamma, b: Gamma, name: str | None = None) -> Tensor:
    with input_scope(name, "kl_gamma_gamma", [a.concentration, a.rate, b.concentration, b.rate]):
        shapes = (a.concentration - b.concentration) * digamma(a.concentration)
        normalizers = lgamma(b.concentration) - lgamma(a.concentration)
        rates = b.concentration * (log(a.rate) - log(b.rate)) + a.concentration * (b.rate / a.rate - 1.0)
        return shapes + normalizers + rates


class Exponential(Gamma):
    """The exponential distribution: the gamma distribution of concentration 1.

    Args:
        rate: the inverse scales, positive, floating point.
        validate_args: whether parameters and values are checked to be positive.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.
    """

    _PARAMETERS = ("rate",)

    def __init__(
        self, rate: TensorLike, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Exponential"
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "Exponential", [rate]) as scope:
            given = convert_to_tensor(rate, name="rate")
        super().__init__(ones([], dtype=given.dtype), given, validate_args, allow_nan_stats, scope)
        self._parameters = parameters

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        drawn = random_uniform(self._sizes(n), minval=tiny, maxval=1.0, seed=seed, dtype=self.dtype)
        return -log(drawn) / self._rate

    def _log_survival_function(self, value: Tensor) -> Tensor:
        return self._log_prob(value) - log(self._rate)
