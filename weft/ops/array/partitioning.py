"""Dealing rows out to several tensors and putting them back: DynamicPartition, DynamicStitch."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims, merge_dims
from weft.ops.array.gather_scatter import check_indices, gather_v2_node
from weft.ops.array.joining import filled_gradients
from weft.ops.array.row_order import put_rows
from weft.ops.array.shape_ops import brackets
from weft.ops.declaration import op
from weft.ops.dispatch import dispatchable
from weft.platform.machine.aligned_memory import aligned_empty

_LAST_ROW: Final = (1 << 31) - 1

# DynamicPartition.


def _partition_shapes(node: Operation) -> list[Dims]:
    data, partitions = node.inputs[0].dims, node.inputs[1].dims
    count = node.attrs["num_partitions"]
    if count < 1:
        raise ValueError(f"Attr 'num_partitions' of 'DynamicPartition' Op passed {count} less than minimum 1.")
    if data is None or partitions is None:
        return [None] * count
    merge_dims(data[: len(partitions)], partitions)
    return [(None, *data[len(partitions) :])] * count


def _partition_gradient(node: Operation, *grads: Tensor | None) -> Gradients:
    return [partition_grad(node.inputs[0], node.inputs[1], filled_gradients(node, grads)), None]


@op("DynamicPartition", "data: T, partitions: int32 -> outputs: num_partitions*T",
    limits={"num_partitions": 1}, infer=_partition_shapes,
    gradient=_partition_gradient)  # fmt: skip
def dynamic_partition_node(ctx: OpContext, data: Array, partitions: Array, *, num_partitions: int) -> list[Result]:
    """The slices of `data` where `partitions` has each number below `num_partitions`.

    `[*places, *inner], [*places] -> num_partitions*[n_i, *inner]`.
    """
    if data.shape[: partitions.ndim] != partitions.shape:
        raise InvalidArgumentError.of(
            f"data.shape must start with partitions.shape, got data.shape = {brackets(data.shape)}, "
            f"partitions.shape = {brackets(partitions.shape)}"
        )
    check_indices(partitions, num_partitions, "partitions")
    # Not -1, which no empty array tells.
    flat = data.reshape(partitions.size, *data.shape[partitions.ndim :])
    numbers = partitions.ravel()
    return [flat.compress(numbers == number, axis=0) for number in range(num_partitions)]


@op("DynamicPartitionGrad", "data: T, partitions: int32, grads: num_partitions*T -> output: T", gradient=None,
    infer=lambda node: [node.inputs[0].dims])  # fmt: skip
def partition_grad(ctx: OpContext, data: Array, partitions: Array, grads: list[Array]) -> Result:
    """The slices of all the gradients where they came from.

    `[*places, *inner], [*places], num_partitions*[n_i, *inner] -> [*places, *inner]`.
    """
    result = np.zeros_like(data)
    for number, grad in enumerate(grads):
        result[partitions == number] = grad
    return result


@dispatchable
def dynamic_partition(data: TensorLike, partitions: TensorLike, num_partitions: int, name: str | None = None) -> list[Tensor]:
    """Deal the slices of `data` out to `num_partitions` tensors by the numbers in `partitions`.

    Args:
        data: [*places, *inner] tensor of any dtype.
        partitions: [*places] int32 tensor, from 0 to `num_partitions - 1`.
        num_partitions: how many tensors to make.

    Returns:
        A list of `num_partitions` tensors, [count, *inner] each, of the dtype of `data`.
    """
    return dynamic_partition_node(data, partitions, num_partitions=num_partitions, name=name)


# DynamicStitch.


def _stitched_shape(node: Operation) -> list[Dims]:
    count = node.attrs["N"]
    rest: Dims = None
    sizes: list[int | None] = []
    for index, data in zip(node.inputs[:count], node.inputs[count:], strict=True):
        if index.dims is not None and data.dims is not None:
            merge_dims(index.dims, data.dims[: len(index.dims)])
            rest = merge_dims(rest, data.dims[len(index.dims) :])
        value = constant_value(index)
        sizes.append(None if value is None else int(value.max()) + 1 if value.size else 0)
    if rest is None:
        return [None]
    return [(None if None in sizes else max(sizes), *rest)]  # type: ignore[type-var]


def _stitch_gradient(node: Operation, grad: Tensor) -> Gradients:
    count = node.attrs["N"]
    return [*[None] * count, *(gather_v2_node(grad, index, 0) for index in node.inputs[:count])]


def _stitch(xp: ArrayModule, indices: list[Array], data: list[Array]) -> Array:
    rows = _row_count(indices)
    rest = tuple(data[0].shape[len(indices[0].shape) :])
    flat = [part.reshape(math.prod(index.shape), *rest) for index, part in zip(indices, data, strict=True)]
    if xp is np:
        return _stitch_here(indices, flat, rows)
    # Of the rows with one index the last one counts, and XLA's scatter leaves open which that is.
    source = np.full(rows, -1, np.int64)
    flat_indices = np.concatenate([np.ravel(index) for index in indices])
    source[flat_indices] = np.arange(len(flat_indices))
    joined = xp.concatenate(flat, 0)
    taken = xp.take(joined, np.maximum(source, 0), 0, mode="clip")
    return xp.where((source >= 0).reshape((-1,) + (1,) * len(rest)), taken, xp.zeros((), joined.dtype))


def _row_count(indices: list[Array]) -> int:
    count = 0
    for number, index in enumerate(indices):
        if index.size:
            # As unsigned numbers: negative ones are larger than all others.
            last = int(np.maximum.reduce(index.view(np.uint32), axis=None))
            if last > _LAST_ROW:
                raise InvalidArgumentError.of(f"indices[{number}] is out of range: {int(index.min())}")
            count = max(count, last + 1)
    return count


def _stitch_here(indices: list[Array], parts: list[Array], rows: int) -> Array:
    """The same on NumPy: each part's rows are moved once."""
    merged = aligned_empty((rows, *parts[0].shape[1:]), parts[0].dtype)
    is_there = np.zeros(rows, bool)
    for index, part in zip(indices, parts, strict=True):
        places = index.reshape(-1)
        is_there[places] = True
        put_rows(merged, places, part)
    if not np.logical_and.reduce(is_there):
        merged[~is_there] = b"" if merged.dtype.hasobject else 0
    return merged


@op("DynamicStitch", "indices: N*int32, data: N*T -> merged: T", infer=_stitched_shape, gradient=_stitch_gradient,
    static=("indices",), limits={"N": 1})  # fmt: skip
def dynamic_stitch_node(xp: ArrayModule, indices: list[Array], data: list[Array]) -> Result:
    """The slices of all `data` at the positions in `indices`; of equal positions the last one counts.

    `N*[*places_i], N*[*places_i, *inner] -> [rows, *inner]`, where rows is the greatest index plus one.
    """
    return _stitch(xp, indices, data)


@op("ParallelDynamicStitch", "indices: N*int32, data: N*T -> merged: T", infer=_stitched_shape,
    gradient=_stitch_gradient, static=("indices",), limits={"N": 1})  # fmt: skip
def parallel_dynamic_stitch_node(xp: ArrayModule, indices: list[Array], data: list[Array]) -> Result:
    """As DynamicStitch: `N*[*places_i], N*[*places_i, *inner] -> [rows, *inner]`."""
    return _stitch(xp, indices, data)


def dynamic_stitch(indices: Iterable[TensorLike], data: Iterable[TensorLike], name: str | None = None) -> Tensor:
    """Put the slices of several tensors together: `result[indices[m][i]] = data[m][i]`, a later one winning.

    Args:
        indices: a list of int32 tensors, of any shapes: places in the result.
        data: a list of as many tensors of one dtype: the shape of its indices, then [*inner], which all share.

    Returns:
        [greatest index + 1, *inner] tensor of the dtype of `data`.
    """
    return dynamic_stitch_node(list(indices), list(data), name=name)


def parallel_dynamic_stitch(indices: Iterable[TensorLike], data: Iterable[TensorLike], name: str | None = None) -> Tensor:
    """As `dynamic_stitch`."""
    return parallel_dynamic_stitch_node(list(indices), list(data), name=name)
