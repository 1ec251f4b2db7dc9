"""Reads a checkpoint of the V1 format, and opens one of either."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Self, TypeAlias

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto import types_pb2

from weft import errors
from weft.checkpoint import files
from weft.checkpoint.bundle_format import as_known_dtype, can_be, decode_slice, index_filename
from weft.checkpoint.bundle_reader import BundleReader
from weft.checkpoint.entry_reader import Array
from weft.checkpoint.slice_file import META_KEY, values_of
from weft.checkpoint.table import FOOTER_BYTES, Table, is_table
from weft.checkpoint.tensor_slice import TensorSlice, check_covers, slice_key
from weft.framework.types import dtypes
from weft.platform.hints.spelling import did_you_mean
from weft.proto import saved_tensor_slice_pb2

_META_TAG: Final = 0x0A  # the header's only field, a message


@dataclass(slots=True)
class _Saved:
    """A tensor: its DataType number, the whole's shape, and its slices, each with the file that has it."""

    dtype: int
    shape: tuple[int, ...]
    slices: dict[TensorSlice, Table] = field(default_factory=dict)


class SliceFileReader:
    """The tensors of the V1 checkpoint at `prefix`, a file's name or the pattern of several.

    Files are read whole when the reader is made; several threads may use it.

    Raises:
        NotFoundError: there is no file of that name, or no such tensor.
        DataLossError: a file is damaged or something else than a checkpoint's; names the file and the tensor.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._tensors: dict[str, _Saved] = {}
        self._names: dict[Table, str] = {}
        for path in paths_of_slices(prefix):
            self._take_in(path, Table(files.read_bytes(path), path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _take_in(self, path: str, table: Table) -> None:
        self._names[table] = path
        header = _record(table.get(META_KEY), path, "the header")
        for meta in header.meta.tensor:
            shape = tuple(dim.size for dim in meta.shape.dim)
            if not can_be(shape):
                raise errors.DataLossError.of(f"{path}: the header tells no possible shape of tensor {meta.name!r}")
            saved = self._tensors.setdefault(meta.name, _Saved(meta.type, shape))
            if (saved.dtype, saved.shape) != (meta.type, shape):
                raise errors.DataLossError.of(f"{path}: tensor {meta.name!r} has another type or shape than in other files")
            saved.slices.update((decode_slice(piece), table) for piece in meta.slice)

    def keys(self) -> list[str]:
        """Return the names of all tensors, sorted; a partitioned variable has one."""
        return sorted(self._tensors)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def has(self, name: str) -> bool:
        """Whether there is a tensor of this name."""
        return name in self._tensors

    def _find(self, name: str) -> _Saved:
        found = self._tensors.get(name)
        if found is None:
            meant = did_you_mean(name, self.keys())
            raise errors.NotFoundError.of(f"Key {name} not found in checkpoint {self.prefix}{f'.{meant}' if meant else ''}")
        return found

    def dtype(self, name: str) -> dtypes.DType:
        """Return a tensor's element type."""
        number = self._find(name).dtype
        kind = as_known_dtype(number)
        if kind is None:
            raise errors.UnimplementedError.of(
                f"{self.prefix}: tensor {name!r} is of DataType {number}, which weft does not read"
            )
        return kind

    def shape(self, name: str) -> tuple[int, ...]:
        """Return a tensor's shape, of a partitioned variable the whole's."""
        return self._find(name).shape

    def lookup(self, name: str) -> Array:
        """Return a tensor's value in memory of its own; strings as an object array of bytes."""
        return self._gather(name, TensorSlice.whole(self._find(name).shape))

    def lookup_slice(self, name: str, starts: Sequence[int], sizes: Sequence[int]) -> Array:
        """Return a box of a tensor, however the tensor was cut when it was saved; a size of -1 is the whole dimension."""
        return self._gather(name, TensorSlice(tuple(starts), tuple(sizes)).within(self._find(name).shape, name))

    def verify(self) -> None:
        """Check every length and checksum; DataLossError names the file and the tensor."""
        for name, saved in self._tensors.items():
            for piece, table in saved.slices.items():
                self._values(name, saved, piece, table)

    def debug_string(self) -> str:
        """Return a line per tensor, such as `dense/kernel (DT_FLOAT) [784,10]`."""
        lines = []
        for name in self.keys():
            saved = self._tensors[name]
            number: types_pb2.DataType = saved.dtype
            kind = types_pb2.DataType.Name(number) if number in types_pb2.DataType.values() else str(number)
            parts = f", {len(saved.slices)} slices" if len(saved.slices) > 1 else ""
            lines.append(f"{name} ({kind}) [{','.join(map(str, saved.shape))}]{parts}\n")
        return "".join(lines)

    def _gather(self, name: str, wanted: TensorSlice) -> Array:
        saved, kind = self._find(name), self.dtype(name)
        parts = []
        for piece, table in saved.slices.items():
            stored = piece.within(saved.shape, name)
            part = stored.intersect(wanted)
            if part is not None or stored == wanted:
                parts.append((stored, part or stored, self._values(name, saved, piece, table)))
        check_covers([part for _, part, _ in parts], wanted, name, self.prefix)
        out = np.empty(wanted.sizes, kind.as_numpy_dtype)
        for stored, part, values in parts:
            out[part.relative_to(wanted)] = values[part.relative_to(stored)]
        return out

    def _values(self, name: str, saved: _Saved, piece: TensorSlice, table: Table) -> Array:
        path, label = self._names[table], f"tensor {name!r}, slice {piece}"
        record = _record(table.get(slice_key(name, piece)), path, label)
        sizes = piece.within(saved.shape, name).sizes
        try:
            return values_of(record.data.data, self.dtype(name), math.prod(sizes)).reshape(sizes)
        except ValueError as error:
            raise errors.DataLossError.of(f"{path}: {label} is damaged: {error}") from error


def _record(data: bytes | None, path: str, what: str) -> saved_tensor_slice_pb2.SavedTensorSlices:
    if data is None:
        raise errors.DataLossError.of(f"{path}: {what} is not in the table: it is no checkpoint of the V1 format, or damaged")
    record = saved_tensor_slice_pb2.SavedTensorSlices()
    try:
        record.ParseFromString(data)
    except DecodeError as error:
        raise errors.DataLossError.of(f"{path}: {what} cannot be read") from error
    return record


def paths_of_slices(prefix: str) -> list[str]:
    """Return the files of the V1 checkpoint at `prefix`, a file's name or the pattern of several."""
    if files.exists(prefix) and not files.is_directory(prefix):
        return [prefix]
    return [path for path in files.matching(prefix) if not files.is_directory(path)]


CheckpointFile: TypeAlias = BundleReader | SliceFileReader


def open_checkpoint(prefix: str) -> CheckpointFile:
    """Open a checkpoint of the V2 format or, where only such files are there, of the V1 format.

    Raises:
        NotFoundError: there is none.
        DataLossError: the files are damaged or something else than a checkpoint's.
    """
    if files.exists(index_filename(prefix)):
        return BundleReader(prefix)
    paths = paths_of_slices(prefix)
    return SliceFileReader(prefix) if paths and has_slices(paths[0]) else BundleReader(prefix)


def has_slices(path: str) -> bool:
    """Whether a file is a table whose first entry is that of the V1 format: a bundle's table has another.

    Raises:
        DataLossError: it ends as a table and is a damaged one.
    """
    if not _ends_as_table(path):
        return False
    header = Table(files.read_bytes(path), path).get(META_KEY)
    return header is None or header[:1] in (b"", bytes((_META_TAG,)))


def _ends_as_table(path: str) -> bool:
    """Whether a file does, of which only the end is read: data files may be large."""
    file = files.RandomAccessFile(path)
    try:
        end = np.empty(min(file.size, FOOTER_BYTES), np.uint8)
        file.read_into(file.size - end.size, end)
    finally:
        file.close()
    return end.size == FOOTER_BYTES and is_table(end.tobytes())
