"""What is done again and again is known as long or quick."""

from __future__ import annotations

import pytest

from weft.distributed.master.pace import LONG_S, Pace


@pytest.mark.parametrize(
    ("times", "is_long"),
    [("", True), ("l", True), ("q", False), ("ql", False), ("qll", True), ("qllq", False), ("qlql", False), ("lq", False)],
)
def test_a_single_long_time_among_quick_ones_says_nothing(times: str, is_long: bool) -> None:
    pace = Pace()
    for time in times:
        pace.note(2 * LONG_S if time == "l" else LONG_S / 2)
    assert pace.is_long is is_long
