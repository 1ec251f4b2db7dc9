"""Seeded changes of bytes: what bit rot, cut connections and bad writers do to a file or a frame."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence
from typing import Final

INTERESTING: Final = (0, 1, -1, 2, 7, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, -(2**31), 2**32, 2**40, 2**63 - 1, -(2**63))
_STRUCTS: Final = ("<b", "<h", "<i", "<q", ">h", ">i", ">q")


def mutate(source: random.Random, data: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Change `data` in one to four places; parts may come from `others`."""
    result = bytearray(data)
    for _ in range(source.randint(1, 4)):
        source.choice(_CHANGES)(source, result, others)
    return bytes(result)


def _flip(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    if data:
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)


def _replace(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    if data:
        data[source.randrange(len(data))] = source.randrange(256)


def _number(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    """Put a number that is a limit of something where one might be."""
    form = source.choice(_STRUCTS)
    size = struct.calcsize(form)
    if len(data) >= size:
        at = source.randrange(len(data) - size + 1)
        value = source.choice(INTERESTING) & ((1 << 8 * size) - 1)
        data[at : at + size] = value.to_bytes(size, "little" if form[0] == "<" else "big")


def _cut(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    if data:
        del data[source.randrange(len(data)) :]


def _remove(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    if data:
        low = source.randrange(len(data))
        del data[low : low + source.randint(1, 16)]


def _insert(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    at = source.randint(0, len(data))
    data[at:at] = source.randbytes(source.randint(1, 16))


def _repeat(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    if data:
        low = source.randrange(len(data))
        data[low:low] = data[low : low + source.randint(1, 64)]


def _splice(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    if others and data:
        other = source.choice(others)
        if other:
            low = source.randrange(len(other))
            part = other[low : low + source.randint(1, 64)]
            at = source.randrange(len(data))
            data[at : at + len(part)] = part


_CHANGES: Final[tuple[Callable[[random.Random, bytearray, Sequence[bytes]], None], ...]] = (
    _flip, _replace, _number, _cut, _remove, _insert, _repeat, _splice,
)  # fmt: skip
