"""Pulse: a connection as its heartbeats see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.channel.message_reader import MessageReader
from weft.channel.outbox import Outbox
from weft.channel.transport.transport import Transport
from weft.protocol.heartbeat import Evidence
from weft.protocol.tensor_blob import Buffer


class Pulse:
    """What heartbeats look at and do; see `heartbeats.Watched`. None of it waits.

    Args:
        name: the connection's.
        transport: the connection's.
        reader: reads what the peer sends.
        outbox: holds what waits for it.
        send_frame: sends an encoded message.
        abort: ends the connection now.
    """

    def __init__(
        self,
        name: str,
        transport: Transport,
        reader: MessageReader,
        outbox: Outbox,
        send_frame: Callable[[Sequence[Buffer]], None],
        abort: Callable[[Exception | None], None],
    ) -> None:
        self.name = name
        self._transport = transport
        self._reader = reader
        self._outbox = outbox
        self.send_frame = send_frame
        self.abort = abort

    @property
    def received_count(self) -> int:
        """A number that grows with what is received."""
        return self._reader.received_count

    @property
    def queued_bytes(self) -> int:
        """The number of bytes that wait here for a peer that does not read fast enough."""
        return self._outbox.queued_bytes

    def fileno(self) -> int:
        """The descriptor that is readable while something waits to be read."""
        return self._reader.fd

    def evidence(self, silent_s: float) -> Evidence:
        """What the kernel knows of a peer from which nothing has come for so long."""
        return self._transport.evidence(silent_s)
