"""A task that only waits to be asked learns from the others whether it has the credentials of their cluster."""

from __future__ import annotations

import pytest

from weft.distributed.rpc.misfit_watch import MisfitWatch
from weft.distributed.server.welcome import Welcome
from weft.errors import OpError, UnauthenticatedError, UnavailableError

MISFIT = UnavailableError.of(
    "Task a at h:1 is unavailable: it has no credentials of a cluster's, and this process has; or it is no task (x)"
)
ABSENT = UnavailableError.of("Task a at h:1 is unavailable: nothing listens there: is its process running, at that port? (x)")


class Cluster:
    """Tasks that answer as they are told, and the time of each question, which takes 1 s."""

    def __init__(self, *answers: OpError | None) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def ask(self, task: str, _: float) -> None:
        self.asked.append(task)
        answer = self.answers.pop(0)
        if answer is not None:
            raise answer

    def welcome(self, *others: str) -> Welcome:
        return Welcome(others, self.ask, MisfitWatch(2.0, lambda: float(len(self.asked))))


def look(welcome: Welcome, times: int) -> None:
    for _ in range(times):
        welcome.look()


def test_a_task_that_all_refuse_ends() -> None:
    with pytest.raises(UnauthenticatedError, match="it has no credentials of a cluster's"):
        look(Cluster(MISFIT, MISFIT, MISFIT).welcome("a", "b"), 3)


def test_who_refused_and_has_gone_has_refused() -> None:
    with pytest.raises(UnauthenticatedError, match="it has no credentials"):
        look(Cluster(MISFIT, ABSENT, ABSENT).welcome("a"), 3)


def test_others_that_are_not_there_yet_are_waited_for() -> None:
    look(Cluster(*[ABSENT] * 9).welcome("a", "b"), 9)


def test_one_that_answers_is_enough_and_nobody_is_asked_again() -> None:
    cluster = Cluster(MISFIT, None)
    look(cluster.welcome("a", "b"), 9)
    assert cluster.asked == ["a", "b"]


def test_a_task_alone_asks_nobody() -> None:
    cluster = Cluster()
    look(cluster.welcome(), 3)
    assert cluster.asked == []
