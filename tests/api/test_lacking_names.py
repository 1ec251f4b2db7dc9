"""The names of TensorFlow that weft is said to lack are lacking: one that is added leaves the list."""

from __future__ import annotations

from pathlib import Path

import weft as tf

_LIST = Path(tf.__file__).parent / "api" / "lacking_names.txt"


def _is_there(name: str) -> bool:
    found: object = tf
    for part in name.rstrip(".").split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            return False
    return True


def test_no_name_of_the_list_is_there() -> None:
    assert [name for name in _LIST.read_text(encoding="utf-8").split() if _is_there(name)] == []
