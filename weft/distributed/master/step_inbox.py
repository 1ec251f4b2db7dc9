"""StepInbox: what the thread that runs a step has to do next, and its wait for that."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from weft.channel.waiting.busy_poll import BusyPoll
from weft.channel.waiting.doorbell import own_doorbell
from weft.channel.waiting.wait import Source, wait_until


class StepInbox:
    """Actions for the thread that makes it, from any thread.

    Args:
        sources: the connections that bring what the step waits for; the thread reads them while it waits.
        busy_poll: how waits of this kind have gone.
    """

    __slots__ = ("_actions", "_bell", "_busy_poll", "_sources")

    def __init__(self, sources: Sequence[Source], busy_poll: BusyPoll) -> None:
        self._actions: deque[Callable[[], None]] = deque()
        self._bell = own_doorbell()
        self._sources = sources
        self._busy_poll = busy_poll

    def put(self, action: Callable[[], None]) -> None:
        """Have the thread do something. Does not wait."""
        self._actions.append(action)
        self._bell.ring()

    def get(self, timeout_s: float | None) -> Callable[[], None] | None:
        """The next action; None when there was none within the time."""
        actions = self._actions
        if not actions:
            wait_until(actions.__len__, self._sources, timeout_s, self._busy_poll)
        return actions.popleft() if actions else None
