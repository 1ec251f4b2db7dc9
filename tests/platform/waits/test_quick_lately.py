"""What was quick lately is likely to be quick again, and what was slow is tried again now and then."""

from __future__ import annotations

import pytest

from weft.platform.waits.quick_lately import QuickLately


@pytest.mark.parametrize(
    ("times", "is_likely"), [("", False), ("s", False), ("q", True), ("sq", True), ("qs", True), ("qss", False), ("qsqs", True)]
)
def test_a_single_slow_time_says_nothing_where_one_is_tolerated(times: str, is_likely: bool) -> None:
    quick = QuickLately(tolerance=1, max_skips=None, at_first=False)
    for time in times:
        quick.note(time == "q")
    assert quick.is_likely is is_likely
    assert quick.skips == 0


def test_a_slow_time_counts_at_once_where_none_is_tolerated() -> None:
    quick = QuickLately()
    assert quick.is_likely
    quick.note(False)
    assert not quick.is_likely


def test_what_is_slow_is_tried_more_and_more_rarely() -> None:
    quick = QuickLately(max_skips=16)
    skips = []
    for _ in range(6):
        quick.note(False)
        skips.append(quick.skips)
    assert skips == [1, 3, 7, 15, 16, 16]


def test_what_became_quick_is_tried_every_time_again() -> None:
    quick = QuickLately()
    for was_quick in (False, False, True):
        quick.note(was_quick)
    assert quick.skips == 0
    quick.note(False)
    assert quick.skips == 1
