"""tf.contrib.layers' initializers by the number of a layer's inputs and outputs, functions of shape and dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from weft.framework.building.aliases import DTypeLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.ops.random.functions import random_uniform, truncated_normal
from weft.ops.variables.initializers import fans
from weft.ops.variables.partition_info import PartitionInfo

Initializer = Callable[..., Tensor]
_MODES: Final = ("FAN_IN", "FAN_OUT", "FAN_AVG")
# Cutting a normal distribution at two standard deviations leaves a smaller one.
_FACTOR_OF_CUT: Final = 1.3


def variance_scaling_initializer(
    factor: float = 2.0, mode: str = "FAN_IN", uniform: bool = False, seed: int | None = None, dtype: DTypeLike = dtypes.float32
) -> Initializer:
    """Random numbers whose variance is `factor` by a layer's inputs, outputs, or the mean of both (He et al., 2015).

    Args:
        factor: 2.0 for relu.
        mode: FAN_IN, FAN_OUT or FAN_AVG.
        uniform: whether they are uniform, rather than normal and cut at two standard deviations.
        seed: the random seed.
        dtype: a floating type.

    Returns:
        The initializer, a function of a shape.

    Raises:
        TypeError: `mode` is another, or `dtype` is no floating type.
    """
    if not as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in _MODES:
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initializer(shape: Any, dtype: DTypeLike = dtype, partition_info: PartitionInfo | None = None) -> Tensor:
        if not as_dtype(dtype).is_floating:
            raise TypeError("Cannot create initializer for non-floating point type.")
        sizes = [int(size) for size in (shape if partition_info is None else partition_info.full_shape)]
        fan_in, fan_out = fans(sizes)
        count = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / count)
            return random_uniform(shape, -limit, limit, dtype, seed=seed)
        return truncated_normal(shape, 0.0, math.sqrt(_FACTOR_OF_CUT * factor / count), dtype, seed=seed)

    return initializer


def xavier_initializer(uniform: bool = True, seed: int | None = None, dtype: DTypeLike = dtypes.float32) -> Initializer:
    """The initializer of Glorot and Bengio (2010), also named after Xavier.

    Args:
        uniform: whether the numbers are uniform, rather than normal and cut at two standard deviations.
        seed: the op seed.
        dtype: a floating type.

    Returns:
        An initializer.

    Raises:
        TypeError: the dtype is no floating one.
    """
    return variance_scaling_initializer(factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype)


xavier_initializer_conv2d = xavier_initializer
