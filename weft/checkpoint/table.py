"""The sorted table of a checkpoint's `.index` file: LevelDB's table format, uncompressed, as TensorFlow writes it.

A table is a run of blocks and a footer. A data block holds entries in key order, each key stored as the length it
shares with the key before and the rest; every 16 entries comes a restart point with a whole key, and the block ends
with the restart points' offsets. After each block come one byte for the compression (0: none) and the masked CRC-32C
of both. The index block has one entry per data block: a key not less than its last key, and its offset and size. The
48-byte footer says where the index block is.

`TableWriter` writes the same bytes as TensorFlow's does for the same entries. `Table` holds the file's bytes and
decodes a block when it is first asked for; it may be used by several threads.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from weft import errors
from weft.checkpoint.coding import crc32c, fixed32, mask_crc, read_fixed32, read_varint, unmask_crc, varints

FOOTER_BYTES: Final = 48
_MAGIC: Final = 0xDB4775248B80FB57.to_bytes(8, "little")
_TRAILER_BYTES: Final = 5
_NO_COMPRESSION: Final = 0
_COMPRESSION_NAMES: Final = {1: "snappy"}
_RESTART_INTERVAL: Final = 16
_BLOCK_BYTES: Final = 256 * 1024


def is_table(data: bytes) -> bool:
    """Whether bytes end as a table does."""
    return data.endswith(_MAGIC)


class _ByteSink(Protocol):
    def write(self, data: bytes, /) -> object: ...


@dataclass(frozen=True, slots=True)
class _Handle:
    """Where a block lies: its offset, and its size without the trailer, in bytes."""

    offset: int
    size: int

    def encode(self) -> bytes:
        return varints((self.offset, self.size))


class _BlockBuilder:
    """Collects the entries of one block, which must come in key order."""

    def __init__(self, restart_interval: int) -> None:
        self._restart_interval = restart_interval
        self._data = bytearray()
        self._restarts = [0]
        self._since_restart = 0
        self._last_key = b""

    def add(self, key: bytes, value: bytes) -> None:
        if self._since_restart < self._restart_interval:
            shared = _shared_length(self._last_key, key)
        else:
            shared = 0
            self._restarts.append(len(self._data))
            self._since_restart = 0
        self._data += varints((shared, len(key) - shared, len(value)))
        self._data += key[shared:]
        self._data += value
        self._last_key = key
        self._since_restart += 1

    def size_estimate(self) -> int:
        return len(self._data) + 4 * len(self._restarts) + 4

    def is_empty(self) -> bool:
        return not self._data

    def finish(self) -> bytes:
        return bytes(self._data) + b"".join(map(fixed32, self._restarts)) + fixed32(len(self._restarts))


class TableWriter:
    """Writes a table to a byte sink, which stays the caller's: add entries in key order, then `finish` once."""

    def __init__(self, sink: _ByteSink, block_bytes: int = _BLOCK_BYTES) -> None:
        self._sink = sink
        self._block_bytes = block_bytes
        self._offset = 0
        self._data = _BlockBuilder(_RESTART_INTERVAL)
        self._index = _BlockBuilder(1)
        self._last_key: bytes | None = None
        self._unindexed: _Handle | None = None

    def add(self, key: bytes, value: bytes) -> None:
        """Add an entry, whose key must be greater than all before."""
        if self._last_key is not None and key <= self._last_key:
            raise ValueError(f"table keys must increase: {key!r} was added after {self._last_key!r}")
        if self._unindexed is not None:
            assert self._last_key is not None
            self._index.add(_separator(self._last_key, key), self._unindexed.encode())
            self._unindexed = None
        self._data.add(key, value)
        self._last_key = key
        if self._data.size_estimate() >= self._block_bytes:
            self._end_block()

    def finish(self) -> None:
        """Write the last block, the index and the footer."""
        if not self._data.is_empty():
            self._end_block()
        metaindex = self._write_block(_BlockBuilder(_RESTART_INTERVAL))
        if self._unindexed is not None:
            assert self._last_key is not None
            self._index.add(_successor(self._last_key), self._unindexed.encode())
        index = self._write_block(self._index)
        handles = metaindex.encode() + index.encode()
        self._sink.write(handles.ljust(FOOTER_BYTES - len(_MAGIC), b"\0") + _MAGIC)

    def _end_block(self) -> None:
        self._unindexed = self._write_block(self._data)
        self._data = _BlockBuilder(_RESTART_INTERVAL)

    def _write_block(self, builder: _BlockBuilder) -> _Handle:
        contents = builder.finish()
        handle = _Handle(self._offset, len(contents))
        typed = contents + bytes((_NO_COMPRESSION,))
        self._sink.write(typed + fixed32(mask_crc(crc32c(typed))))
        self._offset += len(contents) + _TRAILER_BYTES
        return handle


@dataclass(frozen=True, slots=True)
class _Block:
    keys: list[bytes]
    values: list[bytes]


class Table:
    """A table's entries, decoded from the bytes of a whole file; `name` is the file's, for messages.

    Raises:
        DataLossError: the bytes are no table, or a checksum does not match; raised when the damage is reached.
        UnimplementedError: a block is compressed.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self._data = data
        self._name = name
        self._limit = len(data) - FOOTER_BYTES
        metaindex, index = self._read_footer()
        self._read_block(metaindex)
        entries = self._read_block(index)
        self._last_keys = entries.keys
        self._handles = [self._decode_handles(value, 1)[0] for value in entries.values]
        self._blocks: dict[int, _Block] = {}

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key, None when it is not there."""
        number = bisect_left(self._last_keys, key)
        if number == len(self._handles):
            return None
        block = self._block(number)
        position = bisect_left(block.keys, key)
        if position == len(block.keys) or block.keys[position] != key:
            return None
        return block.values[position]

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """Iterate over all keys and values in key order."""
        for number in range(len(self._handles)):
            block = self._block(number)
            yield from zip(block.keys, block.values, strict=True)

    def _block(self, number: int) -> _Block:
        # Two threads may decode the same block at once; both get the same entries.
        block = self._blocks.get(number)
        if block is None:
            block = self._blocks[number] = self._read_block(self._handles[number])
        return block

    def _damage(self, what: str) -> errors.OpError:
        return errors.DataLossError.of(f"{self._name}: the table is damaged: {what}")

    def _read_footer(self) -> tuple[_Handle, _Handle]:
        if self._limit < 0:
            what = f"file is too short to be an sstable: {len(self._data)} bytes, a footer alone has {FOOTER_BYTES}"
            raise errors.DataLossError.of(f"{self._name}: {what}")
        footer = self._data[self._limit :]
        if not footer.endswith(_MAGIC):
            what = f"not an sstable (bad magic number): the last 8 bytes are {footer[-8:].hex()}, not {_MAGIC.hex()}"
            raise errors.DataLossError.of(f"{self._name}: {what}")
        metaindex, index = self._decode_handles(footer[: -len(_MAGIC)], 2)
        return metaindex, index

    def _decode_handles(self, data: bytes, count: int) -> list[_Handle]:
        numbers: list[int] = []
        offset = 0
        try:
            for _ in range(2 * count):
                number, offset = read_varint(data, offset)
                numbers.append(number)
        except ValueError as error:
            raise self._damage(f"a block's place cannot be read ({error})") from error
        if any(data[offset:]):
            raise self._damage("there are bytes after a block's place that should be zero")
        return [_Handle(numbers[i], numbers[i + 1]) for i in range(0, 2 * count, 2)]

    def _read_block(self, handle: _Handle) -> _Block:
        end = handle.offset + handle.size
        where = f"block at {handle.offset} of {handle.size} bytes"
        if end + _TRAILER_BYTES > self._limit:
            raise self._damage(f"the {where} reaches beyond the blocks' end at {self._limit}; the file may be cut off")
        typed = self._data[handle.offset : end + 1]
        stored = unmask_crc(read_fixed32(self._data, end + 1))
        found = crc32c(typed)
        if stored != found:
            raise self._damage(f"block checksum mismatch: the {where} has {found:#010x}, expected is {stored:#010x}")
        compression = typed[-1]
        if compression != _NO_COMPRESSION:
            name = _COMPRESSION_NAMES.get(compression, f"number {compression}")
            message = f"{self._name}: the {where} is compressed ({name}); weft reads uncompressed tables only"
            raise errors.UnimplementedError.of(message)
        try:
            return _decode_block(typed[:-1])
        except ValueError as error:
            raise self._damage(f"the {where} has an entry that cannot be read ({error})") from error


def _decode_block(data: bytes) -> _Block:
    """Decode all entries of a block; ValueError when they are malformed."""
    restarts = read_fixed32(data, len(data) - 4)
    end = len(data) - 4 - 4 * restarts
    if end < 0:
        raise ValueError(f"{restarts} restart points do not fit in {len(data)} bytes")
    block = _Block([], [])
    key = b""
    offset = 0
    while offset < end:
        shared, offset = read_varint(data, offset)
        unshared, offset = read_varint(data, offset)
        value_size, offset = read_varint(data, offset)
        value_start = offset + unshared
        if shared > len(key) or value_start + value_size > end:
            raise ValueError(f"entry before {offset} has lengths {shared}, {unshared}, {value_size}")
        key = key[:shared] + data[offset:value_start]
        offset = value_start + value_size
        block.keys.append(key)
        block.values.append(data[value_start:offset])
    return block


def _shared_length(a: bytes, b: bytes) -> int:
    limit = min(len(a), len(b))
    if a[:limit] == b[:limit]:
        return limit
    return next(i for i in range(limit) if a[i] != b[i])


def _separator(last: bytes, following: bytes) -> bytes:
    """Return a short key that is not less than `last` and less than `following`."""
    shared = _shared_length(last, following)
    if shared < min(len(last), len(following)):
        byte = last[shared]
        if byte < 0xFF and byte + 1 < following[shared]:
            return last[:shared] + bytes((byte + 1,))
    return last


def _successor(last: bytes) -> bytes:
    """Return a short key that is not less than `last`."""
    for position, byte in enumerate(last):
        if byte < 0xFF:
            return last[:position] + bytes((byte + 1,))
    return last
