"""Writes a tensor bundle: `with BundleWriter(prefix) as writer: writer.add("dense/kernel", array)`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Final, Self

import numpy as np

from weft import errors
from weft.checkpoint import files
from weft.checkpoint.bundle_format import Entry, data_filename, index_filename
from weft.checkpoint.bundle_index import write_index
from weft.checkpoint.coding import crc32c, mask_crc
from weft.checkpoint.commit import Move, publish, settle
from weft.checkpoint.entry_reader import Array, byte_view
from weft.checkpoint.leftovers import Claim
from weft.checkpoint.string_tensor import encode_strings
from weft.checkpoint.tensor_slice import SLICE_KEY_START, TensorSlice, slice_key
from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.types import dtypes, tensor_util

# Small enough that the write finds in the cache what the checksum just read.
_CHUNK_BYTES: Final = 1 << 20


class BundleWriter:
    """A checkpoint being written at `prefix`, with one data file; used by one thread.

    Tensors are written as they are added, without a copy where they are contiguous. Nothing is at `prefix` until
    `finish`, which leaves the old checkpoint or the whole new one there whatever happens. As a context manager it
    finishes, or abandons what it wrote when the body raises.

    Args:
        prefix: the checkpoint's path without suffix. Its directory is made, but not the one above.
        sync: wait until the files have reached the disk, so that they survive a crash of the machine.
    """

    def __init__(self, prefix: str, *, sync: bool = True) -> None:
        self.prefix = prefix
        self._sync = sync
        self._entries: dict[bytes, Entry] = {}
        files.make_directory_of(prefix)
        self._path = data_filename(prefix, 0, 1)
        tag = files.unique_tag()
        self._temporary = files.temporary_name(self._path, tag)
        self._temporary_index = files.temporary_name(index_filename(prefix), tag)
        self._file = files.create(self._temporary)
        self._claim = Claim(self._temporary)
        self._offset = 0
        self._open = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exc_type: type[BaseException] | None, *rest: object) -> None:
        if exc_type is None:
            self.finish()
        else:
            self.abandon()

    def add(self, name: str, value: TensorLike, dtype: DTypeLike | None = None) -> None:
        """Write a tensor: an array, or a Python value by TensorFlow's rules.

        `dtype` need only be given where the array cannot tell it, as for quantized integers.

        Raises:
            InvalidArgumentError: there is a tensor of that name, or the name is none.
        """
        key = self._new_key(name.encode(), name)
        if key.startswith(SLICE_KEY_START) or not key:
            raise errors.InvalidArgumentError.of(f"{name!r} cannot be the name of a tensor in a checkpoint")
        self._entries[key] = self._append(_as_array(value), dtype)

    def add_slice(
        self, full_name: str, full_shape: Sequence[int], starts: Sequence[int], sizes: Sequence[int], value: TensorLike,
        dtype: DTypeLike | None = None,
    ) -> None:  # fmt: skip
        """Write a part of a partitioned variable, whose box in the whole is `starts` and `sizes` (-1: all of it).

        Raises:
            InvalidArgumentError: the box is not inside `full_shape`, the array does not fit it, it was added before, or
                other parts had another shape or type.
        """
        shape = tuple(full_shape)
        piece = TensorSlice(tuple(starts), tuple(sizes))
        stored = piece.within(shape, full_name)
        array = _as_array(value)
        if array.shape != stored.sizes:
            message = (
                f"Tensor {full_name!r}: slice {piece} of shape {list(shape)} needs an array of shape "
                f"{list(stored.sizes)}, but it is {list(array.shape)}"
            )
            raise errors.InvalidArgumentError.of(message)
        if stored == TensorSlice.whole(shape):
            self.add(full_name, array, dtype)
            return
        key = self._new_key(slice_key(full_name, piece), f"{full_name} {piece}")
        whole = self._whole_entry(full_name, shape, _kind(array, dtype).as_datatype_enum)
        self._entries[key] = self._append(array, dtype)
        slices = (*whole.slices, piece)
        self._entries[full_name.encode()] = Entry(whole.dtype, shape, slices=slices)

    def finish(self) -> None:
        """Put the checkpoint in its place; the writer is done, also when this raises."""
        self._check_open()
        try:
            files.close_durably(self._file, self._temporary, self._sync)
            write_index(self._temporary_index, 1, self._entries, self._sync)
            settle(self.prefix, ())
            publish(self.prefix, [Move(self._temporary, self._path)], self._temporary_index, self._sync)
        except BaseException:
            self.abandon()
            raise
        self._open = False
        self._claim.release()

    def abandon(self) -> None:
        """Remove what was written; the checkpoint at `prefix` is as it was."""
        self._open = False
        with contextlib.suppress(OSError):
            self._file.close()
        self._claim.release()
        files.remove_if_exists(self._temporary)
        files.remove_if_exists(self._temporary_index)

    def _check_open(self) -> None:
        if not self._open:
            message = f"the writer of checkpoint {self.prefix} has finished or failed; make another"
            raise errors.FailedPreconditionError.of(message)

    def _new_key(self, key: bytes, label: str) -> bytes:
        self._check_open()
        if key in self._entries:
            raise errors.InvalidArgumentError.of(f"Adding duplicate key: {label}")
        return key

    def _whole_entry(self, name: str, shape: tuple[int, ...], dtype: int) -> Entry:
        whole = self._entries.get(name.encode())
        if whole is None:
            return Entry(dtype, shape)
        if not whole.slices:
            message = f"Adding duplicate key: a slice of {name} came, which is there as a whole"
            raise errors.InvalidArgumentError.of(message)
        if (whole.dtype, whole.shape) != (dtype, shape):
            found = Entry(dtype, shape)
            message = (
                f"Tensor {name!r}: its slices before are of {whole.type_name} {list(whole.shape)}, "
                f"this one is of {found.type_name} {list(shape)}"
            )
            raise errors.InvalidArgumentError.of(message)
        return whole

    def _append(self, array: Array, dtype: DTypeLike | None) -> Entry:
        kind = _kind(array, dtype)
        try:
            size, crc = self._write_strings(array) if kind is dtypes.string else self._write_numbers(array)
        except BaseException:
            # The file's position is unknown now: this checkpoint cannot be completed.
            self.abandon()
            raise
        entry = Entry(kind.as_datatype_enum, array.shape, 0, self._offset, size, mask_crc(crc))
        self._offset += size
        return entry

    def _write_numbers(self, array: Array) -> tuple[int, int]:
        data = byte_view(np.ascontiguousarray(array, array.dtype.newbyteorder("=")))
        crc = 0
        for start in range(0, len(data), _CHUNK_BYTES):
            chunk = data[start : start + _CHUNK_BYTES]
            crc = crc32c(chunk, crc)
            files.write(self._file, self._temporary, chunk.data)
        return len(data), crc

    def _write_strings(self, array: Array) -> tuple[int, int]:
        encoded = encode_strings(array.ravel().tolist())
        for piece in encoded.pieces:
            files.write(self._file, self._temporary, memoryview(piece))
        return encoded.size, encoded.crc


def _as_array(value: TensorLike) -> Array:
    array: Array = np.asarray(value) if hasattr(value, "dtype") else tensor_util.as_array(value)
    return tensor_util.as_array(array) if array.dtype.kind in "SUO" else array


def _kind(array: Array, dtype: DTypeLike | None) -> dtypes.DType:
    own = dtypes.as_dtype(array.dtype)
    if dtype is None:
        return own
    kind = dtypes.as_dtype(dtype).base_dtype
    if kind.as_numpy_dtype != own.as_numpy_dtype:
        raise errors.InvalidArgumentError.of(f"an array of {own.name} cannot be stored as {kind.name}")
    return kind
