"""Normal samples of less than two standard deviations, with the numbers that TensorFlow's CPU kernels give.

Outputs come in groups of one block's values; each group has a part of the stream for itself, and takes what is near enough from
as many blocks of it as that needs, in order. One block is enough for five of six groups. The others wait until a thread has
drawn all of its part, and are redrawn in pieces as long as any: 43 million float32 values take 1.28 s of user time; piece by
piece they took 1.72 (two loaded cores, medians of five turns, November 2026).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from weft.framework.building.aliases import Array, ArrayModule
from weft.ops.random import philox
from weft.ops.random.philox import Stream
from weft.ops.random.pieces import Scratch, for_parts, slices
from weft.ops.random.sampling import NORMAL, Finish, Rule
from weft.platform.imports.jax_modules import jax
from weft.platform.machine.small_pages import empty_in_small_pages

# How many blocks each group of outputs may use.
_RESERVED: Final = 256
_LIMIT: Final = 2.0
_BITS: Final = np.array([128, 64, 32, 16, 8, 4, 2, 1], np.uint8)
_SET_FIRST: Final = np.argsort(np.arange(256)[:, np.newaxis] & _BITS == 0, axis=1, kind="stable")
"""`[256, 8]`: for each number of eight bits the places of those that are set, then those of the others, either in order."""


def truncated_normal(
    xp: ArrayModule,
    stream: Stream,
    start: Array,
    size: int,
    dtype: npt.DTypeLike,
    finish: Finish | None = None,
) -> Array:
    """The first `size` values that the blocks from `start` on give, 1-D; `finish` as for `sampling.draw`."""
    rule = NORMAL[np.dtype(dtype)]
    groups = -(-size // rule.per_block)
    stride = np.uint64(_RESERVED * rule.per_block // 4)
    if xp is not np:
        return _truncated_on_jax(rule, stream, start, groups, stride).reshape(-1)[:size]
    result, may_join = empty_in_small_pages((groups, rule.per_block), rule.dtype)

    def fill(pieces: Iterator[slice], scratch: Scratch) -> None:
        waiting = []
        for piece in pieces:
            made = result[piece]
            first = np.arange(piece.start, piece.stop, dtype=np.uint64)
            first *= stride
            first += start
            rule.fill(made, stream, first, scratch)
            far = _far_groups(made, scratch)
            waiting.append((far + piece.start, made.take(far, 0)))
            if finish is not None:
                finish(made)
        if not waiting:
            return
        numbers, drawn = (np.concatenate(each) for each in zip(*waiting, strict=True))
        for piece in slices(0, len(numbers)):
            first = numbers[piece].astype(np.uint64) * stride + start
            made = _redrawn(rule, stream, first, drawn[piece], scratch)
            if finish is not None:
                finish(made)
            _as_items(result)[numbers[piece]] = _as_items(made)

    for_parts(groups, fill)
    may_join()
    return result.reshape(-1)[:size]


def _far_groups(made: Array, scratch: Scratch) -> Array:
    """The numbers of the groups that have a value which is too far from the mean."""
    size = np.abs(made, out=scratch.array(3, made.shape, made.dtype.type))
    is_far = np.greater_equal(size, _LIMIT, out=scratch.array(0, made.shape, np.bool_))
    return np.flatnonzero(is_far.view(f"u{made.shape[1]}").astype(np.bool_))


def _redrawn(rule: Rule, stream: Stream, first: Array, drawn: Array, scratch: Scratch) -> Array:
    """The values that groups keep of those drawn from their `first` blocks, and of as many of the next blocks as it takes."""
    made = np.empty_like(drawn)
    waiting = np.arange(len(drawn))
    while len(waiting):
        first = first + np.uint64(1)
        fresh = np.empty_like(drawn)
        rule.fill(fresh, stream, first, scratch)
        both = np.concatenate([_as_items(drawn), _as_items(fresh)], 1).view(rule.dtype)
        is_near = (np.abs(both) < _LIMIT).view(np.uint8)
        width = both.shape[1]
        # What is too far stays so, behind the others, and gives way to what the next block has.
        places = _SET_FIRST[:, : rule.per_block].take(is_near @ _BITS[:width], 0)
        drawn = both.take(places + np.arange(0, both.size, width)[:, np.newaxis])
        _as_items(made)[waiting] = _as_items(drawn)
        is_short = np.abs(drawn[:, -1]) >= _LIMIT
        waiting, drawn, first = waiting[is_short], drawn[is_short], first[is_short]
    return made


def _as_items(groups: Array) -> Array:
    """Groups of values, each as one item: NumPy moves such groups one by one in a fifth of the time."""
    return groups.view(f"V{groups.itemsize * groups.shape[1]}")


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
