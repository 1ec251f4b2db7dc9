"""Rows of tables on NumPy: the order of their numbers, which may repeat, and putting rows in their places."""

from __future__ import annotations

from typing import Any

import numpy as np


def sorted_rows(indices: Any) -> tuple[Any, Any, Any]:
    """Sort `[n] integer` row numbers, none negative, equal ones in the order in which they come.

    Returns the places that they come from, the sorted numbers, and where each number comes first, all `[n]`.
    """
    count = len(indices)
    place_bits = max(count - 1, 0).bit_length()
    key_bits = place_bits + int(indices.max()).bit_length() if count else 0
    if key_bits < 64:
        # Numbers that carry their place sort many times faster than a stable argsort does, short ones fastest.
        key = np.uint32 if key_bits <= 32 else np.uint64
        keys = (indices.astype(key) << key(place_bits)) | np.arange(count, dtype=key)
        keys.sort()
        order, ordered = (keys & key((1 << place_bits) - 1)).astype(np.intp), (keys >> key(place_bits)).astype(np.intp)
    else:
        order = np.argsort(indices, kind="stable")
        ordered = indices[order]
    is_first = np.ones(count, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return order, ordered, is_first


def put_rows(table: Any, rows: Any, values: Any) -> None:
    """`table[rows] = values`, in half the time where a row is one piece of memory, which NumPy then moves as a whole."""
    whole, new = whole_rows(table), whole_rows(values)
    if whole is None or new is None:
        table[rows] = values
    else:
        whole[rows] = new


def whole_rows(array: Any) -> Any:
    """`[rows]` view of an array in which each row is one element; None if there is no such view or it saves nothing."""
    if array.ndim < 2 or not array.size or not array.flags.c_contiguous or array.dtype.hasobject:
        return None
    return array.reshape(-1).view(np.dtype((np.void, array.nbytes // len(array))))
