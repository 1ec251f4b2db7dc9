"""Mixtures: distributions that draw from one of several, which a categorical distribution chooses."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import TensorLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.distributions.discrete import Categorical
from weft.models.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from weft.models.distributions.parameters import derived_seed
from weft.ops.array.filling import one_hot
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.stacking import stack
from weft.ops.input_scope import input_scope
from weft.ops.math.elementwise import square
from weft.ops.math.reduce_functions import reduce_logsumexp, reduce_sum
from weft.ops.math.unary import log
from weft.ops.nn.softmax import log_softmax, softmax


def _event_rank(distribution: Distribution, what: str) -> int:
    rank = distribution.event_shape.ndims
    if rank is None:
        raise ValueError(f"Expected to know rank(event_shape) from {what}, but {distribution} does not tell it.")
    return rank


def _widened(weights: Tensor, event_rank: int) -> Tensor:
    """Weights `[..., components]` for values `[..., components, *event]`."""
    for _ in range(event_rank):
        weights = expand_dims(weights, -1)
    return weights


class _Mixing(Distribution):
    """A mixture by its categorical distribution and the values of its components, `[..., components, *event]` each."""

    _chooser: Categorical

    def _each(self, what: str) -> Tensor:
        raise NotImplementedError(f"_each is not implemented: {type(self).__name__}")

    def _rank(self) -> int:
        raise NotImplementedError(f"_rank is not implemented: {type(self).__name__}")

    def _mixed(self, values: Tensor) -> Tensor:
        rank = self._rank()
        return reduce_sum(_widened(softmax(self._chooser.logits), rank) * values, -1 - rank)

    def _chosen(self, values: Tensor, n: TensorLike, count: TensorLike, seed: int | None) -> Tensor:
        """Of samples `[n, ..., components, *event]` those of the components that are drawn."""
        rank = self._rank()
        mask = one_hot(self._chooser.sample(n, seed=seed), count, dtype=values.dtype.base_dtype)
        return reduce_sum(values * _widened(mask, rank), -1 - rank)

    def _mean(self) -> Tensor:
        return self._mixed(self._each("mean"))

    def _variance(self) -> Tensor:
        means = self._each("mean")
        mean = expand_dims(self._mixed(means), -1 - self._rank())
        return self._mixed(self._each("variance") + square(means - mean))


class Mixture(_Mixing):
    """A mixture of distributions of any kinds.

    Args:
        cat: the Categorical that chooses; its batch is that of the mixture.
        components: distributions of one type and one shape of events, as many as there are classes.
        validate_args, allow_nan_stats: kept for `copy`.
        use_static_graph: accepted; all components are always drawn from.
        name: the scope's name.

    Raises:
        TypeError: `cat` is no Categorical, or a component no distribution, or of another type.
        ValueError: there are no components, or they do not fit `cat` or each other.
    """

    def __init__(
        self,
        cat: Categorical,
        components: Sequence[Distribution],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ) -> None:
        parameters = dict(locals())
        if not isinstance(cat, Categorical):
            raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if not isinstance(components, list | tuple):
            components = [components] if isinstance(components, Distribution) else list(components)
        if not all(isinstance(each, Distribution) for each in components):
            raise TypeError(f"all entries in components must be Distribution instances but saw: {components}")
        dtype = components[0].dtype
        if any(each.dtype != dtype for each in components):
            raise TypeError(f"All components must have the same dtype, but saw dtypes: {[each.dtype for each in components]}")
        self._chooser = cat
        self._components: list[Distribution] = list(components)
        for each in components:
            if not each.event_shape.is_compatible_with(components[0].event_shape):
                raise ValueError(f"components must have one event_shape: {components[0].event_shape}, {each.event_shape}")
            if not each.batch_shape.is_compatible_with(cat.batch_shape):
                raise ValueError(f"components must have the batch_shape of cat: {each.batch_shape}, {cat.batch_shape}")
        classes = cat.logits.shape[-1].value
        if classes is None:
            raise ValueError("Could not infer number of classes from cat and unable to compare this value to the number of "
                             "components passed in.")  # fmt: skip
        if classes != len(components):
            raise ValueError(f"cat.num_classes != len(components): {classes} vs. {len(components)}")
        self._event_ndims = _event_rank(components[0], "components")
        with input_scope(name, "Mixture") as scope:
            pass
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [cat.logits], scope)

    @property
    def cat(self) -> Categorical:
        """The distribution that chooses."""
        return self._chooser

    @property
    def components(self) -> list[Distribution]:
        """The distributions that are chosen from."""
        return self._components

    @property
    def num_components(self) -> int:
        """How many there are."""
        return len(self._components)

    def _rank(self) -> int:
        return self._event_ndims

    def _each(self, what: str) -> Tensor:
        return stack([getattr(each, what)() for each in self._components], -1 - self._event_ndims)

    def _batch_shape(self) -> TensorShape:
        return self._chooser.batch_shape

    def _batch_shape_tensor(self) -> Tensor:
        return self._chooser.batch_shape_tensor()

    def _event_shape(self) -> TensorShape:
        found: TensorShape = self._components[0].event_shape
        return found

    def _event_shape_tensor(self) -> Tensor:
        found: Tensor = self._components[0].event_shape_tensor()
        return found

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        seeds = [derived_seed(seed, f"mixture_{index}") for index in range(len(self._components))]
        drawn = [each.sample(n, seed=own) for each, own in zip(self._components, seeds, strict=True)]
        return self._chosen(stack(drawn, -1 - self._event_ndims), n, len(self._components), seed)

    def _log_prob(self, value: Tensor) -> Tensor:
        each = stack([each.log_prob(value) for each in self._components], -1)
        return reduce_logsumexp(log_softmax(self._chooser.logits) + each, -1)

    def _log_cdf(self, value: Tensor) -> Tensor:
        each = stack([each.log_cdf(value) for each in self._components], -1)
        return reduce_logsumexp(log_softmax(self._chooser.logits) + each, -1)

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Tensor:
        """The mean of the components' entropies, which is no more than the entropy of the mixture."""
        with self._name_scope(name):
            each = stack([each.entropy() for each in self._components], -1)
            return reduce_sum(softmax(self._chooser.logits) * each, -1)


class MixtureSameFamily(_Mixing):
    """A mixture of the members of the last batch dimension of one distribution.

    Args:
        mixture_distribution: the Categorical that chooses.
        components_distribution: its batch ends in the components.
        validate_args, allow_nan_stats: kept for `copy`.
        name: the scope's name.

    Raises:
        ValueError: there are not as many components as classes, or the samples of `mixture_distribution` are no integers.
    """

    def __init__(
        self,
        mixture_distribution: Categorical,
        components_distribution: Distribution,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ) -> None:
        parameters = dict(locals())
        self._chooser, self._family = mixture_distribution, components_distribution
        if not mixture_distribution.dtype.is_integer:
            raise ValueError(f"`mixture_distribution.dtype` ({mixture_distribution.dtype.name}) is not over integers")
        classes = mixture_distribution.logits.shape[-1].value
        batch = components_distribution.batch_shape
        members = batch[-1].value if batch.ndims else None
        if classes is not None and members is not None and classes != members:
            raise ValueError(
                f"`mixture_distribution components` ({classes}) does not equal `components_distribution.batch_shape[-1]` "
                f"({members})"
            )
        self._event_ndims = _event_rank(components_distribution, "components_distribution")
        with input_scope(name, "MixtureSameFamily") as scope:
            pass
        super().__init__(
            components_distribution.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [mixture_distribution.logits], scope,
        )  # fmt: skip

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution that chooses."""
        return self._chooser

    @property
    def components_distribution(self) -> Distribution:
        """The distribution whose members are chosen from."""
        return self._family

    def _rank(self) -> int:
        return self._event_ndims

    def _each(self, what: str) -> Tensor:
        made: Tensor = getattr(self._family, what)()
        return made

    def _batch_shape(self) -> TensorShape:
        found: TensorShape = self._family.batch_shape.with_rank_at_least(1)[:-1]
        return found

    def _batch_shape_tensor(self) -> Tensor:
        return self._family.batch_shape_tensor()[:-1]

    def _event_shape(self) -> TensorShape:
        return self._family.event_shape

    def _event_shape_tensor(self) -> Tensor:
        return self._family.event_shape_tensor()

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = self._family.sample(n, seed=seed)
        count = self._chooser.logits.shape[-1].value or self._chooser.event_size
        return self._chosen(drawn, n, count, derived_seed(seed, "MixtureSameFamily"))

    def _beside(self, value: Tensor) -> Tensor:
        return expand_dims(value, -1 - self._event_ndims)

    def _log_prob(self, value: Tensor) -> Tensor:
        return reduce_logsumexp(self._family.log_prob(self._beside(value)) + log_softmax(self._chooser.logits), -1)

    def _cdf(self, value: Tensor) -> Tensor:
        return reduce_sum(self._family.cdf(self._beside(value)) * softmax(self._chooser.logits), -1)

    def _log_cdf(self, value: Tensor) -> Tensor:
        return log(self._cdf(value))
