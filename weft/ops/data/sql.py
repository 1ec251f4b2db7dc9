"""Datasets of the rows that a query of an SQLite database gives."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final
from urllib.parse import quote

import numpy as np

from weft.errors import InvalidArgumentError, UnimplementedError, UnknownError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.element import Element, ElementIterator, Iteration, Source, State, boxed, dataset_op

_TYPES: Final = (
    dtypes.string, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.bool,
    dtypes.float64,
)  # fmt: skip
_NUMBER: Final = re.compile(rb"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
_INTEGER: Final = re.compile(rb"\s*([-+]?\d+)")
_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1

# What a column of SQLite holds.
Value = int | float | bytes | None


def _sqlite() -> ModuleType:
    """Python's library of SQLite; loaded by its first use, since few programs have databases and some Pythons lack it."""
    try:
        return importlib.import_module("sqlite3")
    except ImportError as error:
        raise UnimplementedError.of(f"SqlDataset needs sqlite3, which this task's Python lacks ({error})") from error


def _number(value: Value) -> int | float:
    """A column as a number, as SQLite makes one: a text is the number that it begins with."""
    if isinstance(value, bytes):
        found = _NUMBER.match(value)
        return float(found[1]) if found else 0
    return 0 if value is None else value


def _whole(value: Value) -> int:
    """A column as an integer of 64 bits, as SQLite makes one: what is beyond is the least or the greatest of them."""
    if isinstance(value, bytes):
        # Not by way of a float, which has 53 bits; to SQLite a text's integer ends before a point or an exponent.
        found = _INTEGER.match(value)
        value = int(found[1]) if found else 0
    elif value is None:
        value = 0
    return int(min(max(value, _LEAST), _GREATEST))


def _text(value: Value) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, float):
        told = format(value, ".15g")
        return (told if any(each in told for each in ".en") else f"{told}.0").encode()
    return b"" if value is None else str(value).encode()


def column_of(value: Value, dtype: DType) -> Array:
    """A column as a scalar of a type; integers of fewer bits are cut off.

    Args:
        value: what SQLite gave.
        dtype: one of the types of SqlDataset.
    """
    if dtype is dtypes.string:
        return boxed(_text(value))
    if dtype is dtypes.float64:
        return np.asarray(_number(value), np.float64)
    whole = np.asarray(_whole(value), np.int64)
    return np.asarray(whole != 0) if dtype is dtypes.bool else whole.astype(dtype.as_numpy_dtype)


class SqlRows(Source):
    """The rows of a query.

    Args:
        path: the database's file.
        query: the query.
        types: the types of the columns.
    """

    def __init__(self, path: str, query: str, types: Sequence[DType]) -> None:
        self._path, self._query, self._types = path, query, types

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return _RowIterator(self._path, self._query, self._types)


class _RowIterator(ElementIterator):
    """The rows of a query; the database is open while rows are read."""

    def __init__(self, path: str, query: str, types: Sequence[DType]) -> None:
        self._path, self._query, self._types = path, query, types
        self._row = 0
        # sqlite3's connection and cursor.
        self._database: Any = None
        self._rows: Any = None

    def _opened(self) -> Any:
        sqlite3 = _sqlite()
        try:
            # Elements are asked for by one thread at a time, whichever it is.
            self._database = sqlite3.connect(f"file:{quote(self._path)}?mode=ro", uri=True, check_same_thread=False)
            self._database.text_factory = bytes
        except sqlite3.Error as error:
            raise InvalidArgumentError.of(f"Sqlite::Open({self._path}) failed: {error}") from error
        try:
            rows = self._database.execute(self._query)
        except sqlite3.Error as error:
            self.close()
            code = getattr(error, "sqlite_errorcode", 1)
            raise UnknownError.of(f"Prepare() failed: [{code}] {error}: {self._query}") from error
        columns = len(rows.description or ())
        if columns != len(self._types):
            self.close()
            raise InvalidArgumentError.of(
                f"The number of columns in query ({columns}) must match the number of elements in output_types "
                f"({len(self._types)})."
            )
        return rows

    def next(self, caller: Caller) -> Element | None:
        """The next row."""
        if self._rows is None:
            self._rows = self._opened()
            for _ in range(self._row):
                self._step()
        row = self._step()
        if row is None:
            return None
        self._row += 1
        return tuple(column_of(value, dtype) for value, dtype in zip(row, self._types, strict=True))

    def _step(self) -> tuple[Value, ...] | None:
        try:
            row: tuple[Value, ...] | None = self._rows.fetchone()
        except _sqlite().Error as error:
            code = getattr(error, "sqlite_errorcode", 1)
            raise UnknownError.of(f"Step() failed: [{code}] {error}: {self._query}") from error
        return row

    def state(self) -> State:
        """The number of the row."""
        return self._row

    def restore(self, state: State, caller: Caller) -> None:
        """Go behind as many rows."""
        self.close()
        self._row = int(state)

    def close(self) -> None:
        """Close the database."""
        database, self._database, self._rows = self._database, None, None
        if database is not None:
            database.close()


@dataset_op("SqlDataset", "driver_name: string, data_source_name: string, query: string", stateful=True,
            ranks={"driver_name": 0, "data_source_name": 0, "query": 0})  # fmt: skip
def sql_dataset(
    ctx: OpContext, driver_name: Array, data_source_name: Array, query: Array, *, output_types: list[DType],
    output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """The rows of a query: `scalar string, scalar string, scalar string -> scalar variant`."""
    for dtype in output_types:
        if dtype not in _TYPES:
            names = ", ".join("DT_DOUBLE" if each is dtypes.float64 else f"DT_{each.name.upper()}" for each in _TYPES)
            raise InvalidArgumentError.of(f"Each element of `output_types_` must be one of: {names}; {dtype.name} is none")
    driver = driver_name.item().decode()
    if driver != "sqlite":
        raise InvalidArgumentError.of(
            f"The database type, {driver}, is not supported by SqlDataset. The set of supported databases is: {{'sqlite'}}."
        )
    return SqlRows(data_source_name.item().decode(), query.item().decode(), output_types)
