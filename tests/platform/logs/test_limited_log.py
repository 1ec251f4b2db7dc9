"""No peer fills the log: each place writes a burst, then a few lines a second."""

from __future__ import annotations

import logging

import pytest

from weft.platform.logs import limited_log
from weft.platform.logs.limited_log import BURST, PER_SECOND, RateLimit


def record(line: int = 1) -> logging.LogRecord:
    return logging.LogRecord("weft.peers", logging.WARNING, "file.py", line, "refused %s", ("x",), None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(limited_log.time, "monotonic", lambda: now[0])
    return now


def test_a_place_writes_a_burst_and_then_a_few_lines_a_second(clock: list[float]) -> None:
    limit = RateLimit()
    assert sum(limit.filter(record()) for _ in range(BURST + 500)) == BURST
    clock[0] += 3 / PER_SECOND
    again = [each for each in (record() for _ in range(10)) if limit.filter(each)]
    assert len(again) == 3
    assert again[0].getMessage() == "refused x (and 500 more like this, which were left out)"
    assert again[1].getMessage() == "refused x"


def test_places_do_not_share_their_allowance(clock: list[float]) -> None:
    limit = RateLimit()
    assert sum(limit.filter(record(1)) for _ in range(BURST + 5)) == BURST
    assert limit.filter(record(2))
