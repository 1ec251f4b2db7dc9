"""A wait for a server whose credentials do not fit ends, after the time that an earlier job's process may take to go."""

from __future__ import annotations

import pytest

from weft.distributed.rpc.misfit_watch import MisfitWatch
from weft.errors import OpError, UnauthenticatedError, UnavailableError

MISFIT = UnavailableError.of(
    "Task a at h:1 is unavailable: it belongs to a cluster with other credentials than this process has: set "
    "WEFT_CLUSTER_TOKEN_FILE or WEFT_CREDENTIALS to those of its cluster (CERTIFICATE_VERIFY_FAILED)"
)
ABSENT = UnavailableError.of("Task a at h:1 is unavailable: nothing listens there: is its process running, at that port? (x)")


class Clock:
    """Stands until it is set."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def looks(*told: tuple[float, str, OpError]) -> None:
    """What a watch with a limit of 7 s hears, each at its time."""
    clock = Clock()
    watch = MisfitWatch(7.0, clock)
    for now_s, server, error in told:
        clock.now_s = now_s
        watch.take(server, error)


def test_a_misfit_that_stays_ends_the_wait_with_the_remedy() -> None:
    with pytest.raises(UnauthenticatedError, match=r"set WEFT_CLUSTER_TOKEN_FILE.*It has been so for 7 s.*start that task or"):
        looks((1.0, "a", MISFIT), (4.0, "a", MISFIT), (8.0, "a", MISFIT))


@pytest.mark.parametrize(
    "told",
    [
        [(1.0, "a", MISFIT), (7.9, "a", MISFIT)],
        [(1.0, "a", MISFIT), (5.0, "a", ABSENT), (6.0, "a", MISFIT), (12.9, "a", MISFIT)],
        [(1.0, "a", MISFIT), (20.0, "b", MISFIT)],
        [(1.0, "a", ABSENT), (100.0, "a", ABSENT)],
    ],
    ids=["too short", "another process came", "of two servers", "only absent"],
)
def test_other_waits_go_on(told: list[tuple[float, str, OpError]]) -> None:
    looks(*told)
