"""MasterLease: how long a task keeps its part of a session whose master, in another task, may be gone.

A master that lives ends its sessions itself. One that died never will: another run of its task, known by its incarnation, has
none of its sessions, and a task that is not heard of for long enough is not waited for. A connection that was cut says nothing
yet.
"""

from __future__ import annotations


class MasterLease:
    """One session's lease. Its owner serialises the calls, and says what time it is.

    Args:
        incarnation: the run of the master's task that has the session; 0 if that is not known.
        lost_s: how long the master may be out of reach.
    """

    def __init__(self, incarnation: int, lost_s: float) -> None:
        self._incarnation = incarnation
        self._max_lost_s = lost_s
        self._lost_s: float | None = None  # since when it has been out of reach

    def overdue(self, now_s: float, incarnation: int) -> str:
        """Why the session is to be closed now; "" while it is not.

        Args:
            now_s: the time.
            incarnation: the run of the master's task that this one is connected with; 0 for none.
        """
        if not incarnation:
            if self._lost_s is None:
                self._lost_s = now_s
            lost_s = now_s - self._lost_s
            return f"its master has been out of reach for {lost_s:.0f} s" if lost_s >= self._max_lost_s else ""
        self._lost_s = None
        self._incarnation = self._incarnation or incarnation
        return "its master was restarted" if incarnation != self._incarnation else ""
