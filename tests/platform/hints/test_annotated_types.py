"""An annotation says what a value may be, and in words what is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from weft.platform.hints.annotated_types import allows, in_words


def function(
    count: int | None = None,
    rate: float = 0.1,
    names: Sequence[str] = (),
    table: Mapping[str, int] | None = None,
    call: Callable[[], int] | None = None,
    unknown: NotThere | int = 0,  # type: ignore[name-defined]  # noqa: F821
    anything: object = None,
) -> None:
    """What is asked in the tests."""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", 3), ("count", np.int64(3)), ("count", None), ("rate", 1), ("rate", np.float32(0.5)), ("names", ["a"]),
        ("names", ()), ("table", {"a": 1}), ("call", len), ("unknown", "text"), ("anything", 3), ("of no such argument", 3),
    ],
)  # fmt: skip
def test_what_is_allowed(name: str, value: object) -> None:
    assert allows(function, name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", "3"), ("count", 3.0), ("count", True), ("rate", "0.1"), ("names", "abc"), ("names", [1]),
        ("table", [("a", 1)]), ("table", {1: 1}), ("call", 3),
    ],
)  # fmt: skip
def test_what_is_not(name: str, value: object) -> None:
    assert not allows(function, name, value)


def test_what_is_wanted_in_words() -> None:
    told = {name: in_words(function, name) for name in ("count", "names", "table", "call")}
    assert told == {
        "count": "int or None",
        "names": "a list of names",
        "table": "a dict of names to int or None",
        "call": "a function or None",
    }
