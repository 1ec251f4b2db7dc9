from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest
from tensorboard.compat.proto import saver_pb2

from weft import errors
from weft.checkpoint import files
from weft.checkpoint.bundle_writer import BundleWriter
from weft.checkpoint.checkpoint_state import (
    checkpoint_exists,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    meta_graph_filename,
    remove_checkpoint,
    update_checkpoint_state,
)


def save(prefix: Path) -> str:
    with BundleWriter(str(prefix)) as writer:
        writer.add("a", 1)
    return str(prefix)


def test_a_state_comes_back(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"m-{i}") for i in range(3)]
    update_checkpoint_state(str(tmp_path), paths[2], paths, None, [1.5, 2.5, 3.5], 0.25)
    text = (tmp_path / "checkpoint").read_text()
    assert text.startswith(f'model_checkpoint_path: "{paths[2]}"\nall_model_checkpoint_paths: "{paths[0]}"\n')
    state = get_checkpoint_state(str(tmp_path))
    assert state is not None
    assert state.model_checkpoint_path == paths[2]
    assert list(state.all_model_checkpoint_paths) == paths
    assert list(state.all_model_checkpoint_timestamps) == [1.5, 2.5, 3.5]
    assert state.last_preserved_timestamp == 0.25
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


def test_the_latest_checkpoint_is_added_to_all_without_changing_the_callers_list(tmp_path: Path) -> None:
    paths = ["/d/m-0"]
    state = generate_checkpoint_state_proto("/d", "/d/m-1", paths)
    assert list(state.all_model_checkpoint_paths) == ["/d/m-0", "/d/m-1"]
    assert paths == ["/d/m-0"]


def test_there_are_as_many_timestamps_as_checkpoints() -> None:
    with pytest.raises(ValueError, match="Number of timestamps, if provided, must match checkpoints"):
        generate_checkpoint_state_proto("/d", "/d/m", ["/d/m"], [1.0, 2.0])


@pytest.mark.parametrize(
    ("save_dir", "path", "relative", "stored"),
    [
        ("/d", "/d/m-1", False, "/d/m-1"),
        ("/d", "/d/m-1", True, "m-1"),
        ("/d", "/e/m-1", True, "../e/m-1"),
        ("/d", "m-1", True, "m-1"),
        ("d", "d/m-1", False, "m-1"),
        ("d", "d/m-1", True, "m-1"),
        ("d", "/e/m-1", False, "/e/m-1"),
        ("", "m-1", False, "m-1"),
        (".", "m-1", False, "m-1"),
        ("gs://b/d", "gs://b/d/m-1", False, "m-1"),
        ("gs://b/d/", "gs://b/d/m-1", True, "m-1"),
        ("gs://b/d", "gs://c/m-1", True, "gs://c/m-1"),
        ("/d", "gs://c/m-1", True, "gs://c/m-1"),
    ],
)
def test_paths_are_stored_relative_to_the_directory(
    save_dir: str, path: str, relative: bool, stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: dict[str, bytes] = {}
    monkeypatch.setattr(files, "write_atomically", written.__setitem__)
    monkeypatch.setattr(files, "read_bytes", written.__getitem__)
    update_checkpoint_state(save_dir, path, save_relative_paths=relative)
    (text,) = written.values()
    assert text.decode() == f'model_checkpoint_path: "{stored}"\nall_model_checkpoint_paths: "{stored}"\n'
    state = get_checkpoint_state(save_dir)
    assert state is not None
    found = state.model_checkpoint_path
    assert ("://" in found and found == path) or os.path.normpath(found) == os.path.normpath(
        path if os.path.isabs(path) or not os.path.isabs(save_dir) else os.path.join(save_dir, path)
    )


def test_a_directory_with_relative_paths_can_be_moved(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    update_checkpoint_state(str(old), save(old / "m-1"), save_relative_paths=True)
    old.rename(tmp_path / "new")
    assert latest_checkpoint(str(tmp_path / "new")) == str(tmp_path / "new" / "m-1")


def test_a_checkpoint_may_not_have_the_state_files_name(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="conflicts with path used for checkpoint state"):
        update_checkpoint_state(str(tmp_path), str(tmp_path / "checkpoint"))
    update_checkpoint_state(str(tmp_path), str(tmp_path / "checkpoint"), latest_filename="latest")
    assert get_checkpoint_state(str(tmp_path), "latest") is not None
    assert get_checkpoint_state(str(tmp_path)) is None


def test_shards_may_have_it_in_a_relative_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train").mkdir()
    update_checkpoint_state("train", save(Path("train/checkpoint")))
    assert latest_checkpoint("train") == "train/checkpoint"


def test_a_missing_directory_has_no_state_and_takes_none(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")
    assert get_checkpoint_state(nowhere) is None
    assert latest_checkpoint(nowhere) is None
    with pytest.raises(errors.NotFoundError):
        update_checkpoint_state(nowhere, nowhere + "/m")


@pytest.mark.parametrize("contents", [b"garbage {", b"model_checkpoint_path: 3", b"\xff\xfe\x00", None])
def test_a_state_that_cannot_be_read_is_ignored_with_a_warning(
    contents: bytes | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "checkpoint"
    if contents is None:
        path.mkdir()
    else:
        path.write_bytes(contents)
    with caplog.at_level(logging.WARNING, logger="weft"):
        assert get_checkpoint_state(str(tmp_path)) is None
    assert f"{path}: Checkpoint ignored" in caplog.text


def test_a_state_that_names_no_checkpoint_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text("")
    with pytest.raises(ValueError, match="Invalid checkpoint state loaded from"):
        get_checkpoint_state(str(tmp_path))


def test_the_latest_checkpoint_must_have_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    prefix = str(tmp_path / "m-1")
    update_checkpoint_state(str(tmp_path), prefix)
    with caplog.at_level(logging.ERROR, logger="weft"):
        assert latest_checkpoint(str(tmp_path)) is None
    assert f"Couldn't match files for checkpoint {prefix}" in caplog.text
    save(Path(prefix))
    assert latest_checkpoint(str(tmp_path)) == prefix


def test_checkpoints_of_either_format_exist_and_have_ages(tmp_path: Path) -> None:
    second = save(tmp_path / "m-2")
    (tmp_path / "v1").write_bytes(b"")
    (tmp_path / "sharded-00000-of-00001").write_bytes(b"")
    sharded = str(tmp_path / "sharded-?????-of-00001")
    os.utime(second + ".index", (100, 100))
    os.utime(tmp_path / "v1", (200.5, 200.5))
    assert checkpoint_exists(second)
    assert checkpoint_exists(str(tmp_path / "v1"))
    assert checkpoint_exists(sharded)
    assert not checkpoint_exists(str(tmp_path / "m"))
    assert get_checkpoint_mtimes([str(tmp_path / "none"), second, str(tmp_path / "v1")]) == [100, 200.5]


def test_removing_a_checkpoint_spares_its_neighbours(tmp_path: Path) -> None:
    one, ten = save(tmp_path / "m-1"), save(tmp_path / "m-10")
    for prefix in (one, ten):
        Path(meta_graph_filename(prefix)).write_bytes(b"")
    Path(one + ".data-00000-of-00001.tempstate12").write_bytes(b"")
    remove_checkpoint(one)
    remove_checkpoint(one)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["m-10.data-00000-of-00001", "m-10.index", "m-10.meta"]


def test_removing_a_sharded_v1_checkpoint_removes_its_one_meta_graph(tmp_path: Path) -> None:
    for name in ("m-00000-of-00002", "m-00001-of-00002", "m.meta", "m-other"):
        (tmp_path / name).write_bytes(b"")
    remove_checkpoint(str(tmp_path / "m-?????-of-00002"), saver_pb2.SaverDef.V1)
    assert [path.name for path in tmp_path.iterdir()] == ["m-other"]


def test_another_process_never_sees_half_a_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    update_checkpoint_state(str(tmp_path), "/d/m-1")

    def fail(source: str, target: str) -> None:
        raise errors.UnavailableError(None, None, "away")

    monkeypatch.setattr(files, "rename", fail)
    with pytest.raises(errors.UnavailableError, match="away"):
        update_checkpoint_state(str(tmp_path), "/d/m-2")
    state = get_checkpoint_state(str(tmp_path))
    assert state is not None
    assert state.model_checkpoint_path == "/d/m-1"
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]
