"""Farewell: the first process of a training outlives the others.

It runs JAX's coordination service, and JAX ends a process that loses it, in the middle of what it does. So each of the others
holds a connection to the first one, which waits at its exit until all of them are closed: by their ends, however they come.
"""

from __future__ import annotations

import atexit
import logging
import socket
import time
from collections.abc import Callable
from typing import Final

from weft.platform.waits.wait_notice import WaitNotice

_LOG: Final = logging.getLogger("weft.waits")
# Others that train no more may still save or export.
_LIMIT_S: Final = 60.0


class Farewell:
    """This process's side of it. Blocks while it is made, until all processes are connected.

    Args:
        host: the first process's host.
        count: how many processes there are.
        index: this one's number.
        tell: gives all processes the number that the first one has.

    Raises:
        OSError: they are not connected within a minute.
    """

    def __init__(self, host: str, count: int, index: int, tell: Callable[[int], int]) -> None:
        self._open: list[socket.socket] = []
        if index:
            # The system closes it with the process, and nothing does before.
            socket.create_connection((host, tell(0)), _LIMIT_S).detach()
            return
        with socket.create_server(("", 0), backlog=count) as server:
            server.settimeout(_LIMIT_S)
            tell(server.getsockname()[1])
            self._open.extend(server.accept()[0] for _ in range(count - 1))
        atexit.register(self._wait)

    def _wait(self) -> None:
        deadline_s = time.monotonic() + _LIMIT_S
        notice = WaitNotice()
        for each in self._open:
            while not _has_closed(each, min(notice.left_s, deadline_s - time.monotonic())) and time.monotonic() < deadline_s:
                if notice.is_due():
                    _LOG.warning(
                        "The first process has waited %.0f s at its end for the others, which would end with it; %.0f s at "
                        "most. Look whether one of them still trains, saves or exports.", notice.waited_s, _LIMIT_S,
                    )  # fmt: skip
            each.close()


def _has_closed(connection: socket.socket, limit_s: float) -> bool:
    """Whether the process behind a connection has ended, also abruptly; waits for it."""
    connection.settimeout(max(limit_s, 0.01))
    try:
        connection.recv(1)
    except TimeoutError:
        return False
    except OSError:
        return True
    return True
