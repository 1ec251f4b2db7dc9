"""Numbers from text, a column at a time, as TensorFlow reads them.

Python reads most numbers alike. Texts with a letter or sign that the two read differently are looked at one by one.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.types.dtypes import DType

_SPACE: Final = b" \t\n\v\f\r"
_INTEGER: Final = re.compile(rb"\s*-?\d+\s*\Z")
_HEX: Final = re.compile(rb"\s*[+-]?0[xX][0-9a-fA-F]+\s*\Z")
# Python takes 1_000, +5 for an integer and "infinity"; TensorFlow takes 0x1F for a float.
_UNLIKE_INTEGER: Final = re.compile(rb"[_+]")
_UNLIKE_FLOAT: Final = re.compile(rb"[_xXyY]")
# The bits of a float64 that a float32 has not, and their value halfway between two float32.
_TAIL: Final = np.uint64((1 << 29) - 1)
_HALF: Final = np.uint64(1 << 28)
_DOUBLE: Final = struct.Struct("<d")
_BITS: Final = struct.Struct("<Q")
# An exact reading of a text takes time that grows faster than its length.
_LONGEST_EXACT: Final = 1000


class NumberError(ValueError):
    """The text at `index` is no number of the type."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def numbers_of(texts: Sequence[bytes], kind: DType) -> Array:
    """The numbers that the texts write, `[n]` of an integer or floating type; NumberError names the first that is none."""
    unlike = _UNLIKE_INTEGER if kind.is_integer else _UNLIKE_FLOAT
    if unlike.search(b"".join(texts)) is None:
        try:
            return _quickly(texts, kind)
        except (ValueError, OverflowError):
            pass  # One of them is no number, or one that only TensorFlow reads: which, the careful way tells.
    return _one_by_one(texts, kind)


def number_of(text: bytes, kind: DType) -> int | float | None:
    """The number that a text writes; None where it is none, or `numbers_of` has to look at it more closely.

    One number takes a tenth of the time that arrays of one take (two cores, December 2026).
    """
    is_integer = kind.is_integer
    if (_UNLIKE_INTEGER if is_integer else _UNLIKE_FLOAT).search(text) is not None:
        return None
    try:
        if is_integer:
            return int(text)
        value = float(text)
    except (ValueError, OverflowError):
        return None
    (bits,) = _BITS.unpack(_DOUBLE.pack(value))
    return None if bits & int(_TAIL) == int(_HALF) and kind.as_numpy_dtype != np.float64 else value


def _quickly(texts: Sequence[bytes], kind: DType) -> Array:
    if kind.is_integer:
        return np.fromiter(map(int, texts), kind.as_numpy_dtype, len(texts))
    return _narrowed(np.fromiter(map(float, texts), np.float64, len(texts)), texts, kind)


def _one_by_one(texts: Sequence[bytes], kind: DType) -> Array:
    read = _integer if kind.is_integer else _float
    values = np.empty(len(texts), kind.as_numpy_dtype if kind.is_integer else np.float64)
    for index, text in enumerate(texts):
        try:
            values[index] = read(text)
        except (ValueError, OverflowError):
            raise NumberError(index) from None
    return values if kind.is_integer else _narrowed(values, texts, kind)


def _integer(text: bytes) -> int:
    if _INTEGER.match(text) is None:
        raise ValueError
    return int(text)


def _float(text: bytes) -> float:
    if _HEX.match(text):
        return float(int(text, 16))
    if text and not text.strip(_SPACE):
        return 0.0
    if _UNLIKE_FLOAT.search(text):
        raise ValueError
    return float(text)


def _narrowed(values: Array, texts: Sequence[bytes], kind: DType) -> Array:
    """The values in the type, rounded once: a float64 halfway between two float32 may have been rounded to there itself."""
    if kind.as_numpy_dtype == np.float64:
        return values
    for index in np.flatnonzero((values.view(np.uint64) & _TAIL) == _HALF).tolist():
        if len(texts[index]) > _LONGEST_EXACT:
            continue
        written, read = _exactly(texts[index]), Fraction(values[index].item())
        if written != read:
            values[index] = np.nextafter(values[index], np.inf if written > read else -np.inf)
    with np.errstate(over="ignore"):
        return values.astype(kind.as_numpy_dtype)


def _exactly(text: bytes) -> Fraction:
    return Fraction(int(text, 16)) if _HEX.match(text) else Fraction(text.decode().strip())
