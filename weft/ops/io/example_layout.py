"""The wire format of serialized Examples, read for a whole batch at once by what its records have in common.

Records of one data set mostly hold the same features in the same order, with lengths written in as many bytes. Such a layout is
learnt from one record; then one comparison of each entry's header tells for all records whether they have it, and where their
values lie. A record of no known layout is found by no layout, and left to the protocol buffer's own parser.

https://protobuf.dev/programming-guides/encoding; the messages are those of TensorFlow's example.proto and feature.proto.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from weft.framework.aliases import Array

# The field numbers of Feature's kinds, as the tag of a length-delimited field: bytes_list, float_list, int64_list.
BYTES, FLOATS, INTEGERS = 0x0A, 0x12, 0x1A
NO_KIND: Final = 0
_FIRST, _SECOND = 0x0A, 0x12
_ALL: Final = np.uint64(2**64 - 1)
_PACKED: Final = (FLOATS, INTEGERS)
# Headers that are longer, records with more entries and longer lengths have no layout: what is learnt stays small.
_LONGEST_HEADER: Final = 128
_MOST_ENTRIES: Final = 256
_WIDEST_LENGTH: Final = 4


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
    """One feature: its header's size and words, whether each length in it is one byte, and the lengths, the values' last."""

    key: bytes
    kind: int
    size: int
    words: tuple[Word, ...]
    is_narrow: bool
    lengths: tuple[Length, ...]


class Layout(NamedTuple):
    """The entries of a record, in order, and in how many bytes their common length is written."""

    width: int
    entries: tuple[Entry, ...]


class Places(NamedTuple):
    """Where the values of one entry begin in each record, and how many bytes they have: `[n]` each."""

    starts: Array
    sizes: Array


class _UnknownError(Exception):
    """The record is written in a way that no layout describes."""


def learn(record: bytes) -> Layout | None:
    """The layout of a record; None where it is malformed, or none that serializers write."""
    try:
        length, width, position = _length(record, 0, _FIRST)
        if position + length != len(record):
            return None
        entries: list[Entry] = []
        while position < len(record):
            entry, position = _entry(record, position)
            entries.append(entry)
    except (_UnknownError, IndexError):
        return None
    keys = {entry.key for entry in entries}
    return Layout(width, tuple(entries)) if len(keys) == len(entries) <= _MOST_ENTRIES else None


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

    _, position = enter(start, _FIRST)
    key_size, _, position = _length(record, position, _FIRST)
    key = record[position : position + key_size]
    if not key.isascii():
        raise _UnknownError
    size, position = enter(position + key_size, _SECOND)
    kind = record[position] if size else NO_KIND
    if kind not in (NO_KIND, BYTES, *_PACKED):
        raise _UnknownError
    if size:
        size, position = enter(position, kind)
    if size and kind in _PACKED:
        size, position = enter(position, _FIRST)
    end = position + size
    if end > len(record) or position - start > _LONGEST_HEADER or any(stop != end for _, _, stop in spans):
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
    return Entry(key, kind, len(header), columns, is_narrow, lengths)


PADDING: Final = bytes(_LONGEST_HEADER + 16)


def locate(layout: Layout, data: bytes, starts: Array, ends: Array) -> tuple[Array, list[Places]]:
    """Which records of `data`, which ends with PADDING, have the layout, `[n] bool`, and where the values of its entries lie.

    The places are of use for records that have it.
    """
    position = starts + (1 + layout.width)
    head = windows(data, 8, starts)
    fits = (head[:, 0] == _FIRST) & (_read(head, Length(1, layout.width, 0)) == ends - position)
    places = []
    limit = len(data) - len(PADDING)
    for entry in layout.entries:
        header = windows(data, 8 * len(entry.words), position)
        position = position + entry.size
        sizes = _read(header, entry.lengths[-1]) if entry.lengths else np.zeros(len(starts), np.int64)
        _compare(entry, header, sizes, fits)
        places.append(Places(position, sizes))
        position = position + sizes
        # A record of another layout may lead anywhere; one that fits never goes beyond its end.
        fits &= position <= ends
        position = np.minimum(position, limit)
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


def windows(data: bytes, size: int, starts: Array) -> Array:
    """The `size` bytes from each of some places on: `[n, size] uint8`."""
    # Elements of void type have no alignment, so that they may begin at each byte.
    all_windows = np.ndarray(len(data) - size + 1, f"V{size}", data, strides=(1,))
    return all_windows[starts].view(np.uint8).reshape(-1, size)


def _read(header: Array, length: Length) -> Array:
    value = header[:, length.at].astype(np.int64)
    if length.width > 1:
        value &= 0x7F
        for index in range(1, length.width):
            value |= (header[:, length.at + index].astype(np.int64) & 0x7F) << 7 * index
    return value
