"""Files of the V1 format, which TensorFlow wrote before 0.12 and still writes when asked: one table for each file.

The table's first entry, under the empty key, tells name, type, shape and slices of all tensors of the file; each other one has
the values of a slice, a whole tensor being its only one, under `tensor_slice.slice_key`. A sharded checkpoint is several such
files, `PREFIX-0000i-of-0000N`, and is named by their pattern.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Final, Self

import numpy as np
from tensorboard.compat.proto import tensor_pb2

from weft import errors
from weft.checkpoint import files
from weft.checkpoint.entry_reader import Array
from weft.checkpoint.table import TableWriter
from weft.checkpoint.tensor_slice import FULL, TensorSlice, slice_key
from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.types import dtypes, tensor_util
from weft.framework.types.dtypes import DType, as_dtype
from weft.proto import saved_tensor_slice_pb2, tensor_bundle_pb2

META_KEY: Final = b""
# A message holds 2 GiB at most, and TensorFlow takes the largest encoding of a number.
_MAX_SLICE_BYTES: Final = (1 << 31) - (1 << 10)
_MOST_BYTES_OF_A_NUMBER: Final = 10

_FIELDS: Final = {
    dtypes.float32: "float_val",
    dtypes.float64: "double_val",
    dtypes.int64: "int64_val",
    dtypes.uint64: "uint64_val",
    dtypes.uint32: "uint32_val",
    dtypes.bool: "bool_val",
    dtypes.string: "string_val",
    dtypes.float16: "half_val",
    dtypes.complex64: "scomplex_val",
    dtypes.complex128: "dcomplex_val",
    **dict.fromkeys(
        (dtypes.int32, dtypes.int16, dtypes.int8, dtypes.uint16, dtypes.uint8, dtypes.qint32, dtypes.qint8, dtypes.quint8),
        "int_val",
    ),
}


def values_of(proto: tensor_pb2.TensorProto, kind: DType, count: int) -> Array:
    """The values in a slice's TensorProto, a vector; ValueError when they are not `count` of that type."""
    field = _FIELDS.get(kind)
    if field is None:
        raise ValueError(f"there are no {kind.name} values in files of the V1 format")
    values = getattr(proto, field)
    if kind is dtypes.string:
        array = np.empty(len(values), np.object_)
        array[:] = list(values)
    elif kind is dtypes.float16:
        array = _exactly(np.asarray(values), np.uint16).view(np.float16)
    elif kind.is_complex:
        if len(values) % 2:
            raise ValueError(f"{len(values)} parts of complex numbers are no pairs")
        array = np.asarray(values, kind.real_dtype.as_numpy_dtype).view(kind.as_numpy_dtype)
    else:
        array = _exactly(np.asarray(values), kind.as_numpy_dtype)
    if array.size != count:
        raise ValueError(f"it has {array.size} values, its shape tells {count}")
    return array


def _exactly(values: Array, kind: type[np.generic]) -> Array:
    """Numbers as another type; ValueError where that has not all of them."""
    with np.errstate(over="ignore"):
        array = values.astype(kind)
    if array.dtype.kind in "iu" and not np.array_equal(array, values):
        raise ValueError(f"not all of its values are of type {array.dtype.name}")
    return array


class SliceFileWriter:
    """Writes a file of the V1 format, whole or not at all: `with SliceFileWriter(path) as writer: writer.add("w", array)`.

    All of it is held in memory until the end. Used by one thread.

    Args:
        path: of the file; its directory is made, but not the one above.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._meta: dict[str, saved_tensor_slice_pb2.SavedSliceMeta] = {}
        self._slices: dict[bytes, bytes] = {}
        files.make_directory_of(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exc_type: type[BaseException] | None, *rest: object) -> None:
        if exc_type is None:
            self.finish()

    def add(self, name: str, value: TensorLike, dtype: DTypeLike | None = None) -> None:
        """Add a whole tensor.

        Raises:
            InvalidArgumentError: it was added before, or is too large for the format.
            UnimplementedError: the format has no such type.
        """
        array = tensor_util.as_array(value) if not isinstance(value, np.ndarray) else value
        whole = TensorSlice((0,) * array.ndim, (FULL,) * array.ndim)
        self._add(name, array.shape, whole, array, dtype)

    def add_slice(
        self, full_name: str, full_shape: Sequence[int], starts: Sequence[int], sizes: Sequence[int], value: TensorLike,
        dtype: DTypeLike | None = None,
    ) -> None:  # fmt: skip
        """Add a part of a partitioned variable, whose box in the whole is `starts` and `sizes` (-1: all of it)."""
        array = tensor_util.as_array(value) if not isinstance(value, np.ndarray) else value
        self._add(full_name, tuple(full_shape), TensorSlice(tuple(starts), tuple(sizes)), array, dtype)

    def _add(self, name: str, shape: tuple[int, ...], piece: TensorSlice, array: Array, dtype: DTypeLike | None) -> None:
        kind = as_dtype(array.dtype if dtype is None else dtype).base_dtype
        if kind not in _FIELDS:
            raise errors.UnimplementedError.of(
                f"Saving data type {kind.name} not yet supported: tensor {name!r}; the V2 format has all types"
            )
        stored = piece.within(shape, name)
        if array.shape != stored.sizes:
            raise errors.InvalidArgumentError.of(
                f"Tensor {name!r}: slice {piece} of shape {list(shape)} needs an array of shape {list(stored.sizes)}, but it "
                f"is {list(array.shape)}"
            )
        key = slice_key(name, piece)
        if key in self._slices:
            raise errors.InvalidArgumentError.of(f"Adding duplicate key: {name} {piece}")
        if array.size * _MOST_BYTES_OF_A_NUMBER > _MAX_SLICE_BYTES:
            raise errors.InvalidArgumentError.of(
                f"Tensor slice is too large to serialize: {name!r} has {array.size} elements; write the V2 format"
            )
        self._note(name, shape, piece, kind)
        record = saved_tensor_slice_pb2.SavedTensorSlices()
        record.data.name = name
        _encode_slice(record.data.slice, piece)
        record.data.data.SetInParent()
        _put_values(record.data.data, array, kind)
        self._slices[key] = record.SerializeToString(deterministic=True)

    def _note(self, name: str, shape: tuple[int, ...], piece: TensorSlice, kind: DType) -> None:
        meta = self._meta.get(name)
        number = kind.as_datatype_enum
        if meta is None:
            meta = self._meta[name] = saved_tensor_slice_pb2.SavedSliceMeta(name=name, type=number)
            meta.shape.SetInParent()
            for size in shape:
                meta.shape.dim.add(size=size)
        elif (meta.type, tuple(dim.size for dim in meta.shape.dim)) != (number, shape):
            raise errors.InvalidArgumentError.of(f"Tensor {name!r}: its slices are of other types or shapes")
        _encode_slice(meta.slice.add(), piece)

    def finish(self) -> None:
        """Put the file in its place."""
        header = saved_tensor_slice_pb2.SavedTensorSlices()
        header.meta.tensor.extend(self._meta[name] for name in sorted(self._meta))
        header.meta.versions.producer = 1
        table = io.BytesIO()
        writer = TableWriter(table)
        writer.add(META_KEY, header.SerializeToString(deterministic=True))
        for key in sorted(self._slices):
            writer.add(key, self._slices[key])
        writer.finish()
        files.write_atomically(self.path, table.getvalue())


def _encode_slice(proto: tensor_bundle_pb2.TensorSliceProto, piece: TensorSlice) -> None:
    proto.SetInParent()
    for start, size in zip(piece.starts, piece.sizes, strict=True):
        extent = proto.extent.add()
        if size != FULL:
            extent.start = start
            extent.length = size


def _put_values(proto: tensor_pb2.TensorProto, array: Array, kind: DType) -> None:
    flat = np.ascontiguousarray(array).reshape(math.prod(array.shape))
    if kind is dtypes.float16:
        flat = flat.view(np.uint16)
    elif kind.is_complex:
        flat = flat.view(kind.real_dtype.as_numpy_dtype)
    getattr(proto, _FIELDS[kind]).extend(flat.tolist())
