"""SparseTensors made of dense ones and of unit matrices, and dimensions added to them."""

from __future__ import annotations

from typing import Any

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import ones, zero_of
from weft.ops.array.gather_scatter import gather_nd_node
from weft.ops.array.joining import concat
from weft.ops.array.padding import slice_of
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import expand_dims, shape_internal, size_internal
from weft.ops.array.stacking import stack
from weft.ops.declaration import rank_of
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import minimum, not_equal
from weft.ops.sparse.layout import as_sparse, sparse_reshape


def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not zero (for strings, not empty) as a SparseTensor.

    Args:
        tensor: [...] tensor of any dtype.
    """
    with input_scope(name, "dense_to_sparse", (tensor,)):
        dense = convert_to_tensor(tensor)
        kind = dense.dtype.base_dtype
        zero = convert_to_tensor(zero_of(kind), kind)
        indices = where(dense if kind is dtypes.bool else not_equal(dense, zero))
        return SparseTensor(indices, gather_nd_node(dense, indices), shape_internal(dense, out_type=dtypes.int64))


def sparse_eye(
    num_rows: TensorLike | None,
    num_columns: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> SparseTensor:
    """A unit matrix as a SparseTensor.

    Args:
        num_rows: int64 scalar.
        num_columns: int64 scalar; `num_rows` when None.
        dtype: the dtype of the result.

    Raises:
        TypeError: a size is no whole number.
    """
    with input_scope(name, "eye", (num_rows, num_columns)):
        rows = _size("num_rows", num_rows)
        columns = rows if num_columns is None else _size("num_columns", num_columns)
        count = minimum(rows, columns)
        places = range_of(count, dtype=dtypes.int64)
        return SparseTensor(stack([places, places], 1), ones(expand_dims(count, 0), dtype), stack([rows, columns]))


def _size(name: str, value: TensorLike | None) -> Tensor:
    size = convert_to_tensor(value, name=name)
    # A tensor is cast, whatever numbers it has.
    if not isinstance(value, Tensor) and not size.dtype.base_dtype.is_integer:
        raise TypeError(f"{name} must be an integer value, got {value!r}")
    return cast(size, dtypes.int64)


def sparse_expand_dims(sp_input: SparseTensor, axis: TensorLike | None = None, name: str | None = None) -> SparseTensor:
    """The SparseTensor with a dimension of size 1 put in at `axis`, by default as the last one.

    Args:
        sp_input: a SparseTensor of any dtype.
        axis: int scalar, from `-rank - 1` to `rank`.

    Raises:
        ValueError: there is no such place.
    """
    sparse = as_sparse(sp_input)
    place: Any = -1 if axis is None else axis
    rank = rank_of_sparse(sparse)
    with input_scope(name, "expand_dims", (sparse.values,)):
        if rank is not None and isinstance(place, int) and not -rank - 1 <= place <= rank:
            raise ValueError(f"axis {place} not in [-{rank + 1}, {rank}].")
        at: Any = place
        if rank is not None and isinstance(place, int):
            at = place % (rank + 1)
        elif isinstance(place, Tensor) or place < 0:
            at = place if not isinstance(place, int) else size_internal(sparse.dense_shape) + place + 1
        before = slice_of(sparse.dense_shape, [0], stack([at]))
        after = slice_of(sparse.dense_shape, stack([at]), [-1])
        widened = sparse_reshape(sparse, concat([before, ones([1], dtypes.int64), after], 0))
        if rank is not None and isinstance(at, int):
            widened.set_shape([1 if each == at else None for each in range(rank + 1)])
        return widened


def rank_of_sparse(sparse: SparseTensor) -> int | None:
    """The rank, where it is known."""
    known = rank_of(sparse.dense_shape)
    return None if known is None or sparse.dense_shape.dims is None else sparse.dense_shape.dims[0]
