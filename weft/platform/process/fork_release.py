"""Releases, in a forked child, the sockets that belong to its parent's threads.

A child has its parent's file descriptors but none of its threads, and a lock may be held by a thread that is not there.
So the child closes its copies at once, which the parent does not notice, and the objects refuse any further use.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from typing import Protocol


class SocketOwner(Protocol):
    """Something with sockets and threads of its own."""

    def release_after_fork(self) -> None:
        """Close the sockets without taking a lock or telling the peer, and refuse any further use."""


_OWNERS: weakref.WeakSet[SocketOwner] = weakref.WeakSet()


def release_in_children(owner: SocketOwner) -> None:
    """Have the owner's sockets released in every child that is forked while it lives."""
    _OWNERS.add(owner)


def _release_all() -> None:
    # All, also when one fails, such as one that was not made to the end: a child would wait for the others' threads for ever.
    with contextlib.ExitStack() as stack:
        stack.callback(_OWNERS.clear)
        for owner in list(_OWNERS):
            stack.callback(owner.release_after_fork)


os.register_at_fork(after_in_child=_release_all)
