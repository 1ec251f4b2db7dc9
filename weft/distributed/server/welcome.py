"""Welcome: whether the other tasks of a cluster take this one's credentials, which a server that only waits would not learn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Final

from weft.distributed.rpc.misfit_watch import LIMIT_S, MisfitWatch
from weft.distributed.rpc.status import is_misfit
from weft.errors import OpError

_ASK_S: Final = 0.5
# More than others wait for it: who of two has the wrong ones, they cannot know, and one that ended first would leave the other
# with a peer that is not there.
_LIMIT_S: Final = LIMIT_S + 1.5


class Welcome:
    """Asks the others in turn, until one of them answers. Belongs to the thread that waits in `Server.join`.

    Args:
        others: the other tasks of the cluster.
        ask: asks a task within so many seconds; an OpError when it does not answer.
        watch: looks at what they say.
    """

    def __init__(self, others: Sequence[str], ask: Callable[[str, float], object], watch: MisfitWatch | None = None) -> None:
        self._next = itertools.cycle(others)
        self._ask = ask
        self._watch = watch or MisfitWatch(_LIMIT_S)
        self._is_known = not others
        self._misfit: OpError | None = None

    def look(self) -> None:
        """Ask the next task; blocks for half a second at most.

        Raises:
            UnauthenticatedError: for seconds none has answered, and whoever was there had other credentials.
        """
        if self._is_known:
            return
        try:
            self._ask(next(self._next), _ASK_S)
            self._is_known = True
        except OpError as error:
            # Others may not have been started yet, or have ended as they were refused.
            self._misfit = error if is_misfit(error) else self._misfit
            if self._misfit is not None:
                self._watch.take("", self._misfit)
