"""What tasks log of a wait, told where the client waits for it: a queue's task says what it waits for in its own log alone.

Asked for once a step takes as long as waits are told of, by the thread that looks at waits; a step that computes is no wait.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator, Mapping
from typing import Final

from weft.distributed.client.observation.observing import TaskObserver
from weft.distributed.client.observation.task_report import TaskReport, short_name
from weft.errors import OpError
from weft.platform.waits.wait_watch import Watched

_ANSWER_S: Final = 2.0
_MOST_TASKS: Final = 8
# Of a line of `RecentLog`: what stands behind its time and level.
_MESSAGE: Final = re.compile(r"^\S+ [A-Z]+ (.* has waited .*)$", re.S)


class RelayedWaits:
    """The waits for steps of one server, for its clients, those in its own process too. Safe from any thread.

    Args:
        target: the server's `host:port`.
    """

    def __init__(self, target: str) -> None:
        self._target = target

    def watched(self) -> Watched:
        """The wait for a step, in a `with` block."""
        said: list[str] = []

        def describe() -> str:
            said[:] = _said(self._target)
            return f"A step of the master at {self._target} has been under way" if said else ""

        return Watched(describe, lambda: " ".join(said))


def _said(target: str) -> list[str]:
    """What the tasks say of the steps of a server that wait now: `ps:0 says: QueueDequeueV2 ...`."""
    master = _report(target)
    if master is None:
        return []
    steps = {wait.step: wait.tasks for wait in master.waits}
    names = sorted({task for tasks in steps.values() for task in tasks if task != master.task})[:_MOST_TASKS]
    others = [found for task in names if task in master.cluster and (found := _report(master.cluster[task])) is not None]
    elsewhere = [each for each in [master, *others] if not _is_here(each)]
    lines = (f"{short_name(each.task)} says: {line}" for each in elsewhere for line in _lines(each, steps))
    return list(dict.fromkeys(lines))


def _is_here(report: TaskReport) -> bool:
    """Whether a task is one of this process, whose log has what it says already."""
    return (report.host, report.process_id) == (socket.gethostname(), os.getpid())


def _report(address: str) -> TaskReport | None:
    """How a task is; None of one that does not tell."""
    observer = TaskObserver(address)
    try:
        return observer.report(_ANSWER_S)
    except OpError:
        return None
    finally:
        observer.close()


def _lines(report: TaskReport, steps: Mapping[str, object]) -> Iterator[str]:
    """The last that a task has logged of each node at which one of these steps is blocked."""
    blocked = {place.partition(" ")[0] for wait in report.waits if wait.step in steps for place in wait.where.split(", ")}
    for node in sorted(filter(None, blocked)):
        told = (found[1] for line in reversed(report.log) if f"'{node}'" in line and (found := _MESSAGE.match(line)))
        yield from [line for line in [next(told, "")] if line]
