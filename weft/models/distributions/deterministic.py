"""Deterministic and VectorDeterministic: one value, and one vector, always."""

from __future__ import annotations

from collections.abc import Mapping

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.distributions.distribution import NOT_REPARAMETERIZED, Distribution, ScalarDistribution
from weft.models.distributions.vectors import VectorDistribution
from weft.ops.array.filling import zeros_like
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.tiling import broadcast_to
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.reduce_functions import reduce_all


class _Certain(Distribution):
    """The distribution of `loc` alone; what is within `atol + rtol |loc|` of it counts as it."""

    def _begin(
        self, loc: TensorLike, atol: TensorLike | None, rtol: TensorLike | None, validate_args: bool, allow_nan_stats: bool,
        name: str, parameters: Mapping[str, object],
    ) -> None:  # fmt: skip
        with input_scope(name, type(self).__name__, [loc, atol, rtol]) as scope:
            self._loc = convert_to_tensor(loc, name="loc")
            kind = self._loc.dtype.base_dtype
            self._atol = convert_to_tensor(0 if atol is None else atol, kind, name="atol")
            self._rtol = convert_to_tensor(0 if rtol is None else rtol, kind, name="rtol")
            self._slack = self._atol + self._rtol * absolute(self._loc)
        super().__init__(kind, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._loc], scope)

    @property
    def loc(self) -> Tensor:
        """What is drawn."""
        return self._loc

    @property
    def atol(self) -> Tensor:
        """The absolute tolerance."""
        return self._atol

    @property
    def rtol(self) -> Tensor:
        """The relative tolerance."""
        return self._rtol

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        return broadcast_to(self._loc, concat([[n], shape_of(self._loc)], 0))

    def _is_close(self, value: Tensor) -> Tensor:
        """Whether each number counts as that of `loc`."""
        return absolute(value - self._loc) <= self._slack

    def _probability(self, certain: Tensor) -> Tensor:
        return cast(certain, self.dtype if self.dtype.is_floating else dtypes.float32)

    def _mean(self) -> Tensor:
        return identity(self._loc)

    def _mode(self) -> Tensor:
        return self._mean()

    def _variance(self) -> Tensor:
        return zeros_like(self._loc)


class Deterministic(_Certain, ScalarDistribution):
    """The distribution of the value `loc` alone; values within `atol + rtol |loc|` of it count as it.

    Args:
        loc: the values.
        atol, rtol: absolute and relative tolerance; 0 when None.
        validate_args, allow_nan_stats: kept for `copy`.
        name: the scope's name.
    """

    def __init__(
        self,
        loc: TensorLike,
        atol: TensorLike | None = None,
        rtol: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ) -> None:
        self._begin(loc, atol, rtol, validate_args, allow_nan_stats, name, dict(locals()))

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return (self._loc,)

    def _prob(self, value: Tensor) -> Tensor:
        return self._probability(self._is_close(value))

    def _cdf(self, value: Tensor) -> Tensor:
        return cast(value >= self._loc - self._slack, self.dtype)

    def _entropy(self) -> Tensor:
        return zeros_like(self._loc)


class VectorDeterministic(_Certain, VectorDistribution):
    """The distribution of the vector `loc` alone; vectors whose elements are all within `atol + rtol |loc|` of it count as it.

    Args:
        loc: the vectors `[..., size]`.
        atol, rtol: absolute and relative tolerance; 0 when None.
        validate_args, allow_nan_stats: kept for `copy`.
        name: the scope's name.
    """

    def __init__(
        self,
        loc: TensorLike,
        atol: TensorLike | None = None,
        rtol: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDeterministic",
    ) -> None:
        self._begin(loc, atol, rtol, validate_args, allow_nan_stats, name, dict(locals()))

    def _vectors(self) -> Tensor:
        return self._loc

    def _prob(self, value: Tensor) -> Tensor:
        return self._probability(reduce_all(self._is_close(value), -1))

    def _entropy(self) -> Tensor:
        return zeros_like(self._loc[..., 0])
