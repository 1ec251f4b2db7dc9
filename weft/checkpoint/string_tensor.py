"""How a bundle stores a tensor of strings: the lengths as varints, a checksum of the lengths, then the strings' bytes.

The checksums run over the lengths as fixed-width integers (32 bits where that suffices), not over their varints; the
tensor's own checksum goes on over the stored length checksum and the strings.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from weft.checkpoint.coding import crc32c, fixed32, mask_crc, read_fixed32, read_varint, unmask_crc, varints

SHORTEST_BYTES: Final = 4
"""What a tensor of strings takes without any: the checksum of the lengths. Each string takes one byte at least."""

_LARGEST_SHORT_LENGTH: Final = 0xFFFFFFFF


@dataclass(frozen=True)
class EncodedStrings:
    """A string tensor ready to be written: its pieces in order, their bytes together, and the tensor's checksum."""

    pieces: Sequence[bytes]
    size: int
    crc: int


def encode_strings(strings: Sequence[bytes]) -> EncodedStrings:
    """Encode the elements of a string tensor, in row-major order; the strings themselves are not copied."""
    lengths = [len(string) for string in strings]
    length_crc = _crc_of_lengths(lengths)
    head = varints(lengths)
    checksum = fixed32(mask_crc(length_crc))
    crc = crc32c(checksum, length_crc)
    for string in strings:
        crc = crc32c(string, crc)
    return EncodedStrings((head, checksum, *strings), len(head) + len(checksum) + sum(lengths), crc)


def decode_strings(data: bytes, count: int) -> tuple[npt.NDArray[Any], int]:
    """Decode `count` strings: a flat object array, and the checksum that the tensor's record should have.

    Raises:
        ValueError: the data do not hold that many strings, or the lengths' checksum does not match.
    """
    lengths: list[int] = []
    offset = 0
    for _ in range(count):
        length, offset = read_varint(data, offset)
        lengths.append(length)
    found = _crc_of_lengths(lengths)
    stored = unmask_crc(read_fixed32(data, offset))
    if found != stored:
        raise ValueError(f"the string lengths have checksum {found:#010x}, expected is {stored:#010x}")
    crc = crc32c(data[offset : offset + 4], found)
    crc = crc32c(data[offset + 4 :], crc)
    if offset + 4 + sum(lengths) != len(data):
        raise ValueError(f"the strings have {sum(lengths)} bytes, there are {len(data) - offset - 4}")
    strings = np.empty(count, np.object_)
    strings[:] = list(_cut(data, offset + 4, lengths))
    return strings, crc


def _cut(data: bytes, offset: int, lengths: Sequence[int]) -> Iterator[bytes]:
    for length in lengths:
        yield data[offset : offset + length]
        offset += length


def _crc_of_lengths(lengths: Sequence[int]) -> int:
    if all(length <= _LARGEST_SHORT_LENGTH for length in lengths):
        return crc32c(struct.pack(f"<{len(lengths)}I", *lengths))
    crc = 0
    for length in lengths:
        crc = crc32c(struct.pack("<I" if length <= _LARGEST_SHORT_LENGTH else "<Q", length), crc)
    return crc
