"""The interface of a transport: an ordered, two-way stream of bytes to one peer, and nothing of what the bytes mean.

The rest of the channel knows sockets by this interface alone. A new transport is one file with an address, a listener and a
transport; `address.py` and the listener's list of them name it once each. `weft.testing.transport_conformance` tells whether it
is one. The contract:

Threads. One thread receives at a time and one sends at a time; these two may be different threads, and do not wait for each
other. `shut_down` may come from any further thread at any moment, as often as it likes.

Blocking. `receive_ready` and `send_ready` never wait. `receive` and `receive_all` wait `RECEIVE_TIMEOUT_S` at most, so that a
thread which sleeps there looks up now and then. `send` waits for as long as the peer takes, until a byte was taken or the
transport is shut down. Nothing to receive, or no room to send, is BlockingIOError.

Partial sends. Both ways of sending take as many bytes as they can, at least one, and return how many. The caller keeps the
buffers unchanged and comes back with the rest.

Readiness. `fileno` is readable for poll and epoll while a byte, or the end of the stream, is there to receive, with one
exception: bytes that the transport has taken from the system already, such as the rest of a decrypted record. A poll cannot see
those. They are `pending_bytes`, and who polls receives until there are none first. A transport that has to write before it can
read (or the reverse) does that by itself, inside the call; it reports BlockingIOError only for what `fileno` will tell the end
of.

End of stream. A receiving call returns 0 when the peer has ended its sending and everything before was received, or after
`shut_down`. `end_sending` ends one direction; the other goes on. Failures are OSError.

Shutting down from another thread. After `shut_down`, calls that wait return at once, a receiving one with 0 or an OSError, a
sending one with an OSError; so do all later calls. `close` comes after it, from the last thread that uses the transport, and
only gives the descriptors back: it takes no lock and tells the peer nothing, because a forked child calls it too, for its
copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

from weft.protocol.heartbeat import Evidence
from weft.protocol.tensor_blob import Buffer

RECEIVE_TIMEOUT_S: Final = 0.1
"""The time that a receiving call may wait."""


class Transport(Protocol):
    """One end of a stream of bytes. See this module for the contract."""

    @property
    def kind(self) -> str:
        """The name of this kind of transport, such as "tcp"."""
        ...

    @property
    def peer_name(self) -> str:
        """The peer's address, for log lines."""
        ...

    @property
    def peer_user(self) -> int | None:
        """The user at the other end, as the kernel tells it of a local peer; None where it does not."""
        ...

    @property
    def pending_bytes(self) -> int:
        """The number of bytes that can be received and that no poll of `fileno` shows."""
        ...

    def fileno(self) -> int:
        """The descriptor that is readable while there is something to receive."""
        ...

    def evidence(self, silent_s: float) -> Evidence:
        """What the kernel knows of a peer from which nothing has come for so long; does not wait."""
        ...

    def establish(self, timeout_s: float) -> None:
        """Do the transport's own handshake, if it has one, before the first byte passes. Raises OSError."""
        ...

    def receive_ready(self, buffer: memoryview, /) -> int:
        """Receive the bytes that are there, as far as the buffer has room; does not wait."""
        ...

    def receive_all(self, buffer: memoryview, /) -> int:
        """Receive as many bytes as the buffer has room for, or fewer when they take long."""
        ...

    def send_ready(self, buffers: Sequence[Buffer]) -> int:
        """Send the bytes that the system takes at once; does not wait."""
        ...

    def send(self, buffers: Sequence[Buffer]) -> int:
        """Send some bytes, waiting for the peer if there is no room."""
        ...

    def end_sending(self) -> None:
        """Tell the peer that no byte will follow those that were sent. Raises OSError."""
        ...

    def shut_down(self) -> None:
        """End both directions now and free every thread that waits here."""
        ...

    def close(self) -> None:
        """Give the descriptors back."""
        ...


@runtime_checkable
class DescriptorTransport(Protocol):
    """A transport that can pass file descriptors beside its bytes: an optional capability, which shared memory needs."""

    def send_with_descriptors(self, data: bytes, descriptors: Sequence[int]) -> int:
        """Send some of the data, with descriptors, which stay the caller's; does not wait. Returns how many bytes went."""
        ...

    def receive_with_descriptors(self, buffer: memoryview) -> tuple[int, list[int]]:
        """As `receive_ready`; returns as well the descriptors that came along, now the caller's."""
        ...


class Address(Protocol):
    """The way to a listener. Its `str` is what travels to peers, and `parse_address` reads it."""

    @property
    def is_of_one_host(self) -> bool:
        """Whether only processes of one host can use it; those try it first."""
        ...

    @property
    def is_reachable(self) -> bool:
        """Whether this process may be one of those that can use it."""
        ...

    @property
    def why_unreachable(self) -> str:
        """The reason why a process is none of those that can use it."""
        ...

    def connect(self, timeout_s: float) -> Transport:
        """Return a transport to the listener that is not established yet. Raises OSError."""
        ...


class TransportListener(Protocol):
    """The listening side of one kind of transport, from its construction to `close`."""

    @property
    def address(self) -> Address:
        """The way to it."""
        ...

    def fileno(self) -> int:
        """The descriptor that is readable while a peer waits to be accepted."""
        ...

    def accept(self) -> Transport:
        """Return the next peer's transport, not established yet; does not wait. Raises OSError."""
        ...

    def close(self) -> None:
        """Accept nobody any more."""
        ...

    def release_after_fork(self) -> None:
        """In a forked child: give up the child's copies; the parent goes on listening."""
        ...
