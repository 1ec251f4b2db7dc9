"""LocationScale: what distributions have in common that are moved by a location and stretched by a scale."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED, ScalarDistribution
from weft.ops.array.filling import zeros_like
from weft.ops.array.identity import identity
from weft.ops.debugging.checks import assert_positive, assert_same_float_dtype
from weft.ops.input_scope import input_scope


class LocationScale(ScalarDistribution):
    """A distribution that is moved by `loc` and stretched by `scale`.

    Args:
        loc: the locations, floating point.
        scale: the scales, positive; both broadcast.
        validate_args: whether `scale` is checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name; the class's by default.
    """

    _PARAMETERS = ("loc", "scale")

    def __init__(self, loc: TensorLike, scale: TensorLike, validate_args: bool, allow_nan_stats: bool, name: str) -> None:
        parameters = {
            "loc": loc, "scale": scale, "validate_args": validate_args, "allow_nan_stats": allow_nan_stats, "name": name,
        }  # fmt: skip
        with input_scope(name, name, [loc, scale]) as scope:
            with control_dependencies([assert_positive(scale)] if validate_args else []):
                self._loc = identity(loc, name="loc")
                self._scale = identity(scale, name="scale")
            made = [self._loc, self._scale]
            assert_same_float_dtype(made)
        super().__init__(self._loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, made, scope)

    @property
    def loc(self) -> Tensor:
        """The locations."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scales."""
        return self._scale

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return self._loc, self._scale

    def _mean(self) -> Tensor:
        return self._loc + zeros_like(self._scale)

    def _mode(self) -> Tensor:
        return self._mean()

    def _z(self, value: Tensor) -> Tensor:
        return (value - self._loc) / self._scale
