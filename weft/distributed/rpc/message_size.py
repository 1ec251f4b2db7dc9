"""Message size: a protobuf message that no reader takes is refused before it is sent, with the names of what fills it.

protobuf's readers take 2 GiB less a byte, and not all of its writers look: a longer message travels, and the peer can only say
that it cannot parse it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Final

from google.protobuf.message import EncodeError, Message

from weft.errors import ResourceExhaustedError

LIMIT_BYTES: Final = 2**31 - 1
SEND_LESS: Final = (
    "Feed less at once, and restore or feed large constants instead of building them into the graph; weft's client has no such "
    "limit for what it feeds to weft's servers"
)
_NAMED: Final = 3


def serialized(message: Message, remedy: str) -> bytes:
    """The bytes of a message.

    Args:
        message: what is to be sent.
        remedy: what the caller can do where it is too large.

    Raises:
        ResourceExhaustedError: it is larger than protobuf can read; names the tensors or nodes that take most of it.
    """
    try:
        data: bytes = message.SerializeToString()
    except EncodeError:
        raise too_large(message, _parts(message), remedy) from None
    if len(data) > LIMIT_BYTES:
        raise too_large(message, _parts(message), remedy, len(data))
    return data


def too_large(
    message: Message, parts: Iterable[tuple[str, int]], remedy: str, size_bytes: int | None = None
) -> ResourceExhaustedError:
    """The error for a message of so many bytes, if they could be counted, with the largest of its parts and their bytes."""
    largest = heapq.nlargest(_NAMED, parts, key=lambda part: part[1])
    named = ", ".join(f"{name!r} ({size} bytes)" for name, size in largest)
    return ResourceExhaustedError.of(
        f"The {type(message).__name__} has {size_bytes or 'too many'} bytes, and a protobuf message holds {LIMIT_BYTES} at most"
        f"{f'; the largest in it: {named}' if named else ''}. {remedy}"
    )


def _parts(message: Message) -> Iterator[tuple[str, int]]:
    """The named messages in a message, such as its tensors or nodes, with their sizes in bytes."""
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        inner: Iterable[Message] = [value] if isinstance(value, Message) else value
        for each in inner:
            if "name" in each.DESCRIPTOR.fields_by_name:
                yield getattr(each, "name"), _size_bytes(each)  # noqa: B009
            else:
                yield from _parts(each)


def _size_bytes(message: Message) -> int:
    """A message's size; without the little around its bytes where it alone is too large to be counted by protobuf."""
    try:
        return message.ByteSize()
    except EncodeError:
        values = (value for _, value in message.ListFields())
        return sum(len(v) if isinstance(v, bytes) else _size_bytes(v) for v in values if isinstance(v, (bytes, Message)))
