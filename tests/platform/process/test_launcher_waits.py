"""A launcher is told for whom the sessions of a process wait, all of them together."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from weft.platform.process.launcher_link import VARIABLE, TaskNews, descriptor_text
from weft.platform.process.launcher_waits import ToldWait


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    ends = os.pipe()
    os.set_blocking(ends[1], False)
    monkeypatch.setenv(VARIABLE, descriptor_text(ends[1]))
    yield ends[0]
    for end in ends:
        os.close(end)


def test_two_waits_are_told_together_and_each_change_once(pipe: int) -> None:
    with ToldWait() as first, ToldWait() as second:
        first.tell(["h:1", "h:2"])
        second.tell(["h:2"])
        second.tell(["h:2"])
        first.tell(["h:1"])
    told = [TaskNews.decode(line) for line in os.read(pipe, 4096).splitlines()]
    assert [None if news is None else news.waits_for for news in told] == [
        ("h:1", "h:2"), ("h:1", "h:2"), ("h:1", "h:2"), ("h:1",), (),
    ]  # fmt: skip


def _fail_in(wait: ToldWait) -> None:
    with wait:
        wait.tell(["h:1"])
        raise ValueError("gone")


def test_a_wait_that_an_error_ends_is_over_and_one_for_nobody_is_not_told(pipe: int) -> None:
    with ToldWait():
        pass
    with pytest.raises(ValueError, match="gone"):
        _fail_in(ToldWait())
    assert os.read(pipe, 4096).count(b"waits_for") == 2


def test_a_wait_that_is_soon_over_is_not_told(pipe: int) -> None:
    with ToldWait(2.0) as wait:
        wait.tell(["h:1"])
    with ToldWait(7200.0) as wait:
        wait.tell(["h:2"])
    assert b"h:1" not in os.read(pipe, 4096)
