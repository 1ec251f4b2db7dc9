"""Student's t-distribution."""

from __future__ import annotations

import math

from weft.framework.building.aliases import TensorLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED, ScalarDistribution
from weft.models.distributions.parameters import derived_seed
from weft.ops.array.filling import ones_like
from weft.ops.array.identity import identity
from weft.ops.array.selection import where_v2
from weft.ops.array.stacking import stack
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_less, assert_positive, assert_same_float_dtype
from weft.ops.input_scope import input_scope
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import square
from weft.ops.math.special_functions import betainc, digamma, lbeta, lgamma
from weft.ops.math.unary import log, log1p, rsqrt
from weft.ops.random.functions import random_gamma, random_normal


class StudentT(ScalarDistribution):
    """Student's t-distribution, moved by `loc` and stretched by `scale`.

    Args:
        df: the degrees of freedom, positive.
        loc: the locations.
        scale: the scales; their sign does not count. All three broadcast.
        validate_args: whether `df` is checked.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error of the run otherwise.
        name: the scope's name.
    """

    _PARAMETERS = ("df", "loc", "scale")

    def __init__(
        self,
        df: TensorLike,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "StudentT", [df, loc, scale]) as scope:
            with control_dependencies([assert_positive(df)] if validate_args else []):
                self._df = identity(df, name="df")
                self._loc = identity(loc, name="loc")
                self._scale = identity(scale, name="scale")
            made = [self._df, self._loc, self._scale]
            assert_same_float_dtype(made)
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, made, scope)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    @property
    def loc(self) -> Tensor:
        """The locations."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scales."""
        return self._scale

    def _broadcasting(self) -> tuple[Tensor, ...]:
        return self._df, self._loc, self._scale

    def _everywhere(self) -> Tensor:
        """Ones: `batch_shape`."""
        return ones_like(self._df + self._loc + self._scale)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = random_normal(self._sizes(n), dtype=self.dtype, seed=seed)
        df = self._df * self._everywhere()
        spread = random_gamma([n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=derived_seed(seed, "student_t"))
        return drawn * rsqrt(spread / df) * self._scale + self._loc

    def _log_prob(self, value: Tensor) -> Tensor:
        z = (value - self._loc) / self._scale
        constant = (
            log(absolute(self._scale)) + 0.5 * log(self._df) + 0.5 * math.log(math.pi) + lgamma(0.5 * self._df)
            - lgamma(0.5 * (self._df + 1.0))
        )  # fmt: skip
        return -0.5 * (self._df + 1.0) * log1p(square(z) / self._df) - constant

    def _cdf(self, value: Tensor) -> Tensor:
        z = (value - self._loc) / absolute(self._scale)
        df = self._df + 0.0 * z
        tail = 0.5 * betainc(0.5 * df, 0.5 * ones_like(df), df / (square(z) + df))
        return where_v2(z < 0.0, tail, 1.0 - tail)

    def _entropy(self) -> Tensor:
        every = self._everywhere()
        df = self._df * every
        shape = 0.5 * (df + 1.0) * (digamma(0.5 * (df + 1.0)) - digamma(0.5 * df))
        return log(absolute(self._scale)) + 0.5 * log(df) + lbeta(stack([0.5 * df, 0.5 * every], -1)) + shape

    def _where_defined(self, value: Tensor, least: float, what: str) -> Tensor:
        df = self._df * self._everywhere()
        if self.allow_nan_stats:
            return where_v2(df > least, value, math.nan)
        message = f"{what} not defined for components of df <= {least:g}"
        return with_dependencies([assert_less(least * ones_like(df), df, message=message)], value)

    def _mean(self) -> Tensor:
        return self._where_defined(self._loc * self._everywhere(), 1.0, "mean")

    def _variance(self) -> Tensor:
        df = self._df * self._everywhere()
        spread = square(self._scale) * df / where_v2(df > 2.0, df - 2.0, 1.0)
        return self._where_defined(where_v2(df > 2.0, spread, math.inf), 1.0, "variance")

    def _mode(self) -> Tensor:
        return identity(self._loc * self._everywhere())
