"""Counting numbers of sparse and ragged rows, and crossing features: SparseBincount, RaggedBincount, SparseCrossV2 ..."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import not_differentiable, op
from weft.ops.strings.cross import crossed_texts

_INDEX: Final = (dtypes.int32, dtypes.int64)
_COUNTS: Final = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)
_BINS: Final = {"Tidx": _INDEX, "T": _COUNTS}
_OUTPUTS: Final = {"T": _INDEX, "output_type": _COUNTS}
_MADE: Final = "output_indices: int64, output_values: output_type, output_dense_shape: int64"
_LEAST: Final = {"minlength": -1, "maxlength": -1}


def _bins(rows: Array, values: Array, weights: Array, count: int, height: int, binary: bool) -> Array:
    if values.size and values.min() < 0:
        raise InvalidArgumentError.of("Input must be non-negative")
    if weights.size and weights.shape != values.shape:
        raise InvalidArgumentError.of(f"there are {weights.size} weights for {values.size} values")
    made = np.zeros((height, count), weights.dtype)
    kept = values < count
    given = weights[kept] if weights.size else np.ones(int(kept.sum()), weights.dtype)
    if binary:
        made[rows[kept], values[kept]] = 1
    else:
        np.add.at(made, (rows[kept], values[kept]), given)
    return made


def _sparse_bins_shape(node: Operation) -> list[Dims]:
    shape, size = constant_value(node.inputs[2]), constant_value(node.inputs[3])
    count = None if size is None else int(size)
    if shape is not None:
        return [(count,) if len(shape) == 1 else (int(shape[0]), count)]
    dims = node.inputs[2].dims
    if dims is None or dims[0] is None:
        return [None]
    return [(count,) if dims[0] == 1 else (None, count)]


@op("SparseBincount", "indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T -> output: T",
    ranks={"indices": 2, "values": 1, "dense_shape": 1, "size": 0}, infer=_sparse_bins_shape, gradient=not_differentiable,
    types=_BINS)  # fmt: skip
def sparse_bincount(
    ctx: OpContext, indices: Array, values: Array, dense_shape: Array, size: Array, weights: Array, *,
    binary_output: bool = False,
) -> Result:  # fmt: skip
    """How often each of the numbers below `size` occurs in a sparse vector, or in each row of a sparse matrix.

    `[n, rank], [n], [rank], scalar, [n] -> [size]`, or `[rows, size]`.
    """
    is_vector = len(dense_shape) == 1
    rows = np.zeros(len(values), np.int64) if is_vector else indices[:, 0]
    made = _bins(rows, values, weights, int(size), 1 if is_vector else int(dense_shape[0]), binary_output)
    return made[0] if is_vector else made


def _ragged_bins_shape(node: Operation) -> list[Dims]:
    dims, size = node.inputs[0].dims, constant_value(node.inputs[2])
    rows = None if dims is None or dims[0] is None else dims[0] - 1
    return [(rows, None if size is None else int(size))]


def _rows_of(splits: Array, values: Array) -> Array:
    if not len(splits) or splits[0] != 0 or splits[-1] != len(values) or np.any(np.diff(splits) < 0):
        raise InvalidArgumentError.of(f"Splits must rise from 0 to the number of values, {len(values)}; got {splits.tolist()}")
    return np.repeat(np.arange(len(splits) - 1), np.diff(splits))


@op("RaggedBincount", "splits: int64, values: Tidx, size: Tidx, weights: T -> output: T",
    ranks={"splits": 1, "size": 0}, infer=_ragged_bins_shape, gradient=not_differentiable, types=_BINS)  # fmt: skip
def ragged_bincount(
    ctx: OpContext, splits: Array, values: Array, size: Array, weights: Array, *, binary_output: bool = False
) -> Result:
    """How often each of the numbers below `size` occurs in each ragged row: `[m], [n], scalar, [n] -> [rows, size]`."""
    return _bins(_rows_of(splits, values), values, weights, int(size), len(splits) - 1, binary_output)


# Counts as sparse tensors.


def _of_rank(rank: int | None) -> list[Dims]:
    return [(None, rank), (None,), (rank,)]


def _dense_count_shapes(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    return _of_rank(None if dims is None else len(dims))


def _sparse_count_shapes(node: Operation) -> list[Dims]:
    dims = node.inputs[2].dims
    return _of_rank(None if dims is None else dims[0])


def _counted(
    rows: Iterable[tuple[Array, Array | None]], is_vector: bool, minlength: int, maxlength: int, binary: bool, dtype: DType
) -> tuple[Array, Array, Array]:
    """The counts of each row's numbers, in order, as a sparse tensor; `rows` are numbers and, perhaps, weights."""
    indices: list[list[int]] = []
    found: list[Array] = []
    height, width = 0, max(minlength, 0)
    for row, (values, weights) in enumerate(rows):
        height = row + 1
        if values.size and values.min() < 0:
            raise InvalidArgumentError.of("Input values must all be non-negative")
        kept = values < maxlength if maxlength >= 0 else np.ones(values.shape, bool)
        numbers, places = np.unique(values[kept], return_inverse=True)
        sums = np.zeros(len(numbers), dtype.as_numpy_dtype)
        np.add.at(sums, places.reshape(-1), 1 if weights is None else weights[kept])
        indices.extend([[int(number)] if is_vector else [row, int(number)] for number in numbers])
        found.append(np.ones_like(sums) if binary else sums)
        width = max(width, int(values.max(initial=0)) + 1)
    if maxlength >= 0:
        width = maxlength
    width = min(width, np.iinfo(np.int64).max)
    values = np.concatenate(found) if found else np.zeros(0, dtype.as_numpy_dtype)
    places = np.array(indices, np.int64).reshape(-1, 1 if is_vector else 2)
    return places, values, np.array([width] if is_vector else [height, width], np.int64)


@op("DenseCountSparseOutput", f"values: T, weights: output_type -> {_MADE}", infer=_dense_count_shapes,
    gradient=not_differentiable, types=_OUTPUTS, limits=_LEAST)  # fmt: skip
def dense_count_sparse_output(
    ctx: OpContext, values: Array, weights: Array, *, binary_output: bool, output_type: DType, minlength: int = -1,
    maxlength: int = -1,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """How often each number occurs in a vector, or in each row: `[...], [...] -> [m, rank], [m], [rank]`."""
    if values.ndim not in (1, 2):
        raise InvalidArgumentError.of(f"Input must be a 1 or 2-dimensional tensor. Got: {list(values.shape)}")
    if values.ndim == 2 and not len(values):
        raise InvalidArgumentError.of(f"Invalid input: Shapes dimension cannot be 0. Got: {list(values.shape)}")
    if weights.size and weights.shape != values.shape:
        message = f"Weights and values must have the same shape. Weight shape: {list(weights.shape)}; values shape: "
        raise InvalidArgumentError.of(f"{message}{list(values.shape)}")
    table = np.atleast_2d(values)
    given = [None] * len(table) if not weights.size else list(np.atleast_2d(weights))
    pairs = zip(table, given, strict=True)
    return _counted(pairs, values.ndim == 1, minlength, maxlength, binary_output, output_type)


def _check_counted(indices: Array, dense_shape: Array) -> None:
    if indices.shape[1] != len(dense_shape):
        raise InvalidArgumentError.of(
            f"Number of dimensions must match second dimension of indices. Got {len(dense_shape)} dimensions, indices shape: "
            f"{list(indices.shape)}"
        )
    outside = np.argwhere((indices < 0) | (indices >= dense_shape))
    if len(outside):
        row, axis = outside[0].tolist()
        raise InvalidArgumentError.of(
            f"Invalid index value at {row}: dimension {axis} has value {indices[row, axis]} which is not in "
            f"[0, {dense_shape[axis]}) (as given by dense shape {dense_shape.tolist()})"
        )


@op("SparseCountSparseOutput", f"indices: int64, values: T, dense_shape: int64, weights: output_type -> {_MADE}",
    ranks={"indices": 2, "values": 1, "dense_shape": 1}, infer=_sparse_count_shapes,
    gradient=not_differentiable, types=_OUTPUTS, limits=_LEAST)  # fmt: skip
def sparse_count_sparse_output(
    ctx: OpContext, indices: Array, values: Array, dense_shape: Array, weights: Array, *, binary_output: bool,
    output_type: DType, minlength: int = -1, maxlength: int = -1,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """How often each number occurs in a sparse vector, or row: `[n, rank], [n], [rank], [n] -> [m, rank], [m], [rank]`."""
    if weights.size and weights.shape != values.shape:
        raise InvalidArgumentError.of(f"Weights and values must have the same shape: {weights.size} and {values.size}")
    _check_counted(indices, dense_shape)
    is_vector = len(dense_shape) == 1
    rows = np.zeros(len(values), np.int64) if is_vector else indices[:, 0]
    height = 1 if is_vector else int(dense_shape[0])
    pairs = ((values[rows == row], weights[rows == row] if weights.size else None) for row in range(height))
    return _counted(pairs, is_vector, minlength, maxlength, binary_output, output_type)


@op("RaggedCountSparseOutput", f"splits: int64, values: T, weights: output_type -> {_MADE}",
    ranks={"splits": 1, "values": 1}, infer=lambda node: _of_rank(2), gradient=not_differentiable, types=_OUTPUTS,
    limits=_LEAST)  # fmt: skip
def ragged_count_sparse_output(
    ctx: OpContext, splits: Array, values: Array, weights: Array, *, binary_output: bool, output_type: DType,
    minlength: int = -1, maxlength: int = -1,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """How often each number occurs in each ragged row: `[m], [n], [n] -> [k, 2], [k], [2]`."""
    if weights.size and weights.shape != values.shape:
        raise InvalidArgumentError.of(f"Weights and values must have the same shape: {weights.size} and {values.size}")
    _rows_of(splits, values)
    pairs = ((values[begin:end], weights[begin:end] if weights.size else None) for begin, end in itertools.pairwise(splits))
    return _counted(pairs, False, minlength, maxlength, binary_output, output_type)


# Crosses.


def _cross_shapes(node: Operation) -> list[Dims]:
    return [(None, 2), (None,), (2,)]


@op("SparseCrossV2", "indices: N*int64, values: [sparse_types], shapes: N*int64, dense_inputs: [dense_types], sep: string -> "
    "output_indices: int64, output_values: string, output_shape: int64", ranks={"sep": 0}, infer=_cross_shapes,
    gradient=not_differentiable, limits={"N": 0},
    types={"sparse_types": (dtypes.int64, dtypes.string), "dense_types": (dtypes.int64, dtypes.string)})  # fmt: skip
def sparse_cross_v2(
    ctx: OpContext, indices: Array, values: Array, shapes: Array, dense_inputs: Array, sep: Array
) -> tuple[Result, Result, Result]:
    """The combinations of each row's elements as texts with a separator between, the last feature's fastest.

    `n*[k, 2] int64, n*[k], n*[2] int64, m*[batch, width], scalar string -> [total, 2] int64, [total], [2] int64`
    """
    return crossed_texts(indices, values, shapes, dense_inputs, bytes(sep.item()))
