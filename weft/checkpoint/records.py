"""TFRecord: byte strings in a file, each with its length and checksums, the whole compressed or not.

A record is its length (64 bits, little-endian), the masked CRC-32C of these 8 bytes, the data, and the masked CRC-32C
of the data.
"""

from __future__ import annotations

import itertools
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, NamedTuple, Protocol

import google_crc32c
import numpy as np
import numpy.typing as npt

from weft.checkpoint.coding import crc32c, mask_crc, mask_crcs
from weft.errors import DataLossError, InvalidArgumentError
from weft.platform.files import gfile

_LENGTH: Final = struct.Struct("<Q")
_CRC: Final = struct.Struct("<I")
_HEADER: Final = struct.Struct("<QI")
_BLOCK_BYTES: Final = 1 << 18
# At once, whatever length a damaged file tells.
_MOST_BYTES: Final = 1 << 28
# What zlib takes for "window bits": 15 with its own header, or that of gzip.
_WINDOW_BITS: Final = {"ZLIB": 15, "GZIP": 31}

_CUT_OFF: Final = ": the file ends within it. Was the writer closed, or is the file still being written or copied?"
_NO_RECORDS: Final = ". Is it a file of TFRecords, and is compression_type (GZIP, ZLIB) the one that it was written with?"


class Readable(Protocol):
    """A source that is read forward: a file, or a stream that decompresses one."""

    def read(self, n: int) -> Any:
        """Up to n bytes; fewer at the end only."""
        ...


def as_record(data: bytes) -> bytes:
    """The record of some bytes."""
    length = _LENGTH.pack(len(data))
    return b"".join((length, _CRC.pack(mask_crc(crc32c(length))), data, _CRC.pack(mask_crc(crc32c(data)))))


# The lengths behind headers that were found whole: records of one file have few lengths, and to look one up takes a third of
# unpacking it and its checksum.
_LENGTHS: Final[dict[bytes, int]] = {}
_MOST_LENGTHS: Final = 1 << 14


def _length_of(header: bytes) -> int | None:
    """The length of a record by its header of 12 bytes; None where that does not fit its checksum."""
    length, checksum = _HEADER.unpack(header)
    if mask_crc(crc32c(_LENGTH.pack(length))) != checksum:
        return None
    if len(_LENGTHS) >= _MOST_LENGTHS:
        _LENGTHS.clear()
    _LENGTHS[header] = length
    return int(length)


def read_records(stream: Readable, path: str) -> Iterator[bytes]:
    """The records of a stream from its beginning, which is read in blocks.

    Raises:
        DataLossError: a record is cut off or its checksums do not fit; those before it have been given.
    """
    # The records of a block together cost half of the CPU of records that a generator makes one by one.
    return itertools.chain.from_iterable(_blocks(stream, path))


def _blocks(stream: Readable, path: str) -> Iterator[list[bytes]]:
    data, start, passed = b"", 0, 0  # what was read and not passed, where in it the next record begins, how much was passed
    while True:
        found = _split(data, start)
        whole = _whole(found)
        if whole:
            yield found.records[:whole]
        if whole < len(found.records):
            damaged = passed + start + sum(map(record_bytes, found.records[:whole]))
            raise DataLossError.of(f"corrupted record at {damaged} in {path}: its data do not fit their checksum")
        start = found.end
        if found.missing == 0:
            offset = passed + start
            hint = _NO_RECORDS if offset == 0 else ""
            raise DataLossError.of(f"corrupted record at {offset} in {path}: its length does not fit its checksum{hint}")
        more = stream.read(min(max(found.missing, _BLOCK_BYTES), _MOST_BYTES))
        if not more:
            if start < len(data):
                raise DataLossError.of(f"truncated record at {passed + start} in {path}{_CUT_OFF}")
            return
        data, start, passed = data[start:] + more, 0, passed + start


class _Split(NamedTuple):
    """The records that lie whole in some data, the checksums behind them, where the last one ends, and how many bytes the next
    one lacks; 0 where its length is damaged."""

    records: list[bytes]
    checksums: npt.NDArray[np.uint32]
    end: int
    missing: int


def _split(data: bytes, start: int) -> _Split:
    records: list[bytes] = []
    first, last, missing = start, len(data) - _CRC.size, _HEADER.size
    known = _LENGTHS.get
    while (begin := start + _HEADER.size) <= len(data):
        header = data[start:begin]
        length = known(header)
        if length is None:
            length = _length_of(header)
            if length is None:
                missing = 0
                break
        stop = begin + length
        if stop > last:
            missing = stop - last
            break
        records.append(data[begin:stop])
        start = stop + _CRC.size
    return _Split(records, _checksums(data, first, records), start, missing)


def _checksums(data: bytes, start: int, records: list[bytes]) -> npt.NDArray[np.uint32]:
    """The checksums behind the records that lie in the data from a place on."""
    if not records:
        return np.empty(0, np.uint32)
    sizes = np.fromiter(map(len, records), np.int64, len(records))
    ends = start + np.cumsum(sizes + (_HEADER.size + _CRC.size))
    found: npt.NDArray[np.uint32] = np.ndarray(len(data) - _CRC.size + 1, "<u4", data, strides=(1,))[ends - _CRC.size]
    return found


def _whole(found: _Split) -> int:
    """How many of the records fit their checksums, up to the first that does not."""
    expected = np.fromiter(map(google_crc32c.value, found.records), np.uint32, len(found.records))
    differs = mask_crcs(expected) != found.checksums
    return int(differs.argmax()) if differs.any() else len(found.records)


def record_bytes(data: bytes) -> int:
    """How many bytes the record of some bytes takes before compression."""
    return _HEADER.size + len(data) + _CRC.size


def records(path: str, compression: str = "") -> Iterator[bytes]:
    """The records of a file; DataLossError where it is damaged."""
    with gfile.GFile(path, "rb") as file:
        yield from read_records(open_stream(file, compression, path), path)


def open_stream(file: Any, compression: str, path: str) -> Readable:
    """A file opened for reading, or the stream that decompresses it."""
    check_compression(compression)
    return Decompressed(file, compression, path) if compression else file


def check_compression(compression: str) -> None:
    """Refuse a kind of compression other than none (""), ZLIB and GZIP."""
    if compression and compression not in _WINDOW_BITS:
        raise InvalidArgumentError.of(f"Unsupported compression type {compression!r}; it must be '', 'ZLIB' or 'GZIP'")


class Decompressed:
    """A compressed file read forward; several compressed parts after each other read as one."""

    def __init__(self, file: BinaryIO, compression: str, path: str) -> None:
        self._file = file
        self._bits = _WINDOW_BITS[compression]
        self._path = path
        self._decoder = zlib.decompressobj(self._bits)
        self._pending = b""

    def read(self, n: int) -> bytes:
        """Up to n bytes of what was compressed; fewer at the end only."""
        parts: list[bytes] = []
        while n > 0:
            if not self._pending and not self._fill():
                break
            parts.append(self._pending[:n])
            self._pending = self._pending[n:]
            n -= len(parts[-1])
        return b"".join(parts)

    def _fill(self) -> bool:
        """Decompress until there is something; False at the end."""
        while not self._pending:
            if self._decoder.eof:
                source = self._decoder.unused_data
                self._decoder = zlib.decompressobj(self._bits)
            else:
                source = self._decoder.unconsumed_tail
            source = source or self._file.read(_BLOCK_BYTES)
            if not source:
                return False
            try:
                self._pending = self._decoder.decompress(source, _BLOCK_BYTES)
            except zlib.error as error:
                raise DataLossError.of(
                    f"{self._path} cannot be decompressed: {error}. Was it written with this compression_type? It is None "
                    "for a file without"
                ) from error
        return True


class CompressionSettings(Protocol):
    """How to compress; None leaves zlib's choice."""

    compression_level: int | None
    compression_method: int | None
    window_bits: int | None
    mem_level: int | None
    compression_strategy: int | None


def compressor(compression: str, settings: CompressionSettings | None = None) -> Any:
    """zlib's object that compresses, or None for no compression."""
    check_compression(compression)
    if not compression:
        return None

    def chosen(name: str, default: int) -> int:
        value = getattr(settings, name, None)
        return default if value is None else int(value)

    bits = chosen("window_bits", 15)
    return zlib.compressobj(
        chosen("compression_level", zlib.Z_DEFAULT_COMPRESSION),
        chosen("compression_method", zlib.DEFLATED),
        bits + 16 if compression == "GZIP" and 0 < bits <= 15 else bits,
        chosen("mem_level", zlib.DEF_MEM_LEVEL),
        chosen("compression_strategy", zlib.Z_DEFAULT_STRATEGY),
    )
