"""What killed saves left is removed; what a living one writes, and what is nobody's temporary file, is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from weft.checkpoint.bundle_reader import BundleReader
from weft.checkpoint.bundle_writer import BundleWriter
from weft.checkpoint.leftovers import sweep

_KILLED = """
import os, signal, sys
import numpy as np
from weft.checkpoint.bundle_writer import BundleWriter
writer = BundleWriter(sys.argv[1])
writer.add("v", np.zeros(1 << 18, np.float32))
writer._file.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_save(prefix: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _KILLED, str(prefix)], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL


def make_old(directory: Path) -> None:
    for path in directory.rglob("*"):
        if path.is_file():
            os.utime(path, (1000, 1000))


def names(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


def test_the_files_of_a_killed_save_are_removed_once_they_are_a_minute_old(tmp_path: Path) -> None:
    killed_save(tmp_path / "m-1")
    left = names(tmp_path)
    assert [name.partition(".tempstate")[0] for name in left] == ["m-1.data-00000-of-00001"]
    assert sweep(str(tmp_path)) == 0
    assert names(tmp_path) == left
    make_old(tmp_path)
    assert sweep(str(tmp_path)) == 1 << 20
    assert names(tmp_path) == []


def test_a_save_that_goes_on_keeps_its_files_however_long_it_takes(tmp_path: Path) -> None:
    with BundleWriter(str(tmp_path / "m")) as writer:
        writer.add("v", np.arange(3))
        writer._file.flush()
        (tmp_path / writer._temporary_index).write_bytes(b"")
        make_old(tmp_path)
        assert sweep(str(tmp_path)) == 0
    make_old(tmp_path)
    assert sweep(str(tmp_path)) == 0
    with BundleReader(str(tmp_path / "m")) as reader:
        assert reader.lookup("v").tolist() == [0, 1, 2]


def test_the_parts_of_a_sharded_save_that_was_killed_go_with_their_directory(tmp_path: Path) -> None:
    parts = tmp_path / "m-5_temp"
    with BundleWriter(str(parts / "part-00000-of-00002")) as writer:
        writer.add("v", np.arange(3))
    killed_save(parts / "part-00001-of-00002")
    assert sweep(str(tmp_path)) == 0
    make_old(tmp_path)
    assert sweep(str(tmp_path)) > 1 << 20
    assert names(tmp_path) == []


def test_the_place_of_a_save_by_tasks_goes_as_a_whole(tmp_path: Path) -> None:
    parts = tmp_path / ".saving-0123456789abcdef" / "files" / "m-5_temp"
    parts.mkdir(parents=True)
    killed_save(parts / "part-00001-of-00002")
    (parts.parent / "m-4.index").write_bytes(b"1")
    make_old(tmp_path)
    assert sweep(str(tmp_path)) == (1 << 20) + 1
    assert names(tmp_path) == []


def test_parts_that_wait_for_one_that_is_still_written_are_kept(tmp_path: Path) -> None:
    parts = tmp_path / "m-5_temp"
    with BundleWriter(str(parts / "part-00000-of-00002")) as writer:
        writer.add("v", np.arange(3))
    other = BundleWriter(str(parts / "part-00001-of-00002"))
    make_old(tmp_path)
    before = names(tmp_path)
    assert sweep(str(tmp_path)) == 0
    assert names(tmp_path) == before
    other.abandon()


@pytest.mark.parametrize("name", ["m.index", "notes_temp/part of mine", "m.tempstate", "x_temp/part-00000-of-00002.txt"])
def test_other_files_are_left_alone(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"mine")
    make_old(tmp_path)
    assert sweep(str(tmp_path)) == 0
    assert path.exists()


def test_a_directory_that_is_not_there_or_not_local_has_nothing_to_remove(tmp_path: Path) -> None:
    assert sweep(str(tmp_path / "none")) == 0
    assert sweep("memory://bucket") == 0
