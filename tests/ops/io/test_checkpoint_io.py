"""The nodes that write, read and merge checkpoints, run by themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.checkpoint.bundle_reader import BundleReader
from weft.framework.registry import op_registry
from weft.ops.io import checkpoint_io


@pytest.mark.parametrize(
    ("name", "inputs", "attrs"),
    [
        ("SaveV2", ["prefix", "tensor_names", "shape_and_slices", "tensors"], ["dtypes"]),
        ("RestoreV2", ["prefix", "tensor_names", "shape_and_slices"], ["dtypes"]),
        ("MergeV2Checkpoints", ["checkpoint_prefixes", "destination_prefix"], ["delete_old_dirs", "allow_missing_files"]),
        ("ShardedFilename", ["basename", "shard", "num_shards"], []),
        ("ShardedFilespec", ["basename", "num_shards"], []),
    ],
)
def test_signatures_are_tensorflows(name: str, inputs: list[str], attrs: list[str]) -> None:
    found = op_registry.lookup(name)
    assert [arg.name for arg in found.inputs] == inputs
    assert sorted(found.attrs) == sorted(attrs)
    assert found.is_host


def test_a_shard_is_named_by_its_number_and_how_many_there_are() -> None:
    name = checkpoint_io.sharded_filename("dir/m", 2, 5)
    pattern = checkpoint_io.sharded_filespec("dir/m", 5)
    with tf.Session() as sess:
        assert sess.run([name, pattern]) == [b"dir/m-00002-of-00005", b"dir/m-?????-of-00005"]


def test_tensors_and_slices_are_written_and_read(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    save = checkpoint_io.save_v2(
        prefix, ["a", "p", "p"], ["", "4 2 0,1:0,2", "4 2 1,3:-"], [7, np.ones([1, 2]), np.zeros([3, 2])]
    )
    a, middle = checkpoint_io.restore_v2(prefix, ["a", "p"], ["", "4 2 0,2:1,1"], dtypes=[tf.int32, tf.float64])
    with tf.Session() as sess:
        sess.run(save)
        values = sess.run([a, middle])
    assert values[0] == 7
    np.testing.assert_array_equal(values[1], [[1.0], [0.0]])


def test_a_slice_must_have_its_tensors_shape(tmp_path: Path) -> None:
    save = checkpoint_io.save_v2(str(tmp_path / "m"), ["p"], ["4 2 0,1:0,2"], [np.ones([2, 2])])
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Slice in shape_and_slice specification"):
        sess.run(save)
    assert list(tmp_path.iterdir()) == []


def test_a_slice_of_another_whole_is_refused(tmp_path: Path) -> None:
    prefix = str(tmp_path / "m")
    save = checkpoint_io.save_v2(prefix, ["p"], [""], [np.ones([2, 2])])
    (part,) = checkpoint_io.restore_v2(prefix, ["p"], ["4 2 0,1:0,2"], dtypes=[tf.float64])
    with tf.Session() as sess:
        sess.run(save)
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not match the shape stored in checkpoint"):
            sess.run(part)


def test_a_directory_that_the_writing_task_lacks_is_told(tmp_path: Path) -> None:
    save = checkpoint_io.save_v2(str(tmp_path / "no" / "where" / "m"), ["v"], [""], [1])
    with tf.Session() as sess, pytest.raises(tf.errors.NotFoundError, match="must exist on the file system of that task"):
        sess.run(save)


def test_counts_must_agree(tmp_path: Path) -> None:
    save = checkpoint_io.save_v2(str(tmp_path / "m"), ["a", "b"], [""], [1])
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="equally many, got 2, 1 and 1"):
        sess.run(save)


def test_parts_become_one_checkpoint(tmp_path: Path) -> None:
    parts = [str(tmp_path / "temp" / f"part-{i}") for i in range(2)]
    saves = [checkpoint_io.save_v2(part, [f"v{i}"], [""], [i]) for i, part in enumerate(parts)]
    with tf.get_default_graph().control_dependencies(saves):
        merge = checkpoint_io.merge_v2_checkpoints(parts, str(tmp_path / "m"))
    with tf.Session() as sess:
        sess.run(merge)
    with BundleReader(str(tmp_path / "m")) as reader:
        assert [reader.lookup(name).item() for name in reader] == [0, 1]
    assert not (tmp_path / "temp").exists()


def test_a_part_that_the_merging_task_cannot_see_is_told_with_the_remedy(tmp_path: Path) -> None:
    part = str(tmp_path / "elsewhere" / "part-0")
    merge = checkpoint_io.merge_v2_checkpoints([part], str(tmp_path / "m"))
    with tf.Session() as sess, pytest.raises(tf.errors.NotFoundError) as raised:
        sess.run(merge)
    assert part in raised.value.message
    assert "must write to a file system that the task which merges sees too" in raised.value.message
    assert "merging on /job:localhost/replica:0/task:0" in raised.value.message


def test_missing_parts_may_be_allowed(tmp_path: Path) -> None:
    part = str(tmp_path / "temp" / "part-0")
    save = checkpoint_io.save_v2(part, ["v"], [""], [1])
    with tf.get_default_graph().control_dependencies([save]):
        merge = checkpoint_io.merge_v2_checkpoints([part, part + "x"], str(tmp_path / "m"), allow_missing_files=True)
    with tf.Session() as sess:
        sess.run(merge)
    with BundleReader(str(tmp_path / "m")) as reader:
        assert list(reader) == ["v"]
