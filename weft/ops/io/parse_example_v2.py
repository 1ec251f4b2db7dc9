"""ParseExampleV2, which clients of TensorFlow 2 write for `parse_example` and `parse_single_example`."""

from __future__ import annotations

import numpy as np

from weft.errors import UnimplementedError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import op
from weft.ops.io.parse_example import parsed_batch

_TYPES = (dtypes.float32, dtypes.int64, dtypes.string)


def _shapes(node: Operation) -> list[Dims]:
    serialized = node.inputs[0].dims
    if serialized is not None and len(serialized) > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {len(serialized)}")
    count, ragged = node.attrs["num_sparse"], len(node.attrs["ragged_value_types"])
    rank = None if serialized is None else len(serialized) + 1
    dense: list[Dims] = [None if serialized is None else (*serialized, *dims) for dims in node.attrs["dense_shapes"]]
    sparse: list[Dims] = [*[(None, rank)] * count, *[(None,)] * count, *[(rank,)] * count]
    return [*sparse, *dense, *[(None,)] * (2 * ragged)]


@op("ParseExampleV2",
    "serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, dense_defaults: [Tdense] "
    "-> sparse_indices: num_sparse*int64, sparse_values: [sparse_types], sparse_shapes: num_sparse*int64, "
    "dense_values: [Tdense], ragged_values: [ragged_value_types], ragged_row_splits: [ragged_split_types]",
    infer=_shapes, gradient=None,
    types={"sparse_types": _TYPES, "Tdense": _TYPES, "ragged_value_types": _TYPES,
           "ragged_split_types": (dtypes.int32, dtypes.int64)})  # fmt: skip
def parse_example_v2(
    ctx: OpContext, serialized: Array, names: Array, sparse_keys: Array, dense_keys: Array, ragged_keys: Array,
    dense_defaults: Array, *, Tdense: list[DType], num_sparse: int, sparse_types: list[DType],
    ragged_value_types: list[DType], ragged_split_types: list[DType], dense_shapes: list[Dims],
) -> Array:  # fmt: skip
    """Parse a batch of examples, or one.

    `[...] string, [names] string, [num_sparse] string, [dense] string, [ragged] string, dense*[*default] ->
    num_sparse*[n, rank] int64, num_sparse*[n], num_sparse*[rank] int64, dense*[..., *shape], ragged*[n], ragged*[n]`
    """
    if serialized.ndim == 0 and ragged_keys.size:
        raise UnimplementedError.of("ParseExampleV2 of one example with ragged features; parse a batch of one")
    sparse = [*zip(_each(sparse_keys), sparse_types, strict=True), *zip(_each(ragged_keys), ragged_value_types, strict=True)]
    dense = list(zip(_each(dense_keys), Tdense, dense_shapes, dense_defaults, strict=True))
    found = parsed_batch(np.atleast_1d(serialized), np.atleast_1d(names), sparse, dense)
    count = len(sparse)
    indices, values, shapes = (list(found[part * count : (part + 1) * count]) for part in range(3))
    ragged = [_splits(each, np.atleast_1d(serialized).size) for each in indices[num_sparse:]]
    splits = [each.astype(kind.as_numpy_dtype) for each, kind in zip(ragged, ragged_split_types, strict=True)]
    rest = found[3 * count :]
    if serialized.ndim == 0:
        # One example has no row of its own.
        indices, shapes, rest = (
            [each[:, 1:] for each in indices],
            [each[1:] for each in shapes],
            tuple(each[0] for each in rest),
        )
    return (
        *indices[:num_sparse], *values[:num_sparse], *shapes[:num_sparse], *rest, *values[num_sparse:], *splits
    )  # fmt: skip


def _each(keys: Array) -> list[Array]:
    return [keys[place : place + 1] for place in range(keys.size)]


def _splits(indices: Array, rows: int) -> Array:
    return np.searchsorted(indices[:, 0], np.arange(rows + 1))
