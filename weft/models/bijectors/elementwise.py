"""Bijectors of single numbers."""

from __future__ import annotations

import math

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.models.bijectors.bijector import Bijector
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros_like
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import (
    assert_greater,
    assert_less,
    assert_non_negative,
    assert_none_equal,
    assert_positive,
)
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import square
from weft.ops.math.unary import exp, expm1, log, log1p, sigmoid, sqrt
from weft.ops.nn.activation import softplus


class Identity(Bijector):
    """`y = x`.

    Args:
        validate_args: whether runs check what is given.
    """

    def __init__(self, validate_args: bool = False, name: str = "identity") -> None:
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=0, name=name)

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return x

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return y

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return constant(0.0, dtype=x.dtype)


class AffineScalar(Bijector):
    """`y = scale x + shift`, where both broadcast with `x`.

    Args:
        shift: 0 when None.
        scale: 1 when None; not 0.
        validate_args: whether the scale is checked.
        name: of its scopes.
    """

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "affine_scalar",
    ) -> None:
        with input_scope(name, name, [scale, shift]), input_scope("init", "init", [scale, shift]):
            self._shift = None if shift is None else convert_to_tensor(shift, name="shift")
            self._scale = None if scale is None else convert_to_tensor(scale, name="scale")
            if self._scale is not None and validate_args:
                nonzero = assert_none_equal(self._scale, zeros_like(self._scale))
                self._scale = with_dependencies([nonzero], self._scale)
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def shift(self) -> Tensor | None:
        """What is added."""
        return self._shift

    @property
    def scale(self) -> Tensor | None:
        """The factor."""
        return self._scale

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        y = x if self._scale is None else x * self._scale
        return y if self._shift is None else y + self._shift

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        x = y if self._shift is None else y - self._shift
        return x if self._scale is None else x / self._scale

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return constant(0.0, dtype=x.dtype.base_dtype) if self._scale is None else log(absolute(self._scale))


class Sigmoid(Bijector):
    """`y = 1 / (1 + exp(-x))`.

    Args:
        validate_args: whether runs check what is given.
    """

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return sigmoid(x)

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return log(y) - log1p(-y)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return -log(y) - log1p(-y)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return -softplus(-x) - softplus(x)


def softplus_inverse(x: TensorLike, name: str | None = None) -> Tensor:
    """The `z` whose softplus is `x > 0`, elementwise: `log(exp(x) - 1)`, without overflow.

    Args:
        x: positive numbers of a floating dtype.
    """
    with input_scope(name, "softplus_inverse", [x]):
        y = convert_to_tensor(x, name="x")
        return y + log(-expm1(-y))


class Softplus(Bijector):
    """`y = c log(1 + exp(x / c))`.

    Args:
        hinge_softness: `c`, which is not 0; 1 when None.
        validate_args: whether it is checked.
        name: of its scopes.
    """

    def __init__(self, hinge_softness: TensorLike | None = None, validate_args: bool = False, name: str = "softplus") -> None:
        with input_scope(name, name, [hinge_softness]):
            softness = None if hinge_softness is None else convert_to_tensor(hinge_softness, name="hinge_softness")
            if validate_args and softness is not None:
                message = "hinge_softness must be non-zero"
                softness = with_dependencies([assert_none_equal(zeros_like(softness), softness, message=message)], softness)
            self._hinge_softness = softness
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def hinge_softness(self) -> Tensor | None:
        """How soft the bend is."""
        return self._hinge_softness

    def _scaled(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        if self._hinge_softness is None:
            return x, 1.0
        softness = cast(self._hinge_softness, x.dtype)
        return x / softness, softness

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        scaled, softness = self._scaled(x)
        return softness * softplus(scaled)

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        scaled, softness = self._scaled(y)
        return softness * softplus_inverse(scaled)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return -log(-expm1(-self._scaled(y)[0]))

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return -softplus(-self._scaled(x)[0])


class Softsign(Bijector):
    """`y = x / (1 + |x|)`, between -1 and 1.

    Args:
        validate_args: whether runs check what is given.
    """

    def __init__(self, validate_args: bool = False, name: str = "softsign") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return x / (1.0 + absolute(x))

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        y = self._checked(y)
        return y / (1.0 - absolute(y))

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return -2.0 * log1p(absolute(x))

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return -2.0 * log1p(-absolute(self._checked(y)))

    def _checked(self, y: Tensor) -> Tensor:
        if not self.validate_args:
            return y
        one = constant(1.0, dtype=y.dtype)
        above = assert_greater(y, -one, message="Inverse transformation input must be greater than -1.")
        below = assert_less(y, one, message="Inverse transformation input must be less than 1.")
        return with_dependencies([above, below], y)


class Square(Bijector):
    """`y = x**2`, of numbers that are not negative.

    Args:
        validate_args: whether runs check what is given.
    """

    def __init__(self, validate_args: bool = False, name: str = "square") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return square(self._checked(x))

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return sqrt(self._checked(y))

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return math.log(2.0) + log(self._checked(x))

    def _checked(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        return with_dependencies([assert_non_negative(x, message="All elements must be non-negative.")], x)


class AbsoluteValue(Bijector):
    """`y = |x|`: two arguments have one value, so `inverse` gives `(-y, y)`.

    Args:
        validate_args: whether runs check what is given.
    """

    def __init__(self, validate_args: bool = False, name: str = "absolute_value") -> None:
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def _is_injective(self) -> bool:
        return False

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return absolute(x)

    def _inverse(self, y: Tensor, **kwargs: Nest) -> tuple[Tensor, Tensor]:
        if self.validate_args:
            y = with_dependencies([assert_non_negative(y, message="Argument y was negative")], y)
        return -y, y

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> tuple[Tensor, Tensor]:
        nothing = constant(0.0, dtype=y.dtype)
        if self.validate_args:
            nothing = with_dependencies([assert_non_negative(y, message="Argument y was negative")], nothing)
        return nothing, nothing


class PowerTransform(Bijector):
    """`y = (1 + power x)**(1 / power)`; `exp(x)` for the power 0.

    Args:
        power: a constant that is not negative.
        validate_args: whether arguments are checked.
        name: of its scopes.

    Raises:
        ValueError: the power is negative, or no constant.
    """

    def __init__(self, power: TensorLike = 0.0, validate_args: bool = False, name: str = "power_transform") -> None:
        with input_scope(name, name, [power]), input_scope("init", "init", [power]):
            known = constant_value(convert_to_tensor(power, name="power"))
        if known is None or known < 0:
            raise ValueError(f"`power` must be a non-negative TF constant. It is {power!r}.")
        self._power = known
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def power(self) -> Nest:
        """The power, as a NumPy number."""
        return self._power

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        x = self._checked_x(x)
        return exp(x) if self._power == 0.0 else exp(log1p(x * self._power) / self._power)

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        y = self._checked_y(y)
        return log(y) if self._power == 0.0 else expm1(log(y) * self._power) / self._power

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return float(self._power - 1.0) * log(self._checked_y(y))

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        x = self._checked_x(x)
        return x if self._power == 0.0 else (1.0 / self._power - 1.0) * log1p(x * self._power)

    def _checked_x(self, x: Tensor) -> Tensor:
        if not self.validate_args or self._power == 0.0:
            return x
        message = f"Forward transformation input must be at least {-1.0 / self._power}."
        return with_dependencies([assert_non_negative(1.0 + self._power * x, message=message)], x)

    def _checked_y(self, y: Tensor) -> Tensor:
        if not self.validate_args:
            return y
        message = "Inverse transformation input must be greater than 0."
        return with_dependencies([assert_positive(y, message=message)], y)


class Exp(PowerTransform):
    """`y = exp(x)`.

    Args:
        validate_args: whether runs check what is given.
    """

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(0.0, validate_args, name)
