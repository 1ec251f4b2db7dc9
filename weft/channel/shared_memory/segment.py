"""A piece of memory that two processes of one host have in common: one writes payloads into it, the other reads them there.

The memory has no name and belongs to no file system: it is gone when both have let go of it, however they end. It is sealed, so
that neither side can shrink it under the other.
"""

from __future__ import annotations

import logging
import mmap
import os
from typing import Final

import numpy as np
import numpy.typing as npt

_LOG = logging.getLogger("weft")

HEAD_BYTES: Final = mmap.PAGESIZE
"""The room before the payload; its first byte is the state."""

FREE: Final = 0
LENT: Final = 1  # written and told of, not taken yet
HELD: Final = 2  # taken, and somebody looks at it
DROPPED: Final = 3  # never used again

IS_SUPPORTED: Final = hasattr(os, "memfd_create") and hasattr(mmap, "MADV_REMOVE")
"""Whether this platform has such memory: Linux."""


class SharedMemoryUse:
    """Whether this process shares memory with others. Safe from any thread."""

    __slots__ = ("_is_given_up",)

    def __init__(self) -> None:
        self._is_given_up = False

    @property
    def is_possible(self) -> bool:
        """Whether the platform has such memory, and nothing has been found to speak against it."""
        return IS_SUPPORTED and not self._is_given_up

    def give_up(self, reason: str) -> None:
        """Take part in no further exchange: this process could not map a peer's segment, and lost the connection."""
        if not self._is_given_up:
            _LOG.warning("Large tensors from tasks of this host come over sockets from now on, which takes longer: %s", reason)
        self._is_given_up = True


shared_memory_use: Final = SharedMemoryUse()
"""This process's."""


if IS_SUPPORTED:
    import fcntl

    _SEALS: Final = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


class SharedSegment:
    """`capacity` bytes of payload behind their state.

    Each state is left by one side alone, so neither needs a lock: the lender makes FREE into LENT or DROPPED, the borrower LENT
    into HELD and that into FREE. The mapping lives as long as this object or an array of it.

    Raises:
        OSError: the memory behind the descriptor, which stays the caller's, is smaller, or could become so.
    """

    __slots__ = ("_mapping", "capacity", "number")

    def __init__(self, fd: int, number: int, capacity: int) -> None:
        if os.fstat(fd).st_size < HEAD_BYTES + capacity or fcntl.fcntl(fd, fcntl.F_GET_SEALS) & _SEALS != _SEALS:
            raise OSError(f"shared segment {number} is not a sealed piece of {capacity} bytes")
        self.number = number
        self.capacity = capacity
        self._mapping = mmap.mmap(fd, HEAD_BYTES + capacity)

    @property
    def state(self) -> int:
        """FREE, LENT, HELD or DROPPED."""
        return self._mapping[0]

    @state.setter
    def state(self, state: int) -> None:
        self._mapping[0] = state

    @property
    def is_free(self) -> bool:
        """Whether the peer has given it back, or has never had it."""
        return self._mapping[0] == FREE

    may_go = is_free  # a payload that the peer has to take, or has taken, lives as long as the peer wants

    def view(self, size: int) -> npt.NDArray[np.uint8]:
        """The first bytes of the payload; a new array every time, on which all arrays made of it depend."""
        return np.frombuffer(self._mapping, np.uint8, size, HEAD_BYTES)

    def drop(self) -> None:
        """For the lender, of a FREE segment: give its memory back to the system, whoever else still maps it."""
        self.state = DROPPED
        self._mapping.madvise(mmap.MADV_REMOVE, HEAD_BYTES)


def create_memory(capacity: int) -> int:
    """The descriptor of new memory for a segment of this capacity, all of it there to be written to.

    Raises:
        OSError: there is not so much, or there are too many descriptors.
    """
    fd = os.memfd_create("weft", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        # Otherwise a lack of memory would show as a signal to whoever writes.
        os.posix_fallocate(fd, 0, HEAD_BYTES + capacity)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS | fcntl.F_SEAL_SEAL)
    except BaseException:
        os.close(fd)
        raise
    return fd
