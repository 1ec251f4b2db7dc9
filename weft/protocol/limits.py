"""Limits: how much a server does for one client, and how long it waits for one that is not heard of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one server. Times are in seconds.

    Attributes:
        unused_session_s: how long a session is kept that its client has opened and never used.
        lost_session_s: how long one is kept whose client called by gRPC alone, and whose connection was lost between calls.
        idle_session_s: how long one is kept whose client has not called by gRPC, where gRPC may have closed the connection for
            idleness, or nothing is known of it.
    """

    unused_session_s: float = 300.0
    lost_session_s: float = 600.0
    idle_session_s: float = 24 * 3600.0
