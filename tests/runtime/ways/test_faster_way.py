"""Each way is tried, and the one whose best try was the shortest is gone from then on."""

import pytest

from weft.runtime.ways.faster_way import FasterWay


@pytest.mark.parametrize("fastest", [0, 1, 2])
def test_the_fastest_is_chosen(fastest: int) -> None:
    trial = FasterWay(3, tries=2)
    ways = []
    while not trial.is_settled:
        ways.append(trial.way)
        trial.note(trial.way, 1.0 if trial.way == fastest else 2.0)
    assert ways == [0, 0, 1, 1, 2, 2]
    assert trial.way == fastest


def test_one_slow_try_does_not_decide() -> None:
    trial = FasterWay(2, tries=2)
    for seconds in (1.0, 50.0, 2.0, 2.0):
        trial.note(trial.way, seconds)
    assert trial.is_settled
    assert trial.way == 0


def test_a_try_that_ends_late_changes_nothing() -> None:
    trial = FasterWay(2, tries=1)
    for seconds in (1.0, 2.0):
        trial.note(trial.way, seconds)
    trial.note(1, 0.1)
    assert trial.way == 0
