"""The wire format of serialized Examples, read for a whole batch at once by what its records have in common.

Records of one data set mostly hold the same features in the same order, with lengths written in as many bytes. Such a layout is
learnt from one record; then one comparison of each entry's header tells for all records whether they have it, and where their
values lie. A record of no known layout is found by no layout, and left to the protocol buffer's own parser.

https://protobuf.dev/programming-guides/encoding; the messages are those of TensorFlow's example.proto and feature.proto.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from weft.framework.building.aliases import Array
from weft.ops.io.header_table import (
    AHEAD,
    BYTES,
    FIRST,
    LONGEST_HEADER,
    MOST_ADVANCED,
    NO_KIND,
    PACKED,
    PADDING,
    SECOND,
    HeaderTable,
    JoinedTables,
    header_table,
    join,
    look_up,
    look_up_all,
)

_ALL: Final = np.uint64(2**64 - 1)
# Headers that are longer, records with more entries and longer lengths have no layout: what is learnt stays small.
_MOST_ENTRIES: Final = 256
_WIDEST_LENGTH: Final = 4
# So many features are looked up at once: their tables take up to two megabytes.
_MOST_JOINED: Final = 64


class Length(NamedTuple):
    """A length in a header: its place, in how many bytes it is written, and how much it exceeds that of the values."""

    at: int
    width: int
    excess: int


class Word(NamedTuple):
    """Eight bytes of a header, to be compared where the mask has ones, less the factor times the length of the values."""

    value: np.uint64
    mask: np.uint64
    factor: np.uint64


class Entry(NamedTuple):
    """One feature: its header's size and words, whether each length in it is one byte, and the lengths, the values' last.

    Where the table is known it stands for all of these.
    """

    key: bytes
    kind: int
    size: int
    words: tuple[Word, ...]
    is_narrow: bool
    lengths: tuple[Length, ...]
    table: HeaderTable | None


class Layout(NamedTuple):
    """The entries of a record, in order, and their tables in one, where all have tables."""

    entries: tuple[Entry, ...]
    tables: JoinedTables | None


def _layout(entries: Sequence[Entry]) -> Layout:
    tables = [entry.table for entry in entries if entry.table is not None]
    is_joined = 0 < len(tables) == len(entries) <= _MOST_JOINED
    return Layout(tuple(entries), join(tables) if is_joined else None)


class Places(NamedTuple):
    """Where the values of one entry begin in each record, and how many bytes they have: `[n]` each."""

    starts: Array
    sizes: Array
    present: Array | None
    """Which records have a value; None where all that have the layout do, or none."""


class _UnknownError(Exception):
    """The record is written in a way that no layout describes."""


def learn(record: bytes) -> Layout | None:
    """The layout of a record; None where it is malformed, or none that serializers write."""
    try:
        length, _, position = _length(record, 0, FIRST)
        if position + length != len(record):
            return None
        entries: list[Entry] = []
        while position < len(record):
            entry, position = _entry(record, position)
            entries.append(entry)
    except (_UnknownError, IndexError):
        return None
    keys = {entry.key for entry in entries}
    return _layout(entries) if len(keys) == len(entries) <= _MOST_ENTRIES else None


def _length(record: bytes, position: int, tag: int) -> tuple[int, int, int]:
    """The length behind a tag, the number of its bytes, and the place behind it."""
    if record[position] != tag:
        raise _UnknownError
    value = 0
    for index in range(_WIDEST_LENGTH):
        byte = record[position + 1 + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, index + 1, position + 2 + index
    raise _UnknownError


def _entry(record: bytes, start: int) -> tuple[Entry, int]:
    """The entry at a place, and the place behind it."""
    spans: list[tuple[int, int, int]] = []

    def enter(position: int, tag: int) -> tuple[int, int]:
        length, width, inner = _length(record, position, tag)
        spans.append((inner - width - start, width, inner + length))
        return length, inner

    _, position = enter(start, FIRST)
    key_size, _, position = _length(record, position, FIRST)
    key = record[position : position + key_size]
    if not key.isascii():
        raise _UnknownError
    size, position = enter(position + key_size, SECOND)
    kind = record[position] if size else NO_KIND
    if kind not in (NO_KIND, BYTES, *PACKED):
        raise _UnknownError
    if size:
        size, position = enter(position, kind)
    if size and kind in PACKED:
        size, position = enter(position, FIRST)
    end = position + size
    if end > len(record) or position - start > LONGEST_HEADER or any(stop != end for _, _, stop in spans):
        raise _UnknownError
    # Packed numbers that are none have no length of their own: the header is always the same.
    is_fixed = not size and kind != BYTES
    lengths = () if is_fixed else tuple(Length(at, width, position - start - at - width) for at, width, _ in spans)
    return _with_words(key, kind, record[start:position], lengths), end


def _with_words(key: bytes, kind: int, header: bytes, lengths: tuple[Length, ...]) -> Entry:
    """The entry with its header in words.

    Lengths of one byte each exceed the values' length by what is known, so they are subtracted from the header's words before
    these are compared. Of wider ones only the highest bits are compared, which tell in how many bytes a length is written.
    """
    words, mask, factors = bytearray(header), bytearray(b"\xff" * len(header)), bytearray(len(header))
    is_narrow = bool(lengths) and all(length.width == 1 for length in lengths)
    for length in lengths:
        if is_narrow:
            words[length.at], factors[length.at] = length.excess, 1
        else:
            mask[length.at : length.at + length.width] = b"\x80" * length.width
    parts = [np.frombuffer(bytes(text) + bytes(-len(header) % 8), "<u8") for text in (words, mask, factors)]
    columns = tuple(Word(word & ones, ones, factor) for word, ones, factor in zip(*parts, strict=True))
    table = header_table(key, kind) if is_narrow or kind == NO_KIND else None
    return Entry(key, kind, len(header), columns, is_narrow, lengths, table)


def unified(one: Layout, other: Layout) -> Layout | None:
    """The layout of records of both, where each feature that they write differently is missing in one of them."""
    if [each.key for each in one.entries] != [each.key for each in other.entries]:
        return None
    entries: list[Entry] = []
    for pair in zip(one.entries, other.entries, strict=True):
        # The one that knows the kind first.
        known, missing = sorted(pair, key=lambda entry: entry.kind == NO_KIND)
        if known.table is None or missing.table is None or missing.kind not in (NO_KIND, known.kind):
            return None
        entries.append(known)
    return _layout(entries)


def locate(layout: Layout, data: bytes, starts: Array, ends: Array) -> tuple[Array, list[Places]]:
    """Which records of `data`, which ends with PADDING, have the layout, `[n] bool`, and where the values of its entries lie.

    The places are of use for records that have it.
    """
    head = windows(data, 8, starts)
    length, width = _written_length(head)
    position = starts + (1 + width)
    fits = (head[:, 0] == FIRST) & (length == ends - position)
    if layout.tables is not None:
        return fits, [Places(*each) for each in zip(*look_up_all(layout.tables, data, position, ends, fits), strict=True)]
    places = []
    limit = len(data) - len(PADDING)
    ahead = 0
    for entry in layout.entries:
        present = None
        if entry.table is not None:
            heads, sizes, present = look_up(entry.table, windows(data, entry.table.width, position), fits)
            position = position + heads
            ahead += MOST_ADVANCED
        else:
            header = windows(data, 8 * len(entry.words), position)
            position = position + entry.size
            sizes = _read(header, entry.lengths[-1]) if entry.lengths else np.zeros(len(starts), np.int64)
            _compare(entry, header, sizes, fits)
            ahead = AHEAD
        places.append(Places(position, sizes, present))
        position = position + sizes
        if ahead > AHEAD - MOST_ADVANCED:
            # A record of another layout may lead anywhere; one that fits never goes beyond its end.
            fits &= position <= ends
            position, ahead = np.minimum(position, limit), 0
    return fits & (position == ends), places


def _compare(entry: Entry, header: Array, sizes: Array, fits: Array) -> None:
    """Clear the marks of the records whose header is not the entry's, given the bytes of their values."""
    header_words = header.view("<u8")
    if entry.is_narrow:
        fits &= sizes < 0x80 - entry.lengths[0].excess
    else:
        for length in entry.lengths[:-1]:
            fits &= _read(header, length) == sizes + length.excess
    # A column at a time: rows of few words would take three times as long.
    for column, (word, mask, factor) in enumerate(entry.words):
        found = header_words[:, column]
        if factor:
            found = found - sizes.view(np.uint64) * factor
        if mask != _ALL:
            found = found & mask
        fits &= found == word


@lru_cache(maxsize=256)
def _bytes_type(size: int) -> np.dtype[np.void]:
    """So many bytes; elements of void type have no alignment, so that they may begin at each byte."""
    return np.dtype((np.void, size))


def windows(data: bytes, size: int, starts: Array) -> Array:
    """The `size` bytes from each of some places on: `[n, size] uint8`."""
    all_windows: Array = np.ndarray(len(data) - size + 1, _bytes_type(size), data, strides=(1,))
    return all_windows[starts].view(np.uint8).reshape(-1, size)


def _written_length(head: Array) -> tuple[Array, Array]:
    """The length of each record behind its first tag, and in how many bytes it is written."""
    value, width = head[:, 1].astype(np.int64), np.ones(len(head), np.int64)
    going_on = value >= 0x80
    for index in range(1, _WIDEST_LENGTH):
        if not going_on.any():
            break
        byte = head[:, 1 + index].astype(np.int64)
        value += ((byte - 1) << 7 * index) * going_on
        width += going_on
        going_on &= byte >= 0x80
    value[going_on] = -1
    return value, width


def _read(header: Array, length: Length) -> Array:
    value = header[:, length.at].astype(np.int64)
    if length.width > 1:
        value &= 0x7F
        for index in range(1, length.width):
            value |= (header[:, length.at + index].astype(np.int64) & 0x7F) << 7 * index
    return value
