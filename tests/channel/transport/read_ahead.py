"""ReadAhead: a transport with the manners of an encrypted one, over another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.channel.transport.transport import Transport
from weft.protocol.tensor_blob import Buffer

RECORD_BYTES = 16 << 10


class ReadAhead:
    """Receives a record at a time, of which no poll shows the rest, and sends one buffer at a time."""

    def __init__(self, below: Transport) -> None:
        self._below = below
        self._record = bytearray()
        self.kind = f"read-ahead {below.kind}"
        self.peer_name = below.peer_name
        self.fileno = below.fileno
        self.establish = below.establish
        self.end_sending = below.end_sending
        self.shut_down = below.shut_down
        self.close = below.close

    @property
    def pending_bytes(self) -> int:
        return len(self._record)

    def receive_ready(self, buffer: memoryview) -> int:
        return self._receive(self._below.receive_ready, buffer)

    def receive_all(self, buffer: memoryview) -> int:
        return self._receive(self._below.receive_all, buffer)

    def _receive(self, receive: Callable[[memoryview], int], buffer: memoryview) -> int:
        if not self._record:
            record = bytearray(RECORD_BYTES)
            count = receive(memoryview(record))
            self._record = record[:count]
        count = min(len(buffer), len(self._record))
        buffer[:count] = self._record[:count]
        del self._record[:count]
        return count

    def send_ready(self, buffers: Sequence[Buffer]) -> int:
        return self._below.send_ready([self._first(buffers)])

    def send(self, buffers: Sequence[Buffer]) -> int:
        return self._below.send([self._first(buffers)])

    def _first(self, buffers: Sequence[Buffer]) -> Buffer:
        return next((buffer[:RECORD_BYTES] for buffer in buffers if buffer), b"")
