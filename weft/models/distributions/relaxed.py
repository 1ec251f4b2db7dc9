"""Relaxations of discrete distributions, whose samples have gradients (Jang et al., arXiv:1611.01144; Maddison et al.)."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED, ScalarDistribution
from weft.models.distributions.laplace import Logistic
from weft.models.distributions.odds import HasOdds
from weft.models.distributions.parameters import logits_and_probs
from weft.models.distributions.vectors import VectorDistribution
from weft.ops.array.filling import ones_like
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.input_scope import input_scope
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.special_functions import lgamma
from weft.ops.math.unary import exp, log, log1p, sigmoid
from weft.ops.nn.softmax import log_softmax
from weft.ops.random.functions import random_uniform


class RelaxedBernoulli(HasOdds, ScalarDistribution):
    """A distribution of numbers between 0 and 1 that nears the Bernoulli one as the temperature nears 0.

    Args:
        temperature: positive; broadcasts with the parameter.
        logits: log-odds of 1.
        probs: probabilities of 1; exactly one of the two is given.
        validate_args: whether probabilities are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedBernoulli",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "RelaxedBernoulli", [logits, probs, temperature]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args, scope)
            self._temperature = convert_to_tensor(temperature, self._logits.dtype.base_dtype, name="temperature")
            self._logistic = Logistic(self._logits / self._temperature, 1.0 / self._temperature)
        parents = [self._logits, self._temperature]
        super().__init__(self._logits.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, scope)

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        return self._temperature

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return self._logistic.loc, self._logistic.scale

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        return sigmoid(self._logistic.sample(n, seed=seed))

    def _log_prob(self, value: Tensor) -> Tensor:
        odds = log(value) - log1p(-value)
        return self._logistic.log_prob(odds) - log(value) - log1p(-value)

    def _cdf(self, value: Tensor) -> Tensor:
        return self._logistic.cdf(log(value) - log1p(-value))


class ExpRelaxedOneHotCategorical(HasOdds, VectorDistribution):
    """The logarithms of what RelaxedOneHotCategorical draws, in which there is no underflow.

    Args:
        temperature: positive, `[...]`.
        logits: unnormalised log-probabilities `[..., classes]`.
        probs: probabilities `[..., classes]`; exactly one of the two is given.
        dtype: accepted; the samples have the type of the parameter.
        validate_args: whether probabilities are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: object = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, type(self).__name__, [logits, probs, temperature]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args, scope)
            kind = self._logits.dtype.base_dtype
            self._temperature = convert_to_tensor(temperature, kind, name="temperature")
            self._wide = expand_dims(self._temperature, -1)
            self._full = self._logits * ones_like(self._wide)
        parents = [self._logits, self._temperature]
        super().__init__(kind, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, scope)

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        return self._temperature

    @property
    def event_size(self) -> Tensor:
        """The number of classes: an `int32` scalar."""
        return shape_of(self._logits)[-1]

    def _vectors(self) -> Tensor:
        return self._full

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        sizes = concat([[n], shape_of(self._full)], 0)
        drawn = random_uniform(sizes, minval=tiny, maxval=1.0, dtype=self.dtype, seed=seed)
        return log_softmax((-log(-log(drawn)) + self._full) / self._wide)

    def _log_prob(self, value: Tensor) -> Tensor:
        classes = reduce_sum(ones_like(self._full), -1)
        constant = lgamma(classes) + (classes - 1.0) * log(self._temperature)
        return constant + reduce_sum(log_softmax(self._full - value * self._wide), -1)


class RelaxedOneHotCategorical(ExpRelaxedOneHotCategorical):
    """A distribution of vectors that sum to 1 and near one-hot ones as the temperature nears 0.

    Args: those of `tf.contrib.distributions.ExpRelaxedOneHotCategorical`.
    """

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: object = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ) -> None:
        super().__init__(temperature, logits, probs, dtype, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        return exp(super()._sample_n(n, seed))

    def _log_prob(self, value: Tensor) -> Tensor:
        logarithms = log(value)
        return super()._log_prob(logarithms) - reduce_sum(logarithms, -1)
