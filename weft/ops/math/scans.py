"""Cumulative sums and products along one dimension."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.declaration import op
from weft.ops.math.elementwise import FLOATS, NUMBERS, mul, real_div
from weft.ops.symbolic_gradient import vjp
from weft.platform.imports.jax_modules import jax, jnp

_INDEX = (dtypes.int32, dtypes.int64)


def _checked_axis(node: Operation) -> list[Dims]:
    dims, axis = node.inputs[0].dims, constant_value(node.inputs[1])
    if dims is not None and axis is not None and not -len(dims) <= int(axis) < len(dims):
        needed = int(axis) + 1 if axis >= 0 else -int(axis)
        raise ValueError(f"Shape must be at least rank {needed} but is rank {len(dims)}")
    return [dims]


def _scan(xp: ArrayModule, function: Array, x: Array, axis: Array, exclusive: bool, reverse: bool, first: float) -> Array:
    if not -x.ndim <= int(axis) < x.ndim:
        raise ValueError(f"ScanOp: Expected scan axis in the range [{-x.ndim}, {x.ndim}), but got {int(axis)}")
    at = int(axis) % x.ndim
    if reverse:
        x = xp.flip(x, at)
    if exclusive and x.shape[at]:
        shape = (*x.shape[:at], 1, *x.shape[at + 1 :])
        start = xp.full(shape, first, x.dtype)
        x = xp.concatenate([start, x[(slice(None),) * at + (slice(0, -1),)]], axis=at)
    result = function(x, axis=at, dtype=x.dtype)
    return xp.flip(result, at) if reverse else result


def _cumsum_gradient(node: Operation, grad: Tensor) -> Gradients:
    attrs = node.attrs
    return [cumsum_node(grad, node.inputs[1], exclusive=attrs["exclusive"], reverse=not attrs["reverse"]), None]


@op("Cumsum", "x: T, axis: Tidx -> out: T", infer=_checked_axis, gradient=_cumsum_gradient, static=("axis",),
    types={"T": NUMBERS, "Tidx": _INDEX}, defaults={"Tidx": dtypes.int32})  # fmt: skip
def cumsum_node(xp: ArrayModule, x: Array, axis: Array, *, exclusive: bool = False, reverse: bool = False) -> Result:
    """The sums of the elements up to each (before each, if exclusive), from the end if reversed.

    `[...], scalar -> [...]`.
    """
    return _scan(xp, xp.cumsum, x, axis, exclusive, reverse, 0)


def _cumprod_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, axis = node.inputs
    exclusive, reverse = node.attrs["exclusive"], node.attrs["reverse"]
    product = cumprod_node(x, axis, exclusive=exclusive, reverse=reverse)
    summed = cumsum_node(mul(product, grad), axis, exclusive=exclusive, reverse=not reverse)
    return [real_div(summed, x), None]


@op("Cumprod", "x: T, axis: Tidx -> out: T", infer=_checked_axis, gradient=_cumprod_gradient, static=("axis",),
    types={"T": NUMBERS, "Tidx": _INDEX}, defaults={"Tidx": dtypes.int32})  # fmt: skip
def cumprod_node(xp: ArrayModule, x: Array, axis: Array, *, exclusive: bool = False, reverse: bool = False) -> Result:
    """The products of the elements up to each (before each, if exclusive), from the end if reversed.

    `[...], scalar -> [...]`.
    """
    return _scan(xp, xp.cumprod, x, axis, exclusive, reverse, 1)


@op("CumulativeLogsumexp", "x: T, axis: Tidx -> out: T", infer=_checked_axis, gradient=vjp, static=("axis",),
    compiled_only=True, types={"T": FLOATS, "Tidx": _INDEX}, defaults={"Tidx": dtypes.int32})  # fmt: skip
def cumulative_logsumexp_node(
    xp: ArrayModule, x: Array, axis: Array, *, exclusive: bool = False, reverse: bool = False
) -> Result:
    """The logarithms of the sums of the exponentials up to each element: `[...], scalar -> [...]`."""

    def accumulate(values: Array, axis: int, dtype: np.dtype[np.generic]) -> Array:
        return jax.lax.associative_scan(jnp.logaddexp, values, axis=axis)

    return _scan(jnp, accumulate, x, axis, exclusive, reverse, -np.inf)


def cumsum(
    x: TensorLike, axis: TensorLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """The sums of the elements of `x` up to each along `axis`.

    `exclusive` leaves the element itself out; `reverse` sums from the end.

    Args:
        x: [...] tensor of a numeric dtype; the result has its shape and dtype.
        axis: int32 or int64 scalar, the dimension along which to go; one below zero counts from the end.
        exclusive: whether the element itself is left out.
        reverse: whether to begin at the end.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        ValueError: `x` has no dimension `axis`, as far as its shape is known.
        InvalidArgumentError: in a run, the same of an `axis` that only the run tells.
    """
    return cumsum_node(x, axis, exclusive=exclusive, reverse=reverse, name=name)


def cumprod(
    x: TensorLike, axis: TensorLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """The products of the elements of `x` up to each along `axis`; arguments as those of `cumsum`.

    Args: those of `tf.cumsum`.
    """
    return cumprod_node(x, axis, exclusive=exclusive, reverse=reverse, name=name)


def cumulative_logsumexp(
    x: TensorLike, axis: TensorLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """`log(cumsum(exp(x)))` without overflow; arguments as those of `cumsum`.

    Args:
        x: [...] tensor of a floating dtype; the result has its shape and dtype.
        axis: int32 or int64 scalar, the dimension along which to go; one below zero counts from the end.
        exclusive: whether the element itself is left out.
        reverse: whether to begin at the end.
    """
    return cumulative_logsumexp_node(x, axis, exclusive=exclusive, reverse=reverse, name=name)
