"""QuantizedDistribution: the whole numbers above what another distribution gives."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.models.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from weft.models.distributions.parameters import assert_integer_form
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.selection import where_v2
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_less
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import maximum, minimum
from weft.ops.math.unary import ceil, exp, floor, log1p


class QuantizedDistribution(Distribution):
    """The distribution of `ceil(x)` where x has another distribution; below `low` all is `low`, above `high` all is `high`.

    Args:
        distribution: the other one, of numbers.
        low: the least value, a whole number; none when None.
        high: the greatest value, a whole number; none when None.
        validate_args: whether runs check that `low` and `high` are whole, and in this order.
        name: the scope's name.

    Raises:
        TypeError: `distribution` is no distribution.
    """

    def __init__(
        self,
        distribution: Distribution,
        low: TensorLike | None = None,
        high: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "QuantizedDistribution",
    ) -> None:
        parameters = dict(locals())
        if not isinstance(distribution, Distribution):
            raise TypeError(f"QuantizedDistribution takes a distribution, got {distribution!r}")
        self._of = distribution
        with input_scope(name, "QuantizedDistribution", [low, high]) as scope:
            kind = distribution.dtype
            self._low, self._high = _bounds(low, high, kind, validate_args)
        bounds = [each for each in (self._low, self._high) if each is not None]
        super().__init__(
            kind, NOT_REPARAMETERIZED, validate_args, distribution.allow_nan_stats, parameters,
            [*distribution._graph_parents, *bounds], scope,
        )  # fmt: skip

    @property
    def distribution(self) -> Distribution:
        """The other distribution."""
        return self._of

    @property
    def low(self) -> Tensor | None:
        """The least value."""
        return self._low

    @property
    def high(self) -> Tensor | None:
        """The greatest value."""
        return self._high

    def _batch_shape(self) -> TensorShape:
        return self._of.batch_shape

    def _batch_shape_tensor(self) -> Tensor:
        return self._of.batch_shape_tensor()

    def _event_shape(self) -> TensorShape:
        return self._of.event_shape

    def _event_shape_tensor(self) -> Tensor:
        return self._of.event_shape_tensor()

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = ceil(self._of.sample(n, seed=seed))
        if self._low is not None:
            drawn = maximum(drawn, self._low)
        return drawn if self._high is None else minimum(drawn, self._high)

    def _cdf(self, value: Tensor) -> Tensor:
        place = floor(value)
        found = self._of.cdf(place)
        if self._low is not None:
            found = where_v2(place < self._low, zeros_like(found), found)
        return found if self._high is None else where_v2(place < self._high, found, ones_like(found))

    def _survival_function(self, value: Tensor) -> Tensor:
        # Of values behind the middle this loses fewer digits than one minus the distribution function.
        place = ceil(value)
        found = self._of.survival_function(place)
        if self._low is not None:
            found = where_v2(place < self._low, ones_like(found), found)
        return found if self._high is None else where_v2(place < self._high, found, zeros_like(found))

    def _log_cdf(self, value: Tensor) -> Tensor:
        place = floor(value)
        found = self._of.log_cdf(place)
        if self._low is not None:
            found = where_v2(place < self._low, _lowest(found), found)
        return found if self._high is None else where_v2(place < self._high, found, zeros_like(found))

    def _log_survival_function(self, value: Tensor) -> Tensor:
        place = ceil(value)
        found = self._of.log_survival_function(place)
        if self._low is not None:
            found = where_v2(place < self._low, zeros_like(found), found)
        return found if self._high is None else where_v2(place < self._high, found, _lowest(found))

    def _prob(self, value: Tensor) -> Tensor:
        # The difference of the smaller ones: of the tail that the value is nearer to.
        cdf, before = self._cdf(value), self._cdf(value - 1.0)
        tail, later = self._survival_function(value), self._survival_function(value - 1.0)
        return where_v2(tail < cdf, later - tail, cdf - before)

    def _log_prob(self, value: Tensor) -> Tensor:
        # As in `_prob`; far out in a tail, where the numbers themselves are 0, their logarithms are not.
        cdf, before = self._log_cdf(value), self._log_cdf(value - 1.0)
        tail, later = self._log_survival_function(value), self._log_survival_function(value - 1.0)
        in_tail = tail < cdf
        more, less = where_v2(in_tail, later, cdf), where_v2(in_tail, tail, before)
        # Beyond the bounds both are logarithms of nothing, which cannot be subtracted.
        apart = where_v2(less < more, less - more, zeros_like(more))
        return more + log1p(-exp(apart))


def _bounds(
    low: TensorLike | None, high: TensorLike | None, kind: DType, validate_args: bool
) -> tuple[Tensor | None, Tensor | None]:
    """Both as tensors, once they are known to be whole and in order where arguments are checked."""
    least = None if low is None else convert_to_tensor(low, kind, name="low")
    most = None if high is None else convert_to_tensor(high, kind, name="high")
    if not validate_args:
        return least, most
    checks = [assert_integer_form(each, "value has non-integer components.") for each in (least, most) if each is not None]
    if least is not None and most is not None:
        checks.append(assert_less(least, most, message="low must be strictly less than high."))

    def checked(bound: Tensor | None) -> Tensor | None:
        return None if bound is None else with_dependencies(checks, bound)

    return checked(least), checked(most)


def _lowest(like: Tensor) -> Tensor:
    return zeros_like(like) - constant(float("inf"), like.dtype)
