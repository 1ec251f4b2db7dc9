"""NormalOfVectors: what the multivariate normal distributions have in common, whatever their scale is."""

from __future__ import annotations

import math
from typing import Final

from weft.framework.building.aliases import TensorLike
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.vectors import VectorDistribution
from weft.ops.array.filling import ones_like
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.math.elementwise import square
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.random.functions import random_normal

_LOG_OF_CIRCLE: Final = math.log(2.0 * math.pi)


class NormalOfVectors(VectorDistribution):
    """The distribution of `scale z + loc` for vectors `z` of independent standard normal numbers.

    A subclass sets `_given_loc` and `_full_loc` before it calls `__init__`, and knows its scale.
    """

    _given_loc: Tensor | None
    _full_loc: Tensor
    """The means in the shape of the batch and the event: `[..., size]`."""

    @property
    def loc(self) -> Tensor | None:
        """The means as they were given."""
        return self._given_loc

    def _scaled(self, z: Tensor) -> Tensor:
        """`scale z`: `[n, ..., size] -> [n, ..., size]`."""
        raise NotImplementedError

    def _unscaled(self, value: Tensor) -> Tensor:
        """The `z` whose `scale z` is the value: `[..., size] -> [..., size]`."""
        raise NotImplementedError

    def _log_scale(self) -> Tensor:
        """The logarithm of the determinant of the scale: `batch_shape`."""
        raise NotImplementedError

    def _vectors(self) -> Tensor:
        return self._full_loc

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = random_normal(concat([[n], shape_of(self._full_loc)], 0), dtype=self.dtype, seed=seed)
        return self._scaled(drawn) + self._full_loc

    def _log_prob(self, value: Tensor) -> Tensor:
        z = self._unscaled(value - self._full_loc)
        return reduce_sum(-0.5 * square(z) - 0.5 * _LOG_OF_CIRCLE, -1) - self._log_scale()

    def _entropy(self) -> Tensor:
        return reduce_sum(0.5 * (_LOG_OF_CIRCLE + 1.0) * ones_like(self._full_loc), -1) + self._log_scale()

    def _mean(self) -> Tensor:
        return identity(self._full_loc)

    def _mode(self) -> Tensor:
        return self._mean()
