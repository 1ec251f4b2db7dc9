"""SparseTensors as rows of strings, so that queues can hold and batch them: three serialized TensorProtos each."""

from __future__ import annotations

import numpy as np
from tensorboard.compat.proto import tensor_pb2

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, DTypeLike, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.framework.types.tensor_util import make_ndarray, make_tensor_proto
from weft.ops.declaration import op
from weft.ops.size_checks import check_size
from weft.ops.sparse.layout import as_sparse
from weft.ops.sparse.tensors import check_order


class Part:
    """An array as the element of a variant tensor: its text is made where it leaves the process or is saved.

    Features of examples that a dataset parses pass on to the step so. To make texts of them and read these took a tenth of a
    pipeline's CPU where one is a list of words (two cores, November 2026).
    """

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array

    def __bytes__(self) -> bytes:
        return _text(self.array)


def _text(array: Array) -> bytes:
    """The array as TensorFlow writes it here: numbers as they lie in memory, however few there are."""
    proto = make_tensor_proto(np.zeros(0, array.dtype))
    if array.dtype == object:
        proto = make_tensor_proto(array)
    else:
        proto.tensor_shape.CopyFrom(TensorShape(array.shape).as_proto())
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    text: bytes = proto.SerializeToString()
    return text


def serial_sparse(indices: Array, values: Array, shape: Array, *, is_variant: bool) -> Array:
    """The three parts of a sparse tensor `[3]`."""
    row = np.empty(3, object)
    row[:] = [Part(part) if is_variant else _text(part) for part in (indices, values, shape)]
    return row


def _array(part: Part | bytes) -> Array:
    return part.array if isinstance(part, Part) else make_ndarray(tensor_pb2.TensorProto.FromString(part))


@op("SerializeSparse", "sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> serialized_sparse: out_type",
    ranks={"sparse_indices": 2, "sparse_values": 1, "sparse_shape": 1},
    infer=lambda node: [(3,)], gradient=None, types={"out_type": (dtypes.string, dtypes.variant)})  # fmt: skip
def serialize_sparse_node(
    ctx: OpContext, sparse_indices: Array, sparse_values: Array, sparse_shape: Array, *, out_type: DType = dtypes.string
) -> Result:
    """Indices, values and shape, each as a string: `[n, rank] int64, [n], [rank] int64 -> [3]`."""
    return serial_sparse(sparse_indices, sparse_values, sparse_shape, is_variant=out_type is dtypes.variant)


def serialize_sparse(sp_input: SparseTensor, name: str | None = None, out_type: DTypeLike = dtypes.string) -> Tensor:
    """A sparse tensor as three strings.

    Args:
        sp_input: a SparseTensor.
        out_type: string or variant.

    Returns:
        [3] tensor of `out_type`.
    """
    sparse = as_sparse(sp_input)
    return serialize_sparse_node(sparse.indices, sparse.values, sparse.dense_shape, out_type=out_type, name=name)


@op("SerializeManySparse", "sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> serialized_sparse: out_type",
    ranks={"sparse_indices": 2, "sparse_values": 1, "sparse_shape": 1},
    infer=lambda node: [(None, 3)], gradient=None, types={"out_type": (dtypes.string, dtypes.variant)})  # fmt: skip
def serialize_many_sparse_node(
    ctx: OpContext, sparse_indices: Array, sparse_values: Array, sparse_shape: Array, *, out_type: DType = dtypes.string
) -> Result:
    """Indices, values and shape of each entry along the first dimension as strings.

    `[n, rank] int64, [n], [rank] int64 -> [batch, 3]`
    """
    if len(sparse_shape) < 2:
        raise InvalidArgumentError.of(f"Rank of input SparseTensor should be > 1, but saw rank: {len(sparse_shape)}")
    check_order(sparse_indices, tuple(sparse_shape.tolist()))
    rows = []
    for number in range(int(sparse_shape[0])):
        kept = sparse_indices[:, 0] == number
        parts = sparse_indices[kept, 1:], sparse_values[kept], sparse_shape[1:]
        rows.append(serial_sparse(*parts, is_variant=out_type is dtypes.variant))
    return np.stack(rows) if rows else np.empty((0, 3), object)


def serialize_many_sparse(sp_input: SparseTensor, name: str | None = None, out_type: DTypeLike = dtypes.string) -> Tensor:
    """A minibatch of sparse tensors as three strings for each entry.

    Args:
        sp_input: a SparseTensor [batch, ...].
        out_type: string or variant.

    Returns:
        [batch, 3] tensor of `out_type`.
    """
    sparse = as_sparse(sp_input)
    return serialize_many_sparse_node(sparse.indices, sparse.values, sparse.dense_shape, out_type=out_type, name=name)


def _unknown_parts(node: Operation) -> list[Dims]:
    check_size(node.inputs[0], -1, 3)
    return [(None, None), (None,), (None,)]


@op("DeserializeManySparse", "serialized_sparse: string -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    ranks={"serialized_sparse": 2},
    infer=_unknown_parts, gradient=None)  # fmt: skip
def deserialize_many_sparse_node(ctx: OpContext, serialized_sparse: Array, *, dtype: DType) -> tuple[Result, Result, Result]:
    """The sparse tensors of all rows together, along a new first dimension.

    `[batch, 3] string -> [n, rank] int64, [n], [rank] int64`
    """
    if serialized_sparse.ndim != 2 or serialized_sparse.shape[1] != 3:
        raise InvalidArgumentError.of(
            f"Serialized sparse should be a matrix with 3 columns, got shape {list(serialized_sparse.shape)}"
        )
    if not len(serialized_sparse):
        raise InvalidArgumentError.of(
            "Serialized sparse should have at least 1 serialized tensor, but has a zero dimension "
            f"{list(serialized_sparse.shape)}"
        )
    tables: list[Array] = []
    values: list[Array] = []
    shapes: list[Array] = []
    for number, row in enumerate(serialized_sparse):
        indices, found, shape = _checked_parts(row, number, dtype)
        if shapes and len(shape) != len(shapes[0]):
            raise InvalidArgumentError.of(
                f"Inconsistent rank across SparseTensors: rank prior to SparseTensor[{number}] was: "
                f"{len(shapes[0])} but rank of SparseTensor[{number}] is: {len(shape)}"
            )
        table = np.empty((len(found), len(shape) + 1), np.int64)
        table[:, 0] = number
        table[:, 1:] = indices
        tables.append(table)
        values.append(found)
        shapes.append(shape)
    if not tables:
        return np.zeros((0, 1), np.int64), np.zeros(0, dtype.as_numpy_dtype), np.zeros(1, np.int64)
    return np.concatenate(tables), np.concatenate(values), np.insert(np.max(np.stack(shapes), 0), 0, len(tables))


def _checked_parts(row: Array, number: int, dtype: DType) -> tuple[Array, Array, Array]:
    """Indices `[n, rank]`, values and shape of a row; InvalidArgumentError where the values are of another type."""
    indices, found, shape = map(_array, row.tolist())
    if dtypes.as_dtype(found.dtype) is not dtype:
        raise InvalidArgumentError.of(
            f"Requested SparseTensor of type {dtype.name} but SparseTensor[{number}].values.dtype() == "
            f"{dtypes.as_dtype(found.dtype).name}"
        )
    return indices.reshape(len(found), len(shape)), found, shape


def deserialize_many_sparse(
    serialized_sparse: TensorLike, dtype: DTypeLike, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """The minibatch of sparse tensors that rows of three strings hold; `rank` is that of one entry.

    Args:
        serialized_sparse: [batch, 3] tensor of strings.
        dtype: the dtype of the elements.
        rank: how many dimensions an entry has, where it shall be known while the graph is built.
    """
    indices, values, shape = deserialize_many_sparse_node(serialized_sparse, dtype=dtype, name=name)
    columns = None if rank is None else rank + 1
    indices.set_shape([None, columns])
    shape.set_shape([columns])
    return SparseTensor(indices, values, shape)


def _rows_unknown(node: Operation) -> list[Dims]:
    return [(None, None), (None,), (None,)]


@op("DeserializeSparse", "serialized_sparse: Tserialized -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    infer=_rows_unknown, gradient=None, types={"Tserialized": (dtypes.string, dtypes.variant)},
    defaults={"Tserialized": dtypes.string})  # fmt: skip
def deserialize_sparse_node(ctx: OpContext, serialized_sparse: Array, *, dtype: DType) -> tuple[Result, Result, Result]:
    """The sparse tensors of all rows, along as many new first dimensions as the rows have.

    `[..., 3] -> [n, rank] int64, [n], [rank] int64`
    """
    if serialized_sparse.ndim < 1 or serialized_sparse.shape[-1] != 3:
        raise InvalidArgumentError.of(
            f"Serialized sparse should have 3 as the last dimension, got shape {list(serialized_sparse.shape)}"
        )
    outer = serialized_sparse.shape[:-1]
    if not outer:
        return _checked_parts(serialized_sparse, 0, dtype)
    rows = serialized_sparse.reshape(-1, 3)
    indices, values, shape = deserialize_many_sparse_node.op_def.kernel(ctx, rows, dtype=dtype)  # type: ignore[attr-defined]
    if len(outer) > 1:
        places = np.stack(np.unravel_index(indices[:, 0], outer), axis=1).astype(np.int64)
        indices = np.concatenate([places, indices[:, 1:]], axis=1)
    return indices, values, np.concatenate([np.asarray(outer, np.int64), shape[1:]])


def deserialize_sparse(
    serialized_sparse: TensorLike, dtype: DTypeLike, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """The sparse tensor that rows of three parts hold together; `rank` is that of all of it."""
    indices, values, shape = deserialize_sparse_node(serialized_sparse, dtype=dtype, name=name)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)
