"""Waiting for what messages bring, by reading them: the thread that waits needs no other to wake it.

Who reads a connection, and handles its messages, is one of

    its own thread       made for it by `Connection.start`, from the first message to the end
    a pool's thread      the leader of a `ReaderPool`, or one that has been deposed while it handled a message
    a handshake's        for the messages that came right behind the Hello
    a waiting thread     inside `wait_until`, for as long as it has the connection's lease

Such a thread must not wait for a peer: nothing would be read any more. `role.reads` says of the current thread that it is one.
The first three set it once, in `MessageReader.run`, `ReaderPool._work` and `Listener._serve`, for as long as they live. A
waiting thread is one while it reads, and is the only one that stops being it: `MessageReader.read_as_waiter` sets it and takes
it back.

A step on a variable of another process went from 116 to 67 µs when the thread that runs it began to read by itself (two cores).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from weft.channel.transport.transport import RECEIVE_TIMEOUT_S
from weft.channel.waiting.busy_poll import Found, busy_poll
from weft.channel.waiting.lease import Lease
from weft.channel.waiting.wakeup_pipe import WakeupPipe, of_this_thread
from weft.platform.quick_lately import QuickLately


class Source(Protocol):
    """A connection, as one who waits for its messages sees it."""

    @property
    def lease(self) -> Lease:
        """Decides which thread reads."""
        ...

    @property
    def fd(self) -> int:
        """The descriptor that is readable while there is something to read."""
        ...

    def read_as_waiter(self, is_alone: bool, may_sleep: bool = False) -> bool:
        """Read what has come and handle it; stops the lease when the stream has ended. Returns whether there was something.

        A reader that `is_alone` waits a moment for the rest of a large payload; others may have something to read meanwhile.
        One that `may_sleep` waits a moment for anything.
        """
        ...


class _Role(threading.local):
    reads = False


role = _Role()
"""Tells whether the current thread `reads` some connection; see this module."""


def wait_until(
    is_done: Callable[[], object],
    sources: Sequence[Source],
    timeout_s: float | None,
    quick: QuickLately,
    sources_only: bool = False,
) -> None:
    """Wait until `is_done()`, at most `timeout_s` seconds, reading the sources whenever nobody else does.

    What makes it true has to happen on this thread, to be a message of a source or its end, or to wake this thread's pipe; with
    `sources_only` it is one of the first two, and the wait ends with the last source. A thread that handles a message reads no
    further ones, and waits for its pipe alone. `quick` is how waits of this kind have gone.
    """
    deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
    wakeup = of_this_thread.pipe
    held: dict[int, Source] = {}  # those whose leases this thread has, by descriptor
    refused: list[Source] = []  # the others
    may_receive = sources_only
    try:
        if not role.reads:
            for source in sources:
                if source.lease.take(wakeup):
                    held[source.fd] = source
                else:
                    refused.append(source)
        while not is_done():
            left_s = None if deadline_s is None else deadline_s - time.monotonic()
            if left_s is not None and left_s <= 0:
                return
            if sources_only and not held and all(source.lease.rules.is_ended for source in refused):
                return
            sleeps_in_receive = (
                may_receive and len(held) == 1 and not refused and (left_s is None or left_s >= RECEIVE_TIMEOUT_S)
            )
            found = _next_ready(is_done, held, refused, wakeup, left_s, quick, sleeps_in_receive)
            for fd, event in found:
                if fd not in held:
                    wakeup.clear()
                    _take_free(held, refused, wakeup)
                    continue
                source = held[fd]
                # A receiving call sleeps for a moment only: a thread that waits for long shall wake rarely, and polls.
                may_receive = source.read_as_waiter(len(held) == 1, not event) and may_receive
                lease = source.lease
                if lease.rules.is_stopped:
                    # Its owner waits for the lease to clean up, and this thread for the owner.
                    del held[fd]
                    refused.append(source)
                    lease.give()
                    lease.take(wakeup)
                elif lease.rules.waiting:
                    lease.wake_waiters()
    finally:
        for source in held.values():
            source.lease.give()
        for source in refused:
            source.lease.leave(wakeup)


def _next_ready(
    is_done: Callable[[], object],
    held: dict[int, Source],
    refused: list[Source],
    wakeup: WakeupPipe,
    left_s: float | None,
    quick: QuickLately,
    sleeps_in_receive: bool,
) -> Found:
    """Return the descriptors to read; none when there is another reason to ask whether the wait is over.

    With `sleeps_in_receive` nothing but the only source can wake this thread. So it may sleep in the call that receives, which
    saves one that polls: the source is returned with no event.
    """
    fds = tuple(held)
    poll = (wakeup.pollers.get(fds) or wakeup.poller(fds)).poll
    # Where nothing is read, another thread is to do something, and looking would only keep it from the interpreter.
    found = busy_poll(quick, poll, None if sleeps_in_receive else is_done) if held else []
    if found:
        return found
    if sleeps_in_receive:
        return [(fds[0], 0)]
    wakeup.may_sleep = True
    try:
        if is_done() or (refused and _take_free(held, refused, wakeup)):
            return []
        return poll(None if left_s is None else int(left_s * 1000) + 1)
    finally:
        wakeup.may_sleep = False


def _take_free(held: dict[int, Source], refused: list[Source], wakeup: WakeupPipe) -> bool:
    """Take the leases that others have given; return whether there were any."""
    free = [source for source in refused if source.lease.take(wakeup)]
    for source in free:
        refused.remove(source)
        held[source.fd] = source
    return bool(free)
