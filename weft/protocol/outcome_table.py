"""What a task remembers of the steps that it was asked for, so that one that is asked for again is not run again.

A connection may be cut while a step is asked for, runs, or is answered. Its asker connects again and repeats the request under
the same number; the table says what is to be done:

    the step                                     asked for again
    was never seen                               run it: the request was lost
    runs                                         wait: it will be answered
    is over, and its answer is kept              answer again with what was answered
    is over, and its answer was too large        say that it was run
    was seen and is acknowledged                 say so: the asker has had the answer, or has given the step up

Numbers acknowledge answers, so that no message has to. A number is a lane plus a multiple of `LANES`; the asker has one step at
a time in a lane, and gives each the next higher number of the lane. So a request says that the answers of all lower numbers of
its lane are not needed any more. An asker needs as many lanes as it has steps at a time.

A table has no lock: its owner serialises the calls.
"""

from __future__ import annotations

import enum
from typing import Final, Generic, TypeVar

LANES: Final = 1 << 16
"""The distance of two numbers that follow one another in a lane."""

MAX_BYTES: Final = 16 << 20
"""How much the answers that one session has not acknowledged may hold, by default."""

UNKNOWN_FATE: Final = "the step may or may not have been applied"
"""What the error of a step says, in these words, where nobody can tell."""

AnswerT = TypeVar("AnswerT")


class Fate(enum.Enum):
    """What became of a step, where there is no answer to give."""

    NEW = "new"  # to be run now
    RUNNING = "running"
    DROPPED = "dropped"  # it was run, and its answer was too large to be kept
    ACKNOWLEDGED = "acknowledged"


class _Lane(Generic[AnswerT]):
    """The last step of a lane."""

    __slots__ = ("answer", "fate", "number", "size_bytes")

    def __init__(self, number: int) -> None:
        self.number = number
        self.fate = Fate.RUNNING
        self.answer: AnswerT | None = None
        self.size_bytes = 0


class OutcomeTable(Generic[AnswerT]):
    """The steps of one session that one task was asked for.

    Args:
        max_bytes: how much the answers that are kept may hold together.
    """

    __slots__ = ("_kept_bytes", "_lanes", "_max_bytes")

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._lanes: dict[int, _Lane[AnswerT]] = {}
        self._max_bytes = max_bytes
        self._kept_bytes = 0

    @property
    def kept_bytes(self) -> int:
        """How much the answers that are kept hold."""
        return self._kept_bytes

    def ask(self, number: int) -> AnswerT | Fate:
        """A step is asked for: says what to do, or gives the answer that it had."""
        lane = self._lanes.get(number % LANES)
        if lane is None:
            self._lanes[number % LANES] = _Lane(number)
            return Fate.NEW
        if lane.number < number:
            if lane.size_bytes:
                self._kept_bytes -= lane.size_bytes
                lane.size_bytes = 0
            lane.number, lane.fate, lane.answer = number, Fate.RUNNING, None
            return Fate.NEW
        if lane.number > number:
            return Fate.ACKNOWLEDGED
        return lane.fate if lane.answer is None else lane.answer

    def note_end(self, number: int, answer: AnswerT, size_bytes: int) -> bool:
        """A step is over; returns whether it is still asked for. Its answer is kept until the next step of the lane comes."""
        lane = self._lanes.get(number % LANES)
        if lane is None or lane.number != number or lane.fate is not Fate.RUNNING:
            return False
        lane.fate = Fate.DROPPED
        if self._kept_bytes + size_bytes <= self._max_bytes:
            lane.answer, lane.size_bytes = answer, size_bytes
            self._kept_bytes += size_bytes
        return True
