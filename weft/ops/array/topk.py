"""The greatest elements of each row, whether a class is among them, and the n-th element in order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import ShapeMisfit, described
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.framework.types.dtypes import DType
from weft.ops.array.gather_scatter import scatter_nd
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import INDEX, expand_dims, reshape, shape_internal, size_internal
from weft.ops.array.slicing import slice_helper
from weft.ops.declaration import op
from weft.ops.gradient_nodes import always
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal
from weft.ops.math.elementwise import REAL, real_div
from weft.ops.math.reduce_functions import reduce_sum
from weft.platform.imports.jax_modules import jax

_TOP_K_TYPES = (dtypes.int16, *INDEX)


class TopKV2(NamedTuple):
    """What `top_k` returns."""

    values: Tensor
    indices: Tensor


def _top_shapes(node: Operation, k: Array) -> list[Dims]:
    dims = node.inputs[0].dims
    if dims is None:
        return [None, None]
    if not dims:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if k is not None and k < 0:
        raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {k}")
    if k is not None and dims[-1] is not None and dims[-1] < k:
        raise ValueError(f"input must have last dimension >= k = {k} but is {dims[-1]}")
    return [(*dims[:-1], k)] * 2


def _top_v2_shapes(node: Operation) -> list[Dims]:
    known = constant_value(node.inputs[1])
    return _top_shapes(node, None if known is None else int(known))


def _top_gradient(node: Operation, values_grad: Tensor | None, indices_grad: Tensor | None) -> Gradients:
    """The rows of the gradient go back to where the values came from."""
    source, indices = node.inputs[0], node.outputs[1]
    none = [None] * (len(node.inputs) - 1)
    if values_grad is None:
        return [None, *none]
    sizes = shape_internal(source)
    columns = slice_helper(sizes, -1)
    chosen = slice_helper(shape_internal(indices), -1)
    rows = reshape(cast(indices, dtypes.int32), [-1, chosen])
    count = slice_helper(shape_internal(rows), 0)
    starts = range_of(0, count * columns, columns)
    flat = reshape(rows + expand_dims(starts, -1), [-1])
    spread = scatter_nd(expand_dims(flat, -1), reshape(values_grad, [-1]), reshape(size_internal(source), [1]))
    return [reshape(spread, sizes), *none]


def _top(xp: ArrayModule, input: Array, k: int) -> tuple[Array, Array]:
    """The `k` greatest of each row and their positions, equal elements in order of position."""
    columns = input.shape[-1]
    if columns < k:
        raise InvalidArgumentError.of(f"input must have at least k columns. Had {columns}, needed {k}")
    if xp is not np:
        return tuple(jax.lax.top_k(input, k))  # type: ignore[return-value]
    # A stable sort of the reversed rows, reversed again, keeps equal elements in order.
    order = columns - 1 - np.argsort(input[..., ::-1], axis=-1, kind="stable")[..., ::-1][..., :k]
    return np.take_along_axis(input, order, -1), order


@op("TopK", "input: T -> values: T, indices: int32", gradient=_top_gradient, types={"T": REAL},
    infer=lambda node: _top_shapes(node, node.attrs["k"]), limits={"k": 0})  # fmt: skip
def top_k_v1_node(xp: ArrayModule, input: Array, *, k: int, sorted: bool = True) -> tuple[Result, Result]:
    """The older form of TopKV2: `[..., n] -> [..., k], [..., k]`."""
    return _top(xp, input, k)


@op("TopKV2", "input: T, k: Tk -> values: T, indices: index_type", infer=_top_v2_shapes, gradient=_top_gradient,
    gradient_nodes=always(43), static=("k",), types={"T": REAL, "Tk": _TOP_K_TYPES, "index_type": _TOP_K_TYPES},
    defaults={"Tk": dtypes.int32})  # fmt: skip
def top_k_node(
    xp: ArrayModule, input: Array, k: Array, *, sorted: bool = True, index_type: DType = dtypes.int32
) -> tuple[Result, Result]:
    """The `k` greatest elements along the last dimension and their positions, the greatest first.

    `[..., n], scalar -> [..., k], [..., k]`.
    """
    return _top(xp, input, int(k))


def top_k(input: TensorLike, k: TensorLike = 1, sorted: bool = True, name: str | None = None) -> TopKV2:
    """The `k` greatest elements along the last dimension and their positions; of equal ones the first comes first.

    Args:
        input: [..., n] tensor of a real dtype.
        k: int32 scalar, at most n.
        sorted: has no effect: the greatest comes first in any case.

    Returns:
        `values`, [..., k] of the dtype of `input`, and `indices`, [..., k] int32.

    Raises:
        ValueError: `input` is a scalar, or `k` negative or more than the last dimension has, as far as these are known.
        InvalidArgumentError: in a run, the same of numbers that only the run tells.
    """
    return TopKV2(*top_k_node(input, k, sorted=sorted, name=name))


def _precision_shape(node: Operation) -> list[Dims]:
    predictions, targets = node.inputs[0].dims, node.inputs[1].dims
    if predictions is not None and len(predictions) != 2:
        raise ValueError(f"Shape must be rank 2 but is rank {len(predictions)}")
    if targets is not None and len(targets) != 1:
        text = f"Shape must be rank 1 but is rank {len(targets)}"
        if len(targets) == 2:
            raise ShapeMisfit(text, "Targets are numbers of classes: of one-hot rows they are tf.argmax(targets, 1).")
        raise ValueError(text)
    return [merge_dims(None if predictions is None else predictions[:1], targets)]


def _in_top(xp: ArrayModule, predictions: Array, targets: Array, k: Array) -> Array:
    classes = predictions.shape[1]
    if not classes:
        return xp.zeros(targets.shape, bool)
    is_class = (targets >= 0) & (targets < classes)
    of_target = xp.take_along_axis(predictions, xp.where(is_class, targets, 0)[:, None], axis=1)
    better = xp.sum(predictions > of_target, axis=1)
    return is_class & xp.all(xp.isfinite(predictions), axis=1) & (better < k)


@op("InTopK", "predictions: float32, targets: T -> precision: bool",
    ranks={"predictions": 2, "targets": 1},
    infer=_precision_shape, gradient=None,
    types={"T": INDEX}, defaults={"T": dtypes.int32})  # fmt: skip
def in_top_k_v1_node(xp: ArrayModule, predictions: Array, targets: Array, *, k: int) -> Result:
    """The older form of InTopKV2: `[batch, classes], [batch] -> [batch]`."""
    return _in_top(xp, predictions, targets, k)


@op("InTopKV2", "predictions: float32, targets: T, k: T -> precision: bool",
    ranks={"predictions": 2, "targets": 1, "k": 0},
    infer=_precision_shape, gradient=None,
    types={"T": INDEX}, defaults={"T": dtypes.int32})  # fmt: skip
def in_top_k_node(xp: ArrayModule, predictions: Array, targets: Array, k: Array) -> Result:
    """Whether fewer than `k` classes are predicted more strongly than the target; false where a number is not finite.

    `[batch, classes], [batch], scalar -> [batch]`.
    """
    return _in_top(xp, predictions, targets, k)


def in_top_k(predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """Whether the target of each row is among the `k` classes with the strongest predictions.

    Args:
        predictions: [batch, classes] float32 tensor, or an array of another floating dtype.
        targets: [batch] tensor of int32 or int64.
        k: scalar of the dtype of `targets`.

    Returns:
        [batch] bool tensor.

    Raises:
        TypeError: the two changed places.
    """
    with input_scope(name, "in_top_k"):
        is_array = isinstance(predictions, np.ndarray) and predictions.dtype.kind == "f"
        scores = convert_to_tensor(predictions, dtypes.float32 if is_array else None)
        classes = convert_to_tensor(targets)
        if scores.dtype.is_integer and classes.dtype.is_floating:
            raise TypeError(
                f"Input 'predictions' of 'InTopKV2' Op has type {scores.dtype.base_dtype.name} that does not match expected "
                f"type of float32.\n  predictions: {described(scores)}\n  targets: {described(classes)}\n"
                "  Were the two exchanged? The predictions come first: tf.nn.in_top_k(predictions, targets, k)."
            )
        return in_top_k_node(scores, classes, k, name=name)


def _nth_shape(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    if dims is not None and not dims:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    return [None if dims is None else dims[:-1]]


def _nth_gradient(node: Operation, grad: Tensor) -> Gradients:
    source = node.inputs[0]
    is_nth = cast(equal(expand_dims(node.outputs[0], -1), source), grad.dtype.base_dtype)
    # Equal elements share the gradient.
    return [real_div(is_nth * expand_dims(grad, -1), reduce_sum(is_nth, -1, keepdims=True)), None]


@op(
    "NthElement", "input: T, n: int32 -> values: T", ranks={"n": 0}, infer=_nth_shape, gradient=_nth_gradient, types={"T": REAL}
)
def nth_element_node(xp: ArrayModule, input: Array, n: Array, *, reverse: bool = False) -> Result:
    """The element that sorting would put at position `n` of the last dimension: `[..., n], scalar -> [...]`."""
    ordered = xp.sort(input, axis=-1)
    at = input.shape[-1] - 1 - n if reverse else n
    return xp.take(ordered, at, axis=-1)


def nth_element(input: TensorLike, n: TensorLike, reverse: bool = False, name: str | None = None) -> Tensor:
    """The n-th smallest element along the last dimension, or with `reverse` the n-th greatest.

    Args:
        input: [..., n] tensor of a real dtype.
        n: int32 scalar, the place, from 0.
        reverse: whether to count from the greatest.

    Returns:
        [...] tensor of the same dtype.
    """
    return nth_element_node(input, n, reverse=reverse, name=name)
