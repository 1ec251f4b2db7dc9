"""Traffic: what went over a connection, as it is counted anyway."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traffic:
    """Messages and bytes in both directions; bytes are those of sockets and of payloads in shared memory together."""

    sent_messages: int = 0
    sent_bytes: int = 0
    received_messages: int = 0
    received_bytes: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(
            self.sent_messages + other.sent_messages,
            self.sent_bytes + other.sent_bytes,
            self.received_messages + other.received_messages,
            self.received_bytes + other.received_bytes,
        )
