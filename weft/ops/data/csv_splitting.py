"""The records of CSV files: what stands between ends of lines, but for those in quoted fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Protocol

from weft.errors import InvalidArgumentError

_CHUNK: Final = 1 << 18


class ByteStream(Protocol):
    """What is read: a file, or what a compressed one holds."""

    def read(self, size: int, /) -> bytes:
        """Up to so many bytes; none at the end."""
        ...


def records_of(stream: ByteStream, delimiter: bytes, quoted: bool) -> Iterator[bytes]:
    r"""The records of a stream, without their ends, which are `\n`, `\r` or `\r\n`.

    Args:
        stream: what is read.
        delimiter: the byte between fields.
        quoted: whether a field that begins with a quote may hold ends of lines.

    Raises:
        InvalidArgumentError: the stream ends in a quoted field.
    """
    record = _record(delimiter, quoted)
    held, place, is_over = b"", 0, False
    while True:
        found = record.match(held, place)
        # A record that reaches the end of what was read may go on; so may an end of a line, with a second byte.
        if found is None or (not is_over and found.end() >= len(held) - 1):
            if is_over:
                raise InvalidArgumentError.of("Reached end of file without closing quoted field in record")
            data = stream.read(_CHUNK)
            held, place, is_over = held[place:] + data, 0, not data
            continue
        if is_over and place == len(held):
            return
        yield found[1]
        place = found.end()


def _record(delimiter: bytes, quoted: bool) -> re.Pattern[bytes]:
    between = re.escape(delimiter)
    plain = rb"[^\r\n" + between + rb"]*+"
    # Behind its second quote a field may still have what is none of it, which who takes it apart refuses.
    field = rb'(?:"(?:[^"]|"")*+"' + plain + rb'|(?!")' + plain + rb")" if quoted else plain
    return re.compile(rb"(" + field + rb"(?:" + between + field + rb")*+)(?:\r\n|\r|\n|\Z)")
