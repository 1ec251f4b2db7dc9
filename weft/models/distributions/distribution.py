"""Distribution: the base of all distributions; a subclass says how it samples, its density, and the moments that it knows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Final, NoReturn, Self

import numpy as np

from weft.framework.building.aliases import DTypeLike, DynamicShape, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor, is_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType, as_dtype, int32
from weft.framework.types.tensor_shape import TensorShape
from weft.models.distributions import divergence
from weft.models.distributions.sample_shape import as_vector, is_scalar, set_known_shape
from weft.ops.array.constant import constant
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.tiling import broadcast_dynamic_shape, broadcast_static_shape
from weft.ops.input_scope import input_scope
from weft.ops.math.elementwise import square
from weft.ops.math.unary import exp, log, log1p, sqrt


class ReparameterizationType:
    """Whether gradients flow through the samples of a distribution to its parameters.

    Args:
        rep_type: the name that it is shown by.
    """

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        # The spelling is TensorFlow's, and programs print it.
        return f"<Reparameteriation Type: {self._rep_type}>"


FULLY_REPARAMETERIZED: Final = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED: Final = ReparameterizationType("NOT_REPARAMETERIZED")


def _otherwise(first: Callable[[], Tensor], second: Callable[[], Tensor]) -> Tensor:
    """What `first` makes, or `second` where the class does not implement the first; the first's error when neither is there."""
    try:
        return first()
    except NotImplementedError as missing:
        try:
            return second()
        except NotImplementedError:
            raise missing from None


class Distribution:
    """A batch of independent distributions of one kind.

    A subclass has those of `_sample_n`, `_log_prob` or `_prob`, `_log_cdf` or `_cdf`, `_mean`, `_variance` or `_stddev`,
    `_mode`, `_entropy`, `_batch_shape`, `_event_shape` and their `_tensor` forms that it can compute. The public method of
    each opens the scope, converts the arguments, and derives what is missing from what is there.

    Args:
        dtype: the type of the samples.
        reparameterization_type: `FULLY_REPARAMETERIZED` or `NOT_REPARAMETERIZED`.
        validate_args: whether parameters and values are checked, while the graph is built or by the run.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        parameters: the arguments of the subclass, for `copy`.
        graph_parents: the tensors that it is made of.
        name: of its name scopes; the class's by default. One that ends in "/" is a scope that is open already.

    Raises:
        ValueError: a graph parent is no tensor.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: Mapping[str, object] | None = None,
        graph_parents: Sequence[Tensor] | None = None,
        name: str | None = None,
    ) -> None:
        for index, parent in enumerate(graph_parents or ()):
            if not is_tensor(parent):
                raise ValueError(f"Graph parent item {index} is not a Tensor; {parent}.")
        if not name or not name.endswith("/"):
            with input_scope(name, type(self).__name__) as scope:
                name = scope
        self._dtype = as_dtype(dtype)
        self._reparameterization_type = reparameterization_type
        self._validate_args = validate_args
        self._allow_nan_stats = allow_nan_stats
        self._parameters = dict(parameters or {})
        self._graph_parents = list(graph_parents or [])
        self._name = name

    # What it is.

    @property
    def name(self) -> str:
        """The scope of its operations, with the slash at its end."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The type of its samples."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, object]:
        """The arguments that it was made with."""
        return {key: value for key, value in self._parameters.items() if key != "self" and not key.startswith("__")}

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Whether gradients flow through its samples."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether a statistic that is not defined is NaN rather than an error."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether parameters and values are checked."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs: object) -> Self:
        """Another distribution of this class from the same arguments, but for those that are given.

        Args:
            override_parameters_kwargs: the constructor's arguments that differ.

        Returns:
            A Distribution of this class.
        """
        return type(self)(**{**self.parameters, **override_parameters_kwargs})  # type: ignore[arg-type]

    @classmethod
    def param_shapes(cls, sample_shape: DynamicShape, name: str = "DistributionParamShapes") -> dict[str, Tensor]:
        """The shape of each parameter with which `sample()` gives this shape.

        Args:
            sample_shape: `[rank]` int32, the shape that `sample()` has to give.
        """
        with input_scope(name, name, [sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: DynamicShape) -> dict[str, TensorShape]:
        """As `param_shapes`, for a shape that is known while the graph is built; ValueError otherwise.

        Args:
            sample_shape: the shape that `sample()` has to give, each size known.

        Returns:
            By the name of a parameter its TensorShape.
        """
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        known = {key: constant_value(value) for key, value in cls.param_shapes(sample_shape).items()}
        if any(value is None for value in known.values()):
            raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
        return {key: TensorShape(value) for key, value in known.items()}

    @staticmethod
    def _param_shapes(sample_shape: DynamicShape) -> dict[str, Tensor]:
        raise NotImplementedError("_param_shapes not implemented")

    # Shapes.

    @property
    def batch_shape(self) -> TensorShape:
        """The shape of the batch of distributions, as far as it is known while the graph is built."""
        return TensorShape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The shape of one sample of one distribution, as far as it is known while the graph is built."""
        return TensorShape(self._event_shape())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch of distributions: `[rank] int32`."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return constant(np.array(self.batch_shape.as_list(), np.int32), name="batch_shape")
            return self._batch_shape_tensor()

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """The shape of one sample of one distribution: `[rank] int32`."""
        with self._name_scope(name):
            if self.event_shape.is_fully_defined():
                return constant(np.array(self.event_shape.as_list(), np.int32), name="event_shape")
            return self._event_shape_tensor()

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Whether one sample of one distribution is a scalar: a `bool` scalar."""
        with self._name_scope(name):
            return convert_to_tensor(is_scalar(self.event_shape, self.event_shape_tensor), name="is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Whether this is a single distribution: a `bool` scalar."""
        with self._name_scope(name):
            return convert_to_tensor(is_scalar(self.batch_shape, self.batch_shape_tensor), name="is_scalar_batch")

    # Samples and functions of a value: `sample_shape + batch_shape` each.

    def sample(self, sample_shape: DynamicShape = (), seed: int | None = None, name: str = "sample") -> Tensor:
        """Draw samples: `sample_shape + batch_shape + event_shape`.

        Args:
            sample_shape: how many, a scalar or a vector of integers.
            seed: the op's seed; see `tf.set_random_seed`.
            name: the scope's name.

        Returns:
            A tensor of the distribution's dtype.
        """
        with self._name_scope(name, [sample_shape]):
            asked = convert_to_tensor(sample_shape, int32, name="sample_shape")
            sizes, count = as_vector(asked)
            drawn = self._sample_n(count, seed)
            samples = reshape(drawn, concat([sizes, shape_of(drawn)[1:]], 0))
            return set_known_shape(samples, sizes, self.batch_shape, self.event_shape)

    def log_prob(self, value: TensorLike, name: str = "log_prob") -> Tensor:
        """The logarithm of the density, or of the probability of a discrete value.

        Args:
            value: `sample_shape + batch_shape + event_shape`, or what broadcasts with it, of the distribution's dtype.

        Returns:
            `sample_shape + batch_shape`.
        """
        with self._value_scope(name, value) as x:
            return _otherwise(lambda: self._log_prob(x), lambda: log(self._prob(x)))

    def prob(self, value: TensorLike, name: str = "prob") -> Tensor:
        """The density, or the probability of a discrete value.

        Args:
            value: `sample_shape + batch_shape + event_shape`, or what broadcasts with it, of the distribution's dtype.

        Returns:
            `sample_shape + batch_shape`.
        """
        with self._value_scope(name, value) as x:
            return _otherwise(lambda: self._prob(x), lambda: exp(self._log_prob(x)))

    def log_cdf(self, value: TensorLike, name: str = "log_cdf") -> Tensor:
        """The logarithm of the probability of a sample `<= value`.

        Args:
            value: `sample_shape + batch_shape + event_shape`, or what broadcasts with it, of the distribution's dtype.

        Returns:
            `sample_shape + batch_shape`.

        Raises:
            NotImplementedError: this kind of distribution has no such function.
        """
        with self._value_scope(name, value) as x:
            return _otherwise(lambda: self._log_cdf(x), lambda: log(self._cdf(x)))

    def cdf(self, value: TensorLike, name: str = "cdf") -> Tensor:
        """The probability of a sample `<= value`.

        Args:
            value: `sample_shape + batch_shape + event_shape`, or what broadcasts with it, of the distribution's dtype.

        Returns:
            `sample_shape + batch_shape`.

        Raises:
            NotImplementedError: this kind of distribution has no such function.
        """
        with self._value_scope(name, value) as x:
            return _otherwise(lambda: self._cdf(x), lambda: exp(self._log_cdf(x)))

    def log_survival_function(self, value: TensorLike, name: str = "log_survival_function") -> Tensor:
        """The logarithm of the probability of a sample `> value`.

        Args:
            value: `sample_shape + batch_shape + event_shape`, or what broadcasts with it, of the distribution's dtype.

        Returns:
            `sample_shape + batch_shape`.

        Raises:
            NotImplementedError: this kind of distribution has no such function.
        """
        with self._value_scope(name, value) as x:
            return _otherwise(lambda: self._log_survival_function(x), lambda: log1p(-self.cdf(x)))

    def survival_function(self, value: TensorLike, name: str = "survival_function") -> Tensor:
        """The probability of a sample `> value`.

        Args:
            value: `sample_shape + batch_shape + event_shape`, or what broadcasts with it, of the distribution's dtype.

        Returns:
            `sample_shape + batch_shape`.

        Raises:
            NotImplementedError: this kind of distribution has no such function.
        """
        with self._value_scope(name, value) as x:
            return _otherwise(lambda: self._survival_function(x), lambda: 1.0 - self.cdf(x))

    def quantile(self, value: TensorLike, name: str = "quantile") -> Tensor:
        """The `x` below which a sample lies with probability `value`.

        Args:
            value: probabilities, from 0 to 1, that broadcast with the batch shape.

        Raises:
            NotImplementedError: this kind of distribution has no such function.
        """
        with self._value_scope(name, value) as p:
            return self._quantile(p)

    # Statistics: `batch_shape + event_shape`, but for the entropy and the divergences, which are of `batch_shape`.

    def mean(self, name: str = "mean") -> Tensor:
        """The mean."""
        with self._name_scope(name):
            return self._mean()

    def mode(self, name: str = "mode") -> Tensor:
        """The most probable value."""
        with self._name_scope(name):
            return self._mode()

    def variance(self, name: str = "variance") -> Tensor:
        """The variance of each element."""
        with self._name_scope(name):
            return _otherwise(self._variance, lambda: square(self._stddev()))

    def stddev(self, name: str = "stddev") -> Tensor:
        """The standard deviation of each element."""
        with self._name_scope(name):
            return _otherwise(self._stddev, lambda: sqrt(self._variance()))

    def covariance(self, name: str = "covariance") -> Tensor:
        """The covariances of the elements of an event: `batch_shape + [size, size]`."""
        with self._name_scope(name):
            return self._covariance()

    def entropy(self, name: str = "entropy") -> Tensor:
        """The Shannon entropy in nats."""
        with self._name_scope(name):
            return self._entropy()

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Tensor:
        """The cross-entropy H(self, other) in nats.

        Args:
            other: a distribution of a kind for which the divergence from this kind is known.
        """
        with self._name_scope(name):
            return self._cross_entropy(other)

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Tensor:
        """The divergence KL(self || other) in nats; see `RegisterKL`.

        Args:
            other: a distribution of a kind for which the divergence from this kind is known.
        """
        with self._name_scope(name):
            return self._kl_divergence(other)

    def _cross_entropy(self, other: Distribution) -> Tensor:
        return divergence.cross_entropy(self, other, allow_nan_stats=self._allow_nan_stats)

    def _kl_divergence(self, other: Distribution) -> Tensor:
        return divergence.kl_divergence(self, other, allow_nan_stats=self._allow_nan_stats)

    # The parts that a subclass may have.

    def _lacks(self, part: str) -> NoReturn:
        raise NotImplementedError(f"{part} is not implemented: {type(self).__name__}")

    def _batch_shape(self) -> TensorShape:
        return TensorShape(None)

    def _event_shape(self) -> TensorShape:
        return TensorShape(None)

    def _batch_shape_tensor(self) -> Tensor:
        self._lacks("batch_shape_tensor")

    def _event_shape_tensor(self) -> Tensor:
        self._lacks("event_shape_tensor")

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        self._lacks("sample_n")

    def _log_prob(self, value: Tensor) -> Tensor:
        self._lacks("log_prob")

    def _prob(self, value: Tensor) -> Tensor:
        self._lacks("prob")

    def _log_cdf(self, value: Tensor) -> Tensor:
        self._lacks("log_cdf")

    def _cdf(self, value: Tensor) -> Tensor:
        self._lacks("cdf")

    def _log_survival_function(self, value: Tensor) -> Tensor:
        self._lacks("log_survival_function")

    def _survival_function(self, value: Tensor) -> Tensor:
        self._lacks("survival_function")

    def _quantile(self, value: Tensor) -> Tensor:
        self._lacks("quantile")

    def _mean(self) -> Tensor:
        self._lacks("mean")

    def _mode(self) -> Tensor:
        self._lacks("mode")

    def _variance(self) -> Tensor:
        self._lacks("variance")

    def _stddev(self) -> Tensor:
        self._lacks("stddev")

    def _covariance(self) -> Tensor:
        self._lacks("covariance")

    def _entropy(self) -> Tensor:
        self._lacks("entropy")

    # Scopes and texts.

    @contextlib.contextmanager
    def _name_scope(self, name: str, values: Sequence[object] = ()) -> Iterator[str]:
        """Scope `name` in the distribution's own, in the graph of its parameters."""
        with (
            input_scope(self._name, self._name, [*self._graph_parents, *values]),
            input_scope(name, name) as scope,
        ):
            yield scope

    @contextlib.contextmanager
    def _value_scope(self, name: str, value: TensorLike) -> Iterator[Tensor]:
        """Scope `name` with the value as a tensor, of the distribution's type unless it has one of its own."""
        with self._name_scope(name, [value]):
            yield convert_to_tensor(value, name="value", preferred_dtype=self._dtype)

    def __str__(self) -> str:
        batch = "" if self.batch_shape.ndims is None else f", batch_shape={self.batch_shape}"
        event = "" if self.event_shape.ndims is None else f", event_shape={self.event_shape}"
        return f'tfp.distributions.{type(self).__name__}("{self.name}"{batch}{event}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} "
            f"event_shape={self.event_shape} dtype={self.dtype.name}>"
        )


class ScalarDistribution(Distribution):
    """A distribution of single numbers whose parameters broadcast to the batch shape.

    A subclass names its parameters in `_PARAMETERS`, and `_broadcasting` gives their tensors.
    """

    _PARAMETERS: ClassVar[tuple[str, ...]] = ()

    def _broadcasting(self) -> tuple[Tensor, ...]:
        raise NotImplementedError(f"_broadcasting is not implemented: {type(self).__name__}")

    @classmethod
    def _param_shapes(cls, sample_shape: DynamicShape) -> dict[str, Tensor]:
        if not cls._PARAMETERS:
            raise NotImplementedError("_param_shapes not implemented")
        sizes = convert_to_tensor(sample_shape, int32)
        return dict.fromkeys(cls._PARAMETERS, sizes)

    def _batch_shape(self) -> TensorShape:
        first, *others = (tensor.shape for tensor in self._broadcasting())
        for other in others:
            first = broadcast_static_shape(first, other)
        return first

    def _batch_shape_tensor(self) -> Tensor:
        first, *others = (shape_of(tensor) for tensor in self._broadcasting())
        for other in others:
            first = broadcast_dynamic_shape(first, other)
        return first

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _event_shape_tensor(self) -> Tensor:
        return constant(np.array([], np.int32))

    def _sizes(self, n: TensorLike) -> Tensor:
        """The shape of `n` samples: `[n] + batch_shape`."""
        return concat([[n], self.batch_shape_tensor()], 0)
