"""Distributions of a location and a scale with heavier tails than the normal one: Laplace's and the logistic one."""

from __future__ import annotations

import math

import numpy as np

from weft.framework.building.aliases import TensorLike
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.location_scale import LocationScale
from weft.models.distributions.special import log_cdf_laplace
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.math.complex_numbers import absolute, sign
from weft.ops.math.unary import exp, log, log1p, sigmoid
from weft.ops.nn.activation import softplus
from weft.ops.random.functions import random_uniform


class Laplace(LocationScale):
    """The Laplace distribution, with density `exp(-|x - loc| / scale) / (2 scale)`.

    Args:
        loc: `[...]` floats, the means.
        scale: floats of a shape that broadcasts with `loc`, positive.
        validate_args: whether runs check the arguments; without it, wrong ones give wrong numbers or NaN.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        kind = self.dtype.as_numpy_dtype
        # -1 itself would be infinitely far out.
        least = np.nextafter(kind(-1.0), kind(0.0))
        drawn = random_uniform(self._sizes(n), minval=least, maxval=1.0, dtype=self.dtype, seed=seed)
        return self._loc - self._scale * sign(drawn) * log1p(-absolute(drawn))

    def _log_prob(self, value: Tensor) -> Tensor:
        return -absolute(self._z(value)) - (math.log(2.0) + log(self._scale))

    def _log_cdf(self, value: Tensor) -> Tensor:
        return log_cdf_laplace(self._z(value))

    def _log_survival_function(self, value: Tensor) -> Tensor:
        return log_cdf_laplace(-self._z(value))

    def _cdf(self, value: Tensor) -> Tensor:
        z = self._z(value)
        return 0.5 + 0.5 * sign(z) * (1.0 - exp(-absolute(z)))

    def _entropy(self) -> Tensor:
        return math.log(2.0) + 1.0 + log(self._scale + zeros_like(self._loc))

    def _stddev(self) -> Tensor:
        return math.sqrt(2.0) * self._scale + zeros_like(self._loc)


class Logistic(LocationScale):
    """The logistic distribution, whose distribution function is `sigmoid((x - loc) / scale)`.

    Args:
        loc: `[...]` floats, the means.
        scale: floats of a shape that broadcasts with `loc`, positive.
        validate_args: whether runs check the arguments; without it, wrong ones give wrong numbers or NaN.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Logistic",
    ) -> None:
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        drawn = random_uniform(self._sizes(n), minval=tiny, maxval=1.0, dtype=self.dtype, seed=seed)
        return (log(drawn) - log1p(-drawn)) * self._scale + self._loc

    def _log_prob(self, value: Tensor) -> Tensor:
        z = self._z(value)
        return -z - 2.0 * softplus(-z) - log(self._scale)

    def _log_cdf(self, value: Tensor) -> Tensor:
        return -softplus(-self._z(value))

    def _cdf(self, value: Tensor) -> Tensor:
        return sigmoid(self._z(value))

    def _log_survival_function(self, value: Tensor) -> Tensor:
        return -softplus(self._z(value))

    def _survival_function(self, value: Tensor) -> Tensor:
        return sigmoid(-self._z(value))

    def _entropy(self) -> Tensor:
        return 2.0 + log(self._scale * ones_like(self._loc))

    def _stddev(self) -> Tensor:
        return self._scale * ones_like(self._loc) * math.pi / math.sqrt(3.0)
