"""Distributions of vectors with independent elements: exponential, Laplace's and sinh-arcsinh ones, scaled and moved."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.bijectors.affine import Affine
from weft.models.bijectors.bijector import Bijector
from weft.models.bijectors.composed import Chain
from weft.models.bijectors.shaped_elementwise import SinhArcsinh as SinhArcsinhBijector
from weft.models.distributions.distribution import Distribution
from weft.models.distributions.gamma import Exponential
from weft.models.distributions.laplace import Laplace
from weft.models.distributions.normal import Normal
from weft.models.distributions.transformed import TransformedDistribution
from weft.models.distributions.transformed_numbers import stretch
from weft.models.distributions.vectors import diagonal_scale
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros_like
from weft.ops.array.identity import identity
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.input_scope import input_scope
from weft.ops.linalg.matrix_bands import matrix_diag
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import square


class _ScaledVectors(TransformedDistribution):
    """Vectors of numbers of one distribution, times a diagonal scale, plus `loc`."""

    def _begin(
        self, loc: TensorLike | None, scale_diag: TensorLike | None, multiplier: TensorLike | None
    ) -> None:  # the parts that the properties and statistics tell
        if loc is None and scale_diag is None:
            raise ValueError(f"{type(self).__name__} needs loc or scale_diag, which tell its size; both are None.")
        self._loc = None if loc is None else convert_to_tensor(loc, name="loc")
        diag = diagonal_scale(scale_diag, multiplier, self._loc)
        self._diag = diag if self._loc is None else diag + zeros_like(self._loc)
        self._full_loc = zeros_like(self._diag) if self._loc is None else self._loc + zeros_like(self._diag)

    def _finish(self, numbers: Distribution, bends: Bijector | None, factor: Tensor | None, validate: bool, scope: str) -> None:
        diag = self._diag if factor is None else self._diag * factor
        moves = Affine(shift=self._loc, scale_diag=diag, validate_args=validate)
        sizes = shape_of(self._diag)
        bijector = moves if bends is None else Chain([moves, bends])
        known = self._diag.shape.as_list()
        batch = known[:-1] if None not in known[:-1] else sizes[:-1]
        event = known[-1:] if known[-1] is not None else sizes[-1:]
        super().__init__(numbers, bijector, batch, event, validate, scope)

    @property
    def loc(self) -> Tensor | None:
        """What is added, as it was given."""
        return self._loc


class VectorExponentialDiag(_ScaledVectors):
    """The distribution of `loc + scale x` for vectors x of independent numbers, each exponential with rate 1.

    Args:
        loc: `[..., size]`; 0 when None.
        scale_diag: `[..., size]`, the scale.
        scale_identity_multiplier: `[...]`, a scale of all elements alike, added to `scale_diag`.
        validate_args: whether runs check the arguments.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.

    Raises:
        ValueError: neither `loc` nor `scale_diag` tells the size.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialDiag",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "VectorExponentialDiag", [loc, scale_diag, scale_identity_multiplier]) as scope:
            self._begin(loc, scale_diag, scale_identity_multiplier)
            numbers = Exponential(constant(1.0, self._diag.dtype), allow_nan_stats=allow_nan_stats)
            self._finish(numbers, None, None, validate_args, scope)
        self._parameters = parameters

    def _mean(self) -> Tensor:
        return self._full_loc + self._diag

    def _mode(self) -> Tensor:
        return identity(self._full_loc)

    def _stddev(self) -> Tensor:
        return absolute(self._diag)

    def _variance(self) -> Tensor:
        return square(self._diag)

    def _covariance(self) -> Tensor:
        return matrix_diag(self._variance())


class VectorLaplaceDiag(_ScaledVectors):
    """The distribution of `loc + scale x` for vectors x of independent numbers, each Laplace's with location 0 and scale 1.

    Args:
        loc: `[..., size]`; 0 when None.
        scale_diag: `[..., size]`, the scale.
        scale_identity_multiplier: `[...]`, a scale of all elements alike, added to `scale_diag`.
        validate_args: whether runs check the arguments.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.

    Raises:
        ValueError: neither `loc` nor `scale_diag` tells the size.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceDiag",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "VectorLaplaceDiag", [loc, scale_diag, scale_identity_multiplier]) as scope:
            self._begin(loc, scale_diag, scale_identity_multiplier)
            kind = self._diag.dtype
            numbers = Laplace(constant(0.0, kind), constant(1.0, kind), allow_nan_stats=allow_nan_stats)
            self._finish(numbers, None, None, validate_args, scope)
        self._parameters = parameters

    def _mean(self) -> Tensor:
        return identity(self._full_loc)

    def _mode(self) -> Tensor:
        return self._mean()

    def _stddev(self) -> Tensor:
        deviation: Tensor = 2.0**0.5 * absolute(self._diag)
        return deviation

    def _variance(self) -> Tensor:
        return 2.0 * square(self._diag)

    def _covariance(self) -> Tensor:
        return matrix_diag(self._variance())


class VectorSinhArcsinhDiag(_ScaledVectors):
    """The distribution of vectors whose elements are `SinhArcsinh` ones, independent of each other.

    Args:
        loc: `[..., size]`; 0 when None.
        scale_diag: `[..., size]`, the scale.
        scale_identity_multiplier: `[...]`, a scale of all elements alike, added to `scale_diag`.
        skewness: to the right where it is above 0; 0 when None.
        tailweight: heavier tails above 1; 1 when None.
        distribution: what the numbers are drawn from; the standard normal one when None.
        validate_args: whether runs check the arguments.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.

    Raises:
        ValueError: neither `loc` nor `scale_diag` tells the size.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None,
        distribution: Distribution | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorSinhArcsinhDiag",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "VectorSinhArcsinhDiag", [loc, scale_diag, skewness, tailweight]) as scope:
            self._begin(loc, scale_diag, scale_identity_multiplier)
            kind = self._diag.dtype
            self._skewness = convert_to_tensor(0.0 if skewness is None else skewness, kind, name="skewness")
            self._tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, kind, name="tailweight")
            if distribution is None:
                distribution = Normal(constant(0.0, kind), constant(1.0, kind), allow_nan_stats=allow_nan_stats)
            bends = SinhArcsinhBijector(self._skewness, self._tailweight, validate_args)
            self._finish(distribution, bends, stretch(self._tailweight), validate_args, scope)
        self._parameters = parameters

    @property
    def skewness(self) -> Tensor:
        """How far the elements lean to the right."""
        return self._skewness

    @property
    def tailweight(self) -> Tensor:
        """How heavy their tails are."""
        return self._tailweight
