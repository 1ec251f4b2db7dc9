"""file_io: files under the names of TensorFlow's inner module."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf
from weft.platform.files import file_io


def test_files_are_written_and_read_whole(tmp_path: Path) -> None:
    path = str(tmp_path / "note")
    file_io.write_string_to_file(path, "old")
    assert file_io.read_file_to_string(path) == "old"
    file_io.atomic_write_string_to_file(path, "new")
    assert file_io.read_file_to_string(path, binary_mode=True) == b"new"
    assert file_io.get_matching_files(str(tmp_path / "n*")) == [path]
    assert file_io.list_directory(str(tmp_path)) == ["note"]


def test_an_atomic_write_leaves_a_file_that_is_there(tmp_path: Path) -> None:
    path = str(tmp_path / "note")
    file_io.write_string_to_file(path, "old")
    with pytest.raises(tf.errors.AlreadyExistsError):
        file_io.atomic_write_string_to_file(path, "new", overwrite=False)
    assert file_io.list_directory(str(tmp_path)) == ["note"]
    assert file_io.read_file_to_string(path) == "old"
