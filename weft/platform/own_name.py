"""Waiting for the name of this host in a name service that learns it late, as for a pod that has just been started."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Final

_PAUSE_S: Final = 0.5


def wait_for_name(host: str, limit_s: float, sleep: Callable[[float], None] = time.sleep) -> float:
    """Block until a name resolves; returns the seconds that it took.

    Raises:
        TimeoutError: it did not within the limit; with what the resolver said last.
    """
    began_s = time.monotonic()
    while True:
        try:
            socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            return time.monotonic() - began_s
        except OSError as error:
            if time.monotonic() - began_s >= limit_s:
                raise TimeoutError(f"the name {host!r} has not resolved for {limit_s:g} s: {error.strerror or error}") from None
        sleep(_PAUSE_S)
