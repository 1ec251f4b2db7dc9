"""Philox4x32-10 in array code: the counter-based generator of TensorFlow, on NumPy and in compiled stages alike.

A stream is a key and the upper half of a 128-bit counter; block `i` of a stream is four 32-bit words that depend on
nothing else, so any part of it can be computed at once. Words are kept in uint64 arrays, with values below 2**32.

J. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC11.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from weft.framework.aliases import Array, ArrayModule
from weft.ops.random.pieces import Scratch

_MULTIPLIERS: Final = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
_ROUNDS: Final = 10
# Fixed numbers that TensorFlow mixes user seeds of stateless ops with.
_SCRAMBLE_KEY: Final = (np.uint64(0x3EC8F720), np.uint64(0x02461E29))
_MASK: Final = np.uint64(0xFFFFFFFF)
_SHIFT: Final = np.uint64(32)


def _operand(value: int | np.uint64) -> Array:
    """An operand of NumPy's functions, which take 0.1 µs less for an array than for a number."""
    return np.array(value, np.uint64)


_FACTORS: Final = tuple(_operand(each) for each in _MULTIPLIERS)
_LOW, _HALF = _operand(_MASK), _operand(_SHIFT)

Words: TypeAlias = tuple[Array, Array, Array, Array]
_RoundKey: TypeAlias = tuple[Array, Array]


class Stream(NamedTuple):
    """One sequence of blocks: the two words of the key, the two upper words of the counter. Scalars, uint64."""

    key: tuple[Array, Array]
    upper: tuple[Array, Array]


def _halves(value: Array) -> tuple[Array, Array]:
    return value & _MASK, value >> _SHIFT


def stream_of_seeds(seed: int, seed2: int) -> Stream:
    """The stream of a stateful op: the first seed is the key, the second one the upper half of the counter."""
    return Stream(_halves(np.uint64(seed & 0xFFFFFFFFFFFFFFFF)), _halves(np.uint64(seed2 & 0xFFFFFFFFFFFFFFFF)))


def stream_of_seed_tensor(xp: ArrayModule, seed: Array) -> Stream:
    """The stream of a stateless op, whose seed `[2]` is mixed first so that either half of it may be weak."""
    first, second = (xp.asarray(seed[i]).astype(np.uint64) for i in range(2))
    mixed = _rounds(_halves(first), _halves(second), _SCRAMBLE_KEY)
    return Stream((mixed[0], mixed[1]), (mixed[2], mixed[3]))


def stream_of_key(key: Array, upper: Array) -> Stream:
    """The stream of a key and an upper half of the counter, scalars of uint64."""
    return Stream(_halves(key), _halves(upper))


def joined(halves: tuple[Array, Array]) -> Array:
    """The uint64 of its lower and its upper half."""
    return halves[0] | halves[1] << _SHIFT


def blocks(stream: Stream, index: Array, scratch: Scratch | None = None) -> Words:
    """The four words of the blocks that `index` (an array of uint64) names, each as an array of that shape.

    With `scratch` the words are arrays of its, numbers 0 to 3: they last until its next use.
    """
    if isinstance(index, np.ndarray) and index.ndim:
        return _rounds_in_place(index, stream, scratch or Scratch(index.size))
    return _rounds(_halves(index), stream.upper, stream.key)


def _rounds(lower: tuple[Array, Array], upper: tuple[Array, Array], key: tuple[Array, Array]) -> Words:
    c0, c1 = lower
    c2, c3 = upper
    k0, k1 = key
    for step in range(_ROUNDS):
        if step:
            k0 = (k0 + np.uint64(_KEY_STEPS[0])) & _MASK
            k1 = (k1 + np.uint64(_KEY_STEPS[1])) & _MASK
        p0 = c0 * _MULTIPLIERS[0]
        p1 = c2 * _MULTIPLIERS[1]
        c0, c1, c2, c3 = (p1 >> _SHIFT) ^ (c1 ^ k0), p1 & _MASK, (p0 >> _SHIFT) ^ (c3 ^ k1), p0 & _MASK
    return c0, c1, c2, c3


def _rounds_in_place(index: Array, stream: Stream, scratch: Scratch) -> Words:
    """The same on NumPy, without an array for each step: 11 ns a block instead of 95 (two cores, November 2026)."""
    words = c0, c1, c2, c3 = tuple(scratch.array(number, index.shape) for number in range(4))
    products = p0, p1 = scratch.array(4, index.shape), scratch.array(5, index.shape)
    np.bitwise_and(index, _LOW, out=c0)
    np.right_shift(index, _HALF, out=c1)
    keys = _round_keys(int(stream.key[0]), int(stream.key[1]))
    if c1.size and not (c1 != c1.flat[0]).any():
        _begin_with_one_upper(words, (int(c1.flat[0]), int(stream.upper[0]), int(stream.upper[1])), keys[:2], products)
        keys = keys[2:]
    else:
        c2[...], c3[...] = stream.upper
    for k0, k1 in keys:
        np.multiply(c0, _FACTORS[0], out=p0)
        np.multiply(c2, _FACTORS[1], out=p1)
        np.right_shift(p1, _HALF, out=c0)
        np.bitwise_xor(c0, c1, out=c0)
        np.bitwise_xor(c0, k0, out=c0)
        np.bitwise_and(p1, _LOW, out=c1)
        np.right_shift(p0, _HALF, out=c2)
        np.bitwise_xor(c2, c3, out=c2)
        np.bitwise_xor(c2, k1, out=c2)
        np.bitwise_and(p0, _LOW, out=c3)
    return words


def _begin_with_one_upper(
    words: Words, upper: tuple[int, int, int], keys: Sequence[_RoundKey], products: tuple[Array, Array]
) -> None:
    """The first two rounds of blocks that differ in the lowest word of their counters alone: half of each is one for all."""
    c0, c1, c2, c3 = words
    p0, p1 = products
    (first0, first1), (second0, second1) = ((int(k0), int(k1)) for k0, k1 in keys)
    product = upper[1] * int(_MULTIPLIERS[1])
    common0, common1 = (product >> 32) ^ upper[0] ^ first0, product & 0xFFFFFFFF
    np.multiply(c0, _FACTORS[0], out=p0)
    np.right_shift(p0, _HALF, out=c2)
    np.bitwise_xor(c2, _operand(upper[2] ^ first1), out=c2)
    np.bitwise_and(p0, _LOW, out=c3)
    product = common0 * int(_MULTIPLIERS[0])
    np.multiply(c2, _FACTORS[1], out=p1)
    np.right_shift(p1, _HALF, out=c0)
    np.bitwise_xor(c0, _operand(common1 ^ second0), out=c0)
    np.bitwise_and(p1, _LOW, out=c1)
    np.bitwise_xor(c3, _operand((product >> 32) ^ second1), out=c2)
    c3[...] = _operand(product & 0xFFFFFFFF)


@functools.lru_cache(maxsize=64)
def _round_keys(first: int, second: int) -> Sequence[_RoundKey]:
    return [
        (_operand(first + step * _KEY_STEPS[0] & 0xFFFFFFFF), _operand(second + step * _KEY_STEPS[1] & 0xFFFFFFFF))
        for step in range(_ROUNDS)
    ]
