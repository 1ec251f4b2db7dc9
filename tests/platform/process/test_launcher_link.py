"""News travel on the pipe that the environment names, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from weft.platform.process.launcher_link import VARIABLE, TaskNews, descriptor_text, has_launcher, tell_launcher


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    os.set_blocking(ends[1], False)
    monkeypatch.setenv(VARIABLE, descriptor_text(ends[1]))
    yield ends
    for end in ends:
        os.close(end)


def test_news_come_as_they_were_told(pipe: tuple[int, int]) -> None:
    assert has_launcher()
    news = [
        TaskNews(serves=True),
        TaskNews(step=3, last_step=9, loss=0.5),
        TaskNews(waits_for=("h:1",)),
        TaskNews(waits_for=()),
    ]
    for each in news:
        tell_launcher(each)
    assert [TaskNews.decode(line) for line in os.read(pipe[0], 4096).splitlines()] == news


def test_a_launcher_that_does_not_read_holds_nobody_up(pipe: tuple[int, int]) -> None:
    for step in range(10_000):
        tell_launcher(TaskNews(step=step))


def test_another_file_with_the_descriptor_is_left_alone(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    other = os.pipe()
    try:
        monkeypatch.setenv(VARIABLE, f"{other[1]}:{os.fstat(pipe[1]).st_ino}")
        assert not has_launcher()
        tell_launcher(TaskNews(step=1))
        os.set_blocking(other[0], False)
        with pytest.raises(BlockingIOError):
            os.read(other[0], 1)
    finally:
        for end in other:
            os.close(end)


@pytest.mark.parametrize("text", ["", "x", "7", "-1:3", "99999999999999999999:1"])
def test_without_a_pipe_there_is_no_launcher(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    assert not has_launcher()


@pytest.mark.parametrize(
    "line", [b"", b"\xff", b"3", b"[]", b'{"stap": 1}', b'{"step": "1"}', b'{"serves": 1}', b'{"waits_for": [1]}']
)
def test_a_line_that_is_no_news_is_none(line: bytes) -> None:
    assert TaskNews.decode(line) is None
