"""Recording: what a task notes of its steps while somebody records them, by its own clock.

Steps that are recorded are of a class of their own, so those that are not pay nothing for it.
"""

from __future__ import annotations

import itertools
import time
from typing import Final, TypeAlias

MOST_EVENTS: Final = 300_000
"""What comes after so many is only counted."""

Event: TypeAlias = tuple[str, str, float, float, dict[str, object]]
"""Its kind, its name, when it began and ended in seconds since the epoch, and what else there is to say."""


class Recording:
    """The events of one task, in no order. Safe from any thread: lists grow by one step of the interpreter."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.context = b""
        """Where what is recorded stands in a trace of OpenTelemetry's; empty where it is in none."""
        self._dropped = itertools.count()
        self.dropped = 0
        """How many were not kept."""

    def add(self, kind: str, name: str, begin_s: float, end_s: float, **more: object) -> None:
        """Note an event."""
        if len(self.events) < MOST_EVENTS:
            self.events.append((kind, name, begin_s, end_s, more))
        else:
            self.dropped = next(self._dropped) + 1


class CodeNews:
    """Tells recordings of code that was made. Making it takes long and is rare, so telling costs nothing that counts."""

    def __init__(self) -> None:
        self._recordings: tuple[Recording, ...] = ()

    def begin(self, recording: Recording) -> None:
        """Tell a recording from now on."""
        self._recordings += (recording,)

    def end(self, recording: Recording) -> None:
        """Tell it no more."""
        self._recordings = tuple(each for each in self._recordings if each is not recording)

    def tell(self, name: str, took_s: float) -> None:
        """Code for a stage, called so, was made just now, which took so long."""
        for recording in self._recordings:
            now_s = time.time()
            recording.add("compile", name, now_s - took_s, now_s)


code_news: Final = CodeNews()
"""Of this process."""
