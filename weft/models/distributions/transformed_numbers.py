"""Distributions of numbers that a bijector makes of others: Kumaraswamy's and sinh-arcsinh ones."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.bijectors.composed import Chain
from weft.models.bijectors.elementwise import AffineScalar
from weft.models.bijectors.shaped_elementwise import Kumaraswamy as KumaraswamyBijector
from weft.models.bijectors.shaped_elementwise import SinhArcsinh as SinhArcsinhBijector
from weft.models.distributions.distribution import Distribution
from weft.models.distributions.normal import Normal
from weft.models.distributions.transformed import TransformedDistribution
from weft.models.distributions.uniform import Uniform
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.selection import where_v2
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_less
from weft.ops.input_scope import input_scope
from weft.ops.math.elementwise import square
from weft.ops.math.special_functions import digamma, lgamma
from weft.ops.math.trigonometry import asinh, sinh
from weft.ops.math.unary import exp, log

_EULER = 0.57721566490153286


class Kumaraswamy(TransformedDistribution):
    """The distribution of numbers from 0 to 1 with the density `a b x^(a-1) (1 - x^a)^(b-1)`.

    Args:
        concentration1: `a`, positive floats.
        concentration0: `b`, positive floats; both broadcast.
        validate_args: whether runs check the arguments.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.
    """

    def __init__(
        self,
        concentration1: TensorLike,
        concentration0: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Kumaraswamy",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "Kumaraswamy", [concentration1, concentration0]) as scope:
            self._one = convert_to_tensor(concentration1, name="concentration1")
            self._zero = convert_to_tensor(concentration0, self._one.dtype, name="concentration0")
            bijector = KumaraswamyBijector(self._one, self._zero, validate_args)
            both = zeros_like(self._one + self._zero)
            numbers = Uniform(both, both + 1.0, validate_args, allow_nan_stats)
        super().__init__(numbers, bijector, validate_args=validate_args, name=scope)
        self._parameters = parameters

    @property
    def concentration1(self) -> Tensor:
        """The exponent of x."""
        return self._one

    @property
    def concentration0(self) -> Tensor:
        """The exponent of 1 - x^concentration1."""
        return self._zero

    def _moment(self, n: int) -> Tensor:
        a, b = self._one, self._zero
        return exp(log(b) + lgamma(1.0 + n / a) + lgamma(b) - lgamma(1.0 + n / a + b))

    def _mean(self) -> Tensor:
        return self._moment(1)

    def _variance(self) -> Tensor:
        return self._moment(2) - square(self._moment(1))

    def _mode(self) -> Tensor:
        a, b = self._one, self._zero
        mode = ((a - 1.0) / (a * b - 1.0)) ** (1.0 / a)
        if self.allow_nan_stats:
            return where_v2((a > 1.0) & (b > 1.0), mode, ones_like(mode) * float("nan"))
        message = "Mode undefined for concentration1 <= 1 or concentration0 <= 1."
        one = constant(1.0, a.dtype)
        return with_dependencies([assert_less(one, a, message=message), assert_less(one, b, message=message)], mode)

    def _entropy(self) -> Tensor:
        a, b = self._one, self._zero
        harmonic = digamma(b + 1.0) + _EULER
        return (1.0 - 1.0 / a) + (1.0 - 1.0 / b) * harmonic + log(a) + log(b)


class SinhArcsinh(TransformedDistribution):
    """The distribution of `loc + 2 scale F(z) / F0(2)`, `F(z) = sinh((arcsinh(z) + skewness) tailweight)`; F0 is not skewed.

    Args:
        loc: floats.
        scale: positive floats; all broadcast.
        skewness: to the right where it is above 0; 0 when None.
        tailweight: heavier tails above 1; 1 when None.
        distribution: what z is drawn from; the standard normal one when None.
        validate_args: whether runs check the arguments.
        allow_nan_stats: whether a statistic that is not defined is NaN; an error otherwise.
        name: the scope's name.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None,
        distribution: Distribution | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "SinhArcsinh",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "SinhArcsinh", [loc, scale, skewness, tailweight]) as scope:
            self._loc = convert_to_tensor(loc, name="loc")
            kind = self._loc.dtype.base_dtype
            self._scale = convert_to_tensor(scale, kind, name="scale")
            self._skewness = convert_to_tensor(0.0 if skewness is None else skewness, kind, name="skewness")
            self._tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, kind, name="tailweight")
            nothing = zeros_like(self._loc + self._scale + self._skewness + self._tailweight)
            if distribution is None:
                distribution = Normal(nothing, nothing + 1.0, validate_args, allow_nan_stats)
            bends = SinhArcsinhBijector(self._skewness, self._tailweight, validate_args)
            moves = AffineScalar(self._loc, self._scale * stretch(self._tailweight), validate_args=validate_args)
        super().__init__(distribution, Chain([moves, bends]), validate_args=validate_args, name=scope)
        self._parameters = parameters

    @property
    def loc(self) -> Tensor:
        """What is added."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """What it is multiplied by."""
        return self._scale

    @property
    def skewness(self) -> Tensor:
        """How far it leans to the right."""
        return self._skewness

    @property
    def tailweight(self) -> Tensor:
        """How heavy its tails are."""
        return self._tailweight


def stretch(tailweight: Tensor) -> Tensor:
    """The factor by which 2 stays 2 whatever the tails are."""
    return 2.0 / sinh(asinh(constant(2.0, tailweight.dtype)) * tailweight)
