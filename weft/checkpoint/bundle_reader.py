"""Reads a tensor bundle: `with BundleReader(prefix) as reader: value = reader.lookup("dense/kernel")`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Self, TypeVar

from tensorboard.compat.proto import types_pb2

from weft import errors
from weft.checkpoint.bundle_format import Entry, as_known_dtype, data_filename, kept_name
from weft.checkpoint.bundle_index import BundleIndex
from weft.checkpoint.entry_reader import Array, RecordReader, allocate
from weft.checkpoint.files import RandomAccessFile
from weft.checkpoint.tensor_slice import TensorSlice, check_covers
from weft.framework.types import dtypes

_T = TypeVar("_T")


class BundleReader:
    """The tensors of the checkpoint at `prefix`, read when asked for; several threads and processes may read at once.

    The index is read when the reader is made, a data file is opened at the first tensor read from it; `close`, or
    forgetting the reader, closes them.

    Raises:
        NotFoundError: there is no checkpoint at `prefix`, no tensor of that name, or a data file is missing.
        DataLossError: a file is damaged or something else than a checkpoint's; names the file and the tensor.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._index = BundleIndex(prefix)
        self._files: dict[str, RandomAccessFile] = {}
        self._opening = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the data files; a later lookup opens them again."""
        with self._opening:
            for file in self._files.values():
                file.close()
            self._files.clear()

    def keys(self) -> list[str]:
        """Return the names of all tensors, sorted; a partitioned variable has one."""
        return [name for name, _ in self._index.tensors()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def has(self, name: str) -> bool:
        """Whether there is a tensor of this name."""
        return self._index.find(name) is not None

    def dtype(self, name: str) -> dtypes.DType:
        """Return a tensor's element type."""
        entry = self._index.entry(name)
        kind = as_known_dtype(entry.dtype)
        if kind is None:
            message = f"{self._index.path}: tensor {name!r} has {entry.type_name} elements, which weft does not read"
            raise errors.UnimplementedError.of(message)
        return kind

    def shape(self, name: str) -> tuple[int, ...]:
        """Return a tensor's shape, of a partitioned variable the whole's."""
        return self._index.entry(name).shape

    def lookup(self, name: str) -> Array:
        """Return a tensor's value in memory of its own; strings as an object array of bytes."""
        entry = self._index.entry(name)
        if entry.slices:
            return self._gather(name, entry, TensorSlice.whole(entry.shape))
        return self._read(entry, name, RecordReader.read)

    def lookup_slice(self, name: str, starts: Sequence[int], sizes: Sequence[int]) -> Array:
        """Return a box of a tensor, however the tensor was cut when it was saved; a size of -1 is the whole dimension.

        Raises:
            InvalidArgumentError: the box is not inside the tensor, or not all of it was saved.
        """
        entry = self._index.entry(name)
        return self._gather(name, entry, TensorSlice(tuple(starts), tuple(sizes)).within(entry.shape, name))

    def verify(self) -> None:
        """Read all of it without keeping anything, and check every length and checksum.

        Raises:
            NotFoundError: a data file is missing.
            DataLossError: a file is damaged; names the file and the tensor.
        """
        for key, entry in self._index.records():
            name = key.decode(errors="backslashreplace")
            for piece in entry.slices:
                self._slice_record(name, entry, piece, piece.within(entry.shape, name))
            if not entry.slices:
                self._read(entry, name, RecordReader.verify)

    def debug_string(self) -> str:
        """Return a line per tensor, such as `dense/kernel (DT_FLOAT) [784,10]`."""
        lines = []
        for name, entry in self._index.tensors():
            number: types_pb2.DataType = entry.dtype
            known = entry.dtype in types_pb2.DataType.values()
            kind = types_pb2.DataType.Name(number) if known else str(entry.dtype)
            lines.append(f"{name} ({kind}) [{','.join(map(str, entry.shape))}]\n")
        return "".join(lines)

    def _gather(self, name: str, entry: Entry, wanted: TensorSlice) -> Array:
        kind = self.dtype(name)
        whole = TensorSlice.whole(entry.shape)
        if not entry.slices and wanted == whole:
            return self._read(entry, name, RecordReader.read)
        parts = list(self._parts(name, entry, wanted))
        check_covers([part for _, _, _, part in parts], wanted, name, self.prefix)
        # Before there is memory for all: a damaged record may tell any shape, its file holds what it holds.
        for record, label, _, _ in parts:
            self._read(record, label, lambda reader: None)
        out = allocate(wanted.sizes, kind)
        for record, label, stored, part in parts:
            self._read(record, label, _copying(out, wanted, stored, part))
        return out

    def _parts(self, name: str, entry: Entry, wanted: TensorSlice) -> Iterator[tuple[Entry, str, TensorSlice, TensorSlice]]:
        """The stored slices of which a box is made: the record, its name in messages, the slice, and what of it is wanted."""
        for piece in entry.slices or (TensorSlice.whole(entry.shape),):
            stored = piece.within(entry.shape, name)
            part = stored.intersect(wanted)
            if part is not None:
                record = self._slice_record(name, entry, piece, stored) if entry.slices else entry
                yield record, f"{name} {piece}", stored, part

    def _slice_record(self, name: str, entry: Entry, piece: TensorSlice, stored: TensorSlice) -> Entry:
        record = self._index.slice_entry(name, piece)
        if record.shape != stored.sizes or record.dtype != entry.dtype:
            message = (
                f"{self._index.path}: tensor {name!r} has a slice {piece} of {entry.type_name} elements, but its "
                f"record tells {record.type_name} {list(record.shape)}"
            )
            raise errors.DataLossError.of(message)
        return record

    def _read(self, entry: Entry, label: str, action: Callable[[RecordReader], _T]) -> _T:
        path = data_filename(self.prefix, entry.shard, self._index.shards)
        try:
            return action(RecordReader(self._open(path), entry, label))
        except (errors.DataLossError, errors.NotFoundError) as error:
            # While a save replaces this checkpoint, or after one died half-way, the old data are kept under this name.
            try:
                return action(RecordReader(self._open(kept_name(path)), entry, label))
            except (errors.DataLossError, errors.NotFoundError):
                raise self._with_remedy(error, path, label) from None

    def _with_remedy(self, error: errors.OpError, path: str, label: str) -> errors.OpError:
        if not isinstance(error, errors.NotFoundError):
            return error
        message = (
            f"{path}; No such file or directory: tensor {label!r} of checkpoint {self.prefix} lies in it. A checkpoint "
            "is its .index and all its .data files; tasks that save together need a file system that all of them see"
        )
        return errors.NotFoundError.of(message)

    def _open(self, path: str) -> RandomAccessFile:
        with self._opening:
            file = self._files.get(path)
            if file is None:
                file = self._files[path] = RandomAccessFile(path)
            return file


def _copying(out: Array, wanted: TensorSlice, stored: TensorSlice, part: TensorSlice) -> Callable[[RecordReader], None]:
    return lambda record: record.copy_part(out, wanted, stored, part)
