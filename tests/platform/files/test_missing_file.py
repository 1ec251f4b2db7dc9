"""Whoever names a file that is not there reads what its folder has."""

from __future__ import annotations

from pathlib import Path

from weft.platform.files.missing_file import what_is_there


def test_a_name_that_is_alike_was_meant(tmp_path: Path) -> None:
    (tmp_path / "model-100.meta").touch()
    assert what_is_there(tmp_path / "model-10.meta") == " Did you mean 'model-100.meta'?"


def test_others_are_listed(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"part{number}").touch()
    assert what_is_there(tmp_path / "vocabulary.txt") == (
        f" The folder {tmp_path} has part0, part1, part2, part3, part4 and 3 more."
    )


def test_an_empty_folder_and_one_that_is_not_there_are_told(tmp_path: Path) -> None:
    assert what_is_there(tmp_path / "x") == f" The folder {tmp_path} is empty."
    assert what_is_there(tmp_path / "no" / "x") == f" There is no folder {tmp_path / 'no'}."
