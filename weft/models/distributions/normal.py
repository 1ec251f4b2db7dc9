"""The normal distribution."""

from __future__ import annotations

import math

from weft.framework.building.aliases import TensorLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED, ScalarDistribution
from weft.models.distributions.divergence import RegisterKL
from weft.models.distributions.special import log_ndtr, ndtr
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like
from weft.ops.array.identity import identity
from weft.ops.array.selection import where_v2
from weft.ops.debugging.checks import assert_positive, assert_same_float_dtype
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import logical_or
from weft.ops.math.elementwise import square, squared_difference
from weft.ops.math.special_functions import ndtri
from weft.ops.math.unary import log
from weft.ops.nn.activation import softplus
from weft.ops.random.functions import random_normal


class Normal(ScalarDistribution):
    """The normal distribution with mean `loc` and standard deviation `scale`.

    Args:
        loc: the means, floating point.
        scale: the standard deviations, positive; both broadcast.
        validate_args: whether `scale` is checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    _PARAMETERS = ("loc", "scale")

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "Normal", [loc, scale]) as scope:
            with control_dependencies([assert_positive(scale)] if validate_args else []):
                self._loc = identity(loc, name="loc")
                self._scale = identity(scale, name="scale")
            assert_same_float_dtype([self._loc, self._scale])
        super().__init__(
            self._scale.dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            [self._loc, self._scale],
            scope,
        )

    @property
    def loc(self) -> Tensor:
        """The means."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The standard deviations."""
        return self._scale

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return self._loc, self._scale

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = random_normal(self._sizes(n), mean=0.0, stddev=1.0, dtype=self._loc.dtype, seed=seed)
        return drawn * self._scale + self._loc

    def _log_prob(self, value: Tensor) -> Tensor:
        return -0.5 * square(self._z(value)) - (0.5 * math.log(2.0 * math.pi) + log(self._scale))

    def _log_cdf(self, value: Tensor) -> Tensor:
        return log_ndtr(self._z(value))

    def _cdf(self, value: Tensor) -> Tensor:
        return ndtr(self._z(value))

    def _log_survival_function(self, value: Tensor) -> Tensor:
        return log_ndtr(-self._z(value))

    def _survival_function(self, value: Tensor) -> Tensor:
        return ndtr(-self._z(value))

    def _quantile(self, value: Tensor) -> Tensor:
        # From 0 and 1 on TensorFlow's function gives the infinities, with a gradient of zero; that of the op is infinite.
        is_outside = logical_or(value <= 0.0, value >= 1.0)
        infinities = (2.0 * cast(value > 0.5, value.dtype) - 1.0) * math.inf
        found = where_v2(is_outside, infinities, ndtri(where_v2(is_outside, constant(0.5, value.dtype), value)))
        return found * self._scale + self._loc

    def _mean(self) -> Tensor:
        return self._loc * ones_like(self._scale)

    def _mode(self) -> Tensor:
        return self._mean()

    def _stddev(self) -> Tensor:
        return self._scale * ones_like(self._loc)

    def _entropy(self) -> Tensor:
        return 0.5 * math.log(2.0 * math.pi * math.e) + log(self._stddev())

    def _z(self, value: Tensor) -> Tensor:
        """How many standard deviations a value lies above the mean."""
        with input_scope(None, "standardize", [value]):
            return (value - self._loc) / self._scale


class NormalWithSoftplusScale(Normal):
    """The normal distribution whose standard deviation is `softplus(scale)`.

    Args:
        loc: `[...]` floats, the means.
        scale: floats of any sign, of a shape that broadcasts with `loc`.
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
        name: str = "NormalWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "NormalWithSoftplusScale", [scale]) as scope:
            super().__init__(loc, softplus(scale, name="softplus_scale"), validate_args, allow_nan_stats, scope)
        self._parameters = parameters


@RegisterKL(Normal, Normal)
def _kl_normal_normal(a: Normal, b: Normal, name: str | None = None) -> Tensor:
    with input_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        variance = square(b.scale)
        ratio = square(a.scale) / variance
        return squared_difference(a.loc, b.loc) / (2.0 * variance) + 0.5 * (ratio - 1.0 - log(ratio))
