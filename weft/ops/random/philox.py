"""Philox4x32-10 in array code: the counter-based generator of TensorFlow, on NumPy and in compiled stages alike.

A stream is a key and the upper half of a 128-bit counter; block `i` of a stream is four 32-bit words that depend on
nothing else, so any part of it can be computed at once. Words are kept in uint64 arrays, with values below 2**32.

J. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC11.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule
from weft.ops.random.pieces import Scratch

_MULTIPLIERS: Final = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
_ROUNDS: Final = 10
BLOCK_BYTES: Final = 16
FEW: Final = 4
"""Of so many blocks or fewer, such as the one of a number drawn for an image or an action, NumPy does not make the words."""
# Fixed numbers that TensorFlow mixes user seeds of stateless ops with.
_SCRAMBLE_KEY: Final = (np.uint64(0x3EC8F720), np.uint64(0x02461E29))
_MASK: Final = np.uint64(0xFFFFFFFF)
_SHIFT: Final = np.uint64(32)
# Where the halves of a number lie in memory.
_EARLIER: Final = 1 if sys.byteorder == "little" else 0
_LATER: Final = 1 - _EARLIER


def _operand(value: int | np.uint64) -> Array:
    """An operand of NumPy's functions, which take 0.1 µs less for an array than for a number."""
    return np.array(value, np.uint64)


_FIRST_FACTOR, _SECOND_FACTOR = map(int, _MULTIPLIERS)
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


@functools.lru_cache(maxsize=1024)
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
    """The four words of the blocks that `index` (an array of uint64) names, each as an array of that shape; by a scratch if one
    is given."""
    if isinstance(index, np.ndarray) and index.ndim:
        halves = words32(stream, index.ravel(), scratch or Scratch(index.size))
        first, second, third, fourth = (half.astype(np.uint64).reshape(index.shape) for half in halves)
        return first, second, third, fourth
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


def words32(stream: Stream, index: Array, scratch: Scratch) -> Words:
    """The same on NumPy as uint32, of an `index` of one dimension, in arrays of the scratch: they last until its next use.

    A pair of words is one number, the earlier in its upper half. The upper half of what a word is multiplied to goes to the
    earlier word of the other pair, the lower one to the later, so both stay where they are, and no half is cut out. That takes
    less memory for each block, and allows larger pieces: a uniform number takes 4.1 ns instead of 4.5, a truncated one 12.9
    instead of 14.3; with an array for each step a uniform one took 24 (two loaded cores, in turns, November 2026).
    """
    if index.size <= FEW:
        return _words_of_few(stream, index)
    pairs = first, second = scratch.array(0, (2, index.size))
    products = first_product, second_product = scratch.array(1, (2, index.size))
    keys = _round_keys(int(stream.key[0]), int(stream.key[1]))
    np.right_shift(index, _HALF, second)
    if index.size and not (second != second[0]).any():
        upper = int(second[0])
        _begin_with_one_upper(pairs, index, (upper, int(stream.upper[0]), int(stream.upper[1])), keys[:2])
        keys = keys[2:]
    else:
        np.left_shift(index, _HALF, first)
        np.bitwise_or(first, second, first)
        second[...] = stream.upper[0] << _SHIFT | stream.upper[1]
    all_pairs, all_products = pairs.ravel(), products.ravel()
    factor, other_factor = _FACTORS
    right_shift, left_shift, multiply, xor = np.right_shift, np.left_shift, np.multiply, np.bitwise_xor
    for key, other_key in keys:
        right_shift(all_pairs, _HALF, all_products)
        multiply(first_product, factor, first_product)
        multiply(second_product, other_factor, second_product)
        left_shift(all_pairs, _HALF, all_pairs)
        xor(first, second_product, first)
        xor(second, first_product, second)
        xor(first, key, first)
        xor(second, other_key, second)
    words = pairs.view(np.uint32)
    return words[0, _EARLIER::2], words[0, _LATER::2], words[1, _EARLIER::2], words[1, _LATER::2]


def _words_of_few(stream: Stream, index: Array) -> Words:
    words = np.array(few_words(stream, index.tolist()), np.uint32).reshape(index.size, 4)
    return words[:, 0], words[:, 1], words[:, 2], words[:, 3]


def few_words(stream: Stream, index: Iterable[int]) -> list[int]:
    """The words of a few blocks one after the other, by Python's numbers.

    That takes 3 µs a block, where NumPy's functions take 50 for any few (one core, November 2026).
    """
    key, other_key = map(int, stream.key)
    upper, last = map(int, stream.upper)
    keys = _few_keys(key, other_key)
    words: list[int] = []
    for start in index:
        c0, c1, c2, c3 = start & 0xFFFFFFFF, start >> 32, upper, last
        for k0, k1 in keys:
            p0, p1 = c0 * _FIRST_FACTOR, c2 * _SECOND_FACTOR
            c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 & 0xFFFFFFFF, p0 >> 32 ^ c3 ^ k1, p0 & 0xFFFFFFFF
        words += (c0, c1, c2, c3)
    return words


def _begin_with_one_upper(pairs: Array, index: Array, upper: tuple[int, int, int], keys: Sequence[_RoundKey]) -> None:
    """The first two rounds of blocks that differ in the lowest word of their counters alone: half of each is one for all."""
    first, second = pairs
    (key, other_key), (later_key, later_other_key) = ((int(one), int(other)) for one, other in keys)
    np.bitwise_and(index, _LOW, second)
    np.multiply(second, _FACTORS[0], second)
    np.bitwise_xor(second, _operand(upper[2] << 32 ^ other_key), second)
    common = upper[1] * int(_MULTIPLIERS[1]) ^ upper[0] << 32 ^ key
    np.right_shift(second, _HALF, first)
    np.multiply(first, _FACTORS[1], first)
    np.bitwise_xor(first, _operand((common & 0xFFFFFFFF) << 32 ^ later_key), first)
    np.left_shift(second, _HALF, second)
    np.bitwise_xor(second, _operand((common >> 32) * int(_MULTIPLIERS[0]) ^ later_other_key), second)


@functools.lru_cache(maxsize=64)
def _few_keys(first: int, second: int) -> Sequence[tuple[int, int]]:
    """The keys of the rounds."""
    return [(first + step * _KEY_STEPS[0] & 0xFFFFFFFF, second + step * _KEY_STEPS[1] & 0xFFFFFFFF) for step in range(_ROUNDS)]


@functools.lru_cache(maxsize=64)
def _round_keys(first: int, second: int) -> Sequence[_RoundKey]:
    """The keys of the rounds, in the upper halves."""
    return [(_operand(key << 32), _operand(other << 32)) for key, other in _few_keys(first, second)]
