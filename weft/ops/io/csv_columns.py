"""Columns of CSV records, many at a time: the quick way for records that are in order.

Where anything is out of order there is no result, and the caller reads record by record, which knows the errors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.strings.number_text import NumberError, numbers_of

_LINE_END: Final = re.compile(rb"[\r\n]")


def columns_of(
    records: Sequence[bytes], delimiter: bytes, quoted: bool, count: int, chosen: Sequence[int]
) -> list[tuple[bytes, ...]] | None:
    """The texts of each column: of `count` columns, or of the chosen ones; None where a record is not as it should be."""
    if len(delimiter) != 1 or delimiter in b'"\r\n' or not all(records):
        return None
    rows = _rows(records, delimiter, quoted)
    if rows is None:
        return None
    widths = set(map(len, rows))
    if chosen:
        if min(widths, default=0) <= chosen[-1]:
            return None
        # The shortest row ends all columns, behind the last that is wanted.
        columns = list(zip(*rows, strict=False))
        return [columns[index] for index in chosen]
    return list(zip(*rows, strict=True)) if widths == {count} else None


def _rows(records: Sequence[bytes], delimiter: bytes, quoted: bool) -> list[list[bytes]] | None:
    text = b"".join(records)
    if not quoted or b'"' not in text:
        return None if _LINE_END.search(text) else [record.split(delimiter) for record in records]
    field = _quoted_field(delimiter)
    rows = [field.findall(record) for record in records]
    # What is no field is skipped, and missing in the sum.
    if any(sum(map(len, row)) + len(row) - 1 != len(record) for row, record in zip(rows, records, strict=True)):
        return None
    return [[_bare(text) for text in row] if b'"' in record else row for row, record in zip(rows, records, strict=True)]


@lru_cache(maxsize=64)
def _quoted_field(delimiter: bytes) -> re.Pattern[bytes]:
    """A field of RFC 4180 behind the record's begin or a delimiter. What is inside quotes is never tried another way."""
    at = re.escape(delimiter)
    return re.compile(rb'(?:^|%b)("(?:[^"]++|"")*+"|[^"\r\n%b]*+)(?=%b|\Z)' % (at, at, at))


def _bare(field: bytes) -> bytes:
    return field[1:-1].replace(b'""', b'"') if field[:1] == b'"' else field


def values_of(texts: Sequence[bytes], missing: bytes, kind: DType, default: Array) -> Array | None:
    """The values of a column; None where one is no such value, or is missing and required."""
    if b"" not in texts and missing not in texts:
        return _present(texts, kind)
    if default.size != 1:
        return None
    there = [bool(text) and text != missing for text in texts]
    values = _present([text for text, is_there in zip(texts, there, strict=True) if is_there], kind)
    if values is None:
        return None
    result = np.full(len(texts), default.reshape(()), values.dtype)
    result[there] = values
    return result


def _present(texts: Sequence[bytes], kind: DType) -> Array | None:
    if kind == dtypes.string:
        return np.fromiter(texts, np.object_, len(texts))
    try:
        return numbers_of(texts, kind)
    except NumberError:
        return None
