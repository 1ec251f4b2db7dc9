"""SparseTensors along dimensions: sums, maxima, and the softmax of each row, over the elements that there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from weft.errors import InternalError, InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, AxisLike, Gradients, Result
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor, is_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_shape, constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dimension import Dimension
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import as_dtype
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import reshape, size_internal
from weft.ops.declaration import op, rank_of
from weft.ops.math.elementwise import FLOATS, NUMBERS, REAL
from weft.ops.math.reduce_functions import keeps_dims
from weft.ops.sparse.arithmetic import values_shape
from weft.ops.sparse.layout import as_sparse, flat_positions


def _reduced_dims(node: Operation) -> list[Dims]:
    shape, axes = constant_shape(node.inputs[2]), constant_value(node.inputs[3])
    if shape is None or axes is None:
        return [None]
    gone = _axes(axes, len(shape))
    if node.attrs["keep_dims"]:
        return [tuple(1 if axis in gone else size for axis, size in enumerate(shape))]
    return [tuple(size for axis, size in enumerate(shape) if axis not in gone)]


def _axes(axes: Array, rank: int) -> set[int]:
    listed = np.ravel(axes).tolist()
    for axis in listed:
        if not -rank <= axis < rank:
            raise ValueError(f"Invalid reduction dimension {axis}, for input with {rank} dimensions.")
    return {axis % rank for axis in listed}


def _check_rank(indices: Array, rank: int) -> None:
    if indices.shape[1] != rank:
        raise InvalidArgumentError.of(
            f"Order length must be SparseTensor rank: indices have {indices.shape[1]} columns, not {rank}"
        )


def _check_places(indices: Array, sizes: Sequence[int]) -> None:
    outside = np.any((indices < 0) | (indices >= np.asarray(sizes, np.int64)), axis=1)
    if outside.any():
        raise InternalError.of(
            f"Obtained a write index of {indices[outside][0].tolist()} which is outside of bounds of {list(sizes)}"
        )


def _reduced(xp: ArrayModule, indices: Array, values: Array, shape: Array, axes: Array, keep_dims: bool, how: str) -> Array:
    sizes = [int(size) for size in shape]
    gone = _axes(axes, len(sizes))
    if xp is np:
        _check_rank(indices, len(sizes))
    rest = [axis for axis in range(len(sizes)) if axis not in gone]
    kept = tuple(sizes[axis] for axis in rest)
    if xp is np:
        # Places along axes that go are looked at by nobody.
        _check_places(indices[:, rest], kept)
    index = tuple(indices[:, axis] for axis in rest)
    if how == "add":
        start: Any = 0
    else:
        start = np.iinfo(values.dtype).min if values.dtype.kind in "iu" else as_dtype(values.dtype).min
    result = xp.full(kept, start, values.dtype)
    if xp is np:
        if rest:
            (np.add if how == "add" else np.maximum).at(result, index, values)
        else:
            result = values.sum(dtype=values.dtype) if how == "add" else values.max(initial=start)
    elif rest:
        result = getattr(result.at[index], how)(values)
    else:
        result = xp.sum(values) if how == "add" else xp.max(values, initial=start)
    if how == "max":
        result = xp.where(result == start, xp.zeros((), values.dtype), result)
    if keep_dims:
        result = xp.reshape(result, tuple(1 if axis in gone else size for axis, size in enumerate(sizes)))
    return result


def _sum_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [None, picked_sums(node.inputs[0], node.inputs[2], node.inputs[3], grad), None, None]


@op("SparseReduceSumGrad", "indices: int64, shape: int64, axes: int32, grad: T -> output: T",
    infer=lambda node: [None if node.inputs[0].dims is None else node.inputs[0].dims[:1]], gradient=None,
    static=("shape", "axes"))  # fmt: skip
def picked_sums(xp: ArrayModule, indices: Array, shape: Array, axes: Array, grad: Array) -> Result:
    """For each element the gradient of the sum that it went into.

    `[n, rank] int64, [rank] int64, [axes] int32, [*kept] -> [n]`
    """
    gone = _axes(axes, len(shape))
    rest = [axis for axis in range(len(shape)) if axis not in gone]
    flat = xp.reshape(grad, tuple(int(shape[axis]) for axis in rest))
    return flat[tuple(indices[:, axis] for axis in rest)] if rest else xp.broadcast_to(flat, (indices.shape[0],))


_REDUCE = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> "


@op("SparseReduceSum", _REDUCE + "output: T", infer=_reduced_dims, gradient=_sum_gradient,
    static=("input_shape", "reduction_axes"), types={"T": NUMBERS})  # fmt: skip
def sparse_reduce_sum_node(
    xp: ArrayModule,
    input_indices: Array,
    input_values: Array,
    input_shape: Array,
    reduction_axes: Array,
    *,
    keep_dims: bool = False,
) -> Result:
    """The dense sums along some dimensions: `[n, rank] int64, [n], [rank] int64, [axes] int32 -> [*kept]`."""
    return _reduced(xp, input_indices, input_values, input_shape, reduction_axes, keep_dims, "add")


@op("SparseReduceMax", _REDUCE + "output: T", infer=_reduced_dims, gradient=None,
    static=("input_shape", "reduction_axes"), types={"T": REAL})  # fmt: skip
def sparse_reduce_max_node(
    xp: ArrayModule,
    input_indices: Array,
    input_values: Array,
    input_shape: Array,
    reduction_axes: Array,
    *,
    keep_dims: bool = False,
) -> Result:
    """The dense maxima of the elements that there are along some dimensions.

    `[n, rank] int64, [n], [rank] int64, [axes] int32 -> [*kept]`
    """
    return _reduced(xp, input_indices, input_values, input_shape, reduction_axes, keep_dims, "max")


def _reduced_sparse(
    ufunc: np.ufunc, start: float, indices: Array, values: Array, shape: Array, axes: Array, keep_dims: bool
) -> tuple[Array, Array, Array]:
    gone = _axes(axes, len(shape))
    _check_rank(indices, len(shape))
    _check_places(indices, shape)
    rest = [axis for axis in range(len(shape)) if axis not in gone]
    kept = shape[rest]
    unique, place = np.unique(flat_positions(indices[:, rest], kept), return_inverse=True)
    found = np.full(len(unique), start, values.dtype)
    ufunc.at(found, place, values)
    table = np.stack(np.unravel_index(unique, tuple(kept)), 1) if rest else np.zeros((len(unique), 0), np.int64)
    if keep_dims:
        full = np.zeros((len(table), len(shape)), np.int64)
        full[:, rest] = table
        table, kept = full, np.array([1 if axis in gone else size for axis, size in enumerate(shape)], np.int64)
    return table, found, kept


def _some(node: Operation) -> list[Dims]:
    return [(None, None), (None,), (None,)]


_SPARSE: Final = _REDUCE + "output_indices: int64, output_values: T, output_shape: int64"


@op("SparseReduceSumSparse", _SPARSE, infer=_some, gradient=None, types={"T": NUMBERS})
def sparse_reduce_sum_sparse_node(
    ctx: OpContext,
    input_indices: Array,
    input_values: Array,
    input_shape: Array,
    reduction_axes: Array,
    *,
    keep_dims: bool = False,
) -> tuple[Result, Result, Result]:
    """The sums along some dimensions, where there are elements.

    `[n, rank] int64, [n], [rank] int64, [axes] int32 -> [m, kept] int64, [m], [kept] int64`
    """
    return _reduced_sparse(np.add, 0, input_indices, input_values, input_shape, reduction_axes, keep_dims)


@op("SparseReduceMaxSparse", _SPARSE, infer=_some, gradient=None, types={"T": REAL})
def sparse_reduce_max_sparse_node(
    ctx: OpContext,
    input_indices: Array,
    input_values: Array,
    input_shape: Array,
    reduction_axes: Array,
    *,
    keep_dims: bool = False,
) -> tuple[Result, Result, Result]:
    """The maxima along some dimensions, where there are elements.

    `[n, rank] int64, [n], [rank] int64, [axes] int32 -> [m, kept] int64, [m], [kept] int64`
    """
    kind = input_values.dtype
    least = np.iinfo(kind).min if kind.kind in "iu" else -np.inf
    return _reduced_sparse(np.maximum, least, input_indices, input_values, input_shape, reduction_axes, keep_dims)


_Made = TypeVar("_Made", Tensor, tuple[Tensor, Tensor, Tensor])


def _reduction(
    node: Callable[..., _Made],
    sp_input: SparseTensor,
    axis: AxisLike,
    keepdims: bool | None,
    reduction_axes: Array,
    keep_dims: bool | None,
) -> _Made:
    sparse = as_sparse(sp_input)
    wanted = reduction_axes if axis is None else axis
    if wanted is None:
        count = sparse.dense_shape.dims[0] if sparse.dense_shape.dims else None
        wanted = range_of(size_internal(sparse.dense_shape)) if count is None else list(range(count))
    axes = _whole(wanted)
    if isinstance(axes, Tensor) and rank_of(axes) == 0:
        axes = reshape(axes, [1])
    keep = keeps_dims(keepdims, keep_dims)
    return node(sparse.indices, sparse.values, sparse.dense_shape, axes, keep_dims=keep)


def _whole(axes: Array) -> Array:
    if is_tensor(axes):
        return convert_to_tensor(axes)
    if isinstance(axes, list | tuple):
        if any(map(is_tensor, axes)):
            return convert_to_tensor(list(axes), dtypes.int32)
        axes = [int(each) if isinstance(each, Dimension) else each for each in axes]
    given = np.array(int(axes) if isinstance(axes, Dimension) else axes)
    if given.size and given.dtype.kind not in "iub":
        raise TypeError(f"Expected int32 passed to parameter 'reduction_axes', got {axes!r} of type {type(axes).__name__!r}")
    return given.astype(np.int32).reshape(-1)


def sparse_reduce_sum(
    sp_input: SparseTensor,
    axis: AxisLike | None = None,
    keepdims: bool | None = None,
    reduction_axes: Array = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The sums along `axis` (all dimensions by default), dense.

    Args:
        sp_input: a SparseTensor of a numeric dtype.
        axis, reduction_axes: two names of the dimensions to reduce, an int or a list; None for all.
        keepdims, keep_dims: two names of whether they stay, with size 1.
    """
    return _reduction(sparse_reduce_sum_node, sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max(
    sp_input: SparseTensor,
    axis: AxisLike | None = None,
    keepdims: bool | None = None,
    reduction_axes: Array = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The maxima of the elements that there are along `axis`, dense; zero where there is none.

    Args:
        sp_input: a SparseTensor of a real dtype.
        axis, reduction_axes: two names of the dimensions to reduce, an int or a list; None for all.
        keepdims, keep_dims: two names of whether they stay, with size 1.
    """
    return _reduction(sparse_reduce_max_node, sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_sum_sparse(
    sp_input: SparseTensor,
    axis: AxisLike | None = None,
    keepdims: bool | None = None,
    reduction_axes: Array = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """The sums along `axis`, sparse.

    Args: those of `tf.sparse.reduce_sum`.
    """
    return SparseTensor(*_reduction(sparse_reduce_sum_sparse_node, sp_input, axis, keepdims, reduction_axes, keep_dims))


def sparse_reduce_max_sparse(
    sp_input: SparseTensor,
    axis: AxisLike | None = None,
    keepdims: bool | None = None,
    reduction_axes: Array = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """The maxima of the elements that there are along `axis`, sparse.

    Args: those of `tf.sparse.reduce_max`.
    """
    return SparseTensor(*_reduction(sparse_reduce_max_sparse_node, sp_input, axis, keepdims, reduction_axes, keep_dims))


# Softmax.


def _rows(indices: Array, shape: Array) -> tuple[Array, int]:
    places = flat_positions(indices[:, :-1], shape[:-1])
    unique, row = np.unique(places, return_inverse=True)
    return row, len(unique)


def _sparse_softmax_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [None, sparse_softmax_grad(node.inputs[0], node.inputs[2], node.outputs[0], grad), None]


@op("SparseSoftmax", "sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T",
    ranks={"sp_indices": 2, "sp_values": 1, "sp_shape": 1}, infer=values_shape,
    gradient=_sparse_softmax_gradient,
    types={"T": FLOATS})  # fmt: skip
def sparse_softmax_node(ctx: OpContext, sp_indices: Array, sp_values: Array, sp_shape: Array) -> Result:
    """The softmax of the elements that there are in each innermost row.

    `[n, rank] int64, [n], [rank] int64 -> [n]`
    """
    row, count = _rows(sp_indices, sp_shape)
    greatest = np.full(count, -np.inf, sp_values.dtype)
    np.maximum.at(greatest, row, sp_values)
    powers = np.exp(sp_values - greatest[row])
    sums = np.zeros(count, sp_values.dtype)
    np.add.at(sums, row, powers)
    return powers / sums[row]


@op("SparseSoftmaxGrad", "indices: int64, shape: int64, output: T, grad: T -> values_grad: T", gradient=None,
    infer=lambda node: [node.inputs[2].dims])  # fmt: skip
def sparse_softmax_grad(ctx: OpContext, indices: Array, shape: Array, output: Array, grad: Array) -> Result:
    """The gradient of the softmax of each row: `[n, rank] int64, [rank] int64, [n], [n] -> [n]`."""
    row, count = _rows(indices, shape)
    sums = np.zeros(count, output.dtype)
    np.add.at(sums, row, output * grad)
    return output * (grad - sums[row])


def sparse_softmax(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The softmax along the last dimension of the elements that there are.

    Args:
        sp_input: a SparseTensor of a floating dtype, of rank 2 or more.
    """
    sparse = as_sparse(sp_input)
    with get_default_graph().name_scope(name or "SparseSoftmax"):
        values = sparse_softmax_node(sparse.indices, sparse.values, sparse.dense_shape)
        return SparseTensor(sparse.indices, values, sparse.dense_shape)
