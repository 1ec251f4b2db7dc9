"""Libraries built for TensorFlow are refused with what to do instead."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf


def test_a_library_that_is_not_there_is_not_found() -> None:
    with pytest.raises(tf.errors.NotFoundError, match="cannot open shared object file"):
        tf.load_op_library("/no/such/library.so")


@pytest.mark.parametrize(("load", "alternative"), [
    (tf.load_op_library, "tf.py_func"), (tf.load_library, "tf.custom_gradient"), (tf.load_file_system_library, "fsspec"),
])  # fmt: skip
def test_a_library_that_is_there_is_refused_with_an_alternative(load: object, alternative: str, tmp_path: Path) -> None:
    library = tmp_path / "ops.so"
    library.touch()
    with pytest.raises(tf.errors.UnimplementedError, match=alternative):
        load(str(library))  # type: ignore[operator]
