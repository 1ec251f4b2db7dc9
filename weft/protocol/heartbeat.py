"""The rules of heartbeats on one connection: when to tell the peer that this side lives, and when the peer is given up.

Each side tells the other at every beat, whatever else it sends, from a thread that reads nothing: so a side whose readers
compute, or receive a payload for minutes, is heard all the same. Whatever is received counts as life.

Silence alone proves nothing: one call of a C library that holds Python's interpreter for five seconds silences a process that
is well, and so does a machine with a hundred busy processes. So silence makes a peer suspect, and only evidence ends a
connection:

    evidence        what it means                                                        then
    HEARD           bytes of the peer wait to be read here                               it lives
    BUSY            its process runs, and its interpreter does not answer                wait, `PATIENCE` times as long at most
    ANSWERING       its process runs, and answers in another way                         lost, when the next look finds the same
    UNKNOWN         nobody can tell                                                      wait, `PATIENCE` times as long at most
    STOPPED         its process is stopped or gone, says the kernel of this host         lost, unless stops are tolerated
    CUT             its host confirms nothing of what was sent to it                     lost
    UNREACHED       its process answers in no other way either                           lost
    PASSED_BY       its process answers in another way: this connection is half open     lost

The rules have no clock, no thread and no descriptor. A beat that comes late says that this process did not run; the time that
it missed is not held against the peer.
"""

from __future__ import annotations

import enum
from typing import Final

TIMEOUT_S: Final = 2.0
"""How soon a peer that stands still or is cut off is noticed, unless told otherwise."""

PATIENCE: Final = 60
"""How many timeouts a peer may be silent whose process runs."""

LONGEST_INTERVAL_S: Final = 0.4
"""The time between two beats at most: a peer with a shorter timeout than this side's must hear enough of them."""

_BEATS_PER_TIMEOUT: Final = 5
PROBE_INTERVALS: Final = 2
"""How many intervals it may take to ask a peer in another way."""

_LATE: Final = 2.0  # a beat after so many intervals says that this process did not run


class BeatStep(enum.Enum):
    """The instructions to the shell."""

    TELL = enum.auto()
    """Send a sign of life."""
    ASK = enum.auto()
    """Send a sign of life that the peer answers: nothing has come from it since the last beat."""
    INQUIRE = enum.auto()
    """Look for evidence, and say what it is by `found`."""


class Evidence(enum.Enum):
    """What is known of a peer that is silent; see this module."""

    HEARD = enum.auto()
    BUSY = enum.auto()
    ANSWERING = enum.auto()
    UNKNOWN = enum.auto()
    STOPPED = enum.auto()
    CUT = enum.auto()
    UNREACHED = enum.auto()
    PASSED_BY = enum.auto()


_LOST: Final = {
    Evidence.STOPPED: "its process is stopped or gone",
    Evidence.CUT: "its host confirms nothing of what is sent there: the network between is cut, or the host is down",
    Evidence.UNREACHED: "it cannot be reached in another way either: its process is stopped, or the network between is cut",
    Evidence.ANSWERING: "its process runs and answers in another way: this connection is half open, what is sent on it is lost",
    Evidence.PASSED_BY: "its process answers in another way: this connection is half open, and what is sent on it is lost",
}


class Heartbeat:
    """The heartbeats of one connection.

    Args:
        timeout_s: how soon a peer that stands still is to be noticed; None to tell only, and to give up nobody.
        now_s: the time.
        tolerates_stop: whether a stopped process is waited for like a busy one.
    """

    __slots__ = (
        "_answered",
        "_count",
        "_heard_s",
        "_inquire_s",
        "_is_inquiring",
        "_last_s",
        "_timeout_s",
        "_tolerates_stop",
        "interval_s",
    )

    def __init__(self, timeout_s: float | None, now_s: float, tolerates_stop: bool = False) -> None:
        self.interval_s = min(LONGEST_INTERVAL_S, (timeout_s or TIMEOUT_S) / _BEATS_PER_TIMEOUT)
        self._timeout_s = timeout_s
        self._tolerates_stop = tolerates_stop
        self._count = -1  # of what was received, at the last beat
        self._heard_s = self._last_s = self._inquire_s = now_s
        self._is_inquiring = False
        self._answered = 0  # looks in a row that found it answering elsewhere

    def silent_s(self, now_s: float) -> float:
        """How long nothing has been received, as seen at the beats."""
        return now_s - self._heard_s

    def beat(self, now_s: float, count: int) -> tuple[BeatStep, ...]:
        """It is time for a beat; `count` differs from the last one if something was received."""
        since_s = now_s - self._last_s
        has_moved = count != self._count
        self._last_s, self._count = now_s, count
        if has_moved:
            self._heard_s = now_s
            self._answered = 0
        elif since_s > _LATE * self.interval_s:
            self._heard_s += since_s - self.interval_s
        if has_moved:
            return (BeatStep.TELL,)
        if self._timeout_s is None or self._is_inquiring or now_s < self._inquire_s:
            return (BeatStep.ASK,)
        # What was last heard came up to an interval before it was noticed, and to ask in another way takes two.
        if self.silent_s(now_s) < self._timeout_s - 3 * self.interval_s:
            return (BeatStep.ASK,)
        self._is_inquiring = True
        return (BeatStep.ASK, BeatStep.INQUIRE)

    def found(self, evidence: Evidence, now_s: float) -> str:
        """Take note of the evidence; returns why the peer is given up, or "" while it is not."""
        assert self._timeout_s is not None
        self._is_inquiring = False
        if evidence is Evidence.HEARD:
            self._heard_s = now_s
            return ""
        self._answered = self._answered + 1 if evidence is Evidence.ANSWERING else 0
        # The first time its own beats may be just about to come: its interpreter has been busy, and answers again.
        is_proof = evidence in _LOST and self._answered != 1
        if is_proof and not (evidence is Evidence.STOPPED and self._tolerates_stop):
            # A short stop, or a network that is down for a second, may pass: look again at the next beat.
            return _LOST[evidence] if self.silent_s(now_s) >= self._timeout_s - 2 * self.interval_s else ""
        if self.silent_s(now_s) >= PATIENCE * self._timeout_s:
            return "that is longer than a computation is waited for which keeps a process from answering"
        self._inquire_s = now_s + self._timeout_s / 2
        return ""
