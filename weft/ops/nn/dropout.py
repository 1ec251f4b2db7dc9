"""Dropout: elements set to zero at random, the others scaled up."""

from __future__ import annotations

import numbers
from typing import Final

from weft.framework.building.aliases import DynamicShape, ShapeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape, as_shape
from weft.ops.array.shape_ops import shape_internal
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater_equal
from weft.ops.random.functions import random_uniform
from weft.platform.logs import tf_logging
from weft.platform.logs.deprecation import deprecated_argument_lookup

_SUSPICIOUS: Final = 0.5
# What selu makes of minus infinity: its scale times its alpha, negated.
_SELU_FLOOR: Final = -1.7580993408473766


def dropout(
    x: TensorLike, keep_prob: float | Tensor | None = None, noise_shape: ShapeLike = None, seed: int | None = None,
    name: str | None = None, rate: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """Set elements to zero with probability `rate` (or `1 - keep_prob`) and divide the others by `1 - rate`.

    Args:
        x: a tensor of floating numbers.
        keep_prob: the probability that an element is kept; the older form of `rate`.
        noise_shape: the shape of what is drawn, broadcast to that of `x`; by default that of `x`.
        seed: the op seed.
        name: the name scope.
        rate: the probability that an element is dropped.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        ValueError: no probability or both are given, or it is out of range; `x` has integers.

    >>> sess.run(tf.nn.dropout([1.0, 2.0], rate=0.0))
    array([1., 2.], dtype=float32)
    """
    try:
        dropped = None if keep_prob is None else 1.0 - keep_prob
        if isinstance(keep_prob, numbers.Real) and not 0 < keep_prob <= 1:
            _check_rate(float(dropped), f": keep_prob, one less the rate, is {keep_prob}, and has to be in (0, 1]")
    except TypeError:
        raise ValueError(f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})") from None
    rate = deprecated_argument_lookup("rate", rate, "keep_prob", dropped)
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    return dropout_v2(x, rate, noise_shape, seed, name)


def dropout_v2(
    x: TensorLike, rate: TensorLike, noise_shape: ShapeLike = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Set elements to zero with probability `rate` and divide the others by `1 - rate`."""
    with input_scope(name, "dropout", (x,)):
        tensor = convert_to_tensor(x, name="x")
        kind = tensor.dtype.base_dtype
        if not kind.is_floating:
            raise ValueError(
                f"x has to be a floating point tensor since it's going to be scaled. Got a {tensor.dtype} tensor instead."
            )
        if isinstance(rate, numbers.Real):
            _check_rate(float(rate))
            if rate == 0:
                return tensor
        rate = convert_to_tensor(rate, kind, name="rate")
        rate.shape.assert_has_rank(0)
        known = constant_value(rate)
        if known is not None and known == 0:
            return tensor
        drawn = random_uniform(_noise_shape(tensor, noise_shape), seed=seed, dtype=kind)
        scale = 1 / (1 - rate)
        is_kept = greater_equal(drawn, rate)
        result = tensor * scale * cast(is_kept, kind)
        result.set_shape(tensor.shape)
        return result


def alpha_dropout(
    x: TensorLike, keep_prob: TensorLike, noise_shape: ShapeLike = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Set elements to selu's least value at random, and scale all so that mean and variance stay (arXiv:1706.02515).

    Args:
        x: a tensor of floating numbers.
        keep_prob: how likely an element is kept, a number or a scalar tensor.
        noise_shape: the shape of what is drawn; that of `x` when None.
        seed: the op seed.
        name: the name scope.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        ValueError: `keep_prob` is not in (0, 1].
    """
    with input_scope(name, "alpha_dropout", (x,)):
        tensor = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < keep_prob <= 1:
            raise ValueError(f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob:g}")
        keep = convert_to_tensor(keep_prob, tensor.dtype.base_dtype, name="keep_prob")
        keep.shape.assert_has_rank(0)
        if constant_value(keep) == 1:
            return tensor
        drawn = random_uniform(_noise_shape(tensor, noise_shape), seed=seed, dtype=tensor.dtype.base_dtype)
        kept = cast(greater_equal(drawn, 1 - keep), tensor.dtype.base_dtype)
        scale = (keep + keep * (1 - keep) * _SELU_FLOOR**2) ** -0.5
        return scale * (tensor * kept + _SELU_FLOOR * (1 - kept)) - scale * _SELU_FLOOR * (1 - keep)


def _check_rate(rate: float, more: str = "") -> None:
    if not 0 <= rate < 1:
        raise ValueError(f"rate must be a scalar tensor or a float in the range [0, 1), got {rate:g}{more}")
    if rate > _SUSPICIOUS:
        tf_logging.log_first_n(
            tf_logging.WARN,
            "Large dropout rate: %g (>0.5). In TensorFlow 2.x, dropout() uses dropout rate instead of keep_prob. Please "
            "ensure that this is intended.",
            5,
            rate,
        )


def _noise_shape(x: Tensor, noise_shape: ShapeLike) -> DynamicShape:
    if noise_shape is None:
        return shape_internal(x)
    try:
        given = as_shape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape
    dims = x.dims
    if dims is not None and given.ndims == len(dims):
        # An unknown size stands for that of x.
        return TensorShape([size if mine is None else mine for mine, size in zip(given.as_list(), dims, strict=True)])
    return noise_shape
