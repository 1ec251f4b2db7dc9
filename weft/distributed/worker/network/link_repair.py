"""LinkRepair: brings the connection with a peer back that was cut while steps needed it, so that they go on.

A connection that ends without a goodbye says nothing about the peer: it may be dead, or a device between has dropped the
connection. A process that is dead refuses the next one at once. One that lives takes it; then each side repeats what may have
been lost: the master its requests, both the values that they have pushed. By the numbers of steps and of edges nothing counts
twice.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from weft.channel.connection import Connection
from weft.channel.refusal import is_cut_in_the_making, is_refusal
from weft.errors import OpError, UnavailableError
from weft.protocol.messages import Welcome

_LOG: Final = logging.getLogger("weft")

REPAIR_S: Final = 4.0
"""How long a peer is tried that neither takes nor refuses a connection."""

LONGEST_REPAIR_S: Final = 30.0
"""How long one is tried that takes connections, and each is cut while it is made."""

_GRACE_S: Final = 4.0  # how long a part runs for a master that is there again, and does not ask for it
_REDIAL_S: Final = 0.25  # how long the side that was dialed leaves it to the other to dial again
_FIRST_PAUSE_S: Final = 0.01
_LONGEST_PAUSE_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class CutLink:
    """A connection that was cut, and its peer as it was."""

    connection: Connection
    task: str
    incarnation: int
    cause: Exception | None
    lacking: Sequence[int] = ()  # the steps that waited for values of the peer


class Links(Protocol):
    """The connections of a task, as their repair sees them."""

    def connect(self, task: str) -> Connection:
        """The connection with a task, made when there is none; UnavailableError when it cannot be reached."""
        ...

    def incarnation_of(self, task: str) -> int:
        """The incarnation of a connected task; 0 when there is no connection."""
        ...

    def connection_with(self, task: str) -> Connection | None:
        """The connection with a task, if there is one."""
        ...

    def wait_for_dial(self, task: str, timeout_s: float) -> None:
        """Block until the peer has made a connection, or the time is up."""
        ...


class LinkRepair:
    """Repairs links, each on a thread of its own. Safe from any thread.

    Args:
        links: the connections.
        go_on: called when a link is there again, to repeat what may be lost.
        give_up: called when it does not come back, with the reason; or when parts may be left that nobody has asked for again.
    """

    def __init__(
        self,
        links: Links,
        go_on: Callable[[CutLink], None],
        give_up: Callable[[CutLink, OpError | None], None],
    ) -> None:
        self._links = links
        self._go_on = go_on
        self._give_up = give_up
        self._stopped = threading.Event()

    def start(self, link: CutLink) -> None:
        """Repair a link. Does not wait."""
        threading.Thread(target=self._run, args=(link,), name=f"weft-repair-{link.task}", daemon=True).start()

    def stop(self) -> None:
        """Give every repair up."""
        self._stopped.set()

    def _run(self, link: CutLink) -> None:
        error = self._reconnect(link)
        if error is not None:
            self._give_up(link, error)
            return
        _LOG.info("The connection with %s was cut (%s) and is there again", link.task, link.cause)
        again = self._links.connection_with(link.task)
        self._go_on(link)
        self._stopped.wait(_GRACE_S)
        # One that was cut meanwhile may have taken with it what the peer asked for again, and is being repaired in its turn:
        # under cuts every 0.2 s and a load of 14, parts of masters that lived were given up here.
        if again is not None and self._links.connection_with(link.task) is again:
            self._give_up(link, None)

    def _reconnect(self, link: CutLink) -> OpError | None:
        """Connect with the same run of the peer; returns why that cannot be."""
        links = self._links
        began_s, pause_s = time.monotonic(), _FIRST_PAUSE_S
        deadline_s = began_s + REPAIR_S
        if not isinstance(link.connection.peer, Welcome):
            links.wait_for_dial(link.task, _REDIAL_S)
        while True:
            try:
                links.connect(link.task)
            except OpError as error:
                if is_cut_in_the_making(error):  # it has admitted this task just now
                    deadline_s = min(time.monotonic() + REPAIR_S, began_s + LONGEST_REPAIR_S)
                if self._stopped.is_set() or is_refusal(error) or time.monotonic() >= deadline_s:
                    return error
            else:
                now = links.incarnation_of(link.task)
                if now == link.incarnation:
                    return None
                if now:
                    text = f"Task {link.task} is unavailable: it was restarted (incarnation {now}, before {link.incarnation})"
                    return UnavailableError.of(text)
            self._stopped.wait(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
