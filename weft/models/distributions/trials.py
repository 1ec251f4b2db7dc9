"""Counts in trials that succeed or fail: the binomial, the geometric and the negative binomial distribution."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import TensorLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.distribution import NOT_REPARAMETERIZED, ScalarDistribution
from weft.models.distributions.odds import HasOdds
from weft.models.distributions.parameters import assert_integer_form, checked_counts, derived_seed, logits_and_probs
from weft.ops.array.filling import ones_like, zeros, zeros_like
from weft.ops.array.identity import identity
from weft.ops.array.selection import where_v2
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_less, assert_less_equal, assert_non_negative, assert_positive
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import equal
from weft.ops.math.special_functions import betainc, lgamma
from weft.ops.math.unary import exp, expm1, floor, log, log1p, sigmoid
from weft.ops.nn.activation import log_sigmoid, softplus
from weft.ops.random.functions import random_gamma, random_poisson, random_uniform


def _log_of_orders(total: Tensor, counts: Tensor) -> Tensor:
    """The logarithm of in how many orders `counts` of `total` trials can succeed."""
    return lgamma(1.0 + total) - lgamma(1.0 + total - counts) - lgamma(1.0 + counts)


class Binomial(HasOdds, ScalarDistribution):
    """How many of `total_count` independent trials succeed.

    Args:
        total_count: the numbers of trials, floating point with integer values.
        logits: the log-odds of a success.
        probs: the probabilities of a success; exactly one of the two is given. All broadcast.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.

    Samples are not implemented, as they are not in TensorFlow 1.15; `Multinomial` of two outcomes has them.
    """

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Binomial",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "Binomial", [total_count, logits, probs]) as scope:
            total = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                message = "total_count cannot contain fractional components."
                checks = [assert_non_negative(total, message="total_count must be non-negative.")]
                total = with_dependencies([*checks, assert_integer_form(total, message)], total)
            self._total_count = total
            self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args, scope)
        parents = [self._total_count, self._logits, self._probs]
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, scope)

    @property
    def total_count(self) -> Tensor:
        """The numbers of trials."""
        return self._total_count

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return self._total_count, self._probs

    def _checked(self, counts: Tensor) -> Tensor:
        if not self.validate_args:
            return counts
        counts = checked_counts(counts)
        message = "counts are not less than or equal to n."
        return with_dependencies([assert_less_equal(counts, self._total_count, message=message)], counts)

    def _log_prob(self, value: Tensor) -> Tensor:
        counts = self._checked(value)
        chance = counts * log(self._probs) + (self._total_count - counts) * log1p(-self._probs)
        return chance + _log_of_orders(self._total_count, counts)

    def _cdf(self, value: Tensor) -> Tensor:
        # The op broadcasts nothing but scalars.
        every = zeros_like(self._total_count + self._probs) + zeros_like(value)
        counts, total = self._checked(value) + every, self._total_count + every
        is_all = equal(counts, total)
        left = where_v2(is_all, ones_like(total), total - counts)
        return where_v2(is_all, ones_like(total), betainc(left, counts + 1.0, 1.0 - self._probs + every))

    def _mean(self) -> Tensor:
        return self._total_count * self._probs

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self._probs)

    def _mode(self) -> Tensor:
        return floor((1.0 + self._total_count) * self._probs)


class Geometric(HasOdds, ScalarDistribution):
    """How many trials fail before the first that succeeds.

    Args:
        logits: the log-odds of a success.
        probs: the probabilities of a success, in (0, 1]; exactly one of the two is given.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Geometric",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "Geometric", [logits, probs]) as scope:
            self._logits, chance = logits_and_probs(logits, probs, False, validate_args, scope)
            with control_dependencies([assert_positive(chance)] if validate_args else []):
                self._probs = identity(chance, name="probs")
        parents = [self._probs, self._logits]
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, scope)

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return (self._probs,)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        drawn = random_uniform(self._sizes(n), minval=tiny, maxval=1.0, seed=seed, dtype=self.dtype)
        return floor(log(drawn) / log1p(-self._probs))

    def _counts(self, value: Tensor) -> Tensor:
        # Without checks a value between two counts is the lower one, as for SciPy.
        counts = checked_counts(value) if self.validate_args else floor(value)
        return counts * ones_like(self._probs)

    def _cdf(self, value: Tensor) -> Tensor:
        counts = self._counts(value)
        return where_v2(counts < 0.0, zeros_like(counts), -expm1((1.0 + counts) * log1p(-self._probs)))

    def _log_prob(self, value: Tensor) -> Tensor:
        counts = self._counts(value)
        probs = self._probs * ones_like(counts)
        # 0 * log(0) of a sure success is 0.
        failing = where_v2(equal(counts, 0.0), zeros_like(probs), probs)
        return counts * log1p(-failing) + log(probs)

    def _entropy(self) -> Tensor:
        probs = self._probs
        if self.validate_args:
            message = "Entropy is undefined when logits = inf or probs = 1."
            one = convert_to_tensor(1.0, probs.dtype)
            probs = with_dependencies([assert_less(probs, one, message=message)], probs)
        return softplus(self._logits) / probs - self._logits

    def _mean(self) -> Tensor:
        return exp(-self._logits)

    def _variance(self) -> Tensor:
        return self._mean() / self._probs

    def _mode(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), dtype=self.dtype)


class NegativeBinomial(HasOdds, ScalarDistribution):
    """How many trials succeed before `total_count` have failed.

    Args:
        total_count: the numbers of failures, positive; they need not be whole.
        logits: the log-odds of a success.
        probs: the probabilities of a success, in (0, 1); exactly one of the two is given. All broadcast.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NegativeBinomial",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "NegativeBinomial", [total_count, logits, probs]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args, scope)
            with control_dependencies([assert_positive(total_count)] if validate_args else []):
                self._total_count = identity(total_count)
        parents = [self._total_count, self._probs, self._logits]
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, scope)

    @property
    def total_count(self) -> Tensor:
        """The numbers of failures."""
        return self._total_count

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return self._total_count, self._probs

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        # A Poisson distribution whose mean has a gamma distribution.
        rate = random_gamma([n], self._total_count, exp(-self._logits), dtype=self.dtype, seed=seed)
        return random_poisson(rate, [], dtype=self.dtype, seed=derived_seed(seed, "negative_binom"))

    def _checked(self, value: Tensor) -> Tensor:
        return checked_counts(value) if self.validate_args else value

    def _cdf(self, value: Tensor) -> Tensor:
        every = zeros_like(self._total_count + self._logits) + zeros_like(value)
        return betainc(self._total_count + every, 1.0 + self._checked(value) + every, sigmoid(-self._logits) + every)

    def _log_prob(self, value: Tensor) -> Tensor:
        counts, total = self._checked(value), self._total_count
        chance = total * log_sigmoid(-self._logits) + counts * log_sigmoid(self._logits)
        return chance + lgamma(total + counts) - lgamma(1.0 + counts) - lgamma(total)

    def _mean(self) -> Tensor:
        return self._total_count * exp(self._logits)

    def _mode(self) -> Tensor:
        total = self._total_count
        return floor(where_v2(total > 1.0, total - 1.0, zeros_like(total)) * exp(self._logits))

    def _variance(self) -> Tensor:
        return self._mean() / sigmoid(-self._logits)
