"""Doorway: whose turn it is to be started on another host. Sans-IO.

An sshd drops connections at random once ten wait to be let in (its MaxStartups), and each costs the launcher a key exchange.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Final

from weft.cli.cluster_job import LaunchedTask

# Half of what an sshd takes by default: others come to it, too.
_PER_HOST: Final = 5
_IN_ALL: Final = 32


class Doorway:
    """The tasks of one job that wait to be started, in order, and those on their way in. Single-threaded.

    Args:
        host_of: the host to which a task is brought; None for one that is started here, which never waits.
        per_host: how many may be on their way to one host at a time.
        in_all: how many to all hosts.
    """

    def __init__(self, host_of: Callable[[LaunchedTask], str | None], per_host: int = _PER_HOST, in_all: int = _IN_ALL) -> None:
        self._host_of = host_of
        self._per_host = per_host
        self._in_all = in_all
        self._waiting: list[LaunchedTask] = []
        self._entering: set[LaunchedTask] = set()

    def come(self, task: LaunchedTask) -> None:
        """A task is to be started, in its turn."""
        self._waiting.append(task)

    def passed(self, task: LaunchedTask) -> None:
        """A task has got there, or has ended."""
        self._entering.discard(task)

    def turn_back(self, tasks: Collection[LaunchedTask]) -> list[LaunchedTask]:
        """Those of the tasks that still wait; they are not to be started any more."""
        turned = [task for task in self._waiting if task in tasks]
        self._waiting = [task for task in self._waiting if task not in tasks]
        return turned

    def turns(self) -> Sequence[LaunchedTask]:
        """The tasks to be started now."""
        counts = Counter(map(self._host_of, self._entering))
        found, others = [], []
        for task in self._waiting:
            host = self._host_of(task)
            if host is None:
                found.append(task)
            elif len(self._entering) < self._in_all and counts[host] < self._per_host:
                counts[host] += 1
                self._entering.add(task)
                found.append(task)
            else:
                others.append(task)
        self._waiting = others
        return found
