"""A map that keeps SparseTensors under numbers, so that queues, whose elements are dense, can hold and batch them."""

from __future__ import annotations

import itertools
import threading

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import op, scalar_shape

Parts = tuple[Array, Array, Array]


class SparseTensorsMap:
    """The resource: number -> indices, values, shape. Safe from any thread; what is taken is no longer kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._kept: dict[int, Parts] = {}

    def add(self, parts: Parts) -> int:
        """Keep a sparse tensor; returns its number."""
        with self._lock:
            number = next(self._numbers)
            self._kept[number] = parts
            return number

    def take(self, numbers: list[int]) -> list[Parts]:
        """The sparse tensors of some numbers, each of which can be taken once."""
        with self._lock:
            missing = [number for number in numbers if number not in self._kept]
            if missing:
                raise InvalidArgumentError.of(
                    f"Unable to find SparseTensor: {missing[0]} in map. It was taken already, or added by another task"
                )
            return [self._kept.pop(number) for number in numbers]


def _map(ctx: OpContext) -> SparseTensorsMap:
    return ctx.find_or_create(SparseTensorsMap, SparseTensorsMap)


@op("AddSparseToTensorsMap", "sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> sparse_handle: int64",
    infer=scalar_shape, gradient=None, stateful=True)  # fmt: skip
def add_sparse_to_tensors_map(
    ctx: OpContext,
    sparse_indices: Array,
    sparse_values: Array,
    sparse_shape: Array,
    *,
    container: str = "",
    shared_name: str = "",
) -> Result:
    """Keep a sparse tensor; gives its number: `[n, rank] int64, [n], [rank] int64 -> scalar int64`."""
    return np.asarray(_map(ctx).add((sparse_indices, sparse_values, sparse_shape)), np.int64)


@op("AddManySparseToTensorsMap", "sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> sparse_handles: int64",
    infer=lambda node: [(None,)], gradient=None, stateful=True)  # fmt: skip
def add_many_sparse_to_tensors_map(
    ctx: OpContext, sparse_indices: Array, sparse_values: Array, sparse_shape: Array, *, container: str = "",
    shared_name: str = "",
) -> Result:  # fmt: skip
    """Keep the entries along the first dimension of a sparse tensor; gives their numbers.

    `[n, rank] int64, [n], [rank] int64 -> [batch] int64`
    """
    if len(sparse_shape) < 2:
        raise InvalidArgumentError.of(f"Rank of input SparseTensor should be > 1, but saw rank: {len(sparse_shape)}")
    kept = _map(ctx)
    numbers = []
    for row in range(int(sparse_shape[0])):
        rows = sparse_indices[:, 0] == row
        numbers.append(kept.add((sparse_indices[rows, 1:], sparse_values[rows], sparse_shape[1:])))
    return np.asarray(numbers, np.int64)


def _batched_shapes(node: Operation) -> list[Dims]:
    return [(None, None), (None,), (None,)]


@op("TakeManySparseFromTensorsMap",
    "sparse_handles: int64 -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64", infer=_batched_shapes,
    gradient=None, stateful=True)  # fmt: skip
def take_many_sparse_from_tensors_map(
    ctx: OpContext, sparse_handles: Array, *, dtype: DType, container: str = "", shared_name: str = ""
) -> tuple[Result, Result, Result]:
    """The sparse tensors of some numbers together, along a new first dimension.

    `[batch] int64 -> [n, rank] int64, [n], [rank] int64`
    """
    if sparse_handles.ndim != 1:
        raise InvalidArgumentError.of(f"sparse_handles must be a vector, got shape {list(sparse_handles.shape)}")
    taken = _map(ctx).take(sparse_handles.tolist())
    ranks = {len(shape) for _, _, shape in taken}
    if len(ranks) > 1:
        raise InvalidArgumentError.of(f"Inconsistent rank across SparseTensors: {sorted(ranks)}")
    if any(values.dtype != dtype.as_numpy_dtype for _, values, _ in taken):
        raise InvalidArgumentError.of(f"Requested SparseTensors of type {dtype.name}, the map holds others")
    if not taken:
        return np.zeros((0, 1), np.int64), np.zeros(0, dtype.as_numpy_dtype), np.zeros(1, np.int64)
    indices = [np.insert(rows.reshape(len(values), len(shape)), 0, row, 1) for row, (rows, values, shape) in enumerate(taken)]
    shape = np.max(np.stack([shape for _, _, shape in taken]), 0)
    return np.concatenate(indices), np.concatenate([values for _, values, _ in taken]), np.insert(shape, 0, len(taken))
