"""The uniform distribution over an interval."""

from __future__ import annotations

import math

from weft.framework.building.aliases import TensorLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED, ScalarDistribution
from weft.ops.array.filling import ones, ones_like, zeros_like
from weft.ops.array.identity import identity
from weft.ops.array.selection import where_v2
from weft.ops.debugging.checks import assert_less, assert_same_float_dtype
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import logical_or
from weft.ops.math.elementwise import square
from weft.ops.math.unary import is_nan, log
from weft.ops.random.functions import random_uniform


class Uniform(ScalarDistribution):
    """The uniform distribution over `[low, high)`.

    Args:
        low: the least values, floating point.
        high: the bounds above; both broadcast.
        validate_args: whether `low < high` is checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    _PARAMETERS = ("low", "high")

    def __init__(
        self,
        low: TensorLike = 0.0,
        high: TensorLike = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "Uniform", [low, high]) as scope:
            checks = [assert_less(low, high, message="uniform not defined when low >= high.")] if validate_args else []
            with control_dependencies(checks):
                self._low = identity(low, name="low")
                self._high = identity(high, name="high")
            assert_same_float_dtype([self._low, self._high])
        super().__init__(
            self._low.dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            parameters,
            [self._low, self._high],
            scope,
        )

    @property
    def low(self) -> Tensor:
        """The least values."""
        return self._low

    @property
    def high(self) -> Tensor:
        """The bounds above."""
        return self._high

    def range(self, name: str = "range") -> Tensor:
        """`high - low`."""
        with self._name_scope(name):
            return self._high - self._low

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return self._low, self._high

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = random_uniform(self._sizes(n), dtype=self.dtype, seed=seed)
        return self._low + self.range() * drawn

    def _prob(self, value: Tensor) -> Tensor:
        x = value * ones(self.batch_shape_tensor(), dtype=value.dtype)
        outside = logical_or(x < self._low, x >= self._high)
        density = where_v2(outside, zeros_like(x), ones_like(x) / self.range())
        return where_v2(is_nan(x), x, density)

    def _cdf(self, value: Tensor) -> Tensor:
        x = value * ones(self.batch_shape_tensor(), dtype=self.dtype)
        below = where_v2(x < self._low, zeros_like(x), (x - self._low) / self.range())
        return where_v2(x >= self._high, ones_like(x), below)

    def _entropy(self) -> Tensor:
        return log(self.range())

    def _mean(self) -> Tensor:
        return (self._low + self._high) / 2.0

    def _variance(self) -> Tensor:
        return square(self.range()) / 12.0

    def _stddev(self) -> Tensor:
        return self.range() / math.sqrt(12.0)
