"""Waiting for the name of this host in a name service that learns it late, as for a pod that has just been started."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Final

from weft.platform.waits.wait_notice import WaitNotice

_PAUSE_S: Final = 0.5


def wait_for_name(
    host: str, limit_s: float, tell: Callable[[str], object], sleep: Callable[[float], None] = time.sleep
) -> float:
    """Block until a name resolves; returns the seconds that it took.

    Args:
        host: the name.
        limit_s: how long to wait.
        tell: is told of a long wait: for what it is, and what to look at.
        sleep: waits for so many seconds.

    Raises:
        TimeoutError: it did not within the limit; with what the resolver said last.
    """
    began_s = time.monotonic()
    notice = WaitNotice()
    while True:
        try:
            socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            return time.monotonic() - began_s
        except OSError as error:
            if time.monotonic() - began_s >= limit_s:
                raise TimeoutError(f"the name {host!r} has not resolved for {limit_s:g} s: {error.strerror or error}") from None
            if notice.is_due():
                tell(
                    f"waiting for this task's name {host!r}, which has not resolved for {notice.waited_s:.0f} s "
                    f"({error.strerror or error}); after {limit_s:g} s this ends. Look whether the cluster's addresses "
                    "are right, and at the name service of this host"
                )
        sleep(_PAUSE_S)
