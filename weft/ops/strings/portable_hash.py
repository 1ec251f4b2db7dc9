"""FarmHash64, SipHash-2-4 and MurmurHash64A in Python, for machines that the compiled ones have no package for."""

from __future__ import annotations

from typing import Final

_MASK: Final = (1 << 64) - 1
_K0: Final = 0xC3A5C85C97CB3127
_K1: Final = 0xB492B66FBE98F273
_K2: Final = 0x9AE16A3B2F90404F


def _fetch(text: bytes, at: int) -> int:
    return int.from_bytes(text[at : at + 8], "little")


def _rotate(value: int, shift: int) -> int:
    value &= _MASK
    return (value >> shift | value << (64 - shift)) & _MASK


def _shift_mix(value: int) -> int:
    value &= _MASK
    return value ^ value >> 47


def _mix(u: int, v: int, mul: int) -> int:
    a = _shift_mix((u ^ v) * mul)
    b = _shift_mix((v ^ a) * mul)
    return b * mul & _MASK


def farm_hash_64(text: bytes) -> int:
    """FarmHash's 64-bit fingerprint (its portable `na` form)."""
    size = len(text)
    if size <= 16:
        return _up_to_16(text, size)
    if size <= 32:
        return _up_to_32(text, size)
    return _up_to_64(text, size) if size <= 64 else _long(text, size)


def _up_to_16(text: bytes, size: int) -> int:
    mul = _K2 + size * 2
    if size >= 8:
        a, b = _fetch(text, 0) + _K2, _fetch(text, size - 8)
        return _mix(_rotate(b, 37) * mul + a & _MASK, (_rotate(a, 25) + b) * mul & _MASK, mul)
    if size >= 4:
        a = int.from_bytes(text[:4], "little")
        return _mix(size + (a << 3), int.from_bytes(text[size - 4 :], "little"), mul)
    if size:
        y, z = text[0] + (text[size >> 1] << 8), size + (text[size - 1] << 2)
        return _shift_mix(y * _K2 ^ z * _K0) * _K2 & _MASK
    return _K2


def _up_to_32(text: bytes, size: int) -> int:
    mul = _K2 + size * 2
    a, b = _fetch(text, 0) * _K1, _fetch(text, 8)
    c, d = _fetch(text, size - 8) * mul, _fetch(text, size - 16) * _K2
    return _mix(_rotate(a + b, 43) + _rotate(c, 30) + d & _MASK, a + _rotate(b + _K2, 18) + c & _MASK, mul)


def _up_to_64(text: bytes, size: int) -> int:
    mul = _K2 + size * 2
    a, b = _fetch(text, 0) * _K2, _fetch(text, 8)
    c, d = _fetch(text, size - 8) * mul, _fetch(text, size - 16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d & _MASK
    z = _mix(y, a + _rotate(b + _K2, 18) + c & _MASK, mul)
    e, f = _fetch(text, 16) * mul, _fetch(text, 24)
    g, h = (y + _fetch(text, size - 32)) * mul, (z + _fetch(text, size - 24)) * mul
    return _mix(_rotate(e + f, 43) + _rotate(g, 30) + h & _MASK, e + _rotate(f + a, 18) + g & _MASK, mul)


def _weak(text: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = (_fetch(text, at + step) for step in (0, 8, 16, 24))
    a += w
    b = _rotate(b + a + z, 21)
    c = a
    a += x + y
    b += _rotate(a, 44)
    return a + z & _MASK, b + c & _MASK


def _long(text: bytes, size: int) -> int:
    x, y = 81, 81 * _K1 + 113 & _MASK
    z = _shift_mix(y * _K2 + 113) * _K2 & _MASK
    v, w = (0, 0), (0, 0)
    x = x * _K2 + _fetch(text, 0) & _MASK
    for at in range(0, (size - 1) // 64 * 64, 64):
        x, y, z, v, w = _round(text, at, x, y, z, v, w, _K1, 1)
    mul = _K1 + ((z & 0xFF) << 1)
    first = w[0] + (size - 1 & 63)
    v = (v[0] + first, v[1])
    w = (first + v[0], w[1])
    x, y, z, v, w = _round(text, size - 64, x, y, z, v, w, mul, 9)
    return _mix(_mix(v[0], w[0], mul) + _shift_mix(y) * _K0 + z & _MASK, _mix(v[1], w[1], mul) + x & _MASK, mul)


def _round(
    text: bytes, at: int, x: int, y: int, z: int, v: tuple[int, int], w: tuple[int, int], mul: int, weight: int
) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    x = _rotate(x + y + v[0] + _fetch(text, at + 8), 37) * mul & _MASK
    y = _rotate(y + v[1] + _fetch(text, at + 48), 42) * mul & _MASK
    x ^= w[1] * weight & _MASK
    y = y + v[0] * weight + _fetch(text, at + 40) & _MASK
    z = _rotate(z + w[0], 33) * mul & _MASK
    v = _weak(text, at, v[1] * mul, x + w[0])
    w = _weak(text, at + 32, z + w[1], y + _fetch(text, at + 16))
    return z, y, x, v, w


def sip_hash(key: bytes, text: bytes) -> int:
    """SipHash-2-4 of the text with a key of 16 bytes."""
    k0, k1 = _fetch(key, 0), _fetch(key, 8)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    whole = len(text) // 8 * 8
    words = [_fetch(text, at) for at in range(0, whole, 8)]
    words.append(int.from_bytes(text[whole:], "little") | (len(text) & 0xFF) << 56)
    for word in words:
        v[3] ^= word
        _sip_rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xFF
    _sip_rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _sip_rounds(v: list[int], count: int) -> None:
    for _ in range(count):
        v[0] = v[0] + v[1] & _MASK
        v[1] = _rotate(v[1], 51) ^ v[0]
        v[0] = _rotate(v[0], 32)
        v[2] = v[2] + v[3] & _MASK
        v[3] = _rotate(v[3], 48) ^ v[2]
        v[0] = v[0] + v[3] & _MASK
        v[3] = _rotate(v[3], 43) ^ v[0]
        v[2] = v[2] + v[1] & _MASK
        v[1] = _rotate(v[1], 47) ^ v[2]
        v[2] = _rotate(v[2], 32)


def murmur_hash_64(text: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """MurmurHash64A of the text."""
    m, whole = 0xC6A4A7935BD1E995, len(text) // 8 * 8
    h = seed ^ len(text) * m & _MASK
    for at in range(0, whole, 8):
        k = _fetch(text, at) * m & _MASK
        k = (k ^ k >> 47) * m & _MASK
        h = (h ^ k) * m & _MASK
    if whole != len(text):
        h = (h ^ int.from_bytes(text[whole:], "little")) * m & _MASK
    h = (h ^ h >> 47) * m & _MASK
    return h ^ h >> 47
