"""Distributions of one trial: Bernoulli's of 0 and 1, and the categorical one of class numbers."""

from __future__ import annotations

from weft.framework.building.aliases import DTypeLike, DynamicShape, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.models.distributions.distribution import NOT_REPARAMETERIZED, ScalarDistribution
from weft.models.distributions.divergence import RegisterKL
from weft.models.distributions.odds import HasOdds
from weft.models.distributions.parameters import checked_classes, checked_outcome, logits_and_probs
from weft.ops.array.filling import ones, ones_like, zeros_like
from weft.ops.array.identity import identity
from weft.ops.array.selection import where
from weft.ops.array.sequences import sequence_mask
from weft.ops.array.shape_ops import reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.transposing import transpose
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import less
from weft.ops.math.reduce_functions import argmax, reduce_sum
from weft.ops.math.unary import sigmoid
from weft.ops.nn.activation import softplus
from weft.ops.nn.loss import sigmoid_cross_entropy_with_logits
from weft.ops.nn.softmax import log_softmax, softmax, sparse_softmax_cross_entropy_with_logits
from weft.ops.random.functions import multinomial, random_uniform


class Bernoulli(HasOdds, ScalarDistribution):
    """The distribution of 1 with probability `probs`, and 0 otherwise.

    Args:
        logits: the log-odds of 1.
        probs: the probabilities of 1; exactly one of the two is given.
        dtype: the type of the samples.
        validate_args: whether probabilities and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    _PARAMETERS = ("logits",)

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "Bernoulli", [logits, probs]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args, scope)
        super().__init__(
            dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._logits, self._probs], scope
        )

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return (self._logits,)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = random_uniform(self._sizes(n), seed=seed, dtype=self._probs.dtype)
        return cast(less(drawn, self._probs), self.dtype)

    def _log_prob(self, value: Tensor) -> Tensor:
        event = checked_outcome(value, dtypes.bool) if self.validate_args else value
        event = cast(event, self._logits.dtype)
        logits = self._logits
        if not (event.shape.is_fully_defined() and event.shape == logits.shape):
            event, logits = ones_like(logits) * event, ones_like(event) * logits
        return -sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self) -> Tensor:
        return -self._logits * (sigmoid(self._logits) - 1.0) + softplus(-self._logits)

    def _mean(self) -> Tensor:
        return identity(self._probs)

    def _variance(self) -> Tensor:
        return self._probs * (1.0 - self._probs)

    def _mode(self) -> Tensor:
        return cast(self._probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(a: Bernoulli, b: Bernoulli, name: str | None = None) -> Tensor:
    with input_scope(name, "kl_bernoulli_bernoulli", [a.logits, b.logits]):
        of_zero = softplus(b.logits) - softplus(a.logits)
        of_one = softplus(-b.logits) - softplus(-a.logits)
        return sigmoid(a.logits) * of_one + sigmoid(-a.logits) * of_zero


class Categorical(HasOdds, ScalarDistribution):
    """The distribution of class numbers `0 ... classes - 1`; all dimensions of the parameter but the last are the batch.

    Args:
        logits: unnormalised log-probabilities `[..., classes]`.
        probs: probabilities `[..., classes]`; exactly one of the two is given.
        dtype: the type of the samples.
        validate_args: whether probabilities and values are checked.
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
        name: str = "Categorical",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "Categorical", [logits, probs]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args, scope)
            if validate_args:
                self._logits = checked_classes(self._logits)
            self._logits.shape.with_rank_at_least(1)
            # TensorFlow makes constants of rank, classes and batch where they are known; later seeds go by the count.
            whole = self._logits.shape
            count = 2 + (1 if whole[:-1].is_fully_defined() else 4) + (1 if whole[-1:].is_fully_defined() else 4)
            with get_default_graph().node_count.as_many_as(count):
                sizes = shape_of(self._logits, name="logits_shape")
                with input_scope(None, "event_size"):
                    self._event_size = identity(sizes[-1])
                self._batch_sizes = sizes[:-1]
        super().__init__(
            dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._logits, self._probs], scope
        )

    @classmethod
    def _param_shapes(cls, sample_shape: DynamicShape) -> dict[str, Tensor]:
        raise NotImplementedError("_param_shapes not implemented")

    @property
    def event_size(self) -> Tensor:
        """The number of classes: an `int32` scalar."""
        return self._event_size

    def _batch_shape(self) -> TensorShape:
        found: TensorShape = self._logits.shape[:-1]
        return found

    def _batch_shape_tensor(self) -> Tensor:
        return identity(self._batch_sizes)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        flat = self._logits if self._logits.shape.ndims == 2 else reshape(self._logits, [-1, self._event_size])
        kind = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        drawn = multinomial(flat, n, seed=seed, output_dtype=kind)
        return cast(reshape(transpose(drawn), self._sizes(n)), self.dtype)

    def _together(self, value: Tensor, parameter: Tensor) -> tuple[Tensor, Tensor]:
        """The class numbers `[...]` and the parameter `[..., classes]`, each broadcast to the other's batch."""
        event = checked_outcome(value, dtypes.int32) if self.validate_args else value
        if event.dtype.is_floating:
            event = cast(event, dtypes.int32)
        elif not event.dtype.is_integer:
            raise TypeError(f"`value` should have integer `dtype` or `self.dtype` ({self.dtype.base_dtype})")
        batch: TensorShape = parameter.shape[:-1]
        if batch.is_fully_defined() and event.shape.is_fully_defined() and batch == event.shape:
            return event, parameter
        parameter = parameter * ones_like(event[..., None], dtype=parameter.dtype)
        event = event * ones(shape_of(parameter)[:-1], dtype=event.dtype)
        if parameter.shape.ndims is not None:
            event.set_shape(parameter.shape[:-1])
        return event, parameter

    def _log_prob(self, value: Tensor) -> Tensor:
        event, logits = self._together(value, self._logits)
        return -sparse_softmax_cross_entropy_with_logits(labels=event, logits=logits)

    def _cdf(self, value: Tensor) -> Tensor:
        event, probs = self._together(value, self._probs)
        rows = reshape(probs, [-1, self._event_size])
        before = where(sequence_mask(reshape(event, [-1]), self._event_size), rows, zeros_like(rows))
        return reshape(reduce_sum(before, axis=-1), shape_of(event))

    def _entropy(self) -> Tensor:
        return -reduce_sum(log_softmax(self._logits) * self._probs, axis=-1)

    def _mode(self) -> Tensor:
        kind = self.dtype if self.dtype in (dtypes.int32, dtypes.int64) else dtypes.int64
        best = cast(argmax(self._logits, axis=-1, output_type=kind), self.dtype)
        best.set_shape(self.batch_shape)
        return best


@RegisterKL(Categorical, Categorical)
def kl_of_classes(a: HasOdds, b: HasOdds, name: str | None = None) -> Tensor:
    """The divergence of two distributions of classes, by their logits."""
    with input_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        return reduce_sum(softmax(a.logits) * (log_softmax(a.logits) - log_softmax(b.logits)), axis=-1)
