"""The latest lines of the log are kept for whoever looks, and no more than a few."""

from __future__ import annotations

import logging

from weft.platform.logs.recent_log import RecentLog


def test_the_latest_lines_are_kept() -> None:
    log = RecentLog()
    for number in range(300):
        log.handle(logging.LogRecord("weft", logging.WARNING, __file__, 1, "line %d", (number,), None))
    lines = log.lines()
    assert len(lines) == 200
    assert lines[-1].endswith("WARNING line 299")
