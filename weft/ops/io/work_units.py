"""The records that a reader makes of one work unit, such as a file's name: their keys and values, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from weft.checkpoint.records import open_stream, record_bytes, records
from weft.errors import InvalidArgumentError
from weft.platform.files import gfile

Record = tuple[bytes, bytes]

_ENCODINGS: Final = ("", "GZIP", "ZLIB")


def whole_file(path: str) -> Iterator[Record]:
    """The file's name and all of its bytes."""
    with gfile.GFile(path, "rb") as file:
        yield path.encode(), file.read()


def identity(work: str) -> Iterator[Record]:
    """The work unit itself, twice."""
    yield work.encode(), work.encode()


def text_lines(path: str, skip_header_lines: int) -> Iterator[Record]:
    """The lines without their ends, from the one after the header; keys are `path:line`, counted from 1."""
    with gfile.GFile(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if number > skip_header_lines:
                yield f"{path}:{number}".encode(), line.removesuffix(b"\n").replace(b"\r", b"")


def tf_records(path: str, compression: str) -> Iterator[Record]:
    """The records of a file of TFRecords; keys are `path:offset`, in bytes before compression."""
    offset = 0
    for data in records(path, compression):
        yield f"{path}:{offset}".encode(), data
        offset += record_bytes(data)


def fixed_length_records(
    path: str, record_bytes: int, header_bytes: int, footer_bytes: int, hop_bytes: int, encoding: str
) -> Iterator[Record]:
    """Pieces of `record_bytes`, each `hop_bytes` after the one before; keys are `path:number`, counted from 0.

    What is left at the end and too short for a record is left out, like header and footer.
    """
    hop = hop_bytes or record_bytes
    with gfile.GFile(path, "rb") as file:
        stream = open_stream(file, encoding, path)
        stream.read(header_bytes)
        window = b""
        number = 0
        while True:
            window += stream.read(record_bytes + footer_bytes - len(window))
            if len(window) < record_bytes + footer_bytes:
                return
            yield f"{path}:{number}".encode(), window[:record_bytes]
            number += 1
            if hop > len(window):
                stream.read(hop - len(window))
            window = window[hop:]


def check_fixed_length(record_bytes: int, header_bytes: int, footer_bytes: int, hop_bytes: int, encoding: str) -> None:
    """Refuse sizes and encodings that no file can have; InvalidArgumentError."""
    for what, size in (("header_bytes", header_bytes), ("footer_bytes", footer_bytes), ("hop_bytes", hop_bytes)):
        if size < 0:
            raise InvalidArgumentError.of(f"{what} must be >= 0 not {size}")
    if record_bytes <= 0:
        raise InvalidArgumentError.of(f"record_bytes must be > 0 not {record_bytes}")
    if encoding not in _ENCODINGS:
        raise InvalidArgumentError.of(f"encoding {encoding!r} is not supported, only 'ZLIB' and 'GZIP' are.")
