"""HeaderTable: what one feature of a serialized Example looks like, for each length that its value may have in one byte.

Nearly all features of numbers, words and short lists are so. The byte with the length then tells all: the header that has to
stand there, where the values begin and how many bytes they have. Of a batch these are looked up at once. An example without a
value for a feature, whose header ends early, is one more row of its table and needs no layout of its own.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from weft.framework.aliases import Array

# The field numbers of Feature's kinds, as the tag of a length-delimited field: bytes_list, float_list, int64_list.
BYTES, FLOATS, INTEGERS = 0x0A, 0x12, 0x1A
NO_KIND: Final = 0
PACKED: Final = (FLOATS, INTEGERS)
FIRST, SECOND = 0x0A, 0x12
_NARROW: Final = 0x80
# How many words a header may have, and what a row of so many comparisons is when all of them hold, as one number.
_EQUAL: Final = {1: np.uint8(0x01), 2: np.uint16(0x0101), 4: np.uint32(0x01010101), 8: np.uint64(0x0101010101010101)}
MOST_ADVANCED: Final = _NARROW + 2
"""How many bytes a feature has at most with its header."""


class HeaderTable(NamedTuple):
    """By the byte `at` which the value's length is: the words of the header and which of their bits count `[256, words]`, how
    long the header is, and how many bytes the values have `[256]`."""

    at: int
    words: Array
    masks: Array
    heads: Array
    sizes: Array

    @property
    def width(self) -> int:
        """How many bytes are to be looked at."""
        return 8 * int(self.words.shape[1])


def header_table(key: bytes, kind: int) -> HeaderTable | None:
    """The table of a feature; None where its header is too long."""
    texts: dict[int, tuple[bytes, int]] = {}
    for length in range(_NARROW):
        found = _header(key, kind, length)
        if found is not None:
            texts[length] = found
    longest = max((len(text) for text, _ in texts.values()), default=0)
    count = next((count for count in _EQUAL if 8 * count >= longest), 0)
    if not texts or not count:
        return None
    # No header begins with a zero, which the other rows ask for.
    words, masks = np.zeros((256, 8 * count), np.uint8), np.full((256, 8 * count), 0xFF, np.uint8)
    heads, sizes = np.zeros(256, np.int64), np.zeros(256, np.int64)
    for length, (text, size) in texts.items():
        words[length, : len(text)] = np.frombuffer(text, np.uint8)
        masks[length, len(text) :] = 0
        heads[length], sizes[length] = len(text), size
    return HeaderTable(4 + len(key) + 1, words.view("<u8"), masks.view("<u8"), heads, sizes)


def _header(key: bytes, kind: int, length: int) -> tuple[bytes, int] | None:
    """The header of a feature whose value has that length, and how many bytes of values follow; None where none has."""
    entry = len(key) + 4 + length
    if entry >= _NARROW:
        return None
    text = bytes((FIRST, entry, FIRST, len(key))) + key + bytes((SECOND, length))
    if length == 0:
        return text, 0
    if kind == NO_KIND or length == 1:
        return None
    size = length - 2
    text += bytes((kind, size))
    if size == 0 or kind not in PACKED:
        return text, size
    return None if size == 1 else (text + bytes((FIRST, size - 2)), size - 2)


def look_up(table: HeaderTable, header: Array, fits: Array) -> tuple[Array, Array, Array]:
    """Clear the marks of records with another header; its size, the bytes of values, and whether there is a value.

    Args:
        table: the feature's.
        header: as many bytes as the table looks at `[n, width] uint8`.
        fits: the marks `[n] bool`.
    """
    length = header[:, table.at].astype(np.intp)
    is_same = (header.view("<u8") & table.masks.take(length, axis=0)) == table.words.take(length, axis=0)
    width = is_same.shape[1]
    fits &= is_same.view(f"u{width}")[:, 0] == _EQUAL[width]
    return table.heads.take(length), table.sizes.take(length), length > 0
