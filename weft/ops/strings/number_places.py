"""Numbers that lie at known places of one text, read all at once by NumPy.

Only plain ones: a sign, digits, a point, 15 letters at most. Anything else has no result; the caller reads text by text then.
What that gains is told where it is used (`weft/ops/io/csv_grid.py`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.types.dtypes import DType

PADDING: Final = b"0" * 16
"""What the text begins with, so that as many letters stand before each end."""

_ZERO, _POINT, _PLUS, _MINUS = 0x30, 0x2E, 0x2B, 0x2D
# Sums of so many digits, of which each may be a nine, are exact in float64; a point counts as one.
_MOST_DIGITS: Final = 15
_NO_POINT: Final = -1
_POWERS: Final = 10.0 ** np.arange(len(PADDING) - 1, -1, -1)
# The bits of a float64 that a float32 has not, and their value halfway between two float32.
_TAIL, _HALF = np.uint64((1 << 29) - 1), np.uint64(1 << 28)


def numbers_at(data: bytes, ends: Array, sizes: Array, kind: DType) -> Array | None:
    """The numbers of `sizes` letters that end before `ends` in `data`, `[n]` of an integer or floating type.

    None where one is not plain, or would have to be rounded twice.
    """
    widest = int(sizes.max(initial=1))
    if widest > len(PADDING) or int(sizes.min(initial=1)) < 1:
        return None
    width = 8 if widest <= 8 else len(PADDING)
    first = np.frombuffer(data, np.uint8)[ends - sizes]
    is_negative = first == _MINUS
    signed = is_negative if kind.is_integer else is_negative | (first == _PLUS)
    letters = _letters(data, ends, width)
    # A sign and what stands before a number count as zeros in front of it.
    letters[np.arange(width) < (width - sizes + signed)[:, None]] = _ZERO
    digits = letters - np.uint8(_ZERO)
    if kind.is_integer:
        points = places = np.zeros(1, np.int64)
    else:
        is_point = letters == _POINT
        digits[is_point] = 0
        points = is_point.sum(1)
        places = np.where(points == 0, _NO_POINT, width - 1 - is_point.argmax(1))
    count = sizes - signed
    if (digits > 9).any() or int(count.max(initial=1)) > _MOST_DIGITS or ((points > 1) | (count <= points)).any():
        return None
    whole = digits.astype(np.float64) @ _POWERS[-width:]
    return _integers(whole, is_negative, kind) if kind.is_integer else _floats(whole, places, is_negative, kind)


def _letters(data: bytes, ends: Array, width: int) -> Array:
    """The letters before each end, `[n, width]`."""
    # Elements of void type have no alignment, so that they may begin at each byte.
    windows = np.ndarray(len(data) - width + 1, f"V{width}", data, strides=(1,))
    return windows[ends - width].view(np.uint8).reshape(-1, width)


def _integers(whole: Array, is_negative: Array, kind: DType) -> Array | None:
    values = np.where(is_negative, -whole, whole)
    limits = np.iinfo(kind.as_numpy_dtype)
    if (values < limits.min).any() or (values > limits.max).any():
        return None
    return values.astype(kind.as_numpy_dtype)


def _floats(whole: Array, places: Array, is_negative: Array, kind: DType) -> Array | None:
    """Numbers whose digits are those of `whole`, in which a zero stands for a point that has `places` digits behind it."""
    tens = _POWERS[::-1][np.maximum(places, 0)]
    before = np.floor(whole / (10.0 * tens))
    digits = np.where(places == _NO_POINT, whole, whole - before * 9.0 * tens)
    # Both are exact, so this rounds once.
    values = digits / tens
    values = np.where(is_negative, -values, values)
    if kind.as_numpy_dtype == np.float64:
        return values
    if ((values.view(np.uint64) & _TAIL) == _HALF).any():
        return None
    return values.astype(kind.as_numpy_dtype)
