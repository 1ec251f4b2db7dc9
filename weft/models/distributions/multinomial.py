"""Counts of several outcomes in a number of draws, by probabilities that are given, or that Dirichlet's distribution gives."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.distributions.distribution import NOT_REPARAMETERIZED
from weft.models.distributions.odds import HasOdds
from weft.models.distributions.parameters import checked_classes, checked_counts, derived_seed, logits_and_probs
from weft.models.distributions.vectors import VectorDistribution, shared_covariance
from weft.ops.array.filling import one_hot, ones, ones_like
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import expand_dims, reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_equal, assert_positive
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import less
from weft.ops.math.reduce_functions import reduce_max, reduce_sum
from weft.ops.math.special_functions import lbeta, lgamma
from weft.ops.math.unary import log, sqrt
from weft.ops.nn.softmax import log_softmax
from weft.ops.random.functions import multinomial, random_gamma


def _log_combinations(total: Tensor, counts: Tensor) -> Tensor:
    """The logarithm of how many orders of draws give the counts `[..., outcomes]`."""
    return lgamma(1.0 + total) - reduce_sum(lgamma(1.0 + counts), -1)


def _counted(logits: Tensor, draws: Tensor, most: Tensor | int, seed: int | None) -> Tensor:
    """How often each outcome is drawn: `[rows, outcomes], [rows] -> [rows, outcomes]`, `most` draws at most."""
    outcomes = one_hot(multinomial(logits, most, seed=seed), shape_of(logits)[-1], dtype=logits.dtype)
    is_drawn = less(expand_dims(range_of(most), 0), expand_dims(draws, -1))
    return reduce_sum(outcomes * expand_dims(cast(is_drawn, logits.dtype), -1), -2)


def _most(draws: Tensor) -> Tensor | int:
    known = constant_value(draws)
    return reduce_max(draws) if known is None else int(np.max(known))


class _Counts(VectorDistribution):
    """A distribution of counts `[..., outcomes]` in `total_count` draws, `[...]`."""

    _total_count: Tensor

    @property
    def total_count(self) -> Tensor:
        """The numbers of draws."""
        return self._total_count

    def _checked(self, counts: Tensor, message: str) -> Tensor:
        if not self.validate_args:
            return counts
        counts = checked_counts(counts)
        return with_dependencies([assert_equal(self._total_count, reduce_sum(counts, -1), message=message)], counts)

    def _drawn(self, n: TensorLike, logits: Tensor, seed: int | None) -> Tensor:
        """Samples from logits `[n, batch..., outcomes]`."""
        draws = cast(self._total_count, dtypes.int32) * ones_like(logits[..., 0], dtype=dtypes.int32)
        outcomes = shape_of(logits)[-1]
        flat = reshape(logits, [-1, outcomes])
        counts = _counted(flat, reshape(draws, [-1]), _most(cast(self._total_count, dtypes.int32)), seed)
        return cast(reshape(counts, concat([[n], self.batch_shape_tensor(), [outcomes]], 0)), self.dtype)


class Multinomial(HasOdds, _Counts):
    """How often each of several outcomes comes in independent draws.

    Args:
        total_count: the numbers of draws, floating point with integer values; broadcasts to the batch `[...]`.
        logits: unnormalised log-probabilities `[..., outcomes]`.
        probs: probabilities `[..., outcomes]`; exactly one of the two is given.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.

    >>> m = tf.distributions.Multinomial(4.0, probs=[0.5, 0.25, 0.25])
    >>> [round(float(x), 3) for x in sess.run(m.mean())]
    [2.0, 1.0, 1.0]
    """

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "Multinomial", [total_count, logits, probs]) as scope:
            total = convert_to_tensor(total_count, name="total_count")
            self._total_count = checked_counts(total) if validate_args else total
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args, scope)
            self._mean_value = expand_dims(self._total_count, -1) * self._probs
        parents = [self._total_count, self._logits, self._probs]
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, scope)

    def _vectors(self) -> Tensor:
        return self._mean_value

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        batch = self._logits * ones_like(self._mean_value)
        sizes = concat([[n], ones_like(shape_of(batch))], 0)
        repeated = reshape(batch, concat([[1], shape_of(batch)], 0)) * ones(sizes, self.dtype)
        return self._drawn(n, repeated, seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        counts = self._checked(value, "counts must sum to `self.total_count`")
        chance = reduce_sum(counts * log_softmax(self._logits), -1)
        return chance + _log_combinations(self._total_count, counts)

    def _mean(self) -> Tensor:
        return identity(self._mean_value)

    def _each_probs(self) -> Tensor:
        return self._probs * expand_dims(ones_like(self._total_count), -1)

    def _variance(self) -> Tensor:
        return self._mean_value - self._mean_value * self._each_probs()

    def _covariance(self) -> Tensor:
        return shared_covariance(self._mean_value, self._each_probs(), self._variance())


class DirichletMultinomial(_Counts):
    """How often each of several outcomes comes in draws whose probabilities are a sample of Dirichlet's distribution.

    Args:
        total_count: the numbers of draws, floating point with integer values; broadcasts to the batch `[...]`.
        concentration: the weights `[..., outcomes]`, positive, floating point.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self,
        total_count: TensorLike,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "DirichletMultinomial", [total_count, concentration]) as scope:
            total = convert_to_tensor(total_count, name="total_count")
            weights = convert_to_tensor(concentration, name="concentration")
            if validate_args:
                total = checked_counts(total)
                message = "Concentration parameter must be positive."
                weights = with_dependencies([assert_positive(weights, message=message)], checked_classes(weights))
            self._total_count, self._concentration = total, weights
            self._total_concentration = reduce_sum(weights, -1)
        parents = [self._total_count, self._concentration]
        super().__init__(weights.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, scope)

    @property
    def concentration(self) -> Tensor:
        """The weights `[..., outcomes]`."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """Their sums over the outcomes."""
        return self._total_concentration

    def _vectors(self) -> Tensor:
        return self._concentration

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        logits = log(random_gamma([n], self._concentration, dtype=self.dtype, seed=seed))
        return self._drawn(n, logits, derived_seed(seed, "dirichlet_multinomial"))

    def _log_prob(self, value: Tensor) -> Tensor:
        counts = self._checked(value, "counts last-dimension must sum to `self.total_count`")
        chance = lbeta(self._concentration + counts) - lbeta(self._concentration)
        return chance + _log_combinations(self._total_count, counts)

    def _mean(self) -> Tensor:
        return self._total_count * (self._concentration / expand_dims(self._total_concentration, -1))

    def _scale(self) -> Tensor:
        weights = expand_dims(self._total_concentration, -1)
        return sqrt((1.0 + weights / self._total_count) / (1.0 + weights))

    def _variance(self) -> Tensor:
        scale = self._scale()
        x = scale * self._mean()
        return x * (self._total_count * scale - x)

    def _covariance(self) -> Tensor:
        x = self._scale() * self._mean()
        return shared_covariance(x, x, self._variance())
