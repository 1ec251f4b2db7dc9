"""Logarithms of densities, as the models of time series count them."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import TensorLike
from weft.framework.nodes.operation import Tensor
from weft.ops.math.elementwise import square
from weft.ops.math.unary import log, log1p


def normal_log_prob(loc: Tensor, scale: Tensor, x: TensorLike) -> Tensor:
    """That of a normal distribution.

    TensorFlow takes the scale's logarithm once where the density has it twice; models that it has trained are so measured.

    Args:
        loc, scale: mean and standard deviation.
        x: where.
    """
    z = (x - loc) / scale
    found: Tensor = -0.5 * (square(z) + np.log(2.0 * np.pi) + log(scale))
    return found


def cauchy_log_prob(loc: Tensor, scale: Tensor, x: TensorLike) -> Tensor:
    """That of a Cauchy distribution.

    Args:
        loc, scale: median and scale.
        x: where.
    """
    z = (x - loc) / scale
    found: Tensor = -np.log(np.pi) - log(scale) - log1p(square(z))
    return found
