"""SessionLease: how long a master keeps a client's session of which it hears nothing.

A client of weft has a connection of the tensor channel for each session, and with its end the session ends. A client of
TensorFlow calls by gRPC only, keeps silent as long as it likes, and may be gone without a word. What is known of it is the TCP
connection of its last call; and gRPC closes one that nothing was called over for half an hour, though its client lives.

    state      while                                    ends
    UNUSED     nobody has connected or called           after `unused_session_s`
    OWNED      a connection of the channel has it       with that
    CALLED     it is used by calls                      `lost_session_s` after their connection was lost between calls, or
                                                        `idle_session_s` after the last one, if the connection was idle so long
                                                        that gRPC itself may have closed it, or if nothing is known of it;
                                                        never while it stands, or a call is answered
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from weft.protocol.limits import ServerLimits

IDLE_CONNECTION_S: Final = 25 * 60.0
"""gRPC closes a connection after 30 minutes without calls, or a little less: it counts from the last call's end."""


class LeaseState(Enum):
    """Who has a session."""

    UNUSED = "unused"
    OWNED = "owned"
    CALLED = "called"


class SessionLease:
    """One session's lease. Its owner serialises the calls, and says what time it is.

    Args:
        limits: when it ends.
        now_s: when the session was opened.
        peer: the connection of the call that opened it; "" if that is not known.
    """

    def __init__(self, limits: ServerLimits, now_s: float, peer: str = "") -> None:
        self._limits = limits
        self._state = LeaseState.UNUSED
        self.last_call_s = now_s
        """When the last call was answered, or the session was opened."""
        self._lost_s: float | None = None  # when the connection was first found to be gone
        self._answering = 0
        self.peer = peer

    @property
    def state(self) -> LeaseState:
        """Who has the session."""
        return self._state

    def own(self) -> None:
        """A connection of the channel is admitted to the session, which ends with it."""
        self._state = LeaseState.OWNED

    def begin_call(self, peer: str) -> None:
        """A call of the session came over this connection."""
        if self._state is LeaseState.UNUSED:
            self._state = LeaseState.CALLED
        self.peer, self._lost_s = peer, None
        self._answering += 1

    def end_call(self, now_s: float) -> None:
        """A call was answered."""
        self._answering -= 1
        self.last_call_s = now_s

    def overdue(self, now_s: float, stands: bool | None) -> str:
        """Why the session is to be closed now; "" while it is not.

        Args:
            now_s: the time.
            stands: whether the connection `peer` stands; None if nobody knows.
        """
        idle_s = now_s - self.last_call_s
        if self._state is LeaseState.OWNED or self._answering:
            return ""
        if self._state is LeaseState.UNUSED:
            return f"nobody has used it for {idle_s:.0f} s" if idle_s >= self._limits.unused_session_s else ""
        if stands:
            self._lost_s = None
            return ""
        if stands is False and self._lost_s is None:
            self._lost_s = now_s
        if self._lost_s is not None and self._lost_s - self.last_call_s < IDLE_CONNECTION_S:
            lost_s = now_s - self._lost_s
            return f"its client's connection was lost {lost_s:.0f} s ago" if lost_s >= self._limits.lost_session_s else ""
        return f"its client has not called for {idle_s:.0f} s" if idle_s >= self._limits.idle_session_s else ""
