"""Mutated frames of the tensor channel, as a decoder receives them: in pieces, several in a row."""

from __future__ import annotations

import random
import struct
from typing import Any, Final

import msgpack
import numpy as np

from reliability.fuzz.byte_mutation import INTERESTING, mutate
from weft.protocol import messages
from weft.protocol.protocol_error import RemoteProtocolError
from weft.protocol.tensor_frame import FrameDecoder, encode

_PREFIX: Final = struct.Struct("<HBBIQ")
_VALUES: Final = (None, True, 1.5, "text", b"bytes", (), (1, "a"), {}, *INTERESTING)


class Frames:
    """Decodes streams of one to three frames of which one is changed: in its bytes, or in a field of its header."""

    name = "frames"

    def __init__(self) -> None:
        self._frames = [b"".join(bytes(part) for part in encode(message)) for message in _messages()]

    def make(self, source: random.Random) -> bytes:
        """Make a stream; half of the changes keep the prefix right, so that they reach the header's checks."""
        frame = source.choice(self._frames)
        changed = _changed_header(source, frame) if source.random() < 0.5 else mutate(source, frame, self._frames)
        before = source.choice(self._frames) if source.random() < 0.2 else b""
        after = source.choice(self._frames) if source.random() < 0.3 else b""
        return before + changed + after

    def run(self, data: bytes) -> str:
        """Decode the stream; what is accepted must be encodable again."""
        decoder = FrameDecoder(max_payload_bytes=64 << 20)
        view = memoryview(data)
        try:
            while view:
                buffer = decoder.get_buffer()
                count = min(len(buffer), len(view))
                buffer[:count] = view[:count]
                view = view[count:]
                for message in decoder.buffer_received(count):
                    assert encode(message)
            decoder.end_of_stream()
        except RemoteProtocolError:
            return "RemoteProtocolError"
        return "accepted"

    def seeds(self) -> list[bytes]:
        """Good frames."""
        return self._frames

    def close(self) -> None:
        """Nothing is held."""


def _changed_header(source: random.Random, frame: bytes) -> bytes:
    magic, kind, flags, header_bytes, payload_bytes = _PREFIX.unpack_from(frame)
    header = frame[_PREFIX.size : _PREFIX.size + header_bytes]
    payload = frame[_PREFIX.size + header_bytes :]
    if source.random() < 0.5:
        header = _changed_field(source, header)
    elif source.random() < 0.5:
        header = mutate(source, header)
    else:
        payload = payload[: source.randint(0, len(payload))] + source.randbytes(source.choice((0, 1, 64)))
        payload_bytes = len(payload)
    if source.random() < 0.1:
        kind = source.randrange(20)
    return _PREFIX.pack(magic, kind, flags, len(header), payload_bytes) + header + payload


def _changed_field(source: random.Random, header: bytes) -> bytes:
    fields: list[Any] = list(msgpack.unpackb(header, use_list=False))
    at = source.randrange(len(fields))
    old = fields[at]
    # The tensors' descriptors are a packed list within the list.
    if isinstance(old, bytes) and old and source.random() < 0.7:
        fields[at] = mutate(source, old)
    else:
        fields[at] = source.choice(_VALUES)
    try:
        return msgpack.packb(fields)  # type: ignore[no-any-return]
    except (OverflowError, ValueError):
        return mutate(source, header)


def _messages() -> list[messages.Message]:
    numbers, texts = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([b"a", b"", b"xyz" * 30], object)
    large = np.arange(12_000, dtype=np.int64)
    empty, scalar = np.zeros((0, 4), np.int32), np.array(True)
    return [
        messages.Hello(1, "/job:ps/replica:0/task:0", 7, b"token", "/job:worker/replica:0/task:1"),
        messages.Welcome("/job:ps/replica:0/task:0", 8),
        messages.Reject("no"),
        messages.RunGraph(3, "graph-1", (numbers, texts), 0),
        messages.Push(3, (1, 5), (numbers, scalar), (9,)),
        messages.Push(4, (2,), (large,), ()),
        messages.Push(4, (2, 3), (empty, texts), ()),
        messages.StepDone(3, (numbers,), b""),
        messages.StepFailed(3, 3, "wrong", "node", b"payload"),
        messages.Abort(3, 1, "given up"),
        messages.RunCallable(5, "session", 2, (numbers, scalar), b"options"),
        messages.CallDone(5, (texts,), b""),
        messages.CallFailed(5, 3, "wrong", "node"),
        messages.CancelCall(5, "closed"),
        messages.Ping(1),
        messages.Pong(1),
        messages.Goodbye("done"),
    ]
