"""SegmentBorrower: the receiver's side of a connection's shared memory."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from weft.channel.shared_memory.segment import DROPPED, FREE, HELD, LENT, SharedSegment, shared_memory_use
from weft.protocol.protocol_error import RemoteProtocolError

MAX_SEGMENTS: Final = 256
"""How many segments a peer may have here at a time; a lender keeps to fewer."""


class SegmentBorrower:
    """Hands out payloads where the peer has put them, and gives each segment back when nobody looks at it any more.

    `receive()` returns the (descriptor, number, capacity) of the next segment that the peer has told of, None when there is
    none, and raises OSError when there is one that this process cannot have. For one thread at a time; the arrays may go
    anywhere.
    """

    def __init__(self, receive: Callable[[], tuple[int, int, int] | None]) -> None:
        self._receive = receive
        self._segments: dict[int, _Borrowed] = {}
        self.taken_bytes = 0
        """The bytes of all payloads that were taken."""
        _BORROWERS.add(self)

    def take(self, number: int, size_bytes: int) -> npt.NDArray[np.uint8]:
        """The payload in a segment: `[size_bytes]`, the receiver's own until the last array made of it is gone.

        Raises:
            RemoteProtocolError: the peer has put no such payload there.
        """
        segment = self._segments.get(number) or self._fetch(number)
        if size_bytes > segment.capacity or segment.state != LENT:
            raise RemoteProtocolError(f"shared segment {number} holds no payload of {size_bytes} bytes")
        segment.state = HELD
        self.taken_bytes += size_bytes
        payload = segment.view(size_bytes)
        segment.lease = weakref.ref(payload, segment.give_back)
        return payload

    def keep_all(self) -> None:
        """Give none of the payloads back that are out now."""
        for segment in self._segments.values():
            segment.lease = None

    def close(self) -> None:
        """Let go of all segments; payloads that are out stay valid."""
        self.keep_all()
        self._segments.clear()

    def _fetch(self, number: int) -> _Borrowed:
        """Take note of new segments up to this one."""
        for gone in [n for n, segment in self._segments.items() if segment.state == DROPPED]:
            del self._segments[gone]
        while len(self._segments) < MAX_SEGMENTS:
            segment = self._receive_segment()
            if segment is None:
                raise RemoteProtocolError(f"a payload lies in shared segment {number}, which nobody has told of")
            self._segments[segment.number] = segment
            if segment.number == number:
                return segment
        raise RemoteProtocolError(f"more than {MAX_SEGMENTS} shared segments")

    def _receive_segment(self) -> _Borrowed | None:
        try:
            received = self._receive()
            if received is None:
                return None
            fd, number, capacity = received
            try:
                return _Borrowed(fd, number, capacity)
            finally:
                os.close(fd)
        except (OSError, ValueError, OverflowError) as error:
            shared_memory_use.give_up(str(error))
            raise RemoteProtocolError(f"a shared segment cannot be used: {error}") from error


class _Borrowed(SharedSegment):
    __slots__ = ("__weakref__", "lease")

    def __init__(self, fd: int, number: int, capacity: int) -> None:
        super().__init__(fd, number, capacity)
        self.lease: weakref.ref[npt.NDArray[np.uint8]] | None = None

    def give_back(self, _: object) -> None:
        # In this order: as soon as it is free, the next payload may come, with a lease of its own.
        self.lease = None
        self.state = FREE


_BORROWERS: weakref.WeakSet[SegmentBorrower] = weakref.WeakSet()


def _keep_for_children() -> None:
    # A forked child sees the same memory: a payload that it may be looking at must never be written over.
    for borrower in list(_BORROWERS):
        borrower.keep_all()


os.register_at_fork(before=_keep_for_children)
