"""FarmHash's 128-bit fingerprint in Python, for machines that the compiled one has no package for. It is CityHash128."""

from __future__ import annotations

from typing import Final

from weft.ops.strings import portable_hash as parts

_K0: Final = parts.K0
_K1: Final = parts.K1
_MASK: Final = parts.MASK
_MUL: Final = 0x9DDFEA08EB382D69


def farm_hash_128(text: bytes) -> tuple[int, int]:
    """The fingerprint's low and high 64 bits."""
    begin, low, high = (0, _K0, _K1) if len(text) < 16 else (16, parts.fetch(text, 0), parts.fetch(text, 8) + _K0 & _MASK)
    size = len(text) - begin
    return _short(text, begin, size, low, high) if size < 128 else _long(text, begin, size, low, high)


def _short(text: bytes, begin: int, size: int, a: int, b: int) -> tuple[int, int]:
    if size <= 16:
        a = parts.shift_mix(a * _K1) * _K1 & _MASK
        c = b * _K1 + parts.up_to_16(text[begin:], size) & _MASK
        d = parts.shift_mix(a + (parts.fetch(text, begin) if size >= 8 else c))
    else:
        end = begin + size
        c = parts.mix(parts.fetch(text, end - 8) + _K1 & _MASK, a, _MUL)
        d = parts.mix(b + size & _MASK, c + parts.fetch(text, end - 16) & _MASK, _MUL)
        a = a + d & _MASK
        for at in range(begin, end - 16, 16):
            a = (a ^ parts.shift_mix(parts.fetch(text, at) * _K1) * _K1 & _MASK) * _K1 & _MASK
            b ^= a
            c = (c ^ parts.shift_mix(parts.fetch(text, at + 8) * _K1) * _K1 & _MASK) * _K1 & _MASK
            d ^= c
    a, b = parts.mix(a, c, _MUL), parts.mix(d, b, _MUL)
    return a ^ b, parts.mix(b, a, _MUL)


def _long(text: bytes, begin: int, size: int, x: int, y: int) -> tuple[int, int]:
    z = size * _K1 & _MASK
    first = parts.rotate(y ^ _K1, 49) * _K1 + parts.fetch(text, begin) & _MASK
    v = first, parts.rotate(first, 42) * _K1 + parts.fetch(text, begin + 8) & _MASK
    w = parts.rotate(y + z, 35) * _K1 + x & _MASK, parts.rotate(x + parts.fetch(text, begin + 88), 53) * _K1 & _MASK
    whole = begin + size // 128 * 128
    for at in range(begin, whole, 64):
        x, y, z, v, w = parts.round_of_64(text, at, x, y, z, v, w, _K1, 1)
    x = x + parts.rotate(v[0] + z, 49) * _K0 & _MASK
    y = y * _K0 + parts.rotate(w[1], 37) & _MASK
    z = z * _K0 + parts.rotate(w[0], 27) & _MASK
    w, v = (w[0] * 9 & _MASK, w[1]), (v[0] * _K0 & _MASK, v[1])
    end = begin + size
    for at in range(end - 32, whole - 32, -32):
        y = parts.rotate(x + y, 42) * _K0 + v[1] & _MASK
        w = w[0] + parts.fetch(text, at + 16) & _MASK, w[1]
        x = x * _K0 + w[0] & _MASK
        z = z + w[1] + parts.fetch(text, at) & _MASK
        w = w[0], w[1] + v[0] & _MASK
        v = parts.weak(text, at, v[0] + z, v[1])
        v = v[0] * _K0 & _MASK, v[1]
    x, y = parts.mix(x, v[0], _MUL), parts.mix(y + z & _MASK, w[0], _MUL)
    low = parts.mix(x + v[1] & _MASK, w[1], _MUL) + y & _MASK
    return low, parts.mix(x + w[1] & _MASK, y + v[1] & _MASK, _MUL)
