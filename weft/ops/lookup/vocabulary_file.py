"""Keys and values of a lookup table out of a text file: whole lines, line numbers, or columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.platform.files import gfile

WHOLE_LINE: Final = -2
LINE_NUMBER: Final = -1
_SHOWN_BYTES: Final = 80


def read_table(
    path: str, key_dtype: DType, key_index: int, value_dtype: DType, value_index: int, vocab_size: int, delimiter: str
) -> tuple[Array, Array]:
    """Keys [n] and values [n] of the lines of a file, of the first `vocab_size` where that is not negative.

    Raises:
        NotFoundError: there is no such file.
        InvalidArgumentError: it has fewer lines than `vocab_size`, an empty line, or a line too few columns or one that is no
            number.
    """
    keys: list[Array] = []
    values: list[Array] = []
    columns = max(key_index, value_index) + 1
    separator = delimiter.encode()
    read_bytes = 0
    with gfile.GFile(path, "rb") as file:
        for number, raw in enumerate(file):
            if number == vocab_size:
                break
            line = raw.rstrip(b"\n").rstrip(b"\r")
            read_bytes += len(raw)
            if not line:
                raise InvalidArgumentError.of(
                    f"Invalid content in {path}: empty line found at position {read_bytes}. It is line {number + 1}: each "
                    "line is one entry, so remove it"
                )
            parts = line.split(separator) if columns else []
            if len(parts) < columns:
                raise InvalidArgumentError.of(
                    f"Invalid number of columns in {path} line {number} ({line[:_SHOWN_BYTES].decode(errors='replace')}) : "
                    f"expected at least {columns} got {len(parts)}"
                )
            keys.append(_field(key_dtype, key_index, number, line, parts, path))
            values.append(_field(value_dtype, value_index, number, line, parts, path))
    if len(keys) < vocab_size:
        raise InvalidArgumentError.of(f"Invalid vocab_size in {path}: expected {vocab_size} but got {len(keys)}")
    return _array(keys, key_dtype), _array(values, value_dtype)


def _field(dtype: DType, index: int, number: int, line: bytes, parts: list[bytes], path: str) -> int | float | bytes:
    if index == LINE_NUMBER:
        return number
    text = line if index == WHOLE_LINE else parts[index]
    if dtype is dtypes.string:
        return text
    shown = text[:_SHOWN_BYTES].decode(errors="replace") + ("..." if len(text) > _SHOWN_BYTES else "")
    parse: Callable[[bytes], int | float] = int if dtype.is_integer else float
    value: int | float | None
    try:
        value = parse(text)
    except ValueError:
        value = None
    if value is None or b"_" in text:  # Python's own way to group digits
        raise InvalidArgumentError.of(f"Field {shown} in line {number} is not a valid {dtype.name}. The file is {path}")
    if dtype.is_integer and not dtype.min <= value <= dtype.max:
        raise InvalidArgumentError.of(
            f"Field {shown} in line {number} is not a valid {dtype.name}: it is beyond {dtype.min} to {dtype.max}. The file is "
            f"{path}"
        )
    return value


def _array(items: list[Array], dtype: DType) -> Array:
    array = np.empty(len(items), dtype.as_numpy_dtype)
    array[:] = items
    return array
