"""Distributions whose parameters are made positive first: by softplus, or as `floor(abs(df))`."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.models.distributions.beta import Beta
from weft.models.distributions.gamma import Exponential, Gamma
from weft.models.distributions.laplace import Laplace
from weft.models.distributions.positive import InverseGamma
from weft.models.distributions.student_t import StudentT
from weft.ops.input_scope import input_scope
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.unary import floor
from weft.ops.nn.activation import softplus


class BetaWithSoftplusConcentration(Beta):
    """Beta with the softplus of both concentrations; the arguments are its.

    Args:
        concentration1, concentration0: numbers of a floating dtype, which broadcast; their softplus are the concentrations.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self,
        concentration1: TensorLike,
        concentration0: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "BetaWithSoftplusConcentration",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "BetaWithSoftplusConcentration", [concentration1, concentration0]) as scope:
            one = softplus(concentration1, name="softplus_concentration1")
            zero = softplus(concentration0, name="softplus_concentration0")
            super().__init__(one, zero, validate_args, allow_nan_stats, scope)
        self._parameters = parameters


class ExponentialWithSoftplusRate(Exponential):
    """Exponential with the rate `softplus(rate)`; the arguments are its.

    Args:
        rate: numbers of a floating dtype; their softplus are the rates.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExponentialWithSoftplusRate",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "ExponentialWithSoftplusRate", [rate]) as scope:
            super().__init__(softplus(rate, name="softplus_rate"), validate_args, allow_nan_stats, scope)
        self._parameters = parameters


class GammaWithSoftplusConcentrationRate(Gamma):
    """Gamma with the softplus of both parameters; the arguments are its.

    Args:
        concentration, rate: numbers of a floating dtype, which broadcast; their softplus are the parameters.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "GammaWithSoftplusConcentrationRate",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "GammaWithSoftplusConcentrationRate", [concentration, rate]) as scope:
            shape, inverse_scale = softplus(concentration, name="softplus_concentration"), softplus(rate, name="softplus_rate")
            super().__init__(shape, inverse_scale, validate_args, allow_nan_stats, scope)
        self._parameters = parameters


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """InverseGamma with the softplus of both parameters; the arguments are its.

    Args:
        concentration, rate: numbers of a floating dtype, which broadcast; their softplus are the parameters.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGammaWithSoftplusConcentrationRate",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "InverseGammaWithSoftplusConcentrationRate", [concentration, rate]) as scope:
            shape, size = softplus(concentration, name="softplus_concentration"), softplus(rate, name="softplus_rate")
            super().__init__(shape, size, validate_args, allow_nan_stats, scope)
        self._parameters = parameters


class LaplaceWithSoftplusScale(Laplace):
    """Laplace with the scale `softplus(scale)`; the arguments are its.

    Args:
        loc: the means, of a floating dtype.
        scale: numbers whose softplus are the scales; both broadcast.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "LaplaceWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "LaplaceWithSoftplusScale", [loc, scale]) as scope:
            super().__init__(loc, softplus(scale, name="softplus_scale"), validate_args, allow_nan_stats, scope)
        self._parameters = parameters


class StudentTWithAbsDfSoftplusScale(StudentT):
    """StudentT with `floor(abs(df))` degrees of freedom and the scale `softplus(scale)`; the arguments are its.

    Args:
        df: numbers of a floating dtype; `floor(abs(df))` are the degrees of freedom.
        loc: the means.
        scale: numbers whose softplus are the scales; all three broadcast.
        validate_args: whether parameters and values are checked.
        allow_nan_stats: whether a statistic that is not defined is NaN.
        name: the scope's name.
    """

    def __init__(
        self,
        df: TensorLike,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentTWithAbsDfSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with input_scope(name, "StudentTWithAbsDfSoftplusScale", [df, scale]) as scope:
            positive = softplus(scale, name="softplus_scale")
            super().__init__(floor(absolute(df)), loc, positive, validate_args, allow_nan_stats, scope)
        self._parameters = parameters
