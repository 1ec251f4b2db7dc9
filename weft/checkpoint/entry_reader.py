"""Reads the bytes of one record of a bundle out of a data file, and checks them: length, then CRC-32C.

Numbers go from the file straight into the memory of the array that is returned, which is aligned to 64 bytes so that
it can become a JAX array without a copy. A failure is a DataLossError that names the file and the tensor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from weft import errors
from weft.checkpoint.bundle_format import Entry, as_known_dtype
from weft.checkpoint.coding import crc32c, unmask_crc
from weft.checkpoint.files import Bytes, RandomAccessFile
from weft.checkpoint.string_tensor import SHORTEST_BYTES, decode_strings
from weft.checkpoint.tensor_slice import TensorSlice
from weft.framework.types import dtypes
from weft.platform.machine.aligned_memory import aligned_empty

Array = npt.NDArray[Any]

# Small enough that the checksum finds in the cache what was just read.
_CHUNK_BYTES: Final = 1 << 20
_BLOCK_BYTES: Final = 4 << 20


class RecordReader:
    """Reads one record from one file, from its start to its end; `label` names the tensor in messages.

    Raises:
        DataLossError: the record says another length than its shape needs, or more than the file has; so nothing is allocated
            that the file could not fill.
        UnimplementedError: its elements are of a type that weft does not read.
    """

    def __init__(self, file: RandomAccessFile, entry: Entry, label: str) -> None:
        self._file = file
        self._entry = entry
        self._label = label
        self._kind = _dtype_of(entry, label, file.path)
        self._done = 0
        self._crc = 0
        self._check_lengths()

    def read(self) -> Array:
        """Return the record's array."""
        if self._kind is dtypes.string:
            return self._read_strings()
        out = allocate(self._entry.shape, self._kind)
        self.read_into(out)
        return out

    def read_into(self, out: Array) -> None:
        """Fill a contiguous array with the whole record, which holds numbers."""
        self._check_size(out.nbytes)
        self._next(byte_view(out))
        self._check_crc(self._crc)

    def copy_part(self, out: Array, wanted: TensorSlice, stored: TensorSlice, part: TensorSlice) -> None:
        """Copy `part` of the record, which holds the slice `stored`, to its place in `out`, which holds `wanted`.

        All of the record is read, as its checksum needs it, but never more than a few rows are held.
        """
        target = out[part.relative_to(wanted)]
        if self._kind is dtypes.string:
            target[...] = self._read_strings()[part.relative_to(stored)]
        elif part == stored and target.flags.c_contiguous:
            self.read_into(target)
        else:
            for block in _row_blocks(stored, self._kind.size):
                rows = np.empty(block.sizes, self._kind.as_numpy_dtype)
                self._next(byte_view(rows))
                here = block.intersect(part)
                if here is not None:
                    out[here.relative_to(wanted)] = rows[here.relative_to(block)]
            self._check_crc(self._crc)

    def verify(self) -> None:
        """Read and check the record without keeping it."""
        if self._kind is dtypes.string:
            self._read_strings()
            return
        left = self._entry.size
        while left:
            left -= len(self._next(np.empty(min(left, _CHUNK_BYTES), np.uint8)))
        self._check_crc(self._crc)

    def _read_strings(self) -> Array:
        raw = np.empty(self._entry.size, np.uint8)
        self._next(raw)
        try:
            strings, crc = decode_strings(raw.tobytes(), math.prod(self._entry.shape))
        except ValueError as error:
            raise self._damage(str(error)) from error
        self._check_crc(crc)
        return strings.reshape(self._entry.shape)

    def _next(self, buffer: Bytes) -> Bytes:
        for start in range(0, len(buffer), _CHUNK_BYTES):
            chunk = buffer[start : start + _CHUNK_BYTES]
            position = self._entry.offset + self._done
            count = self._file.read_into(position, chunk)
            if count < len(chunk):
                raise self._damage(
                    f"the file ends at byte {position + count}, the tensor at {self._entry.offset + self._entry.size}"
                )
            self._crc = crc32c(chunk, self._crc)
            self._done += count
        return buffer

    def _check_lengths(self) -> None:
        elements, size, end = math.prod(self._entry.shape), self._entry.size, self._entry.offset + self._entry.size
        if end > self._file.size:
            raise self._damage(f"the file ends at byte {self._file.size}, the tensor at {end}")
        if self._kind is not dtypes.string:
            self._check_size(elements * self._kind.size)
        elif size < elements + SHORTEST_BYTES:
            raise self._damage(f"its record tells {size} bytes, too few for {elements} strings")

    def _check_size(self, size: int) -> None:
        if size != self._entry.size:
            shape = list(self._entry.shape)
            raise self._damage(f"its record tells {self._entry.size} bytes, but {self._kind.name} {shape} has {size}")

    def _check_crc(self, found: int) -> None:
        stored = unmask_crc(self._entry.crc)
        if found != stored:
            first, end = self._entry.offset, self._entry.offset + self._entry.size
            raise self._damage(
                f"Checksum does not match: stored {stored:#010x}, calculated {found:#010x} over bytes {first} to {end}"
            )

    def _damage(self, what: str) -> errors.OpError:
        return errors.DataLossError.of(f"{self._file.path}: tensor {self._label!r} is damaged: {what}")


def allocate(shape: tuple[int, ...], kind: dtypes.DType) -> Array:
    """Make an array of undefined contents, numbers aligned to 64 bytes."""
    array: Array = aligned_empty(shape, kind.as_numpy_dtype)
    return array


def byte_view(array: Array) -> Bytes:
    """Return the memory of a contiguous array of numbers as bytes."""
    return array.reshape(-1).view(np.uint8)


def _dtype_of(entry: Entry, label: str, path: str) -> dtypes.DType:
    kind = as_known_dtype(entry.dtype)
    if kind is None or kind in (dtypes.resource, dtypes.variant):
        message = f"{path}: tensor {label!r} has {entry.type_name} elements, which weft does not read"
        raise errors.UnimplementedError.of(message)
    return kind


def _row_blocks(stored: TensorSlice, item_bytes: int) -> Iterator[TensorSlice]:
    """Cut a slice of rank 1 or more into runs of whole rows, in order."""
    row_bytes = math.prod(stored.sizes[1:]) * item_bytes
    step = max(1, _BLOCK_BYTES // max(1, row_bytes))
    first, rows = stored.starts[0], stored.sizes[0]
    for start in range(0, rows, step):
        yield TensorSlice((first + start, *stored.starts[1:]), (min(step, rows - start), *stored.sizes[1:]))
