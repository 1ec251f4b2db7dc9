"""Samples of the basic distributions from a Philox stream, with the numbers that TensorFlow's CPU kernels give.

Output `i` is made from words of the stream that depend on `i` alone. NumPy works through the blocks in pieces that fit the
processor's cache, on all cores; a compiled stage takes them in one expression.

Nanoseconds of CPU for each of 43 million float32 initial values, the best of four runs: compiled by XLA -> on NumPy; TensorFlow
2.21 (two cores with other work, November 2026). The first runs take 10 to 30 more where the memory is new to the process.

    uniform              35 -> 14      6.0
    normal               57 -> 17      15.7
    truncated normal    122 -> 56      25.7
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from ml_dtypes import bfloat16

from weft.errors import InvalidArgumentError
from weft.framework.aliases import Array, ArrayModule
from weft.ops.random import philox
from weft.ops.random.philox import Stream
from weft.ops.random.pieces import for_pieces
from weft.platform.jax_modules import jax

# How many blocks a rejection method may use for each group of outputs.
_RESERVED: Final = 256
_EPSILON: Final = 1.0e-7
_LIMIT: Final = 2.0

Words = tuple[Array, Array, Array, Array]


@dataclass(frozen=True)
class Rule:
    """How one block becomes `per_block` values of `dtype`."""

    per_block: int
    dtype: Array
    convert: Callable[[Array, Words], tuple[Array, ...]]
    fill: Callable[[Array, Words], None] | None = None
    """Fills rows of values in one go on NumPy, with the same numbers, where that is faster."""


def _unit_float32(word: Array) -> Array:
    """In [0, 1): the low 23 bits are the mantissa of a number in [1, 2)."""
    return ((word & np.uint64(0x7FFFFF)) | np.uint64(0x3F800000)).astype(np.uint32).view(np.float32) - np.float32(1)


def _unit_float64(high: Array, low: Array) -> Array:
    mantissa = ((high & np.uint64(0xFFFFF)) << np.uint64(32)) | low
    return (mantissa | np.uint64(0x3FF0000000000000)).view(np.float64) - np.float64(1)


def _unit_half(word: Array, dtype: npt.DTypeLike, mask: int, one: int) -> Array:
    return ((word & np.uint64(mask)) | np.uint64(one)).astype(np.uint16).view(dtype) - np.ones((), dtype)


def _uniform_float32(xp: ArrayModule, words: Words) -> tuple[Array, ...]:
    return tuple(_unit_float32(word) for word in words)


def _fill_uniform_float32(rows: Array, words: Words) -> None:
    """Both words of a pair are written at once, and become numbers where they lie."""
    pairs = rows.view(np.uint64)
    for column in range(2):
        np.bitwise_or(words[2 * column], words[2 * column + 1] << np.uint64(32), out=pairs[:, column])
    bits = rows.view(np.uint32)
    bits &= np.uint32(0x7FFFFF)
    bits |= np.uint32(0x3F800000)
    rows -= np.float32(1)


def _uniform_float64(xp: ArrayModule, words: Words) -> tuple[Array, ...]:
    return _unit_float64(words[0], words[1]), _unit_float64(words[2], words[3])


def _uniform_float16(xp: ArrayModule, words: Words) -> tuple[Array, ...]:
    return tuple(_unit_half(word, np.float16, 0x3FF, 15 << 10) for word in words)


def _uniform_bfloat16(xp: ArrayModule, words: Words) -> tuple[Array, ...]:
    return tuple(_unit_half(word, bfloat16, 0x7F, 127 << 7) for word in words)


def _box_muller(xp: ArrayModule, u1: Array, u2: Array) -> tuple[Array, Array]:
    kind = u1.dtype.type
    radius = xp.sqrt(kind(-2) * xp.log(xp.maximum(u1, kind(_EPSILON))))
    angle = kind(2 * math.pi) * u2
    return xp.sin(angle) * radius, xp.cos(angle) * radius


def _normal_float32(xp: ArrayModule, words: Words) -> tuple[Array, ...]:
    first = _box_muller(xp, _unit_float32(words[0]), _unit_float32(words[1]))
    return first + _box_muller(xp, _unit_float32(words[2]), _unit_float32(words[3]))


def _normal_float64(xp: ArrayModule, words: Words) -> tuple[Array, ...]:
    return _box_muller(xp, _unit_float64(words[0], words[1]), _unit_float64(words[2], words[3]))


UNIFORM: Final = {
    np.dtype(np.float32): Rule(4, np.float32, _uniform_float32, _fill_uniform_float32 if sys.byteorder == "little" else None),
    np.dtype(np.float64): Rule(2, np.float64, _uniform_float64),
    np.dtype(np.float16): Rule(4, np.float16, _uniform_float16),
    np.dtype(bfloat16): Rule(4, bfloat16, _uniform_bfloat16),
}
# Half precision is rounded from single.
NORMAL: Final = {
    np.dtype(np.float32): Rule(4, np.float32, _normal_float32),
    np.dtype(np.float64): Rule(2, np.float64, _normal_float64),
    np.dtype(np.float16): Rule(4, np.float32, _normal_float32),
    np.dtype(bfloat16): Rule(4, np.float32, _normal_float32),
}
WORDS32: Final = Rule(4, np.uint64, lambda xp, words: words)
WORDS64: Final = Rule(2, np.uint64, lambda xp, words: (_joined(words[0], words[1]), _joined(words[2], words[3])))
# As SimplePhilox draws doubles: the first word is the high one.
DOUBLES: Final = Rule(2, np.float64, _uniform_float64)


def _joined(low: Array, high: Array) -> Array:
    return low | (high << np.uint64(32))


def element_count(shape: Array) -> int:
    """The number of elements of a tensor of this shape; InvalidArgumentError when a size is negative."""
    for size in shape:
        if size < 0:
            raise InvalidArgumentError.of(f"Dimension {int(size)} must be >= 0")
    return math.prod(int(size) for size in shape)


def draw(xp: ArrayModule, stream: Stream, start: Array, size: int, rule: Rule) -> Array:
    """The first `size` values that the blocks from `start` on give; 1-D."""
    count = -(-size // rule.per_block)
    if xp is not np:
        words = philox.blocks(stream, start + xp.arange(count, dtype=np.uint64))
        return xp.stack(rule.convert(xp, words), axis=-1).reshape(-1)[:size]
    result = np.empty((count, rule.per_block), rule.dtype)

    def fill(piece: slice) -> None:
        index = np.arange(piece.start, piece.stop, dtype=np.uint64) + start
        words = philox.blocks(stream, index)
        if rule.fill is not None:
            rule.fill(result[piece], words)
            return
        for column, values in enumerate(rule.convert(np, words)):
            result[piece, column] = values

    for_pieces(count, fill)
    return result.reshape(-1)[:size]


def integers(xp: ArrayModule, stream: Stream, start: Array, size: int, low: Array, high: Array) -> Array:
    """Integers in [low, high), of their type: the stream's words modulo the length of the range."""
    dtype = np.dtype(low.dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    span = (xp.asarray(high).astype(unsigned) - xp.asarray(low).astype(unsigned)).astype(np.uint64)
    words = draw(xp, stream, start, size, WORDS32 if dtype.itemsize == 4 else WORDS64)
    return ((words % span).astype(unsigned) + xp.asarray(low).astype(unsigned)).astype(dtype)


def truncated_normal(xp: ArrayModule, stream: Stream, start: Array, size: int, dtype: npt.DTypeLike) -> Array:
    """Normal values that are less than two standard deviations from the mean; farther ones are drawn again.

    Outputs come in groups of one block's values; each group has a part of the stream for itself.
    """
    rule = NORMAL[np.dtype(dtype)]
    groups = -(-size // rule.per_block)
    stride = np.uint64(_RESERVED * rule.per_block // 4)
    fill = _truncated_on_numpy if xp is np else _truncated_on_jax
    return fill(rule, stream, start, groups, stride).reshape(-1)[:size]


def _truncated_on_numpy(rule: Rule, stream: Stream, start: Array, groups: int, stride: Array) -> Array:
    result = np.empty((groups, rule.per_block), rule.dtype)

    def fill(piece: slice) -> None:
        first = np.arange(piece.start, piece.stop, dtype=np.uint64) * stride + start
        made = result[piece]
        for column, values in enumerate(rule.convert(np, philox.blocks(stream, first))):
            made[:, column] = values
        # Five of six groups need no other block; the others take their values from as many as it takes, in order.
        rows = np.flatnonzero((np.abs(made) >= _LIMIT).any(1))
        drawn, first = made[rows], first[rows]
        while len(rows):
            first = first + np.uint64(1)
            drawn = np.concatenate([drawn, np.stack(rule.convert(np, philox.blocks(stream, first)), 1)], 1)
            accepted = np.abs(drawn) < _LIMIT
            order = accepted.cumsum(1)
            is_full = order[:, -1] >= rule.per_block
            accepted &= order <= rule.per_block
            made[rows[is_full]] = drawn[is_full][accepted[is_full]].reshape(-1, rule.per_block)
            rows, drawn, first = rows[~is_full], drawn[~is_full], first[~is_full]

    for_pieces(groups, fill)
    return result


def _truncated_on_jax(rule: Rule, stream: Stream, start: Array, groups: int, stride: Array) -> Array:
    xp = jax.numpy
    first = xp.arange(groups, dtype=np.uint64) * stride + start
    slots = range(rule.per_block)

    def unfinished(state: Array) -> Array:
        return xp.any(state[1] < rule.per_block)

    def take_block(state: Array) -> Array:
        columns, filled, step = state
        for values in rule.convert(xp, philox.blocks(stream, first + step)):
            accepted = xp.abs(values) < _LIMIT
            columns = tuple(xp.where(accepted & (filled == slot), values, columns[slot]) for slot in slots)
            filled = filled + accepted
        return columns, filled, step + np.uint64(1)

    empty = tuple(xp.zeros(groups, rule.dtype) for _ in slots)
    state = (empty, xp.zeros(groups, np.int32), xp.zeros((), np.uint64))
    return xp.stack(jax.lax.while_loop(unfinished, take_block, state)[0], axis=-1)


def categorical(xp: ArrayModule, stream: Stream, start: Array, logits: Array, num_samples: int) -> Array:
    """Class numbers `[batch, num_samples]` drawn by the unnormalised log-probabilities `[batch, classes]`."""
    batch, classes = logits.shape
    values = xp.asarray(logits).astype(np.float64)
    finite = xp.isfinite(values)
    highest = xp.max(xp.where(finite, values, -np.inf), axis=1, keepdims=True) if classes else values
    weights = xp.where(finite, xp.exp(xp.where(finite, values - highest, 0.0)), 0.0)
    cumulative = xp.cumsum(weights, axis=1)
    uniform = draw(xp, stream, start, batch * num_samples, DOUBLES).reshape(batch, num_samples)
    wanted = uniform * cumulative[:, -1:]
    if xp is not np:
        search = functools.partial(jax.numpy.searchsorted, side="right")
        return jax.vmap(search)(cumulative, wanted)
    chosen = np.empty((batch, num_samples), np.int64)
    for row, (known, values) in enumerate(zip(cumulative, wanted, strict=True)):
        chosen[row] = np.searchsorted(known, values, side="right")
    return chosen


def shuffled_order(words: Array, count: int) -> Array:
    """The order of `count` items after swapping each with itself or a later one, which its word chooses."""
    order = list(range(count))
    for index, word in enumerate(words.tolist()):
        other = index + word % (count - index)
        order[index], order[other] = order[other], order[index]
    return np.asarray(order, np.int64)
