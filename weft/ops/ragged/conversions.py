"""Ragged tensors to dense and sparse ones, and their rows chosen, as clients of TensorFlow 2 write it in one op each."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Gradients, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_dims, constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import AtLeast
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, brackets
from weft.framework.types.dtypes import DType
from weft.ops.array.filling import zeros_like
from weft.ops.array.gather_scatter import slices_of
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import INDEX, reshape, shape_internal
from weft.ops.declaration import op, rank_of


def _lengths(kind: str, partition: Array, rows: int | None) -> Array:
    """The length of each row of a partition."""
    if kind == "ROW_SPLITS":
        return np.diff(partition)
    if kind == "ROW_LENGTHS":
        return partition
    if kind == "VALUE_ROWIDS":
        return np.bincount(partition, minlength=rows or 0)
    raise InvalidArgumentError.of(f"Unsupported row partition type: {kind}")


def _partitions(kinds: Sequence[str], tensors: Sequence[Array]) -> list[Array]:
    """The rows' lengths, the outermost partition first."""
    found: list[Array] = []
    rows = None
    for kind, tensor in zip(kinds, tensors, strict=True):
        if kind == "FIRST_DIM_SIZE":
            rows = int(tensor)
            continue
        lengths = _lengths(kind, tensor, rows)
        found.append(lengths)
        rows = int(lengths.sum())
    return found


def _positions(lengths: Sequence[Array]) -> Array:
    """For each innermost value its index in every ragged dimension: `[values, partitions + 1]`."""
    found = np.arange(len(lengths[0])).reshape(-1, 1)
    for each in lengths:
        begins = np.cumsum(each) - each
        inner = np.arange(int(each.sum())) - np.repeat(begins, each)
        found = np.concatenate([np.repeat(found, each, axis=0), inner.reshape(-1, 1)], axis=1)
    return found


def _dense_shape(node: Operation) -> list[Dims]:
    shape, values, default = node.inputs[:3]
    known = constant_value(shape)
    if shape.dims == () and known is None:
        raise ValueError(
            "Received a shape scalar with unknown static value.  A static value of '-1' is required to represent an unknown "
            "shape."
        )
    if values.dims is not None and default.dims is not None and len(default.dims) >= len(values.dims):
        raise ValueError(
            f"default_value.shape={brackets(default.dims)} and rt_input.flat_values.shape={brackets(values.dims)} are "
            f"incompatible: default_value.rank = {len(default.dims)} must be less than rt_input.flat_values.rank = "
            f"{len(values.dims)}"
        )
    if known is None:
        return [constant_dims(shape)]
    if np.ndim(known):
        return [tuple(None if size < 0 else int(size) for size in known)]
    levels = sum(kind != "FIRST_DIM_SIZE" for kind in node.attrs["row_partition_types"])
    return [None if values.dims is None else ((None,) * (levels + 1) + values.dims[1:])]


@op("RaggedTensorToTensor", "shape: Tshape, values: T, default_value: T, "
    "row_partition_tensors: num_row_partition_tensors*Tindex -> result: T",
    infer=_dense_shape, gradient=None, types={"Tindex": INDEX, "Tshape": INDEX}, static=("shape",))  # fmt: skip
def ragged_tensor_to_tensor(
    ctx: OpContext, shape: Array, values: Array, default_value: Array, row_partition_tensors: list[Array], *,
    num_row_partition_tensors: int, row_partition_types: list[str],
) -> Result:  # fmt: skip
    """Rows of one length, filled up with the default and cut off where the shape says so.

    `[...], [n, *inner], [...], partitions*[...] -> [*shape]`
    """
    lengths = _partitions(row_partition_types, row_partition_tensors)
    if not lengths:
        raise InvalidArgumentError.of("RaggedTensorToTensor needs a row partition of at least one ragged dimension")
    positions = _positions(lengths)
    inner = values.shape[1:]
    full = [len(lengths[0]), *(int(each.max(initial=0)) for each in lengths), *inner]
    wanted = np.ravel(shape).tolist() if shape.ndim else [-1] * len(full)
    if len(wanted) != len(full):
        raise InvalidArgumentError.of(f"Shape {wanted} has {len(wanted)} dimensions, the ragged tensor has {len(full)}")
    sizes = [found if size < 0 else int(size) for size, found in zip(wanted, full, strict=True)]
    result = np.empty(sizes, values.dtype)
    result[...] = np.broadcast_to(default_value, (*sizes[: positions.shape[1]], *inner))
    kept = (positions < np.array(sizes[: positions.shape[1]])).all(axis=1)
    result[tuple(positions[kept].T)] = values[kept]
    return result


def _sparse_shapes(node: Operation) -> list[Dims]:
    inner = node.inputs[-1].dims
    rank = None if inner is None else node.attrs["RAGGED_RANK"] + len(inner)
    count = None if inner is None or None in inner else math.prod(size for size in inner if size is not None)
    return [(count, rank), (count,), (rank,)]


def _sparse_gradient(node: Operation, *grads: Tensor | None) -> Gradients:
    values = node.inputs[-1]
    of_values = zeros_like(values) if grads[1] is None else reshape(grads[1], shape_internal(values))
    return [*[None] * (len(node.inputs) - 1), of_values]


def _gathered_gradient(node: Operation, *grads: Tensor | None) -> Gradients:
    """Each value's gradient goes back to the place that it was taken from: to that of its number."""
    *splits, values, indices = node.inputs
    given = grads[-1]
    if given is None:
        return [None] * len(node.inputs)
    count = shape_internal(values)[:1]
    attrs = {key: node.attrs[key] for key in ("PARAMS_RAGGED_RANK", "OUTPUT_RAGGED_RANK")}
    places = ragged_gather(splits, range_of(count[0]), indices, Tsplits=node.attrs["Tsplits"], **attrs)
    return [*[None] * len(splits), slices_of(values, places[-1], given), None]


def _check_splits(nested: Sequence[Array], count: int) -> None:
    """Raise InvalidArgumentError for splits that are no rows of the values, or of the level below."""
    ends = [*(len(splits) - 1 for splits in nested[1:]), count]
    for level, (splits, end) in enumerate(zip(nested, ends, strict=True)):
        if not len(splits) or splits[0] != 0:
            raise InvalidArgumentError.of("First value of ragged splits must be 0.")
        if np.any(splits[1:] < splits[:-1]):
            raise InvalidArgumentError.of("Ragged splits should be non decreasing.")
        if splits[-1] != end:
            raise InvalidArgumentError.of(
                f"Final value of ragged splits must match the length the corresponding ragged values: {splits[-1]} at level "
                f"{level}, for {end}"
            )


@op("RaggedTensorToSparse", "rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: T -> sparse_indices: int64, "
    "sparse_values: T, sparse_dense_shape: int64",
    ranks={"rt_nested_splits": 1, "rt_dense_values": AtLeast(1)},
    infer=_sparse_shapes, gradient=_sparse_gradient, types={"Tsplits": INDEX},
    defaults={"Tsplits": dtypes.int64})  # fmt: skip
def ragged_tensor_to_sparse(
    ctx: OpContext, rt_nested_splits: list[Array], rt_dense_values: Array, *, RAGGED_RANK: int
) -> tuple[Result, Result, Result]:
    """A sparse tensor of all values: `n*[rows + 1], [m, *inner] -> [k, rank] int64, [k], [rank] int64`."""
    _check_splits(rt_nested_splits, len(rt_dense_values))
    lengths = [np.diff(splits) for splits in rt_nested_splits]
    positions = _positions(lengths)
    inner = rt_dense_values.shape[1:]
    within = np.indices(inner).reshape(len(inner), -1).T if inner else np.zeros((1, 0), np.int64)
    count = len(within)
    indices = np.concatenate([np.repeat(positions, count, axis=0), np.tile(within, (len(positions), 1))], axis=1)
    shape = [len(lengths[0]), *(int(each.max(initial=0)) for each in lengths), *inner]
    return indices.astype(np.int64), rt_dense_values.reshape(-1), np.array(shape, np.int64)


def _gathered_shapes(node: Operation) -> list[Dims]:
    count, depth = node.attrs["OUTPUT_RAGGED_RANK"], node.attrs["PARAMS_RAGGED_RANK"]
    values, wanted = node.inputs[depth].dims, count - depth + 1
    found = rank_of(node.inputs[-1])
    if found not in (None, wanted):
        raise ValueError(f"Shape must be rank {wanted} but is rank {found} (indices)")
    return [*[(None,)] * count, None if values is None else (None, *values[1:])]


@op("RaggedGather", "params_nested_splits: PARAMS_RAGGED_RANK*Tsplits, params_dense_values: Tvalues, indices: Tindices -> "
    "output_nested_splits: OUTPUT_RAGGED_RANK*Tsplits, output_dense_values: Tvalues",
    ranks={"indices": AtLeast(1), "params_nested_splits": 1, "params_dense_values": AtLeast(1)}, infer=_gathered_shapes,
    gradient=_gathered_gradient,
    types={"Tindices": INDEX, "Tsplits": INDEX}, defaults={"Tsplits": dtypes.int64})  # fmt: skip
def ragged_gather(
    ctx: OpContext, params_nested_splits: list[Array], params_dense_values: Array, indices: Array, *, Tsplits: DType,
    PARAMS_RAGGED_RANK: int, OUTPUT_RAGGED_RANK: int,
) -> Array:  # fmt: skip
    """The rows chosen, by indices of rank r: `n*[rows + 1], [m, *inner], [*dims] -> o*[...], [k, *inner]`, o = n + r - 1."""
    count = len(params_nested_splits[0]) - 1
    if any(np.any(splits[1:] < splits[:-1]) for splits in params_nested_splits):
        raise InvalidArgumentError.of("Ragged splits must be sorted")
    wrong = np.argwhere((indices < 0) | (indices >= count))
    if len(wrong):
        place = ",".join(map(str, wrong[0]))
        raise InvalidArgumentError.of(f"indices[{place}] = {indices[tuple(wrong[0])]} is not in [0, {count})")
    # The dimensions of the indices but the last become rows of one length each.
    outer = [math.prod(indices.shape[:level]) for level in range(1, indices.ndim)]
    outputs = [
        np.arange(size + 1, dtype=Tsplits.as_numpy_dtype) * length
        for size, length in zip(outer, indices.shape[1:], strict=True)
    ]
    rows = indices.reshape(-1)
    for splits in params_nested_splits:
        lengths = np.diff(splits)[rows]
        outputs.append(np.concatenate([[0], np.cumsum(lengths)]).astype(splits.dtype))
        begins = np.repeat(splits[:-1][rows], lengths)
        rows = begins + np.arange(int(lengths.sum())) - np.repeat(outputs[-1][:-1], lengths)
    return (*outputs, params_dense_values[rows])
