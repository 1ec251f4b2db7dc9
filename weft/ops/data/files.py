"""Datasets of files' records: lines, TFRecords, records of one length, fields of CSV files."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from weft.checkpoint.records import Readable, open_stream, records
from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.csv_splitting import records_of
from weft.ops.data.element import (
    Element,
    ElementIterator,
    Iteration,
    Source,
    SourcedElement,
    State,
    boxed,
    dataset_op,
    place_of,
)
from weft.ops.io.csv_records import fields_of, value_of_field
from weft.platform.files import gfile

_BLOCK_BYTES: Final = 1 << 18
_SCALARS: Final = {"compression_type": 0, "buffer_size": 0}
_LATER_DEFAULT: Final = -1
"""The buffer of TFRecords for which graphs of TensorFlow 2.21 say that its reader chooses it."""


def _check_buffer_size(size: Array) -> None:
    """Refuse a negative number of bytes, which weft's readers have no use for, as TensorFlow does."""
    if int(size) < 0:
        raise InvalidArgumentError.of(f"`buffer_size` must be >= 0, not {int(size)}: it is how many bytes are read at a time")


class Files(Source):
    """The records of files, one file after the other.

    Args:
        paths: the files.
        open_file: the records of one.
        where: the dataset's node, for messages.
        element: makes an element of one; None for the record itself.
        is_bare: whether elements are the records as they are; see `Source.texts`.
    """

    def __init__(
        self,
        paths: Array,
        open_file: Callable[[str], Iterator[bytes]],
        where: str,
        element: Callable[[bytes], Sequence[Array]] | None = None,
        is_bare: bool = False,
    ) -> None:
        self._given = paths
        self._is_bare = is_bare
        self._paths = [path.decode() for path in paths.ravel().tolist()]
        self._open = open_file
        self._element = element
        self._where = where

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        kind = BareFileIterator if self._is_bare else FileIterator
        return kind(self._paths, self._open, self._element, self._where)

    @property
    def texts(self) -> Source | None:
        """The records."""
        return Files(self._given, self._open, self._where, is_bare=True) if self._element is None else None


class FileIterator(ElementIterator):
    """The records of files; a file is open while records of it are read."""

    def __init__(
        self,
        paths: Sequence[str],
        open_file: Callable[[str], Iterator[bytes]],
        element: Callable[[bytes], Sequence[Array]] | None,
        where: str,
    ) -> None:
        self._paths = paths
        self._open = open_file
        self._element = element
        self._where = where
        self._file = 0
        self._record = 0
        self._records: Iterator[bytes] | None = None
        self._failure: Exception | None = None  # of the record that follows
        self._asked_about = -1
        self._is_here = False

    @property
    def only_computes(self) -> bool:
        """Whether the file that is read, and the next one, are files of this host; others, such as pipes, let a reader wait."""
        if self._asked_about != self._file:
            self._asked_about = self._file
            self._is_here = all(map(os.path.isfile, self._paths[self._file : self._file + 2]))
        return self._is_here

    def next(self, caller: Caller) -> Element | None:
        """The next record. A file that cannot be read on is left with its error."""
        while self._file < len(self._paths):
            path = self._paths[self._file]
            try:
                if self._failure is not None:
                    raise self._failure
                if self._records is None:
                    self._records = self._open(path)
                data = next(self._records, None)
            except Exception:
                self._next_file()
                raise
            if data is None:
                self._next_file()
                continue
            number = self._record
            self._record = number + 1
            return self._made(data, path, number)
        return None

    def next_some(self, caller: Caller, most: int) -> Sequence[Element]:
        """The next records of the file that is read, else the next one."""
        found: list[Element] = []
        if self._element is None and self._records is not None and self._failure is None:
            path = self._paths[self._file]
            try:
                self._take(found, itertools.islice(self._records, most), path)
            except Exception as error:
                # Those before it come first.
                self._failure = error
            self._record += len(found)
        return found or super().next_some(caller, most)

    def _take(self, found: list[Element], some: Iterator[bytes], path: str) -> None:
        for number, data in enumerate(some, self._record):
            element = SourcedElement((boxed(data),))
            element.place = path, number
            found.append(element)

    def _made(self, data: bytes, path: str, number: int) -> Element:
        try:
            element = SourcedElement((boxed(data),) if self._element is None else self._element(data))
        except InvalidArgumentError as error:
            where = f"{path}, record {number}, read by {self._where}"
            raise InvalidArgumentError.of(f"{error.message}\n\t [[{where}]]") from error
        element.place = path, number
        return element

    def _next_file(self) -> None:
        self.close()
        self._file += 1
        self._record = 0

    def state(self) -> State:
        """The number of the file and that of the record."""
        return [self._file, self._record]

    def restore(self, state: State, caller: Caller) -> None:
        """Go behind as many records of that file."""
        self.close()
        self._file, self._record = state
        if self._record:
            self._records = itertools.islice(self._open(self._paths[self._file]), self._record, None)

    def close(self) -> None:
        """Close the file."""
        self._records = self._failure = None


class BareFileIterator(FileIterator):
    """The records of files as they are."""

    def _take(self, found: list[Element], some: Iterator[bytes], path: str) -> None:
        found.extend(some)  # type: ignore[arg-type]  # an element is bare here

    def _made(self, data: bytes, path: str, number: int) -> Element:
        return data  # type: ignore[return-value]


def compression_of(compression_type: Array) -> str:
    found = bytes(compression_type.item()).decode()
    if found not in ("", "GZIP", "ZLIB"):
        raise InvalidArgumentError.of(
            f"Unsupported compression_type: {found!r}. Files are plain with '', or compressed as 'GZIP' or 'ZLIB' says"
        )
    return found


def _lines(path: str, compression: str) -> Iterator[bytes]:
    with gfile.GFile(path, "rb") as file:
        # The lines of a block together take a third of the CPU of one by one, 0.08 us each (two cores, December 2026).
        yield from itertools.chain.from_iterable(_line_blocks(open_stream(file, compression, path)))


def _line_blocks(stream: Readable) -> Iterator[list[bytes]]:
    begun: list[bytes] = []  # of the line that goes on
    while data := stream.read(_BLOCK_BYTES):
        first, *others = data.replace(b"\r", b"").split(b"\n")
        begun.append(first)
        if others:
            *whole, last = others
            yield [b"".join(begun), *whole]
            begun = [last]
    if any(begun):
        yield [b"".join(begun)]


@dataset_op("TextLineDataset", "filenames: string, compression_type: string, buffer_size: int64", stateful=True, at_once=True,
            ranks=_SCALARS)  # fmt: skip
def text_line_dataset(ctx: OpContext, filenames: Array, compression_type: Array, buffer_size: Array) -> Source:
    """The lines of files, without their ends: `[...] string, scalar string, scalar int64 -> scalar variant`."""
    _check_buffer_size(buffer_size)
    compression = compression_of(compression_type)
    return Files(filenames, lambda path: _lines(path, compression), place_of(ctx))


@dataset_op("TFRecordDataset", "filenames: string, compression_type: string, buffer_size: int64", stateful=True, at_once=True,
            ranks=_SCALARS)  # fmt: skip
def tf_record_dataset(ctx: OpContext, filenames: Array, compression_type: Array, buffer_size: Array) -> Source:
    """The records of files of TFRecords.

    `[...] string, scalar string, scalar int64 -> scalar variant`
    """
    if int(buffer_size) != _LATER_DEFAULT:
        _check_buffer_size(buffer_size)
    compression = compression_of(compression_type)
    return Files(filenames, lambda path: records(path, compression), place_of(ctx))


def _fixed(path: str, header: int, size: int, footer: int, compression: str) -> Iterator[bytes]:
    if not compression:
        body = gfile.Stat(path).length - header - footer
        if body < 0 or body % size:
            raise InvalidArgumentError.of(
                f'Excluding the header ({header} bytes) and footer ({footer} bytes), input file "{path}" has body length '
                f"{body} bytes, which is not an exact multiple of the record length ({size} bytes)."
            )
    with gfile.GFile(path, "rb") as file:
        stream = open_stream(file, compression, path)
        if len(stream.read(header)) < header:
            raise InvalidArgumentError.of(f"{path}: the file is shorter than its header of {header} bytes")
        window = b""
        while True:
            window += _read_fully(stream, max(size + footer - len(window), 0))
            if len(window) < size + footer:
                if len(window) > footer:
                    raise InvalidArgumentError.of(
                        f"Excess data of {len(window) - footer} bytes after records of {size} bytes in {path}, with header of "
                        f"{header} and footer of {footer} bytes"
                    )
                return
            yield window[:size]
            window = window[size:]


def _read_fully(stream: Array, count: int) -> bytes:
    parts: list[bytes] = []
    while count > 0 and (data := stream.read(count)):
        parts.append(data)
        count -= len(data)
    return b"".join(parts)


@dataset_op("FixedLengthRecordDatasetV2", "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, "
            "buffer_size: int64, compression_type: string", stateful=True, at_once=True,
            ranks={**_SCALARS, "header_bytes": 0, "record_bytes": 0, "footer_bytes": 0})  # fmt: skip
def fixed_length_record_dataset_v2(
    ctx: OpContext, filenames: Array, header_bytes: Array, record_bytes: Array, footer_bytes: Array, buffer_size: Array,
    compression_type: Array,
) -> Source:  # fmt: skip
    """The pieces of one length of files.

    `[...] string, scalar int64, scalar int64, scalar int64, scalar int64, scalar string -> scalar variant`
    """
    header, size, footer = int(header_bytes), int(record_bytes), int(footer_bytes)
    if size <= 0:
        raise InvalidArgumentError.of(f"`record_bytes` must be greater than zero. It is {size}: how long each record is")
    if header < 0 or footer < 0:
        raise InvalidArgumentError.of("`header_bytes` and `footer_bytes` must not be negative")
    _check_buffer_size(buffer_size)
    compression = compression_of(compression_type)
    return Files(filenames, lambda path: _fixed(path, header, size, footer, compression), place_of(ctx))


def _csv_records(path: str, compression: str, has_header: bool, delimiter: bytes, quoted: bool) -> Iterator[bytes]:
    """The records of a CSV file behind its header, if it has one."""
    with gfile.GFile(path, "rb") as file:
        records = records_of(open_stream(file, compression, path), delimiter, quoted)
        if has_header and next(records, None) is None:
            raise InvalidArgumentError.of(f"Can't read header of file {path}: it is empty")
        yield from records


@dataset_op("CSVDataset", "filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, "
            "use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: [output_types]",
            stateful=True, at_once=True, ranks={**_SCALARS, "header": 0, "field_delim": 0, "use_quote_delim": 0, "na_value": 0,
                                  "select_cols": 1})  # fmt: skip
def csv_dataset(
    ctx: OpContext, filenames: Array, compression_type: Array, buffer_size: Array, header: Array, field_delim: Array,
    use_quote_delim: Array, na_value: Array, select_cols: Array, record_defaults: Sequence[Array], *,
    output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """The records of CSV files, a component for each column.

    `[...] string, scalar string, scalar int64, scalar bool, scalar string, scalar bool, scalar string, [c] int64,
    n*[size] -> scalar variant`
    """
    _check_buffer_size(buffer_size)
    return csv_source(
        ctx, filenames, compression_type, header, field_delim, use_quote_delim, na_value, select_cols, record_defaults,
        output_types,
    )  # fmt: skip


def csv_source(
    ctx: OpContext, filenames: Array, compression_type: Array, header: Array, field_delim: Array, use_quote_delim: Array,
    na_value: Array, select_cols: Array, record_defaults: Sequence[Array], output_types: list[DType],
) -> Source:  # fmt: skip
    """The records of CSV files, of which `select_cols` names the columns; none for all."""
    delimiter, missing, quoted = bytes(field_delim.item()), bytes(na_value.item()), bool(use_quote_delim)
    chosen: list[int] = select_cols.tolist()
    compression, has_header = compression_of(compression_type), bool(header)

    def element(record: bytes) -> list[Array]:
        # An empty record has one field, which is empty.
        fields = fields_of(record, delimiter, quoted) or [b""]
        if chosen:
            fields = [fields[column] for column in chosen if column < len(fields)]
        if len(fields) != len(output_types):
            count = "more" if len(fields) > len(output_types) else len(fields)
            raise InvalidArgumentError.of(f"Expect {len(output_types)} fields but have {count} in record: {record[:80]!r}")
        columns = enumerate(zip(fields, output_types, record_defaults, strict=True))
        return [_scalar(value_of_field(text, missing, kind, default, i, None), kind) for i, (text, kind, default) in columns]

    return Files(filenames, lambda path: _csv_records(path, compression, has_header, delimiter, quoted), place_of(ctx), element)


def _scalar(value: object, kind: DType) -> Array:
    return boxed(value) if isinstance(value, bytes) else np.asarray(value, kind.as_numpy_dtype)
