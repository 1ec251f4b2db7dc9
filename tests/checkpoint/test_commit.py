"""Saving over a checkpoint and merging, with the process dying at every step on the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import errors
from weft.checkpoint import commit, files
from weft.checkpoint.bundle_merge import merge_bundles
from weft.checkpoint.bundle_reader import BundleReader
from weft.checkpoint.bundle_writer import BundleWriter

_CHANGES = ("create", "write", "rename", "keep_as", "remove_if_exists", "remove_directory_if_empty", "sync_directory")


class Died(BaseException):
    """What stands for the end of the process: after it, no file changes any more."""


class Mortality:
    """Counts the changes to files and, once told to, ends the process before the n-th."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left: int | None = None
        self.failing_rename: int | None = None
        for name in _CHANGES:
            monkeypatch.setattr(files, name, self._mortal(name, getattr(files, name)))

    def _mortal(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            if self.left is not None:
                if self.left == 0:
                    raise Died
                self.left -= 1
            if name == "rename" and self.failing_rename is not None:
                self.failing_rename -= 1
                if self.failing_rename == -1:
                    raise errors.UnavailableError(None, None, "the server of the file system is away")
            return function(*args)

        return call


@pytest.fixture
def mortality(monkeypatch: pytest.MonkeyPatch) -> Mortality:
    return Mortality(monkeypatch)


def save(prefix: str, number: int) -> None:
    with BundleWriter(prefix) as writer:
        writer.add("a", np.full(100, number, np.float32))
        writer.add("name", b"save %d" % number)


def save_merged(prefix: str, number: int) -> None:
    parts = [f"{prefix}_temp_{number}/part-{i:05d}-of-00002" for i in range(2)]
    for i, part in enumerate(parts):
        with BundleWriter(part) as writer:
            writer.add_slice("a", (100,), (50 * i,), (50,), np.full(50, number, np.float32))
            if i:
                writer.add("name", b"save %d" % number)
    merge_bundles(parts, prefix)


def saved_number(prefix: str) -> int:
    with BundleReader(prefix) as reader:
        values = reader.lookup("a")
        assert (values == values[0]).all()
        assert reader.lookup("name")[()] == b"save %d" % values[0]
    return int(values[0])


def dies_at(mortality: Mortality, step: int, action: Callable[[], None]) -> bool:
    mortality.left = step
    try:
        action()
    except Died:
        return True
    finally:
        mortality.left = None
    return False


@pytest.mark.parametrize("save", [save, save_merged])
def test_a_death_at_any_step_leaves_the_old_or_the_new_checkpoint(
    save: Callable[[str, int], None], mortality: Mortality, tmp_path: Path
) -> None:
    seen = set()
    step = 0
    while True:
        prefix = str(tmp_path / f"died_{step}" / "model.ckpt")
        Path(prefix).parent.mkdir()
        save(prefix, 1)
        died = dies_at(mortality, step, lambda prefix=prefix: save(prefix, 2))  # type: ignore[misc]
        seen.add(saved_number(prefix))
        assert seen <= {1, 2}
        # Another death while the rest is settled must not harm either.
        dies_at(mortality, step % 7, lambda prefix=prefix: save(prefix, 3))  # type: ignore[misc]
        assert saved_number(prefix) in (1, 2, 3)
        save(prefix, 4)
        assert saved_number(prefix) == 4
        assert not list(Path(prefix).parent.glob("*" + ".kept"))
        if not died:
            break
        step += 1
    assert seen == {1, 2}
    assert step > 8


# A merge's parts take two renames each before the merge's own three.
@pytest.mark.parametrize(("save", "number"), [(save, 0), (save, 1), (save_merged, 4), (save_merged, 5), (save_merged, 6)])
def test_a_failed_rename_is_undone(save: Callable[[str, int], None], number: int, mortality: Mortality, tmp_path: Path) -> None:
    prefix = str(tmp_path / "model.ckpt")
    save(prefix, 1)
    mortality.failing_rename = number
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(errors.UnavailableError, match="is away"):
        save(prefix, 2)
    assert saved_number(prefix) == 1
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert after == before


def test_a_merge_that_died_goes_on_when_it_is_called_again(mortality: Mortality, tmp_path: Path) -> None:
    step = 0
    while True:
        prefix = str(tmp_path / f"died_{step}" / "model.ckpt")
        Path(prefix).parent.mkdir()
        save_merged(prefix, 1)
        parts = [f"{prefix}_temp/part-{i}" for i in range(2)]
        for i, part in enumerate(parts):
            with BundleWriter(part) as writer:
                writer.add("a" if i else "name", np.full(100, 2, np.float32) if i else b"save 2")
        died = dies_at(mortality, step, lambda prefix=prefix, parts=parts: merge_bundles(parts, prefix))  # type: ignore[misc]
        if saved_number(prefix) == 1:
            merge_bundles(parts, prefix)
        assert saved_number(prefix) == 2
        if not died:
            break
        step += 1
    assert step > 8


def test_kept_files_of_a_checkpoint_that_is_gone_are_dropped(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    (tmp_path / "m.data-00000-of-00001").write_bytes(b"new")
    (tmp_path / "m.data-00000-of-00001.kept").write_bytes(b"old")
    commit.settle(prefix, ())
    assert [path.name for path in tmp_path.iterdir()] == ["m.data-00000-of-00001"]


def test_where_there_are_no_hard_links_a_checkpoint_is_replaced_as_safely(
    monkeypatch: pytest.MonkeyPatch, mortality: Mortality, tmp_path: Path
) -> None:
    def no_link(source: str, target: str) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("os.link", no_link)
    for step in range(12):
        prefix = str(tmp_path / f"died_{step}" / "m")
        save(prefix, 1)
        dies_at(mortality, step, lambda prefix=prefix: save(prefix, 2))  # type: ignore[misc]
        assert saved_number(prefix) in (1, 2)
        save(prefix, 3)
        assert saved_number(prefix) == 3
