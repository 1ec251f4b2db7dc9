"""The tensor channel's wire format: messages to buffers and bytes back to messages, without any I/O.

A frame is

    prefix   16 bytes: magic, kind, flags, header's size (32 bits), payload's size (64 bits), little-endian
    header   a MessagePack array: the message's fields in order, tensors left out, then the list of tensor descriptors, which
             is itself packed, as one byte string, and empty where there are no tensors: see `tensor_layout`
    payload  the tensors' own bytes, each padded to 64 bytes; with flag 1, which two processes of one host use between them,
             only the number of the shared segment where they lie, in 64 bits

Sending copies no large tensor: `encode` hands out the arrays' own memory. Receiving copies none either: a large payload
is received straight into aligned memory, of which the arrays are views. So one kept tensor keeps its whole message's
payload.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from weft.protocol import messages
from weft.protocol.messages import Message
from weft.protocol.packing import Packer, UnpackException, packb, unpackb
from weft.protocol.protocol_error import CutShortError, LocalProtocolError, RemoteProtocolError
from weft.protocol.receive_memory import ReceiveMemory
from weft.protocol.tensor_blob import Buffer
from weft.protocol.tensor_layout import Layout, Packed, Part, layout_of, pack

MAX_HEADER_BYTES: Final = 64 << 20
"""The largest header that is sent or, by default, accepted. Traces travel in headers, so it is generous."""

RECEIVE_BYTES: Final = 256 << 10
"""The size of a decoder's own buffer: as many small frames as fit are received with one call."""

_DIRECT_BYTES: Final = 32 << 10  # Payloads beyond this get memory of their own; below, one copy is cheaper.
_PEEK_BYTES: Final = 16 << 10  # Received at most at once after such a payload, until so many frames have been without:
_FRAMES_BETWEEN: Final = 32
_MAGIC: Final = 0xF7E3
_PREFIX: Final = struct.Struct("<HBBIQ")
_PREFIX_BYTES: Final = _PREFIX.size
_SHARED: Final = 1
_PLACE: Final = struct.Struct("<Q")
_NOTHING: Final = bytearray()
_PACKER_BYTES: Final = 1 << 10  # a packer's room at first: most headers fit, and the packer costs the less the smaller it is

_WIRE_TYPES: Final[dict[str, type]] = {"int": int, "str": str, "bytes": bytes, "tuple[int, ...]": tuple}
_TENSORS: Final = "tuple[Array, ...]"
_Fields: TypeAlias = tuple[Sequence[object], Layout | None]  # a message's fields but for its tensors, and how those lie

# The position in this table is the kind's number on the wire: append only.
_CLASSES: Final[tuple[type[Message], ...]] = (
    messages.Hello, messages.Welcome, messages.Reject, messages.Goodbye, messages.Ping, messages.Pong,
    messages.RunGraph, messages.Push, messages.StepDone, messages.StepFailed, messages.Abort,
    messages.RunCallable, messages.CallDone, messages.CallFailed, messages.CancelCall,
)  # fmt: skip


class PayloadLender(Protocol):
    """Puts payloads where the peer finds them without receiving them."""

    def put(self, parts: Sequence[Buffer], size_bytes: int) -> int | None:
        """Copy a payload there; return the number of its place, None if it has to be sent."""
        ...


class PayloadBorrower(Protocol):
    """Finds payloads that were not sent."""

    def take(self, number: int, size_bytes: int) -> npt.NDArray[np.uint8]:
        """The payload in a place, which is the receiver's as long as there are arrays of it.

        Raises:
            RemoteProtocolError: there is none.
        """
        ...


class _Kind:
    """The codec's knowledge of one message class, worked out once at import."""

    __slots__ = ("int_tuples", "message_class", "name", "number", "tensors", "tensors_at", "types", "values")

    def __init__(self, number: int, message_class: type[Message]) -> None:
        fields = dataclasses.fields(message_class)
        plain = [field for field in fields if field.type != _TENSORS]
        self.number = number
        self.message_class: Callable[..., Message] = message_class
        self.name = message_class.__name__
        self.values = _reader([field.name for field in plain])
        self.types: tuple[type, ...] = tuple(_WIRE_TYPES[str(field.type)] for field in plain)
        self.int_tuples = [i for i, field in enumerate(plain) if field.type == "tuple[int, ...]"]
        self.tensors: Callable[[Message], tuple[messages.Array, ...]] | None = None
        self.tensors_at = 0
        for position, field in enumerate(fields):
            if field.type == _TENSORS:
                self.tensors, self.tensors_at = attrgetter(field.name), position
                self.types += (bytes,)


def _reader(names: list[str]) -> Callable[[Message], tuple[object, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    only = attrgetter(names[0])
    return lambda message: (only(message),)


_KINDS: Final = tuple(_Kind(number, message_class) for number, message_class in enumerate(_CLASSES))
_KIND_OF_CLASS: Final = {_CLASSES[kind.number]: kind for kind in _KINDS}


def encode(message: Message, lender: PayloadLender | None = None) -> list[Buffer]:
    """Return the buffers that, one after the other, are the message's frame.

    Large tensors are put with the `lender`, if there is one and it takes them. Otherwise they are returned as views of the
    arrays themselves: the caller keeps the arrays unchanged until the buffers are written. Small ones are copied, so a message
    without a large tensor is one `bytes`.

    Raises:
        LocalProtocolError: the message holds something that the channel cannot carry.
    """
    kind = _KIND_OF_CLASS[type(message)]
    values = kind.values(message)
    try:
        arrays = () if kind.tensors is None else kind.tensors(message)
        if arrays:
            packed = pack(arrays)
            return _frame(kind.number, _packed((*values, packed.descriptors)), packed, lender)
        header = _packed(values if kind.tensors is None else (*values, b""))
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise LocalProtocolError(f"{kind.name} cannot be sent: {error}") from error
    return [_PREFIX.pack(_MAGIC, kind.number, 0, len(header), 0) + header]


class RepeatedCall:
    """The frames of one call that is made again and again without tensors and options: only its number changes.

    All but the number is packed once. A frame takes 0.6 µs, with `encode` and the message that this needs 2.2 (AMD EPYC with
    eight busy neighbours, Python 3.11, November 2026).
    """

    __slots__ = ("_array", "_kind", "_others")

    def __init__(self, session_handle: str, callable_id: int) -> None:
        self._kind = _KIND_OF_CLASS[messages.RunCallable]
        _, *others = self._kind.values(messages.RunCallable(0, session_handle, callable_id, (), b""))
        others.append(b"")  # the descriptors
        self._array: bytes = Packer().pack_array_header(1 + len(others))
        self._others = b"".join(map(packb, others))

    def frame(self, call_id: int) -> list[Buffer]:
        """Return the buffers that `encode` returns for the call of this number."""
        header = self._array + _packed(call_id) + self._others
        return [_PREFIX.pack(_MAGIC, self._kind.number, 0, len(header), 0) + header]


def _packed(value: object) -> bytes:
    """Pack a header, or a part of one.

    Each time with a packer of its own, which many threads do at a time: that costs 0.1 µs more than one that is kept.

    Raises:
        LocalProtocolError: it is too long.
    """
    header: bytes = Packer(buf_size=_PACKER_BYTES).pack(value)
    if len(header) > MAX_HEADER_BYTES:
        raise LocalProtocolError(f"a header has {len(header)} bytes, at most {MAX_HEADER_BYTES} can be sent")
    return header


def _frame(number: int, header: bytes, packed: Packed, lender: PayloadLender | None) -> list[Buffer]:
    size = packed.size_bytes
    if not packed.has_large:
        return [_joined([_PREFIX.pack(_MAGIC, number, 0, len(header), size), header, *packed.parts])]
    payload = _gather(packed.parts)
    place = None if lender is None else lender.put(payload, size)
    if place is not None:
        return [_PREFIX.pack(_MAGIC, number, _SHARED, len(header), size) + header + _PLACE.pack(place)]
    return [_PREFIX.pack(_MAGIC, number, 0, len(header), size) + header, *payload]


def _gather(parts: Sequence[Part]) -> list[Buffer]:
    """Join the small parts, keep the large ones."""
    out: list[Buffer] = []
    small: list[Part] = []
    for part in parts:
        if type(part) is memoryview:
            out += (_joined(small), part) if small else (part,)
            small = []
        else:
            small.append(part)
    if small:
        out.append(_joined(small))
    return out


def _joined(parts: Sequence[Part]) -> bytes:
    try:
        return b"".join(parts)  # type: ignore[arg-type]  # NumPy's stubs say only from Python 3.12 on that arrays have a buffer
    except TypeError:
        # Some array is not contiguous.
        return b"".join(part if isinstance(part, bytes) else part.tobytes() for part in parts)


class FrameDecoder:
    """Turns received bytes into messages. For one reader at a time.

        buffer = decoder.get_buffer()
        count = sock.recv_into(buffer)
        for message in decoder.buffer_received(count): ...

    The memory of `get_buffer` belongs to the decoder, except that a large payload's memory goes to its message's
    arrays. After the peer's first violation, and the messages before it, every call raises the same
    RemoteProtocolError.
    `max_header_bytes`, `max_payload_bytes` (None: no limit) and `borrower` (None: every payload is sent) may be changed between
    two calls.
    """

    __slots__ = (
        "_bytes", "_end", "_error", "_fields", "_filled", "_frames_since", "_kind", "_memory", "_payload", "_start", "_view",
        "borrower", "max_header_bytes", "max_payload_bytes",
    )  # fmt: skip

    def __init__(self, *, max_header_bytes: int = MAX_HEADER_BYTES, max_payload_bytes: int | None = None) -> None:
        self.max_header_bytes = max_header_bytes
        self.max_payload_bytes = max_payload_bytes
        self.borrower: PayloadBorrower | None = None
        self._bytes = bytearray(RECEIVE_BYTES)
        self._view = memoryview(self._bytes)
        self._start = self._end = 0
        # Frames since the last large payload. Where another is likely little is received at once: it shall come to its place.
        self._frames_since = _FRAMES_BETWEEN
        self._memory = ReceiveMemory()
        # The frame whose large payload is being received, if any.
        self._payload: npt.NDArray[np.uint8] | None = None
        self._filled = 0
        self._kind = _KINDS[0]
        self._fields: _Fields = ((), None)
        self._error: RemoteProtocolError | None = None

    @property
    def missing_payload_bytes(self) -> int:
        """How much of a large payload is still to come: a receiver may wait for all of it at once."""
        return 0 if self._payload is None else self._payload.size - self._filled

    def get_buffer(self) -> memoryview:
        """Return memory, at least one byte, to receive into."""
        if self._error is not None:
            raise self._error
        if self._payload is not None:
            return self._payload.data[self._filled :]
        if self._frames_since < _FRAMES_BETWEEN:
            return self._view[self._end : self._end + _PEEK_BYTES]
        return self._view[self._end :] if self._end else self._view

    def buffer_received(self, count: int) -> list[Message]:
        """Take note of `count` bytes written to `get_buffer()`'s start; return the messages that are now complete."""
        if self._error is not None:
            raise self._error
        out: list[Message] = []
        try:
            if self._payload is not None:
                self._fill(self._payload, count, out)
            else:
                self._end += count
                self._parse(out)
        except RemoteProtocolError as error:
            self._error = error
            if not out:
                raise
        return out

    def end_of_stream(self) -> None:
        """Take note that no byte will follow.

        Raises:
            RemoteProtocolError: the stream ends within a frame, or was broken before.
        """
        if self._error is None and (self._payload is not None or self._start != self._end):
            self._error = CutShortError("the connection ended in the middle of a message")
        if self._error is not None:
            raise self._error

    def _fill(self, payload: npt.NDArray[np.uint8], count: int, out: list[Message]) -> None:
        self._filled += count
        if self._filled == payload.size:
            kind, fields = self._kind, self._fields
            self._payload, self._fields = None, ((), None)
            out.append(_message(kind, fields, payload))

    def _parse(self, out: list[Message]) -> None:
        """Take every complete frame out of the buffer, then make room for the one that is not."""
        needed = _PREFIX_BYTES
        self._memory.note_receipt()
        start, end, view = self._start, self._end, self._view
        while end - start >= _PREFIX_BYTES:
            magic, number, flags, header_bytes, size = _PREFIX.unpack_from(self._bytes, start)
            if magic != _MAGIC or flags > (0 if self.borrower is None else _SHARED) or number >= len(_KINDS):
                self._refuse_start(start)
            if header_bytes > self.max_header_bytes or (self.max_payload_bytes is not None and size > self.max_payload_bytes):
                self._refuse_size(header_bytes, size)
            kind = _KINDS[number]
            body = start + _PREFIX_BYTES
            payload_at = body + header_bytes
            needed = _PREFIX_BYTES + header_bytes
            if payload_at > end:
                break
            if flags:
                needed += _PLACE.size
                if payload_at + _PLACE.size > end:
                    break
                fields = _fields(kind, view[body:payload_at], size)
                payload = self._borrowed(payload_at, size)
                start = self._start = payload_at + _PLACE.size
                out.append(_message(kind, fields, payload))
            elif size <= _DIRECT_BYTES:
                needed += size
                if payload_at + size > end:
                    break
                fields = _fields(kind, view[body:payload_at], size)
                start = self._start = payload_at + size
                self._frames_since += 1
                out.append(_message(kind, fields, bytearray(view[payload_at:start]) if size else _NOTHING))
            else:
                fields = _fields(kind, view[body:payload_at], size)
                start = self._start = self._begin_payload(kind, fields, size, payload_at, out)
            needed = _PREFIX_BYTES
        if start == end and len(self._bytes) == RECEIVE_BYTES:
            self._start = self._end = 0
        else:
            self._make_room(needed)

    def _refuse_start(self, start: int) -> None:
        magic, number, flags, _, _ = _PREFIX.unpack_from(self._bytes, start)
        if magic == _MAGIC and not flags:
            raise RemoteProtocolError(f"a frame is of the unknown kind {number}")
        found = bytes(self._view[start : start + 4]).hex()
        raise RemoteProtocolError(f"a frame starts with the bytes {found}, which no frame does")

    def _refuse_size(self, header_bytes: int, payload_bytes: int) -> None:
        if header_bytes > self.max_header_bytes:
            raise RemoteProtocolError(f"a header of {header_bytes} bytes, at most {self.max_header_bytes} are accepted")
        raise RemoteProtocolError(f"a payload of {payload_bytes} bytes, at most {self.max_payload_bytes} are accepted")

    def _borrowed(self, at: int, size: int) -> npt.NDArray[np.uint8]:
        assert self.borrower is not None
        (number,) = _PLACE.unpack_from(self._bytes, at)
        return self.borrower.take(number, size)

    def _begin_payload(self, kind: _Kind, fields: _Fields, size: int, at: int, out: list[Message]) -> int:
        """Move the part of a large payload that has come to memory of its own; return where the buffer's rest starts."""
        try:
            payload = self._memory.allocate(size)
        except (MemoryError, ValueError) as error:
            raise RemoteProtocolError(f"there is no memory for a payload of {size} bytes") from error
        self._frames_since = 0
        present = min(size, self._end - at)
        payload.data[:present] = self._view[at : at + present]
        if present == size:
            out.append(_message(kind, fields, payload))
        else:
            self._kind, self._fields, self._payload, self._filled = kind, fields, payload, present
        return at + present

    def _make_room(self, needed: int) -> None:
        start, end = self._start, self._end
        if start == end:
            self._start = self._end = 0
            if len(self._bytes) > RECEIVE_BYTES:
                self._replace(RECEIVE_BYTES, b"")
        elif start + needed > len(self._bytes):
            # The rest is copied out first: source and destination may overlap.
            rest = bytes(self._view[start:end])
            if needed > len(self._bytes):
                self._replace(needed, rest)
            else:
                self._view[: len(rest)] = rest
            self._start, self._end = 0, len(rest)

    def _replace(self, size: int, content: bytes) -> None:
        self._bytes = bytearray(size)
        self._view = memoryview(self._bytes)
        self._view[: len(content)] = content


def _fields(kind: _Kind, header: memoryview, payload_size: int) -> _Fields:
    """Unpack and check a header, before any memory is spent on its payload."""
    try:
        fields = unpackb(header, use_list=False)
    except (ValueError, TypeError, OverflowError, UnpackException) as error:
        raise RemoteProtocolError(f"the header of a {kind.name} is damaged: {error}") from error
    if type(fields) is not tuple or tuple(map(type, fields)) != kind.types:
        raise RemoteProtocolError(f"a {kind.name} has other fields than {kind.types}")
    for i in kind.int_tuples:
        if fields[i] and set(map(type, fields[i])) != {int}:
            raise RemoteProtocolError(f"a {kind.name} has something else in a list of numbers")
    promised, layout = 0, None
    if kind.tensors is not None:
        *fields, descriptors = fields
        if descriptors:
            layout = layout_of(descriptors)
            promised = layout.size_bytes
    if promised != payload_size:
        raise RemoteProtocolError(f"a payload of {payload_size} bytes, its tensors take {promised}")
    return fields, layout


def _message(kind: _Kind, parsed: _Fields, payload: bytearray | npt.NDArray[np.uint8]) -> Message:
    try:
        fields, layout = parsed
        if kind.tensors is None:
            message = kind.message_class(*fields)
        else:
            at = kind.tensors_at
            tensors = () if layout is None else layout.restore(payload)
            message = kind.message_class(*fields[:at], tensors, *fields[at:])
    except ValueError as error:
        raise RemoteProtocolError(f"a {kind.name} contradicts itself: {error}") from error
    return message
