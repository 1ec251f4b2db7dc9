"""The nodes that reduce over dimensions: Sum, Mean, Max ... and ArgMax, with their gradients.

`weft.ops.math.reduce_functions` has the functions that programs call. In the shapes, `rest` are the sizes of the dimensions
that stay, and with `keep_dims` a 1 for each of the others.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import BuildMisfit
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.shape_ops import INDEX, brackets
from weft.ops.declaration import not_differentiable, op, same_as_input
from weft.ops.gradient_nodes import always, of_mean, of_sum
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal
from weft.ops.math.division import div_no_nan_node
from weft.ops.math.elementwise import (
    NUMBERS,
    REAL,
    conj_if_complex,
    mul,
    real_div,
)
from weft.ops.symbolic_gradient import vjp

QUANTIZED = (dtypes.qint8, dtypes.quint8, dtypes.qint32, dtypes.qint16, dtypes.quint16)
REDUCIBLE = (*NUMBERS, *QUANTIZED)
ORDERED = (*REAL, *QUANTIZED)
_FEW: Final = 32


def _reduced(node: Operation) -> list[Dims]:
    dims, axes = node.inputs[0].dims, constant_value(node.inputs[1])
    keep = node.attrs["keep_dims"]
    if node.inputs[1].dims is not None and len(node.inputs[1].dims) > 1:
        # TensorFlow's kernels take all numbers of such axes, if only a run tells their shape.
        text = f"Shape must be at most rank 1 but is rank {len(node.inputs[1].dims)}"
        raise BuildMisfit(text, "The axes are a number or a vector: flatten them.")
    if dims is None:
        return [None]
    if axes is None:
        if keep:
            return [(None,) * len(dims)]
        # One axis given as a scalar takes one dimension away, whichever it is; a vector may repeat itself.
        return [(None,) * (len(dims) - 1) if node.inputs[1].dims == () and dims else None]
    gone = set()
    for axis in np.ravel(axes).tolist():
        if not -len(dims) <= axis < len(dims):
            raise ValueError(f"Invalid reduction dimension {axis} for input with {len(dims)} dimensions.")
        gone.add(axis % len(dims))
    if keep:
        return [tuple(1 if at in gone else size for at, size in enumerate(dims))]
    return [tuple(size for at, size in enumerate(dims) if at not in gone)]


def reduced_axes(x: Array, reduction_indices: Array) -> tuple[int, ...]:
    """The axes of an array that a kernel is to reduce, each once; InvalidArgumentError when there is no such axis."""
    return _axes_of(x.ndim, tuple(np.ravel(reduction_indices).tolist()))


@functools.lru_cache(maxsize=1024)
def _axes_of(rank: int, indices: tuple[int, ...]) -> tuple[int, ...]:
    for axis in indices:
        if not -rank <= axis < rank:
            message = f"Invalid reduction dimension ({axis} for input with {rank} dimension(s)"
            raise InvalidArgumentError.of(message)
    axes = [axis % rank for axis in indices]
    for place, axis in enumerate(axes):
        if axis in axes[:place]:
            message = f"Invalid reduction arguments: Axes contains duplicate dimension: {axis}"
            raise InvalidArgumentError.of(message)
    return tuple(sorted(axes))


# Gradients.


def _expand_reduced_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [sum_node(grad, node.inputs[2], keep_dims=node.attrs["keep_dims"]), None, None]


@op("ExpandReduced", "reduced: T, like: Tlike, reduction_indices: Tidx -> output: T", gradient=_expand_reduced_gradient,
    static=("reduction_indices",), infer=lambda node: [node.inputs[1].dims], types={"Tidx": INDEX})  # fmt: skip
def expand_reduced(
    xp: ArrayModule, reduced: Array, like: Array, reduction_indices: Array, *, keep_dims: bool = False
) -> Result:
    """A reduced tensor, repeated along the dimensions that the reduction of `like` took away.

    `[*rest], [...], [k] -> [...]`.
    """
    axes = reduced_axes(like, reduction_indices)
    kept = tuple(1 if at in axes else size for at, size in enumerate(like.shape))
    return xp.broadcast_to(xp.reshape(reduced, kept), like.shape)


@op("ReducedCount", "input: T, reduction_indices: Tidx -> count: dtype", gradient=not_differentiable, infer=lambda node: [()],
    static=("reduction_indices",), types={"Tidx": INDEX})  # fmt: skip
def reduced_count(xp: ArrayModule, input: Array, reduction_indices: Array, *, dtype: DType) -> Result:
    """How many elements a reduction puts into one: `[...], [k] -> scalar`."""
    count = math.prod(input.shape[axis] for axis in reduced_axes(input, reduction_indices))
    return np.array(count, dtype.as_numpy_dtype)


def _expanded(node: Operation, tensor: Tensor) -> Tensor:
    x, axes = node.inputs
    # It has the name of the last node that TensorFlow has for it.
    return expand_reduced(tensor, x, axes, keep_dims=node.attrs["keep_dims"], name="Tile")


def _sum_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [_expanded(node, grad), None]


def _mean_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, axes = node.inputs
    whole, reduced = x.shape.num_elements(), node.outputs[0].shape.num_elements()
    if whole is None or reduced is None:
        count: Tensor | int = reduced_count(x, axes, dtype=grad.dtype)
    else:
        count = whole // max(reduced, 1)
    return [real_div(_expanded(node, grad), count, name="truediv"), None]


def _extreme_gradient(node: Operation, grad: Tensor) -> Gradients:
    # Elements that share the extreme share the gradient.
    x, axes = node.inputs
    chosen = cast(equal(_expanded(node, node.outputs[0]), x), grad.dtype)
    count = sum_node(chosen, axes, keep_dims=node.attrs["keep_dims"])
    return [mul(chosen, _expanded(node, real_div(grad, count)), name="mul"), None]


def _prod_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, axes = node.inputs
    others = products_of_others(x, axes)
    return [mul(_expanded(node, grad), conj_if_complex(others)), None]


@op("ProductsOfOthers", "x: T, reduction_indices: Tidx -> y: T", infer=same_as_input, gradient=vjp, static=(
    "reduction_indices",), types={"T": NUMBERS, "Tidx": INDEX})  # fmt: skip
def products_of_others(xp: ArrayModule, x: Array, reduction_indices: Array) -> Result:
    """For each element the product of all the others that a reduction puts together with it: `[...], [k] -> [...]`."""
    axes = reduced_axes(x, reduction_indices)
    rest = tuple(at for at in range(x.ndim) if at not in axes)
    moved = xp.transpose(x, (*rest, *axes))
    flat = xp.reshape(moved, (*moved.shape[: len(rest)], -1) if x.size else (0, 1))
    one = xp.ones_like(flat[..., :1])
    before = xp.cumprod(xp.concatenate([one, flat[..., :-1]], axis=-1), axis=-1)
    after = xp.flip(xp.cumprod(xp.concatenate([one, xp.flip(flat, -1)[..., :-1]], axis=-1), axis=-1), -1)
    return xp.transpose(xp.reshape(before * after, moved.shape), tuple(np.argsort((*rest, *axes)).tolist()))


def _euclidean_norm_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [mul(node.inputs[0], _expanded(node, div_no_nan_node(grad, node.outputs[0]))), None]


# The reductions.

_SIGNATURE = "input: T, reduction_indices: Tidx -> output: T"


def _added_up(xp: ArrayModule, x: Array, axes: tuple[int, ...], keep_dims: bool, dtype: Array) -> Array:
    if xp is not np:
        return xp.sum(x, axis=axes, keepdims=keep_dims, dtype=dtype)
    # The function behind NumPy's `sum`, which costs as much again around it for a picture.
    add_up: Callable[..., Array] = np.add.reduce
    if len(axes) > 1 and axes[-2] == axes[-1] - 1 and axes[-1] < x.ndim - 1 and math.prod(x.shape[axes[-1] + 1 :]) < _FEW:
        # NumPy adds up as many at a time as lie behind the axes, such as the three colours of a picture: with the last axis
        # left for afterwards it is all of a line. 4 us for 32 x 32 instead of 16, 23 for 224 x 224 instead of 720 (two cores,
        # December 2026).
        x = add_up(x, axis=axes[:-1], keepdims=True, dtype=dtype)
    return add_up(x, axis=axes, keepdims=keep_dims, dtype=dtype)


@op("Sum", _SIGNATURE, memory_bound=True, infer=_reduced, gradient=_sum_gradient, static=("reduction_indices",),
    gradient_nodes=of_sum, types={"T": REDUCIBLE, "Tidx": INDEX}, defaults={"Tidx": dtypes.int32})  # fmt: skip
def sum_node(xp: ArrayModule, input: Array, reduction_indices: Array, *, keep_dims: bool = False) -> Result:
    """The sum over the dimensions listed: `[...], [k] -> [*rest]`."""
    return _added_up(xp, input, reduced_axes(input, reduction_indices), keep_dims, input.dtype)


@op("Mean", _SIGNATURE, memory_bound=True, infer=_reduced, gradient=_mean_gradient, static=("reduction_indices",),
    gradient_nodes=of_mean, types={"T": REDUCIBLE, "Tidx": INDEX}, defaults={"Tidx": dtypes.int32})  # fmt: skip
def mean_node(xp: ArrayModule, input: Array, reduction_indices: Array, *, keep_dims: bool = False) -> Result:
    """The mean over the dimensions listed; of integers, rounded towards zero, and NaN of no elements.

    `[...], [k] -> [*rest]`.
    """
    axes = reduced_axes(input, reduction_indices)
    count = math.prod(input.shape[axis] for axis in axes)
    if input.dtype.kind in "iu":
        # A sum wraps around as in TensorFlow, which fails where the number of elements does.
        wide = input.dtype if count <= np.iinfo(input.dtype).max else np.int64
        total = xp.sum(input, axis=axes, keepdims=keep_dims, dtype=wide)
        return (xp.sign(total) * (xp.abs(total) // np.array(max(count, 1), wide))).astype(input.dtype)
    # Narrow floats are summed in float32, as XLA does.
    wide = np.float32 if input.dtype.itemsize < 4 else input.dtype
    total = _added_up(xp, input, axes, keep_dims, wide)
    return (total / total.dtype.type(count)).astype(input.dtype)


def _extreme(xp: ArrayModule, function: Array, x: Array, reduction_indices: Array, keep_dims: bool, empty: Array) -> Array:
    axes = reduced_axes(x, reduction_indices)
    if math.prod(x.shape[axis] for axis in axes):
        return function(x, axis=axes, keepdims=keep_dims)
    shape = tuple(1 if at in axes else size for at, size in enumerate(x.shape) if keep_dims or at not in axes)
    return xp.full(shape, empty, x.dtype)


def _least(dtype: np.dtype[Any]) -> float:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _greatest(dtype: np.dtype[Any]) -> float:
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


@op("Max", _SIGNATURE, memory_bound=True, infer=_reduced, gradient=_extreme_gradient, static=("reduction_indices",),
    gradient_nodes=always(19), types={"T": ORDERED, "Tidx": INDEX}, defaults={"Tidx": dtypes.int32})  # fmt: skip
def max_node(xp: ArrayModule, input: Array, reduction_indices: Array, *, keep_dims: bool = False) -> Result:
    """The greatest element over the dimensions listed; of none, the least value that there is.

    `[...], [k] -> [*rest]`.
    """
    return _extreme(xp, xp.max, input, reduction_indices, keep_dims, _least(input.dtype))


@op("Min", _SIGNATURE, memory_bound=True, infer=_reduced, gradient=_extreme_gradient, static=("reduction_indices",),
    gradient_nodes=always(19), types={"T": ORDERED, "Tidx": INDEX}, defaults={"Tidx": dtypes.int32})  # fmt: skip
def min_node(xp: ArrayModule, input: Array, reduction_indices: Array, *, keep_dims: bool = False) -> Result:
    """The least element over the dimensions listed; of none, the greatest value that there is.

    `[...], [k] -> [*rest]`.
    """
    return _extreme(xp, xp.min, input, reduction_indices, keep_dims, _greatest(input.dtype))


@op("Prod", _SIGNATURE, infer=_reduced, gradient=_prod_gradient, static=("reduction_indices",),
    gradient_nodes=always(49), types={"T": REDUCIBLE, "Tidx": INDEX}, defaults={"Tidx": dtypes.int32})  # fmt: skip
def prod_node(xp: ArrayModule, input: Array, reduction_indices: Array, *, keep_dims: bool = False) -> Result:
    """The product over the dimensions listed: `[...], [k] -> [*rest]`."""
    return xp.prod(input, axis=reduced_axes(input, reduction_indices), keepdims=keep_dims, dtype=input.dtype)


@op("EuclideanNorm", _SIGNATURE, infer=_reduced, gradient=_euclidean_norm_gradient, static=("reduction_indices",),
    types={"T": REDUCIBLE, "Tidx": INDEX}, defaults={"Tidx": dtypes.int32})  # fmt: skip
def euclidean_norm_node(xp: ArrayModule, input: Array, reduction_indices: Array, *, keep_dims: bool = False) -> Result:
    """The square root of the sum of the squares over the dimensions listed: `[...], [k] -> [*rest]`."""
    squares = (input * xp.conj(input)).astype(input.dtype)
    return xp.sqrt(xp.sum(squares, axis=reduced_axes(input, reduction_indices), keepdims=keep_dims))


_BOOLEAN_SIGNATURE = "input: bool, reduction_indices: Tidx -> output: bool"


@op("All", _BOOLEAN_SIGNATURE, infer=_reduced, gradient=None, static=("reduction_indices",), types={"Tidx": INDEX},
    defaults={"Tidx": dtypes.int32})  # fmt: skip
def all_node(xp: ArrayModule, input: Array, reduction_indices: Array, *, keep_dims: bool = False) -> Result:
    """Whether all elements over the dimensions listed are true: `[...], [k] -> [*rest] bool`."""
    return xp.all(input, axis=reduced_axes(input, reduction_indices), keepdims=keep_dims)


@op("Any", _BOOLEAN_SIGNATURE, infer=_reduced, gradient=None, static=("reduction_indices",), types={"Tidx": INDEX},
    defaults={"Tidx": dtypes.int32})  # fmt: skip
def any_node(xp: ArrayModule, input: Array, reduction_indices: Array, *, keep_dims: bool = False) -> Result:
    """Whether an element over the dimensions listed is true: `[...], [k] -> [*rest] bool`."""
    return xp.any(input, axis=reduced_axes(input, reduction_indices), keepdims=keep_dims)


# Positions of the greatest and least.


def _without_dimension(node: Operation) -> list[Dims]:
    dims, axis = node.inputs[0].dims, constant_value(node.inputs[1])
    if dims is None:
        return [None]
    if len(dims) <= 1:
        return [()]
    if axis is None:
        return [(None,) * (len(dims) - 1)]
    at = int(axis)
    if not -len(dims) <= at < len(dims):
        raise ValueError(
            f"Dimension ({at}) must be in the range [{-len(dims)}, {len(dims)}), where {len(dims)} is the number of dimensions "
            "in the input."
        )
    at %= len(dims)
    return [dims[:at] + dims[at + 1 :]]


def _position(xp: ArrayModule, x: Array, axis: int, of: Callable[..., Array], passed_over: float) -> Array:
    """The positions of extremes; as in TensorFlow, NaN is none, for which NumPy and XLA take it."""
    rank = len(x.shape)
    if not -rank <= axis < rank:
        raise InvalidArgumentError.of(f"Expected dimension in the range [{-rank}, {rank}), but got {axis}")
    if not x.shape[axis]:
        raise InvalidArgumentError.of(f"Reduction axis {axis % rank} is empty in shape {brackets(x.shape)}")
    found = of(x, axis=axis)
    if x.dtype.kind in "iub" or not x.size:
        return found
    if xp is np and not np.isnan(np.take_along_axis(x, np.expand_dims(found, axis), axis)).any():
        return found
    return of(xp.where(xp.isnan(x), np.asarray(passed_over, x.dtype), x), axis=axis)


_ARG_TYPES = {"T": (*ORDERED, dtypes.bool), "Tidx": (dtypes.int16, *INDEX)}


@op("ArgMax", "input: T, dimension: Tidx -> output: output_type",
    ranks={"dimension": 0}, infer=_without_dimension, gradient=not_differentiable,
    static=("dimension",), types={**_ARG_TYPES, "output_type": (dtypes.int16, dtypes.uint16, *INDEX)},
    defaults={"Tidx": dtypes.int32})  # fmt: skip
def arg_max_node(xp: ArrayModule, input: Array, dimension: Array, *, output_type: DType = dtypes.int64) -> Result:
    """The position of the greatest element along a dimension, the first one if there are several.

    `[*outer, n, *inner], scalar -> [*outer, *inner]`.

    Args:
        input: [...] tensor of a floating, integer, quantized or bool dtype.
        dimension: int32 or int64 scalar, the dimension that goes; one below zero counts from the end.
        output_type: int32 or int64 (the greatest also int16 and uint16), the dtype of the result.
    """
    return _position(xp, input, int(dimension), xp.argmax, -np.inf)


@op("ArgMin", "input: T, dimension: Tidx -> output: output_type",
    ranks={"dimension": 0}, infer=_without_dimension, gradient=not_differentiable,
    static=("dimension",), types={**_ARG_TYPES, "Tidx": INDEX, "output_type": INDEX},
    defaults={"Tidx": dtypes.int32})  # fmt: skip
def arg_min_node(xp: ArrayModule, input: Array, dimension: Array, *, output_type: DType = dtypes.int64) -> Result:
    """The position of the least element along a dimension, the first one if there are several.

    `[*outer, n, *inner], scalar -> [*outer, *inner]`.

    Args: those of `tf.arg_max`.
    """
    return _position(xp, input, int(dimension), xp.argmin, np.inf)
