"""Rows whose elements are scattered over one vector: the hash of value and position tells where each is."""

from __future__ import annotations

from typing import Final

from weft.framework.building.aliases import VariableLike
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.sets import unique
from weft.ops.array.shape_ops import expand_dims, reshape, shape
from weft.ops.array.tiling import tile
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.sparse.layout import sparse_fill_empty_rows
from weft.ops.sparse.segment import sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum
from weft.ops.sparse.tensors import sparse_tensor_to_dense
from weft.ops.strings.cross import sparse_feature_cross
from weft.ops.variables.partitioned_variable import PartitionedVariable

# What stands for a row without values: the numbers of TensorFlow's models depend on it.
_NO_TEXT: Final = "6ZxWzWOHxZ"
_NO_NUMBER: Final = 1288896567


def scattered_embedding_lookup(params: VariableLike, values: Tensor, dimension: int, hash_key: int | None = None) -> Tensor:
    """The rows of values, `[...] -> [..., dimension]`, out of the vector `params`."""
    parts = list(params) if isinstance(params, PartitionedVariable | list) else [params]
    with input_scope(None, "scattered_embedding_lookup", (values,)):
        outer = shape(values)
        flat = reshape(values, [-1, 1])
        positions = tile(expand_dims(range_of(0, dimension), 0), shape(flat))
        size = sum(part.get_shape().as_list()[0] for part in parts)
        ids = sparse_tensor_to_dense(sparse_feature_cross([positions, flat], True, size, hash_key=hash_key))
        found = embedding_lookup(parts, ids, partition_strategy="div")
        return reshape(found, concat([outer, [dimension]], 0))


def scattered_embedding_lookup_sparse(
    params: VariableLike, sparse_values: SparseTensor, dimension: int, combiner: str, hash_key: int | None
) -> Tensor:
    """The rows of each example's values, combined by "sum", "mean" or "sqrtn": `[batch, dimension]`."""
    with input_scope("lookup", "lookup", (sparse_values.values,)) as scope:
        filled, _ = sparse_fill_empty_rows(sparse_values, _NO_TEXT if sparse_values.dtype is dtypes.string else _NO_NUMBER)
        segments = cast(filled.indices[:, 0], dtypes.int32)
        values, places = unique(filled.values)
        rows = scattered_embedding_lookup(params, values, dimension, hash_key)
        combine = {"sum": sparse_segment_sum, "mean": sparse_segment_mean, "sqrtn": sparse_segment_sqrt_n}[combiner]
        return combine(rows, places, segments, name=scope)
