"""What weft tells of waits, told soon: for the tests of who waits, for what, and who is told so."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from typing import TypeVar

import pytest

from weft.platform import wait_notice, wait_watch

_Handler = TypeVar("_Handler", bound="ToldWaits")


def told_soon(monkeypatch: pytest.MonkeyPatch, handler: _Handler) -> Iterator[_Handler]:
    """What a fixture yields from: a handler of the lines about waits, which are told soon."""
    tell_soon(monkeypatch)
    with handler.listening():
        yield handler


def tell_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have waits be told of after 10 ms."""
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.01)
    # The thread of an earlier test may sleep for longer.
    monkeypatch.setattr(wait_watch, "_WATCH", wait_watch._Watch())


class ToldWaits(logging.Handler):
    """The lines of a log; each sets `came`."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.came = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())
        self.came.set()

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """A block in which it has the lines about waits."""
        log = logging.getLogger("weft.waits")
        log.addHandler(self)
        try:
            yield
        finally:
            log.removeHandler(self)
