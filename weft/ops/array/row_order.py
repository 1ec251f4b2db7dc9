"""Rows of tables on NumPy: the order of their numbers, which may repeat, and putting rows in their places."""

from __future__ import annotations

import functools
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array

_PIECE: Final = 1 << 16  # How many places are worked out at a time.
# Looked at as unsigned, a negative number is larger than any that may be: one pass finds out what takes two otherwise.
_UNSIGNED: Final = {np.dtype(f"i{size}"): np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def are_rows(indices: Array, limit: int) -> bool:
    """Whether all of some integers, of any shape, are in [0, limit)."""
    if not indices.size:
        return True
    unsigned = _UNSIGNED.get(indices.dtype)
    if unsigned is None or limit > 1 << (8 * unsigned.itemsize - 1):
        return bool(np.minimum.reduce(indices, axis=None) >= 0 and np.maximum.reduce(indices, axis=None) < limit)
    return bool(np.maximum.reduce(indices.view(unsigned), axis=None) < limit)


def sorted_rows(indices: Array) -> tuple[Array, Array, Array]:
    """Sort `[n] integer` row numbers, none negative, equal ones in the order in which they come.

    Returns the places that they come from, the sorted numbers, and where each number comes first, all `[n]`.
    """
    keys, place_bits = _sorted_keys(indices)
    if keys is not None:
        return _parted(keys, place_bits)
    order = np.argsort(indices, kind="stable")
    ordered = indices[order]
    return order, ordered, _is_first(ordered)


def repeated_rows(indices: Array, share: int) -> tuple[Array, Array, Array] | None:
    """As `sorted_rows`, of those rows alone that come more than once; of all rows if more than one in `share` is a repetition.

    None if no row comes twice.
    """
    keys, place_bits = _sorted_keys(indices)
    if keys is None:
        order, ordered, is_first = sorted_rows(indices)
        is_repetition = ~is_first[1:]
    else:
        is_repetition = (keys[1:] ^ keys[:-1]) < (1 << place_bits)
    repetitions = np.count_nonzero(is_repetition)
    if not repetitions:
        return None
    is_wanted = np.zeros(len(indices), np.bool_)
    if repetitions * share > len(indices):
        is_wanted[:] = True
    else:
        is_wanted[1:] = is_repetition
        is_wanted[:-1] |= is_repetition
    if keys is None:
        return order[is_wanted], ordered[is_wanted], is_first[is_wanted]
    return _parted(keys[is_wanted], place_bits)


def _sorted_keys(indices: Array) -> tuple[Array, int]:
    """Row numbers that carry their place in their lower bits, sorted, and how many bits those are; None where there is no room.

    They sort many times faster than a stable argsort does, short ones fastest.
    """
    count = len(indices)
    place_bits = max(count - 1, 0).bit_length()
    key_bits = place_bits + int(np.maximum.reduce(indices)).bit_length() if count else 0
    if key_bits > 63:
        return None, 0
    key = np.uint32 if key_bits <= 32 else np.uint64
    keys = indices.astype(key)
    keys <<= key(place_bits)
    keys |= np.arange(count, dtype=key)
    keys.sort()
    return keys, place_bits


def _parted(keys: Array, place_bits: int) -> tuple[Array, Array, Array]:
    """Places, row numbers and which of those come first, of sorted keys."""
    ordered = (keys >> keys.dtype.type(place_bits)).astype(np.intp)
    return (keys & keys.dtype.type((1 << place_bits) - 1)).astype(np.intp), ordered, _is_first(ordered)


def _is_first(ordered: Array) -> Array:
    is_first = np.empty(len(ordered), bool)
    is_first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return is_first


def accumulate_rows(ufunc: np.ufunc, table: Array, rows: Array, updates: Array) -> None:
    """`ufunc.at(table, rows, updates)` for updates of `[*rows, *inner]`, in the same order and with the same results.

    NumPy has a loop of its own for places in a vector, which takes a fifth of the time: 320 updates of rows of 128 take 76 µs
    so instead of 353 (two loaded cores, December 2026).
    """
    if table.ndim == 1 or not table.size or not table.flags.c_contiguous or updates.shape != (*rows.shape, *table.shape[1:]):
        ufunc.at(table, rows, updates)
        return
    width = table.size // len(table)
    flat, first, numbers = table.reshape(-1), rows.reshape(-1, 1).astype(np.intp) * width, updates.reshape(-1, width)
    inner, piece = np.arange(width), max(_PIECE // width, 1)
    for begin in range(0, len(first), piece):
        places = first[begin : begin + piece] + inner
        ufunc.at(flat, places.reshape(-1), numbers[begin : begin + piece].reshape(-1))


def put_rows(table: Array, rows: Array, values: Array) -> None:
    """`table[rows] = values`, in half the time where a row is one piece of memory, which NumPy then moves as a whole."""
    whole, new = whole_rows(table), whole_rows(values)
    if whole is None or new is None:
        table[rows] = values
    else:
        whole[rows] = new


def whole_rows(array: Array) -> Array:
    """`[rows]` view of an array in which each row is one element; None if there is no such view or it saves nothing."""
    if array.ndim < 2 or not array.size or not array.flags.c_contiguous or array.dtype.hasobject:
        return None
    return array.reshape(-1).view(_row_type(array.nbytes // len(array)))


@functools.lru_cache(64)
def _row_type(size_bytes: int) -> np.dtype[np.void]:
    return np.dtype((np.void, size_bytes))
