"""StopWait: tells of a wait for the end of threads that nobody asks to stop, once all that could go on stand still."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Final

from weft.platform.logs import tf_logging
from weft.platform.waits.standing_threads import StandingThreads, look_every_s, places_of, threads_of_program

_ASK: Final = (
    "Look what each waits for there. A thread asks for the stop by coord.request_stop(), and with coord.stop_on_exception() "
    "also when it fails."
)
_NOBODY: Final = "No thread of the program runs that could ask for it: coord.request_stop() does."


class StopWait:
    """The wait of one thread. Threads that train may do so for days: as long as one of them goes on, nothing is told.

    Args:
        what: what waits, such as `Coordinator.join`.
        threads: those that are waited for, or may ask for the stop.
    """

    def __init__(self, what: str, threads: Callable[[], Iterable[threading.Thread]]) -> None:
        self._what = what
        self._threads = threads
        self._standing = StandingThreads()
        self._next_look_s = 0.0

    def look(self) -> None:
        """Tell if it is due; called again and again while it waits."""
        now_s = time.monotonic()
        if now_s < self._next_look_s:
            return
        self._next_look_s = now_s + look_every_s()
        threads = list(self._threads())
        if self._standing.look(threads):
            places = places_of(threads)
            stand = f"The threads stand: {', '.join(places)}. {_ASK}" if places else _NOBODY
            tf_logging.warning(
                "%s has waited %.0f s, and nobody has asked for a stop. %s", self._what, self._standing.stood_s, stand
            )


def others_of_program(registered: Iterable[threading.Thread]) -> list[threading.Thread]:
    """All threads but this one that run code of the program, and those registered."""
    return [each for each in {*registered, *threads_of_program()} if each is not threading.current_thread()]
