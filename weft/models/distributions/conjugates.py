"""Normal distributions that follow from observations of known scale."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.normal import Normal
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import square
from weft.ops.math.unary import sqrt


def normal_conjugates_known_scale_posterior(prior: Normal, scale: TensorLike, s: TensorLike, n: TensorLike) -> Normal:
    """What is known of the mean of a normal distribution after observations.

    Args:
        prior: what was known of it before.
        scale: the deviation of the observations, which is known.
        s: the sum of the observations.
        n: how many there are.

    Raises:
        TypeError: `prior` is no Normal.
    """
    precision, weighed = _parts(prior, scale, s, n)
    return Normal(weighed / precision, 1.0 / sqrt(precision))


def normal_conjugates_known_scale_predictive(prior: Normal, scale: TensorLike, s: TensorLike, n: TensorLike) -> Normal:
    """What the next observation is like.

    Args:
        prior, scale, s, n: those of `normal_conjugates_known_scale_posterior`.

    Raises:
        TypeError: `prior` is no Normal.
    """
    precision, weighed = _parts(prior, scale, s, n)
    return Normal(weighed / precision, sqrt(1.0 / precision + square(convert_to_tensor(scale, prior.dtype))))


def _parts(prior: Normal, scale: TensorLike, s: TensorLike, n: TensorLike) -> tuple[Tensor, Tensor]:
    """The precision of the mean, and the mean times it."""
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    count = cast(n, prior.dtype)
    known = 1.0 / square(convert_to_tensor(scale, prior.dtype, name="scale"))
    before = 1.0 / square(prior.scale)
    return before + count * known, prior.loc * before + convert_to_tensor(s, prior.dtype, name="s") * known
