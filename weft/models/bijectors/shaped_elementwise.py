"""Bijectors of single numbers with two parameters: Gumbel's, Kumaraswamy's, and sinh of arcsinh."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.bijectors.bijector import Bijector
from weft.ops.array.constant import constant
from weft.ops.array.selection import where_v2
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_less_equal, assert_non_negative, assert_positive, assert_same_float_dtype
from weft.ops.input_scope import input_scope
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import square
from weft.ops.math.trigonometry import asinh, cosh, sinh
from weft.ops.math.unary import exp, log, log1p, sqrt


def _between_0_and_1(y: Tensor, lower: str, upper: str) -> Tensor:
    checks = [assert_non_negative(y, message=lower), assert_less_equal(y, constant(1.0, y.dtype), message=upper)]
    return with_dependencies(checks, y)


class Gumbel(Bijector):
    """`y = exp(-exp(-(x - loc) / scale))`, the distribution function of Gumbel's distribution.

    Args:
        loc: the locations.
        scale: the scales, positive.
        validate_args: whether scales and values are checked.
        name: of its scopes.
    """

    def __init__(
        self, loc: TensorLike = 0.0, scale: TensorLike = 1.0, validate_args: bool = False, name: str = "gumbel"
    ) -> None:
        with input_scope(name, name, [loc, scale]), input_scope("init", "init", [loc, scale]):
            self._loc, given = convert_to_tensor(loc, name="loc"), convert_to_tensor(scale, name="scale")
            assert_same_float_dtype([self._loc, given])
            if validate_args:
                given = with_dependencies([assert_positive(given, message="Argument scale was not positive")], given)
            self._scale = given
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def loc(self) -> Tensor:
        """The locations."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scales."""
        return self._scale

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return exp(-exp(-(x - self._loc) / self._scale))

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return self._loc - self._scale * log(-log(self._checked(y)))

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        y = self._checked(y)
        return log(self._scale / (-log(y) * y))

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        z = (x - self._loc) / self._scale
        return -z - exp(-z) - log(self._scale)

    def _checked(self, y: Tensor) -> Tensor:
        if not self.validate_args:
            return y
        what = "Inverse transformation input must be"
        return _between_0_and_1(y, f"{what} greater than 0.", f"{what} less than or equal to 1.")


class Kumaraswamy(Bijector):
    """The inverse of the distribution function of Kumaraswamy's distribution: `y = (1 - (1 - x)**(1/b))**(1/a)`.

    Args:
        concentration1: `a`, positive.
        concentration0: `b`, positive.
        validate_args: whether parameters and values are checked.
        name: of its scopes.
    """

    def __init__(
        self, concentration1: TensorLike, concentration0: TensorLike, validate_args: bool = False, name: str = "kumaraswamy"
    ) -> None:
        given = [concentration1, concentration0]
        with input_scope(name, name, given), input_scope("init", "init", given):
            one = convert_to_tensor(concentration1, name="concentration1")
            zero = convert_to_tensor(concentration0, name="concentration0")
            if validate_args:
                message = "Concentration parameter must be positive."
                one, zero = (with_dependencies([assert_positive(each, message=message)], each) for each in (one, zero))
        self._concentration1, self._concentration0 = one, zero
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def concentration1(self) -> Tensor:
        """The weights of 1."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """The weights of 0."""
        return self._concentration0

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        x = self._checked(x)
        return exp(log1p(-exp(log1p(-x) / self._concentration0)) / self._concentration1)

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        y = self._checked(y)
        return exp(log1p(-((1.0 - y**self._concentration1) ** self._concentration0)))

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        y, a, b = self._checked(y), self._concentration1, self._concentration0
        return log(a) + log(b) + (a - 1.0) * log(y) + (b - 1.0) * log1p(-(y**a))

    def _checked(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        return _between_0_and_1(x, "sample must be non-negative", "sample must be no larger than `1`.")


class SinhArcsinh(Bijector):
    """`y = sinh((arcsinh(x) + skewness) tailweight)`.

    Args:
        skewness: 0 when None.
        tailweight: positive; 1 when None.
        validate_args: whether `tailweight` is checked.
        name: of its scopes.
    """

    def __init__(
        self,
        skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "SinhArcsinh",
    ) -> None:
        with input_scope(name, name, [skewness, tailweight]), input_scope("init", "init", [skewness, tailweight]):
            self._skewness = convert_to_tensor(0.0 if skewness is None else skewness, name="skewness")
            kind = self._skewness.dtype
            weight = convert_to_tensor(1.0 if tailweight is None else tailweight, kind, name="tailweight")
            assert_same_float_dtype([self._skewness, weight])
            if validate_args:
                weight = with_dependencies([assert_positive(weight, message="Argument tailweight was not positive")], weight)
            self._tailweight = weight
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def skewness(self) -> Tensor:
        """The skewness."""
        return self._skewness

    @property
    def tailweight(self) -> Tensor:
        """The weight of the tails."""
        return self._tailweight

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return sinh((asinh(x) + self._skewness) * self._tailweight)

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return sinh(asinh(y) / self._tailweight - self._skewness)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        slope = cosh(asinh(y) / self._tailweight - self._skewness) / _root_of_square_and_1(y)
        return log(slope) - log(self._tailweight)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        slope = cosh((asinh(x) + self._skewness) * self._tailweight) / _root_of_square_and_1(x)
        return log(slope) + log(self._tailweight)


def _root_of_square_and_1(x: Tensor) -> Tensor:
    """`sqrt(x**2 + 1)`, also where the square is too large for its type."""
    is_small = absolute(x) * float(np.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps)) <= 1.0
    return where_v2(is_small, sqrt(square(x) + 1.0), absolute(x))
