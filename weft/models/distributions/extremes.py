"""Distributions of a location and a scale that reach far out: Gumbel's of extremes, and Cauchy's, which has no mean."""

from __future__ import annotations

import math

import numpy as np

from weft.framework.building.aliases import TensorLike
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.location_scale import LocationScale
from weft.ops.array.filling import fill, ones_like
from weft.ops.math.elementwise import square
from weft.ops.math.trigonometry import atan, tan
from weft.ops.math.unary import exp, log, log1p
from weft.ops.random.functions import random_uniform


class Gumbel(LocationScale):
    """The Gumbel distribution, whose distribution function is `exp(-exp(-(x - loc) / scale))`."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gumbel",
    ) -> None:
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        drawn = random_uniform(self._sizes(n), minval=tiny, maxval=1.0, dtype=self.dtype, seed=seed)
        return -log(-log(drawn)) * self._scale + self._loc

    def _log_prob(self, value: Tensor) -> Tensor:
        z = self._z(value)
        return -z - exp(-z) - log(self._scale)

    def _log_cdf(self, value: Tensor) -> Tensor:
        return -exp(-self._z(value))

    def _cdf(self, value: Tensor) -> Tensor:
        return exp(-exp(-self._z(value)))

    def _entropy(self) -> Tensor:
        return 1.0 + log(self._scale * ones_like(self._loc)) + float(np.euler_gamma)

    def _mean(self) -> Tensor:
        return self._loc + self._scale * float(np.euler_gamma)

    def _mode(self) -> Tensor:
        return self._loc * ones_like(self._scale)

    def _stddev(self) -> Tensor:
        return self._scale * ones_like(self._loc) * (math.pi / math.sqrt(6.0))


class Cauchy(LocationScale):
    """The Cauchy distribution, with density `1 / (pi scale (1 + ((x - loc) / scale)**2))`.

    Args:
        loc: the medians, of a floating dtype.
        scale: the scales, positive; both broadcast.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Cauchy",
    ) -> None:
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        return self._quantile(random_uniform(self._sizes(n), dtype=self.dtype, seed=seed))

    def _log_prob(self, value: Tensor) -> Tensor:
        return -log1p(square(self._z(value))) - (math.log(math.pi) + log(self._scale))

    def _cdf(self, value: Tensor) -> Tensor:
        return atan(self._z(value)) / math.pi + 0.5

    def _log_cdf(self, value: Tensor) -> Tensor:
        return log1p(2.0 / math.pi * atan(self._z(value))) - math.log(2.0)

    def _quantile(self, value: Tensor) -> Tensor:
        return self._loc + self._scale * tan(math.pi * (value - 0.5))

    def _entropy(self) -> Tensor:
        return (math.log(4.0 * math.pi) + log(self._scale)) * ones_like(self._loc)

    def _mode(self) -> Tensor:
        return self._loc * ones_like(self._scale)

    def _undefined(self, what: str) -> Tensor:
        if not self.allow_nan_stats:
            raise ValueError(f"`{what}` is undefined for Cauchy distribution.")
        return fill(self.batch_shape_tensor(), self.dtype.as_numpy_dtype(np.nan))

    def _mean(self) -> Tensor:
        return self._undefined("mean")

    def _stddev(self) -> Tensor:
        return self._undefined("stddev")
