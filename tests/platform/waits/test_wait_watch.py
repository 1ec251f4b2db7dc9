"""What cannot tell of its own wait is told of by a thread that looks; the same again and again only once."""

from __future__ import annotations

import io
import logging
import re
import threading
from collections.abc import Iterator

import pytest

from tests.told_waits import ToldWaits, tell_soon
from weft.platform.files.file_system import RemoteFileSystem
from weft.platform.waits import wait_notice, wait_watch
from weft.platform.waits.wait_watch import Watched


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    tell_soon(monkeypatch)


@pytest.fixture
def told() -> ToldWaits:
    return ToldWaits()


@pytest.fixture(autouse=True)
def _listen(told: ToldWaits) -> Iterator[None]:
    log = logging.getLogger("weft.waits")
    log.addHandler(told)
    yield
    log.removeHandler(told)


def test_a_block_that_takes_long_is_told_of_once(told: ToldWaits) -> None:
    asked = threading.Semaphore(0)

    def describe() -> str:
        asked.release()
        return "A thing has stood"

    for _ in range(3):
        with Watched(describe, "Look at it."):
            assert asked.acquire(timeout=20)
    (text,) = told.texts
    assert re.fullmatch(r"A thing has stood for \d+ s\. Look at it\.", text)


def test_a_short_block_is_not_told_of(told: ToldWaits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 100.0)
    with Watched(lambda: "A thing has stood", "Look at it."):
        pass
    assert told.texts == []


def test_a_store_that_does_not_answer_is_named(told: ToldWaits) -> None:
    class Store:
        def info(self, path: str) -> dict[str, object]:
            told.came.wait(10)
            return {"size": 1, "type": "file"}

    assert RemoteFileSystem(Store()).stat("bucket/model-7").length == 1
    (text,) = told.texts
    assert re.match(r"A store has not answered about bucket/model-7 for \d+ s\. Look whether this host reaches it", text)


def test_a_process_that_was_forked_begins_anew() -> None:
    wait_watch._WATCH.is_running = True
    wait_watch._WATCH.forget()
    assert not wait_watch._WATCH.is_running


def test_a_read_that_a_store_does_not_answer_is_told(told: ToldWaits) -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            told.came.wait(10)
            return super().read(size)

    class Store:
        def open(self, path: str, mode: str) -> io.BytesIO:
            return Slow(b"rows\nof it")

    with RemoteFileSystem(Store()).open("bucket/part-3", "rb") as file:
        assert next(iter(file)) == b"rows\n"
        assert file.read() == b"of it"
        assert file.tell() == 10
    assert [text.partition(" for ")[0] for text in told.texts] == ["A store has not answered about bucket/part-3"]
