"""Poisson's distribution of counts, and the categorical one of one-hot vectors."""

from __future__ import annotations

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.distributions.discrete import kl_of_classes
from weft.models.distributions.distribution import NOT_REPARAMETERIZED, ScalarDistribution
from weft.models.distributions.divergence import RegisterKL
from weft.models.distributions.odds import HasOdds
from weft.models.distributions.parameters import checked_counts, logits_and_probs
from weft.models.distributions.vectors import VectorDistribution, shared_covariance
from weft.ops.array.filling import one_hot, ones_like
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.transposing import transpose
from weft.ops.debugging.checks import assert_positive
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.reduce_functions import argmax, reduce_sum
from weft.ops.math.special_functions import igammac, lgamma
from weft.ops.math.unary import exp, floor, log
from weft.ops.nn.softmax import log_softmax
from weft.ops.random.functions import multinomial, random_poisson


class Poisson(ScalarDistribution):
    """The Poisson distribution of counts with mean `rate`.

    Args:
        rate: the means, positive, floating point.
        log_rate: their logarithms; exactly one of the two is given.
        validate_args: whether rates are checked to be positive, and values to be counts.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.

    Raises:
        ValueError: both are given, or none.
        TypeError: the given one is not floating point.
    """

    def __init__(
        self,
        rate: TensorLike | None = None,
        log_rate: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Poisson",
    ) -> None:
        parameters = dict(locals())
        if (rate is None) == (log_rate is None):
            raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
        with input_scope(name, "Poisson", [rate, log_rate]) as scope:
            key = "rate" if log_rate is None else "log_rate"
            given = convert_to_tensor(rate if log_rate is None else log_rate, name=key)
            if not given.dtype.is_floating:
                raise TypeError(f"{key}.dtype ({given.dtype.name}) is a not a float-type.")
            if log_rate is None:
                with control_dependencies([assert_positive(given)] if validate_args else []):
                    self._rate, self._log_rate = identity(given, name="rate"), log(given, name="log_rate")
            else:
                self._rate, self._log_rate = exp(given, name="rate"), given
        super().__init__(given.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._rate], scope)

    @property
    def rate(self) -> Tensor:
        """The means."""
        return self._rate

    @property
    def log_rate(self) -> Tensor:
        """The logarithms of the means."""
        return self._log_rate

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return (self._rate,)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        return random_poisson(self._rate, [n], dtype=self.dtype, seed=seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        x = checked_counts(value) if self.validate_args else value
        return x * self._log_rate - lgamma(1.0 + x) - self._rate

    def _cdf(self, value: Tensor) -> Tensor:
        x = checked_counts(value) if self.validate_args else value
        return igammac(1.0 + x, self._rate)

    def _mean(self) -> Tensor:
        return identity(self._rate)

    def _variance(self) -> Tensor:
        return identity(self._rate)

    def _mode(self) -> Tensor:
        return floor(self._rate)


class OneHotCategorical(HasOdds, VectorDistribution):
    """The categorical distribution whose samples are one-hot vectors `[..., classes]`.

    Args:
        logits: unnormalised log-probabilities `[..., classes]`.
        probs: probabilities `[..., classes]`; exactly one of the two is given.
        dtype: the type of the samples.
        validate_args: whether probabilities are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "OneHotCategorical", [logits, probs]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args, scope)
            with input_scope(None, "event_size"):
                self._event_size = shape_of(self._logits)[-1]
        super().__init__(
            dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._logits, self._probs], scope
        )

    @property
    def event_size(self) -> Tensor:
        """The number of classes: an `int32` scalar."""
        return self._event_size

    def _vectors(self) -> Tensor:
        return self._logits

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        flat = self._logits if self._logits.shape.ndims == 2 else reshape(self._logits, [-1, self._event_size])
        drawn = multinomial(flat, n, seed=seed)
        vectors = one_hot(transpose(drawn), self._event_size, dtype=self.dtype)
        return reshape(vectors, concat([[n], shape_of(self._logits)], 0))

    def _log_prob(self, value: Tensor) -> Tensor:
        like = ones_like(value, dtype=self._logits.dtype)
        return reduce_sum(cast(value, self._logits.dtype) * log_softmax(self._logits * like), -1)

    def _entropy(self) -> Tensor:
        return -reduce_sum(log_softmax(self._logits) * self._probs, axis=-1)

    def _mode(self) -> Tensor:
        return one_hot(argmax(self._logits, axis=-1), self._event_size, dtype=self.dtype)

    def _variance(self) -> Tensor:
        return self._probs * (1.0 - self._probs)

    def _covariance(self) -> Tensor:
        return shared_covariance(self._probs, self._probs, self._variance())


RegisterKL(OneHotCategorical, OneHotCategorical)(kl_of_classes)
