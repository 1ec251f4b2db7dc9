from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import errors
from weft.checkpoint.bundle_merge import merge_bundles
from weft.checkpoint.bundle_reader import BundleReader
from weft.checkpoint.bundle_writer import BundleWriter

WHOLE = np.arange(40, dtype=np.float64).reshape(10, 4)


def part(tmp_path: Path, number: int, **values: Any) -> str:
    prefix = str(tmp_path / "m_temp" / f"part-{number:05d}-of-00003")
    with BundleWriter(prefix) as writer:
        for name, value in values.items():
            writer.add(name, value)
    return prefix


def part_with_rows(tmp_path: Path, number: int, start: int, end: int, whole: Any = WHOLE) -> str:
    prefix = str(tmp_path / "m_temp" / f"part-{number:05d}-of-00003")
    with BundleWriter(prefix) as writer:
        writer.add_slice("v", whole.shape, (start, 0), (end - start, 4), whole[start:end])
    return prefix


def test_parts_become_the_shards_of_one_bundle(tmp_path: Path) -> None:
    parts = [part(tmp_path, 0, a=1.5), part(tmp_path, 1, b=np.arange(5)), part(tmp_path, 2, c=b"text")]
    prefix = str(tmp_path / "m")
    merge_bundles(parts, prefix)
    with BundleReader(prefix) as reader:
        assert reader.keys() == ["a", "b", "c"]
        assert reader.lookup("b").tolist() == [0, 1, 2, 3, 4]
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["m.data-00000-of-00003", "m.data-00001-of-00003", "m.data-00002-of-00003", "m.index"]


def test_slices_of_one_variable_come_together(tmp_path: Path) -> None:
    parts = [part_with_rows(tmp_path, 0, 4, 10), part_with_rows(tmp_path, 1, 0, 4)]
    merge_bundles(parts, str(tmp_path / "m"))
    with BundleReader(str(tmp_path / "m")) as reader:
        np.testing.assert_array_equal(reader.lookup("v"), WHOLE)
        np.testing.assert_array_equal(reader.lookup_slice("v", (2, 1), (5, 2)), WHOLE[2:7, 1:3])


def test_merged_bundles_can_be_merged_again(tmp_path: Path) -> None:
    merge_bundles([part(tmp_path, 0, a=1), part(tmp_path, 1, b=2)], str(tmp_path / "m_temp2" / "half"))
    merge_bundles([str(tmp_path / "m_temp2" / "half"), part(tmp_path, 2, c=3)], str(tmp_path / "m"))
    with BundleReader(str(tmp_path / "m")) as reader:
        assert [int(reader.lookup(name)[()]) for name in "abc"] == [1, 2, 3]


def test_a_part_without_tensors_leaves_no_shard(tmp_path: Path) -> None:
    merge_bundles([part(tmp_path, 0), part(tmp_path, 1, b=2)], str(tmp_path / "m"))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["m.data-00000-of-00001", "m.index"]


def test_the_parts_directory_stays_when_asked_or_when_it_is_not_empty(tmp_path: Path) -> None:
    merge_bundles([part(tmp_path, 0, a=1)], str(tmp_path / "m"), delete_old_dirs=False)
    assert list((tmp_path / "m_temp").iterdir()) == []
    (tmp_path / "m_temp" / "notes").write_text("mine")
    merge_bundles([part(tmp_path, 0, a=1)], str(tmp_path / "m"))
    assert [path.name for path in (tmp_path / "m_temp").iterdir()] == ["notes"]


def test_a_part_that_this_task_cannot_see_is_told_with_the_remedy(tmp_path: Path) -> None:
    parts = [part(tmp_path, 0, a=1), str(tmp_path / "elsewhere" / "part-1")]
    with pytest.raises(errors.NotFoundError, match=r"elsewhere/part-1.index.*a shared or remote directory"):
        merge_bundles(parts, str(tmp_path / "m"))
    assert BundleReader(parts[0]).has("a")


def test_a_part_whose_data_are_missing_or_cut_off_is_refused_before_anything_is_moved(tmp_path: Path) -> None:
    parts = [part(tmp_path, 0, a=1), part(tmp_path, 1, b=np.arange(100))]
    data = Path(parts[1] + ".data-00000-of-00001")
    data.write_bytes(data.read_bytes()[:-1])
    with pytest.raises(errors.DataLossError, match="has 799 bytes, but the part's index tells of 800"):
        merge_bundles(parts, str(tmp_path / "m"))
    data.unlink()
    with pytest.raises(errors.NotFoundError, match=r"data of checkpoint part .*part-00001-of-00003 are missing"):
        merge_bundles(parts, str(tmp_path / "m"))
    assert BundleReader(parts[0]).lookup("a")[()] == 1


def test_parts_must_agree(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    with pytest.raises(errors.InvalidArgumentError, match=r"part-00001.*tensor b'a' is in another part"):
        merge_bundles([part(tmp_path, 0, a=1), part(tmp_path, 1, a=2)], prefix)
    rows = part_with_rows(tmp_path, 0, 0, 4)
    for other in (part_with_rows(tmp_path, 1, 4, 9, WHOLE[:9]), part_with_rows(tmp_path, 1, 4, 10, WHOLE.astype(int))):
        with pytest.raises(errors.InvalidArgumentError, match="parts of the checkpoint disagree on tensor b'v'"):
            merge_bundles([rows, other], prefix)
    with pytest.raises(errors.InvalidArgumentError, match="as a whole"):
        merge_bundles([part(tmp_path, 2, v=1), rows], prefix)
    assert not Path(prefix + ".index").exists()


def test_the_parts_of_a_remote_store_are_merged_there(tmp_path: Path) -> None:
    base = "memory://weft-merge-test"
    parts = [f"{base}/m_temp/part-{i}" for i in range(2)]
    for i, prefix in enumerate(parts):
        with BundleWriter(prefix) as writer:
            writer.add(f"v{i}", i)
    merge_bundles(parts, f"{base}/m")
    with BundleReader(f"{base}/m") as reader:
        assert [int(reader.lookup(f"v{i}")[()]) for i in range(2)] == [0, 1]


def test_a_copy_of_a_checkpoint_is_a_checkpoint(tmp_path: Path) -> None:
    merge_bundles([part(tmp_path, 0, a=1), part(tmp_path, 1, b=2)], str(tmp_path / "m"))
    (tmp_path / "copy").mkdir()
    for path in tmp_path.glob("m.*"):
        shutil.copy(path, tmp_path / "copy")
    assert BundleReader(str(tmp_path / "copy" / "m")).lookup("b")[()] == 2
