"""A wait is told of after ten seconds, after a minute, and then every ten minutes."""

from __future__ import annotations

import pytest

from weft.platform.waits import wait_notice
from weft.platform.waits.wait_notice import WaitNotice


class Clock:
    """A time module whose time the test sets."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s


def test_notices_come_soon_and_then_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(wait_notice, "time", clock)
    notice = WaitNotice()
    told = []
    for second in range(0, 2000):
        clock.now_s = 100.0 + second
        if notice.is_due():
            told.append(second)
    assert told == [10, 60, 600, 1200, 1800]


def test_a_sleeper_knows_when_the_next_notice_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(wait_notice, "time", clock)
    notice = WaitNotice()
    clock.now_s += 4
    assert notice.left_s == 6.0
    clock.now_s += 7
    assert notice.left_s == 0.0
    assert notice.is_due()
    assert notice.left_s == 49.0
