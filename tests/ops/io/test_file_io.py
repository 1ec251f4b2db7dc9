"""Files as tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf
from weft.ops.io.file_io import matching_files, read_file, write_file


def test_what_is_written_is_read_in_directories_made_for_it(tmp_path: Path) -> None:
    path = str(tmp_path / "a" / "b" / "file")
    write = write_file(path, b"\0bytes\xff")
    with tf.get_default_graph().control_dependencies([write]):
        contents = read_file(path)
    with tf.Session() as sess:
        assert sess.run(contents) == b"\0bytes\xff"


def test_a_file_that_is_not_there_is_a_not_found_error(tmp_path: Path) -> None:
    contents = read_file(str(tmp_path / "none"))
    with tf.Session() as sess, pytest.raises(tf.errors.NotFoundError, match="none"):
        sess.run(contents)


def test_files_are_found_by_patterns_in_order(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "c.csv", "d.py"):
        (tmp_path / name).touch()
    one = matching_files(str(tmp_path / "*.txt"))
    more = matching_files([str(tmp_path / "*.csv"), str(tmp_path / "*.txt")])
    none = matching_files(str(tmp_path / "*.none"))
    with tf.Session() as sess:
        names = [[Path(item.decode()).name for item in found] for found in sess.run([one, more, none])]
    assert names == [["a.txt", "b.txt"], ["a.txt", "b.txt", "c.csv"], []]
