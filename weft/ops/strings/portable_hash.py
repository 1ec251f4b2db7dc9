"""FarmHash64, SipHash-2-4 and MurmurHash64A in Python, for machines that the compiled ones have no package for."""

from __future__ import annotations

from typing import Final

MASK: Final = (1 << 64) - 1
K0: Final = 0xC3A5C85C97CB3127
K1: Final = 0xB492B66FBE98F273
K2: Final = 0x9AE16A3B2F90404F


def fetch(text: bytes, at: int) -> int:
    """The 8 bytes at a place, as a number."""
    return int.from_bytes(text[at : at + 8], "little")


def rotate(value: int, shift: int) -> int:
    """The low 64 bits, turned to the right."""
    value &= MASK
    return (value >> shift | value << (64 - shift)) & MASK


def shift_mix(value: int) -> int:
    """The low 64 bits, the highest of them mixed into the lowest."""
    value &= MASK
    return value ^ value >> 47


def mix(u: int, v: int, mul: int) -> int:
    """One number out of two."""
    a = shift_mix((u ^ v) * mul)
    b = shift_mix((v ^ a) * mul)
    return b * mul & MASK


def farm_hash_64(text: bytes) -> int:
    """FarmHash's 64-bit fingerprint (its portable `na` form)."""
    size = len(text)
    if size <= 16:
        return up_to_16(text, size)
    if size <= 32:
        return _up_to_32(text, size)
    return _up_to_64(text, size) if size <= 64 else _long(text, size)


def up_to_16(text: bytes, size: int) -> int:
    """The fingerprint of a text of at most 16 bytes."""
    mul = K2 + size * 2
    if size >= 8:
        a, b = fetch(text, 0) + K2, fetch(text, size - 8)
        return mix(rotate(b, 37) * mul + a & MASK, (rotate(a, 25) + b) * mul & MASK, mul)
    if size >= 4:
        a = int.from_bytes(text[:4], "little")
        return mix(size + (a << 3), int.from_bytes(text[size - 4 :], "little"), mul)
    if size:
        y, z = text[0] + (text[size >> 1] << 8), size + (text[size - 1] << 2)
        return shift_mix(y * K2 ^ z * K0) * K2 & MASK
    return K2


def _up_to_32(text: bytes, size: int) -> int:
    mul = K2 + size * 2
    a, b = fetch(text, 0) * K1, fetch(text, 8)
    c, d = fetch(text, size - 8) * mul, fetch(text, size - 16) * K2
    return mix(rotate(a + b, 43) + rotate(c, 30) + d & MASK, a + rotate(b + K2, 18) + c & MASK, mul)


def _up_to_64(text: bytes, size: int) -> int:
    mul = K2 + size * 2
    a, b = fetch(text, 0) * K2, fetch(text, 8)
    c, d = fetch(text, size - 8) * mul, fetch(text, size - 16) * K2
    y = rotate(a + b, 43) + rotate(c, 30) + d & MASK
    z = mix(y, a + rotate(b + K2, 18) + c & MASK, mul)
    e, f = fetch(text, 16) * mul, fetch(text, 24)
    g, h = (y + fetch(text, size - 32)) * mul, (z + fetch(text, size - 24)) * mul
    return mix(rotate(e + f, 43) + rotate(g, 30) + h & MASK, e + rotate(f + a, 18) + g & MASK, mul)


def weak(text: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Two numbers out of the 32 bytes at a place and of two others."""
    w, x, y, z = (fetch(text, at + step) for step in (0, 8, 16, 24))
    a += w
    b = rotate(b + a + z, 21)
    c = a
    a += x + y
    b += rotate(a, 44)
    return a + z & MASK, b + c & MASK


def _long(text: bytes, size: int) -> int:
    x, y = 81, 81 * K1 + 113 & MASK
    z = shift_mix(y * K2 + 113) * K2 & MASK
    v, w = (0, 0), (0, 0)
    x = x * K2 + fetch(text, 0) & MASK
    for at in range(0, (size - 1) // 64 * 64, 64):
        x, y, z, v, w = round_of_64(text, at, x, y, z, v, w, K1, 1)
    mul = K1 + ((z & 0xFF) << 1)
    first = w[0] + (size - 1 & 63)
    v = (v[0] + first, v[1])
    w = (first + v[0], w[1])
    x, y, z, v, w = round_of_64(text, size - 64, x, y, z, v, w, mul, 9)
    return mix(mix(v[0], w[0], mul) + shift_mix(y) * K0 + z & MASK, mix(v[1], w[1], mul) + x & MASK, mul)


def round_of_64(
    text: bytes, at: int, x: int, y: int, z: int, v: tuple[int, int], w: tuple[int, int], mul: int, weight: int
) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    """The state of seven numbers behind the 64 bytes at a place."""
    x = rotate(x + y + v[0] + fetch(text, at + 8), 37) * mul & MASK
    y = rotate(y + v[1] + fetch(text, at + 48), 42) * mul & MASK
    x ^= w[1] * weight & MASK
    y = y + v[0] * weight + fetch(text, at + 40) & MASK
    z = rotate(z + w[0], 33) * mul & MASK
    v = weak(text, at, v[1] * mul, x + w[0])
    w = weak(text, at + 32, z + w[1], y + fetch(text, at + 16))
    return z, y, x, v, w


def sip_hash(key: bytes, text: bytes) -> int:
    """SipHash-2-4 of the text with a key of 16 bytes."""
    k0, k1 = fetch(key, 0), fetch(key, 8)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    whole = len(text) // 8 * 8
    words = [fetch(text, at) for at in range(0, whole, 8)]
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
        v[0] = v[0] + v[1] & MASK
        v[1] = rotate(v[1], 51) ^ v[0]
        v[0] = rotate(v[0], 32)
        v[2] = v[2] + v[3] & MASK
        v[3] = rotate(v[3], 48) ^ v[2]
        v[0] = v[0] + v[3] & MASK
        v[3] = rotate(v[3], 43) ^ v[0]
        v[2] = v[2] + v[1] & MASK
        v[1] = rotate(v[1], 47) ^ v[2]
        v[2] = rotate(v[2], 32)


def murmur_hash_64(text: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """MurmurHash64A of the text."""
    m, whole = 0xC6A4A7935BD1E995, len(text) // 8 * 8
    h = seed ^ len(text) * m & MASK
    for at in range(0, whole, 8):
        k = fetch(text, at) * m & MASK
        k = (k ^ k >> 47) * m & MASK
        h = (h ^ k) * m & MASK
    if whole != len(text):
        h = (h ^ int.from_bytes(text[whole:], "little")) * m & MASK
    h = (h ^ h >> 47) * m & MASK
    return h ^ h >> 47
