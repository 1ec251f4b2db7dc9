"""Distributions of proportions: beta's of one, and Dirichlet's of those of several parts."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED, ScalarDistribution
from weft.models.distributions.divergence import RegisterKL
from weft.models.distributions.parameters import derived_seed
from weft.models.distributions.vectors import VectorDistribution, shared_covariance
from weft.ops.array.filling import fill, ones, ones_like
from weft.ops.array.selection import where_v2
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_less, assert_near, assert_positive, assert_same_float_dtype
from weft.ops.debugging.rank_checks import assert_rank_at_least
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import logical_and
from weft.ops.math.division import xlogy
from weft.ops.math.reduce_functions import reduce_all, reduce_sum
from weft.ops.math.special_functions import betainc, digamma, lbeta, lgamma
from weft.ops.math.unary import log1p, rsqrt
from weft.ops.random.functions import random_gamma

_POSITIVE = "Concentration parameter must be positive."


class Beta(ScalarDistribution):
    """The beta distribution over `(0, 1)`: density in proportion to `x**(concentration1 - 1) * (1 - x)**(concentration0 - 1)`.

    Args:
        concentration1: the weights of 1, positive, floating point.
        concentration0: the weights of 0, positive; both broadcast.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.
    """

    _PARAMETERS = ("concentration1", "concentration0")

    def __init__(
        self,
        concentration1: TensorLike | None = None,
        concentration0: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "Beta", [concentration1, concentration0]) as scope:
            one = convert_to_tensor(concentration1, name="concentration1")
            zero = convert_to_tensor(concentration0, name="concentration0")
            if validate_args:
                one = with_dependencies([assert_positive(one, message=_POSITIVE)], one)
                zero = with_dependencies([assert_positive(zero, message=_POSITIVE)], zero)
            assert_same_float_dtype([one, zero])
            self._one, self._zero, self._total = one, zero, one + zero
        super().__init__(
            one.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [one, zero, self._total], scope
        )

    @property
    def concentration1(self) -> Tensor:
        """The weights of 1."""
        return self._one

    @property
    def concentration0(self) -> Tensor:
        """The weights of 0."""
        return self._zero

    @property
    def total_concentration(self) -> Tensor:
        """The sums of both weights."""
        return self._total

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return (self._total,)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        # Both are made before the first seed is chosen, which goes by the count of nodes.
        one, zero = ones_like(self._total) * self._one, ones_like(self._total) * self._zero
        first = random_gamma([n], one, dtype=self.dtype, seed=seed)
        second = random_gamma([n], zero, dtype=self.dtype, seed=derived_seed(seed, "beta"))
        return first / (first + second)

    def _log_prob(self, value: Tensor) -> Tensor:
        x = value
        if self.validate_args:
            below = assert_less(x, ones([], self.dtype), message="sample must be less than `1`.")
            x = with_dependencies([assert_positive(x, message="sample must be positive"), below], x)
        return xlogy(self._one - 1.0, x) + (self._zero - 1.0) * log1p(-x) - _log_beta(self)

    def _cdf(self, value: Tensor) -> Tensor:
        # The op broadcasts nothing but scalars.
        like = ones_like(self._total) * ones_like(value)
        return betainc(self._one * like, self._zero * like, value * like)

    def _entropy(self) -> Tensor:
        parts = (self._one - 1.0) * digamma(self._one) + (self._zero - 1.0) * digamma(self._zero)
        return _log_beta(self) - parts + (self._total - 2.0) * digamma(self._total)

    def _mean(self) -> Tensor:
        return self._one / self._total

    def _variance(self) -> Tensor:
        mean = self._mean()
        return mean * (1.0 - mean) / (1.0 + self._total)

    def _mode(self) -> Tensor:
        mode = (self._one - 1.0) / (self._total - 2.0)
        if self.allow_nan_stats:
            nan = fill(self.batch_shape_tensor(), np.array(np.nan, self.dtype.as_numpy_dtype), name="nan")
            return where_v2(logical_and(self._one > 1.0, self._zero > 1.0), mode, nan)
        one = ones([], self.dtype)
        checks = [
            assert_less(one, self._one, message="Mode undefined for concentration1 <= 1."),
            assert_less(one, self._zero, message="Mode undefined for concentration0 <= 1."),
        ]
        return with_dependencies(checks, mode)


def _log_beta(made: Beta) -> Tensor:
    """The logarithm of the beta function of the weights."""
    return lgamma(made.concentration1) + lgamma(made.concentration0) - lgamma(made.total_concentration)


@RegisterKL(Beta, Beta)
def _kl_beta_beta(a: Beta, b: Beta, name: str | None = None) -> Tensor:
    with input_scope(name, "kl_beta_beta", [a.total_concentration, b.total_concentration]):
        ones_part = digamma(a.concentration1) * (b.concentration1 - a.concentration1)
        zeros_part = digamma(a.concentration0) * (b.concentration0 - a.concentration0)
        total = digamma(a.total_concentration) * (b.total_concentration - a.total_concentration)
        return _log_beta(b) - _log_beta(a) - ones_part - zeros_part + total


class Dirichlet(VectorDistribution):
    """The Dirichlet distribution of proportions that sum to 1.

    Args:
        concentration: the weights `[..., parts]`, positive, floating point.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.
    """

    def __init__(
        self,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "Dirichlet", [concentration]) as scope:
            weights = convert_to_tensor(concentration, name="concentration")
            if validate_args:
                checks = [
                    assert_positive(weights, message=_POSITIVE),
                    assert_rank_at_least(weights, 1, message="Concentration parameter must have >=1 dimensions."),
                    assert_less(1, shape_of(weights)[-1], message="Concentration parameter must have event_size >= 2."),
                ]
                weights = with_dependencies(checks, weights)
            self._concentration, self._total = weights, reduce_sum(weights, -1)
        super().__init__(
            weights.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [weights, self._total], scope
        )

    @property
    def concentration(self) -> Tensor:
        """The weights `[..., parts]`."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """Their sums over the parts."""
        return self._total

    def _vectors(self) -> Tensor:
        return self._concentration

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = random_gamma([n], self._concentration, dtype=self.dtype, seed=seed)
        return drawn / reduce_sum(drawn, -1, keepdims=True)

    def _log_prob(self, value: Tensor) -> Tensor:
        x = value
        if self.validate_args:
            message = "sample last-dimension must sum to `1`"
            near = assert_near(ones([], dtype=self.dtype), reduce_sum(x, -1), message=message)
            x = with_dependencies([assert_positive(x, message="samples must be positive"), near], x)
        return reduce_sum(xlogy(self._concentration - 1.0, x), -1) - lbeta(self._concentration)

    def _parts(self) -> Tensor:
        return cast(self.event_shape_tensor()[0], self.dtype)

    def _entropy(self) -> Tensor:
        each = reduce_sum((self._concentration - 1.0) * digamma(self._concentration), axis=-1)
        return lbeta(self._concentration) + (self._total - self._parts()) * digamma(self._total) - each

    def _mean(self) -> Tensor:
        return self._concentration / expand_dims(self._total, -1)

    def _scaled_mean(self) -> tuple[Tensor, Tensor]:
        scale = rsqrt(1.0 + expand_dims(self._total, -1))
        return scale, scale * self._mean()

    def _variance(self) -> Tensor:
        scale, x = self._scaled_mean()
        return x * (scale - x)

    def _covariance(self) -> Tensor:
        _, x = self._scaled_mean()
        return shared_covariance(x, x, self._variance())

    def _mode(self) -> Tensor:
        mode = (self._concentration - 1.0) / (expand_dims(self._total, -1) - self._parts())
        if self.allow_nan_stats:
            nan = fill(shape_of(mode), np.array(np.nan, self.dtype.as_numpy_dtype), name="nan")
            return where_v2(reduce_all(self._concentration > 1.0, axis=-1, keepdims=True), mode, nan)
        message = "Mode undefined when any concentration <= 1"
        return with_dependencies([assert_less(ones([], self.dtype), self._concentration, message=message)], mode)


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(a: Dirichlet, b: Dirichlet, name: str | None = None) -> Tensor:
    with input_scope(name, "kl_dirichlet_dirichlet", [a.concentration, b.concentration]):
        expected = digamma(a.concentration) - digamma(reduce_sum(a.concentration, axis=-1, keepdims=True))
        moved = reduce_sum((a.concentration - b.concentration) * expected, axis=-1)
        return moved - lbeta(a.concentration) + lbeta(b.concentration)
