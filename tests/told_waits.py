"""What weft tells of waits, told soon: for the tests of who waits, for what, and who is told so."""

from __future__ import annotations

import contextlib
import logging
import re
import threading
from collections.abc import Callable, Iterator

import pytest

from weft.platform.waits import wait_notice, wait_watch


def told_soon(monkeypatch: pytest.MonkeyPatch, handler: ToldWaits) -> Iterator[ToldWaits]:
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
    """The lines of a log that have the pattern `about`; each sets `came` and is given to `let_go`.

    On a machine with much to do, whatever takes a moment is told of as soon as what a test is about.
    """

    let_go: Callable[[str], None] = staticmethod(lambda text: None)

    def __init__(self, about: str = "") -> None:
        super().__init__()
        self.about = about
        self.texts: list[str] = []
        self.came = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if re.search(self.about, text):
            self.texts.append(text)
            self.came.set()
            self.let_go(text)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """A block in which it has the lines about waits."""
        log = logging.getLogger("weft.waits")
        log.addHandler(self)
        try:
            yield
        finally:
            log.removeHandler(self)
