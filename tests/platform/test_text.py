"""Text and bytes: each conversion takes both and refuses the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf


def test_bytes_and_text_become_each_other() -> None:
    assert tf.compat.as_bytes("ä") == "ä".encode()
    assert tf.compat.as_bytes(b"x") == b"x"
    assert tf.compat.as_text("ä".encode()) == "ä"
    assert tf.compat.as_str(b"x") == "x"


@pytest.mark.parametrize("convert", [tf.compat.as_bytes, tf.compat.as_text, tf.compat.as_str])
def test_numbers_are_neither(convert: object) -> None:
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        convert(3)  # type: ignore[operator]


def test_as_str_any_takes_anything() -> None:
    assert [tf.compat.as_str_any(item) for item in (b"x", "y", 3)] == ["x", "y", "3"]


def test_path_objects_become_text() -> None:
    assert tf.compat.path_to_str(Path("a") / "b") == "a/b"
    assert tf.compat.path_to_str("a") == "a"
