"""MisfitWatch: ends a wait for servers whose credentials do not fit this process's, as no wait would change that."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from weft.distributed.rpc.status import is_misfit
from weft.errors import OpError, UnauthenticatedError

# So long the process of an earlier job may stand in the way of the one that is waited for.
LIMIT_S: Final = 7.0


class MisfitWatch:
    """Looks at the failures of one wait. Not safe from several threads: it belongs to the one that waits.

    Args:
        limit_s: how long a server may refuse this process, on end.
        clock: gives seconds.
    """

    def __init__(self, limit_s: float = LIMIT_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._since_s: dict[str, float] = {}

    def take(self, server: str, error: OpError) -> None:
        """Take why a server did not answer.

        Args:
            server: tells it from others that are waited for.
            error: as a call of it ended.

        Raises:
            UnauthenticatedError: its credentials have not fitted this process's for all of the limit.
        """
        if not is_misfit(error):
            self._since_s.pop(server, None)
            return
        now_s = self._clock()
        if now_s - self._since_s.setdefault(server, now_s) >= self._limit_s:
            raise UnauthenticatedError.of(
                f"{error.message}. It has been so for {self._limit_s:g} s, and no wait changes it: start that task or this "
                "process with the credentials of the other"
            ) from None
