"""HostPermits: how many of a session's host kernels may run at the same time, as inter_op_parallelism_threads says.

A kernel that waits for another, such as a dequeue, does not count: the one that would end its wait must be able to run.
"""

from __future__ import annotations

import threading
from typing import Any


class Permit:
    """One kernel's leave to run; given back once, when it ends or begins to wait."""

    __slots__ = ("_permits",)

    def __init__(self, permits: threading.Semaphore) -> None:
        self._permits: threading.Semaphore | None = permits

    def give_back(self) -> None:
        """Let another kernel run. A second call does nothing."""
        permits, self._permits = self._permits, None
        if permits is not None:
            permits.release()


class HostPermits:
    """The permits of one session on one task. Safe from any thread.

    Args:
        count: how many kernels may run at the same time.
    """

    def __init__(self, count: int) -> None:
        self._free = threading.Semaphore(count)

    def take(self) -> Permit:
        """Wait for leave to run."""
        self._free.acquire()
        return Permit(self._free)


def permits_of(config: Any) -> HostPermits | None:
    """The permits that a ConfigProto asks for; None where it leaves their number open, for as many as there are kernels.

    `session_inter_op_thread_pool` goes before `inter_op_parallelism_threads`; its first pool is the one that runs use. A
    negative number means one kernel after the other.
    """
    if config is None:
        return None
    pools = config.session_inter_op_thread_pool
    count = pools[0].num_threads if pools else config.inter_op_parallelism_threads
    return HostPermits(max(count, 1)) if count else None
