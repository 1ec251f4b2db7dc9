"""Samples of the basic distributions from a Philox stream, with the numbers that TensorFlow's CPU kernels give.

Output `i` is made from words of the stream that depend on `i` alone. NumPy works through the blocks in pieces that fit the
processor's cache, on all cores; a compiled stage takes them in one expression.

Nanoseconds of CPU for each of 43 million float32 initial values in the first run of a process, in pages of 4 KiB: before -> in
each thread's scratch, scaled while they are drawn; TensorFlow 2.21 and 1.15 (two cores with other work, November 2026). Pairs
of words in one number took a tenth off since, fewer words to say it to NumPy (its functions take a result by position 0.1 µs
faster than by name, and views are made once) another one: 5.8 to 6.7 for a uniform number on two idle cores, 4.1 to 5.3 in
TensorFlow 2.21, and 2 to 3 and 1 to 2 in the kernel (`weft.platform.machine.small_pages`; December 2026).

    uniform             10.3 ->  6.0     4.1     4.7
    normal              13.9 ->  8.0    10.7    13.6
    truncated normal    24.2 -> 17.3    18.1    14.4
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from ml_dtypes import bfloat16

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule
from weft.ops.random import philox
from weft.ops.random.philox import Stream, Words
from weft.ops.random.pieces import Scratch, for_pieces
from weft.platform.imports.jax_modules import jax
from weft.platform.machine.small_pages import empty_in_small_pages

_EPSILON: Final = 1.0e-7
_MANTISSA: Final = np.array(0x7FFFFF, np.uint32)
_ONE_BITS: Final = np.array(0x3F800000, np.uint32)
_ONE: Final = np.array(1, np.float32)


Finish: TypeAlias = Callable[[Array], None]
"""Changes values where they lie, each by itself."""


@dataclass(frozen=True)
class Rule:
    """How one block becomes `per_block` values of `dtype`."""

    per_block: int
    dtype: Array
    convert: Callable[[Array, Words], tuple[Array, ...]]
    fast_fill: Callable[[Array, Words, Scratch], None] | None = None
    """Fills rows of values in one go on NumPy, with the same numbers, and without arrays of its own."""
    of_few: Callable[[list[int]], Array] | None = None
    """Makes the same numbers of the words of a few blocks."""

    def fill(self, rows: Array, stream: Stream, index: Array, scratch: Scratch) -> None:
        """Fill rows `[blocks, per_block]` of values on NumPy, from the blocks of the stream that `index` names."""
        if self.fast_fill is not None:
            self.fast_fill(rows, philox.words32(stream, index, scratch), scratch)
            return
        for column, values in enumerate(self.convert(np, philox.blocks(stream, index, scratch))):
            rows[:, column] = values


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


def _to_unit_float32(bits: Array) -> Array:
    """The numbers in [0, 1) of words of 32 bits, where they lie."""
    np.bitwise_and(bits, _MANTISSA, bits)
    np.bitwise_or(bits, _ONE_BITS, bits)
    unit = bits.view(np.float32)
    return np.subtract(unit, _ONE, unit)


def _fill_uniform_float32(rows: Array, words: Words, scratch: Scratch) -> None:
    bits = rows.view(np.uint32)
    for column, word in enumerate(words):
        bits[:, column] = word
    _to_unit_float32(bits)


def _few_uniform_float32(words: list[int]) -> Array:
    bits = np.array([word & 0x7FFFFF | 0x3F800000 for word in words], np.uint32)
    return bits.view(np.float32) - _ONE


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


def _fill_normal_float32(rows: Array, words: Words, scratch: Scratch) -> None:
    """As `_box_muller`, step by step."""
    first, second = (scratch.array(number, words[0].shape, np.uint32) for number in range(2))
    sine = scratch.array(2, words[0].shape, np.float32)
    for pair in (0, 2):
        first[...], second[...] = words[pair], words[pair + 1]
        radius, angle = _to_unit_float32(first), _to_unit_float32(second)
        np.maximum(radius, np.float32(_EPSILON), out=radius)
        np.log(radius, radius)
        np.multiply(radius, np.float32(-2), radius)
        np.sqrt(radius, radius)
        np.multiply(angle, np.float32(2 * math.pi), angle)
        np.sin(angle, sine)
        np.cos(angle, angle)
        np.multiply(sine, radius, rows[:, pair])
        np.multiply(angle, radius, rows[:, pair + 1])


def _normal_float64(xp: ArrayModule, words: Words) -> tuple[Array, ...]:
    return _box_muller(xp, _unit_float64(words[0], words[1]), _unit_float64(words[2], words[3]))


UNIFORM: Final = {
    np.dtype(np.float32): Rule(4, np.float32, _uniform_float32, _fill_uniform_float32, _few_uniform_float32),
    np.dtype(np.float64): Rule(2, np.float64, _uniform_float64),
    np.dtype(np.float16): Rule(4, np.float16, _uniform_float16),
    np.dtype(bfloat16): Rule(4, bfloat16, _uniform_bfloat16),
}
# Half precision is rounded from single.
NORMAL: Final = {
    np.dtype(np.float32): Rule(4, np.float32, _normal_float32, _fill_normal_float32),
    np.dtype(np.float64): Rule(2, np.float64, _normal_float64),
    np.dtype(np.float16): Rule(4, np.float32, _normal_float32, _fill_normal_float32),
    np.dtype(bfloat16): Rule(4, np.float32, _normal_float32, _fill_normal_float32),
}
WORDS32: Final = Rule(4, np.uint64, lambda xp, words: words)
WORDS64: Final = Rule(2, np.uint64, lambda xp, words: (_joined(words[0], words[1]), _joined(words[2], words[3])))
# As SimplePhilox draws doubles: the first word is the high one.
DOUBLES: Final = Rule(2, np.float64, _uniform_float64)


def _joined(low: Array, high: Array) -> Array:
    return low | (high << np.uint64(32))


def element_count(shape: Array) -> int:
    """The number of elements of a tensor of this shape; InvalidArgumentError when a size is negative."""
    sizes = np.asarray(shape).tolist()
    for size in sizes:
        if size < 0:
            raise InvalidArgumentError.of(f"Dimension {size} must be >= 0")
    return math.prod(sizes)


def draw(xp: ArrayModule, stream: Stream, start: Array, size: int, rule: Rule, finish: Finish | None = None) -> Array:
    """The first `size` values that the blocks from `start` on give; 1-D.

    On NumPy, `finish` changes values further, element by element and where they lie, while they are in the processor's cache.
    """
    count = -(-size // rule.per_block)
    if xp is not np:
        words = philox.blocks(stream, start + xp.arange(count, dtype=np.uint64))
        return xp.stack(rule.convert(xp, words), axis=-1).reshape(-1)[:size]
    if count <= philox.FEW and rule.of_few is not None:
        return _few(stream, int(start), size, rule, finish)
    result, may_join = empty_in_small_pages((count, rule.per_block), rule.dtype)

    def fill(piece: slice, scratch: Scratch) -> None:
        index = np.arange(piece.start, piece.stop, dtype=np.uint64) + start
        rule.fill(result[piece], stream, index, scratch)
        if finish is not None:
            finish(result[piece])

    if count <= philox.FEW:
        # Pieces and threads would take longer to arrange than the numbers to make.
        fill(slice(0, count), Scratch(count))
    else:
        for_pieces(count, fill)
        may_join()
    return result.reshape(-1)[:size]


def _few(stream: Stream, start: int, size: int, rule: Rule, finish: Finish | None) -> Array:
    """As `draw`, by Python's numbers: a number drawn for a picture takes 10 µs so instead of 15 (December 2026)."""
    assert rule.of_few is not None
    words = philox.few_words(stream, (at & 0xFFFFFFFFFFFFFFFF for at in range(start, start - (-size // rule.per_block))))
    values = rule.of_few(words[:size])
    if finish is not None:
        finish(values)
    return values


def draw_many(stream: Stream, starts: Array, size: int, rule: Rule) -> Array:
    """What `draw` gives for each of several starts, `[starts, size]`: for a few values each by one pass over all blocks.

    A single number, drawn for each of 24 pictures, takes 2.5 µs so instead of 10 (two cores, December 2026).
    """
    blocks = -(-size // rule.per_block)
    index = (starts[:, np.newaxis] + np.arange(blocks, dtype=np.uint64)).ravel()
    values = np.empty((len(index), rule.per_block), rule.dtype)
    rule.fill(values, stream, index, Scratch(len(index)))
    return values.reshape(len(starts), -1)[:, :size]


def integers(xp: ArrayModule, stream: Stream, start: Array, size: int, low: Array, high: Array) -> Array:
    """Integers in [low, high), of their type: the stream's words modulo the length of the range."""
    dtype = np.dtype(low.dtype)
    if xp is np and size * dtype.itemsize <= philox.FEW * philox.BLOCK_BYTES:
        return _few_integers(stream, int(start), size, int(low), int(high), dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    span = (xp.asarray(high).astype(unsigned) - xp.asarray(low).astype(unsigned)).astype(np.uint64)
    words = draw(xp, stream, start, size, WORDS32 if dtype.itemsize == 4 else WORDS64)
    return ((words % span).astype(unsigned) + xp.asarray(low).astype(unsigned)).astype(dtype)


def many_integers(stream: Stream, starts: Array, size: int, low: Array, high: Array) -> Array:
    """What `integers` gives for each of several starts, `[starts, size]`."""
    rule = WORDS32 if np.dtype(low.dtype).itemsize == 4 else WORDS64
    words = draw_many(stream, starts, size, rule)
    return (words % np.uint64(int(high) - int(low)) + low.astype(np.int64).astype(np.uint64)).astype(low.dtype)


def _few_integers(stream: Stream, start: int, size: int, low: int, high: int, dtype: npt.DTypeLike) -> Array:
    """As `integers`, by Python's numbers: three take 12 µs so instead of 35 (one loaded core, November 2026)."""
    per_value = np.dtype(dtype).itemsize // 4
    words = philox.few_words(stream, range(start, start - (-size * per_value // 4)))
    if per_value == 2:
        words = [first | second << 32 for first, second in zip(words[::2], words[1::2], strict=True)]
    return np.array([word % (high - low) + low for word in words[:size]], dtype)


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
