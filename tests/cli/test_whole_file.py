"""A file is there as a whole, or as it was before."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from weft.cli.whole_file import write_whole


def test_a_file_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("before")

    def write(draft: str) -> None:
        Path(draft).write_text("after")

    write_whole(str(path), write)
    assert path.read_text() == "after"
    assert os.listdir(tmp_path) == ["out"]


def test_what_stood_there_stays_where_the_disk_is_full(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("before")

    def fill(draft: str) -> None:
        Path(draft).write_text("a part")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left on device") as caught:
        write_whole(str(path), fill)
    assert caught.value.filename == str(path)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["out"]
