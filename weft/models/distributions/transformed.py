"""TransformedDistribution: the distribution of the values of a bijector."""

from __future__ import annotations

from weft.framework.building.aliases import DynamicShape, Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value, constant_value_as_shape
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.models.bijectors.bijector import Bijector
from weft.models.bijectors.elementwise import Identity
from weft.models.distributions.distribution import Distribution
from weft.models.distributions.sample_shape import as_vector, set_known_shape
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like, zeros
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import rank, reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import tile
from weft.ops.array.transposing import transpose
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.reduce_functions import reduce_logsumexp, reduce_prod, reduce_sum
from weft.ops.math.unary import exp


class TransformedDistribution(Distribution):
    """The distribution of `bijector.forward(x)` where `x` has another distribution.

    Args:
        distribution: the other distribution; how many dimensions its batch has must be known.
        bijector: the bijector; the identity when None.
        batch_shape: a batch for a distribution that is a single one.
        event_shape: the shape of events of which the other distribution draws the numbers, one by one.
        validate_args: kept for `copy`.
        name: the scope's name; the bijector's and the distribution's by default.

    Raises:
        ValueError: a shape is given that the other distribution has already, or that is no vector of positive sizes.

    >>> d = tf.contrib.distributions
    >>> log_normal = d.TransformedDistribution(d.Normal(0.0, 1.0), d.bijectors.Exp())
    >>> print(round(float(sess.run(log_normal.prob(1.0))), 4))
    0.3989
    """

    def __init__(
        self,
        distribution: Distribution,
        bijector: Bijector | None = None,
        batch_shape: DynamicShape | None = None,
        event_shape: DynamicShape | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        with input_scope(
            name or ("" if bijector is None else bijector.name) + distribution.name, "TransformedDistribution",
            [event_shape, batch_shape],
        ) as scope:  # fmt: skip
            self._batch_override = _override(batch_shape, distribution.batch_shape, "batch_shape")
            self._event_override = _override(event_shape, distribution.event_shape, "event_shape")
        self._distribution = distribution
        self._bijector = Identity(validate_args) if bijector is None else bijector
        # The numbers of an event are drawn as samples, whose dimensions come before those of the batch.
        self._rotates = (
            self._event_override is not None and self._batch_override is None and distribution.batch_shape.ndims != 0
        )
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            distribution.allow_nan_stats,
            parameters,
            [*distribution._graph_parents, *self._bijector.graph_parents],
            scope,
        )

    @property
    def distribution(self) -> Distribution:
        """The other distribution."""
        return self._distribution

    @property
    def bijector(self) -> Bijector:
        """What maps its samples."""
        return self._bijector

    def _batch_shape(self) -> TensorShape:
        override = self._batch_override
        return self._distribution.batch_shape if override is None else constant_value_as_shape(override)

    def _batch_shape_tensor(self) -> Tensor:
        return self._distribution.batch_shape_tensor() if self._batch_override is None else self._batch_override

    def _event_shape(self) -> TensorShape:
        override = self._event_override
        return self._bijector.forward_event_shape(
            self._distribution.event_shape if override is None else constant_value_as_shape(override)
        )

    def _event_shape_tensor(self) -> Tensor:
        override = self._event_override
        return self._bijector.forward_event_shape_tensor(
            self._distribution.event_shape_tensor() if override is None else override
        )

    def sample(
        self, sample_shape: DynamicShape = (), seed: int | None = None, name: str = "sample", **conditions: Nest
    ) -> Tensor:
        """Draw samples: `sample_shape + batch_shape + event_shape`; see `Distribution.sample`.

        Args:
            conditions: taken and without effect.
        """
        with self._name_scope(name, [sample_shape]):
            sizes, count = as_vector(convert_to_tensor(sample_shape, dtypes.int32, name="sample_shape"))
            drawn = self._drawn(count, seed)
            # The bijector maps the tensor that it is asked to map back by log_prob.
            x = reshape(drawn, concat([sizes, shape_of(drawn)[1:]], 0))
            return set_known_shape(self._bijector.forward(x), sizes, self.batch_shape, self.event_shape)

    def _drawn(self, n: TensorLike, seed: int | None) -> Tensor:
        overrides = [each for each in (self._batch_override, self._event_override) if each is not None]
        count = stack([n])
        sizes = [*overrides, count] if self._rotates else [count, *overrides]
        return self._rotated(self._distribution.sample(concat(sizes, 0), seed=seed), self._event_rank())

    def _event_rank(self) -> int:
        """How many dimensions of an event are drawn as samples."""
        return 0 if self._event_override is None else self._event_override.shape.as_list()[0] or 0

    def _rotated(self, x: Tensor, places: Tensor | int) -> Tensor:
        """`x` with its first dimensions behind the others."""
        if not self._rotates:
            return x
        every = rank(x)
        return transpose(x, concat([range_of(places, every), range_of(0, places)], 0))

    def _event_dimensions(self) -> Nest:
        known = self.event_shape.ndims
        return shape_of(self.event_shape_tensor())[0] if known is None else known

    def _log_prob(self, value: Tensor) -> Tensor:
        stretches = self._bijector.inverse_log_det_jacobian(value, event_ndims=self._event_dimensions())
        found = self._bijector.inverse(value)
        if self._bijector._is_injective:
            return self._of_one(found, stretches)
        each = [self._of_one(x, stretch) for x, stretch in zip(found, stretches, strict=True)]
        return reduce_logsumexp(stack(each), axis=0)

    def _of_one(self, x: Tensor, stretch: Tensor) -> Tensor:
        count = self._event_rank()
        likely = self._distribution.log_prob(self._rotated(x, rank(x) - count))
        if count:
            likely = reduce_sum(likely, list(range(count)) if self._rotates else list(range(-count, 0)))
        return likely + cast(stretch, likely.dtype)

    def _prob(self, value: Tensor) -> Tensor:
        return exp(self._log_prob(value))

    def _inverted(self, value: Tensor, what: str) -> Tensor:
        if self._event_override is not None:
            raise NotImplementedError(f"{what} is not implemented when overriding event_shape")
        if not self._bijector._is_injective:
            raise NotImplementedError(f"{what} is not implemented when bijector is not injective.")
        x: Tensor = value if what == "quantile" else self._bijector.inverse(value)
        return x

    def _log_cdf(self, value: Tensor) -> Tensor:
        return self._distribution.log_cdf(self._inverted(value, "log_cdf"))

    def _cdf(self, value: Tensor) -> Tensor:
        return self._distribution.cdf(self._inverted(value, "cdf"))

    def _log_survival_function(self, value: Tensor) -> Tensor:
        return self._distribution.log_survival_function(self._inverted(value, "log_survival_function"))

    def _survival_function(self, value: Tensor) -> Tensor:
        return self._distribution.survival_function(self._inverted(value, "survival_function"))

    def _quantile(self, value: Tensor) -> Tensor:
        return self._bijector.forward(self._distribution.quantile(self._inverted(value, "quantile")))

    def _entropy(self) -> Tensor:
        if not self._bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self._bijector._is_injective:
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        entropy = self._distribution.entropy()
        if self._event_override is not None:
            entropy *= cast(reduce_prod(self._event_override), entropy.dtype.base_dtype)
        if self._batch_override is not None:
            # The other distribution is a single one.
            entropy = tile(reshape(entropy, ones_like(self._batch_override)), self._batch_override)
        anywhere = zeros(concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), dtype=self.dtype)
        stretch = self._bijector.inverse_log_det_jacobian(anywhere, event_ndims=self._event_dimensions())
        entropy -= cast(stretch, entropy.dtype)
        entropy.set_shape(self.batch_shape)
        return entropy


def _override(sizes: DynamicShape | None, own: TensorShape, name: str) -> Tensor | None:
    """The sizes as a vector; None where there are none."""
    if sizes is None:
        return None
    given = convert_to_tensor(sizes, dtypes.int32, name=name)
    if given.shape.ndims != 1 or given.shape.as_list()[0] is None:
        raise ValueError(f"shape override must be a vector. {name} is of shape {given.shape}.")
    known = constant_value(given)
    if known is not None and any(size <= 0 for size in known):
        raise ValueError(f"shape override must have positive elements. {name} is {known.tolist()}.")
    if given.shape.as_list()[0] == 0:
        return None
    if own.ndims != 0:
        raise ValueError(f"base distribution not scalar: {name} is given, and its own is {own}.")
    return given if known is None else constant(known, name=name)
