"""Protos out of files and out of each other: whatever is none is an error that names the file and the place in it.

TensorFlow 1 raised an IOError for a graph's file that cannot be read, and its programs catch that; errors about files
are OSErrors here as well.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Final, TypeVar

from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message

from weft.errors import DataLossError, InvalidArgumentError, NotFoundError
from weft.framework.serial.wire_damage import find_damage

MessageT = TypeVar("MessageT", bound=Message)

_SAMPLE_BYTES: Final = 1 << 12
# What text has none of: control characters but tab, line feed, form feed and carriage return.
_NO_TEXT: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")
_NODE: Final = re.compile(r'\bnode\s*\{\s*name:\s*"([^"\n]*)"')


class UnparsableFileError(DataLossError, OSError):
    """A file holds something else than it should, or only a part of it."""


class InvalidGraphFileError(InvalidArgumentError, ValueError):
    """A file's graph is none; a ValueError, too, as that of a graph in memory is."""


class LackingGraphFileError(InvalidArgumentError, KeyError):
    """A file names a tensor or an operation that its graph lacks; a KeyError, too, as that of a graph in memory is."""


def parse(kind: type[MessageT], data: bytes, what: str) -> MessageT:
    """The message in some bytes.

    Args:
        kind: the message's class.
        data: the bytes.
        what: what they are, for the message of an error.

    Raises:
        DataLossError: they are none; tells the place.
    """
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise DataLossError.of(f"{what} cannot be parsed: {find_damage(data, kind.DESCRIPTOR) or error}") from error


def fill_from_binary(proto: Message, data: bytes, path: str) -> None:
    """Fill a proto from the bytes of a file in the wire form.

    Raises:
        DataLossError: there are none, or they are damaged. It is an OSError as well.
    """
    if not data:
        raise UnparsableFileError.of(f"Cannot parse file {path}: it is empty, which no {_name(proto)} is.")
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        damage = find_damage(data, proto.DESCRIPTOR) or error
        message = (
            f"Cannot parse file {path} of {len(data)} bytes as a {_name(proto)}: {damage}. The file is damaged or cut off."
        )
        raise UnparsableFileError.of(message) from error


def fill_from_text(proto: Message, data: bytes, path: str) -> None:
    """Fill a proto from the bytes of a file in the text form.

    Raises:
        DataLossError: there are none, or they are damaged. It is an OSError as well.
    """
    if not data:
        raise UnparsableFileError.of(f"Cannot parse file {path}: it is empty, which no {_name(proto)} is.")
    text, line = "", None
    try:
        text = data.decode()
        text_format.Merge(text, proto)
        return
    except UnicodeDecodeError as error:
        text, what = data[: error.start].decode(), f"byte {error.start} is not UTF-8"
    except text_format.ParseError as error:
        line, what = error.GetLine(), str(error)
    except RecursionError:
        what = "messages are too deep inside of each other"
    except DeprecationWarning as warning:
        # protobuf reads escapes by a codec of Python's, which warns of those that it does not know: an error where warnings
        # are.
        what = str(warning)
    lines = text.split("\n")
    before = "\n".join(lines[:line])
    nodes = _NODE.findall(before)
    where = f", behind the beginning of node {nodes[-1]!r}" if nodes else ""
    raise UnparsableFileError.of(f"Cannot parse file {path} as the text of a {_name(proto)}: {what}{where}.")


def fill_from_either(proto: Message, data: bytes, path: str) -> None:
    """Fill a proto from the bytes of a file in the wire form or, where they are none, in the text form.

    Raises:
        DataLossError: they are neither. It is an OSError as well.
    """
    try:
        fill_from_binary(proto, data, path)
    except UnparsableFileError:
        if not data or _NO_TEXT.search(data, 0, _SAMPLE_BYTES):
            raise
        proto.Clear()
        fill_from_text(proto, data, path)


@contextlib.contextmanager
def reading(path: object) -> Iterator[None]:
    """Add a file's name to what is raised about the graph in it; None where it is from no file.

    Args:
        path: the file's path, a `str` or an `os.PathLike`.
    """
    where = None if path is None else str(path)
    try:
        yield
    except (DataLossError, NotFoundError) as error:
        if where is None or where in error.message:
            raise
        kind = NotFoundError if isinstance(error, NotFoundError) else DataLossError
        raise kind(error.node_def, error.op, f"{error.message} (in the graph of file {where})") from error
    except (ValueError, KeyError) as error:
        text = str(error.args[0]) if error.args else ""
        if where is None or where in text or type(error) not in (ValueError, KeyError):
            raise
        sort = InvalidGraphFileError if isinstance(error, ValueError) else LackingGraphFileError
        raise sort.of(f"{text} (in the graph of file {where})") from error


def _name(proto: Message) -> str:
    return str(proto.DESCRIPTOR.name)
