"""A process keeps the memory that it frees, and is never told to keep less of it again."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from weft.runtime.xla import allocation


def test_who_keeps_all_is_not_told_to_keep_some(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    class Library:
        def __init__(self, name: Any) -> None: ...

        def mallopt(self, parameter: int, value: int) -> None:
            told.append((parameter, value))

    monkeypatch.setattr(ctypes, "CDLL", Library)
    monkeypatch.setattr(allocation, "_kept", allocation._Kept())
    allocation.keep_some_freed_memory()
    some = list(told)
    allocation.keep_freed_memory()
    every = list(told)
    allocation.keep_some_freed_memory()
    assert len(some) == 2
    assert len(every) == 4
    assert all(after > before for (_, before), (_, after) in zip(some, every[2:], strict=True))
    assert told == every
