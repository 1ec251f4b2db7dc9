"""The byte codes of LevelDB's files: varints, fixed 32-bit integers and masked CRC-32C checksums.

A checksum is stored masked because a CRC over data that itself contains CRCs is weak (LevelDB, `doc/table_format.md`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final

import google_crc32c
import numpy as np
import numpy.typing as npt

_MASK_DELTA: Final = 0xA282EAD8
_UINT32: Final = 0xFFFFFFFF
_FIXED32: Final = struct.Struct("<I")
_MAX_VARINT_BYTES: Final = 10


def crc32c(data: object, start: int = 0) -> int:
    """Return the CRC-32C `start` continued over `data`: bytes, or a contiguous uint8 array, which is not copied."""
    return int(google_crc32c.extend(start, data))


def mask_crc(crc: int) -> int:
    """Return the form in which a checksum is stored."""
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & _UINT32


def mask_crcs(crcs: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return the forms in which checksums are stored."""
    return ((crcs >> np.uint32(15)) | (crcs << np.uint32(17))) + np.uint32(_MASK_DELTA)


def unmask_crc(masked: int) -> int:
    """Return the checksum that `mask_crc` masked."""
    rotated = (masked - _MASK_DELTA) & _UINT32
    return ((rotated >> 17) | (rotated << 15)) & _UINT32


def fixed32(value: int) -> bytes:
    """Encode an unsigned 32-bit integer, little-endian."""
    return _FIXED32.pack(value)


def read_fixed32(data: bytes, offset: int) -> int:
    """Decode an unsigned 32-bit integer; ValueError when the data end before."""
    if offset < 0 or offset + 4 > len(data):
        raise ValueError(f"a 32-bit integer at {offset} exceeds the {len(data)} bytes there are")
    return int(_FIXED32.unpack_from(data, offset)[0])


def varint(value: int) -> bytes:
    """Encode an unsigned integer in seven-bit groups, the least significant first."""
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def varints(values: Iterable[int]) -> bytes:
    """Encode several unsigned integers one after the other."""
    return b"".join(map(varint, values))


def read_varint(data: bytes, offset: int) -> tuple[int, int]:
    """Decode an unsigned integer at `offset`: its value and the offset after it; ValueError when there is none."""
    value = 0
    for position in range(offset, min(offset + _MAX_VARINT_BYTES, len(data))):
        byte = data[position]
        value |= (byte & 0x7F) << (7 * (position - offset))
        if byte < 0x80:
            return value, position + 1
    raise ValueError(f"no complete varint at {offset} of {len(data)} bytes")
