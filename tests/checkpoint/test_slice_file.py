"""The V1 format: files that Savers write when asked, which every reader of checkpoints reads."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests import tensorflows
from weft.checkpoint.slice_file import SliceFileWriter
from weft.checkpoint.slice_file_reader import SliceFileReader, open_checkpoint
from weft.checkpoint.table import Table, TableWriter
from weft.cli.command_line import main

VALUES: dict[str, Any] = {
    "float": np.float32([[1, 2, 3], [4, 5, 6]]),
    "double": np.float64(2.5),
    "int64": np.int64([-5_000_000_000, 7]),
    "int32": np.int32([-1, 1]),
    "int8": np.int8([-1, 127]),
    "uint8": np.uint8([255]),
    "bool": np.array([True, False]),
    "half": np.float16([1.5, -0.25]),
    "complex": np.complex64([1 + 2j]),
    "empty": np.zeros([0, 3], np.float32),
    "string": np.array([b"ab", b""], object),
}


@pytest.fixture
def path(tmp_path: Path) -> str:
    with SliceFileWriter(str(tmp_path / "model")) as writer:
        for name, value in VALUES.items():
            writer.add(name, value)
        writer.add_slice("parts", [4, 2], [0, 0], [1, -1], np.float32([[0, 1]]))
        writer.add_slice("parts", [4, 2], [1, 0], [3, -1], np.float32([[2, 3], [4, 5], [6, 7]]))
    return str(tmp_path / "model")


@pytest.mark.parametrize("name", VALUES)
def test_a_tensor_of_every_type_comes_back(path: str, name: str) -> None:
    reader = tf.train.NewCheckpointReader(path)
    found = reader.get_tensor(name)
    assert found.dtype == VALUES[name].dtype
    np.testing.assert_array_equal(found, VALUES[name])


def test_parts_are_put_together_and_boxes_cut_out(path: str) -> None:
    reader = SliceFileReader(path)
    assert reader.lookup("parts").tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert reader.lookup_slice("parts", [0, 1], [3, 1]).tolist() == [[1], [3], [5]]
    assert reader.shape("parts") == (4, 2)
    with pytest.raises(tf.errors.NotFoundError, match="Did you mean 'parts'"):
        reader.lookup("part")


@pytest.mark.parametrize("is_sharded", [False, True])
def test_a_saver_writes_it_and_restores_from_it(tmp_path: Path, is_sharded: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        parts = tf.get_variable("p", [5, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer())
        saver = tf.train.Saver(write_version=tf.train.SaverDef.V1, sharded=is_sharded, max_to_keep=1)
        session.run(tf.global_variables_initializer())
        for step in range(2):
            saved = saver.save(session, str(tmp_path / "m"), step)
        session.run([each.assign(each * 0) for each in (w, *parts)])
        saver.restore(session, tf.train.latest_checkpoint(str(tmp_path)))
        assert [value.min() for value in session.run([w, *parts])] == [1, 1, 1]
    assert saved == str(tmp_path / "m-1") + ("-?????-of-00001" if is_sharded else "")
    files = {"m-1-00000-of-00001" if is_sharded else "m-1", "m-1.meta", "checkpoint"}
    assert {each.name for each in tmp_path.iterdir()} == files


def test_old_nodes_write_and_read_it(tmp_path: Path) -> None:
    proto = tf.GraphDef()
    for name, value in (("path", str(tmp_path / "m")), ("names", ["v"]), ("name", "v"), ("data", np.float32([1, 2]))):
        node = proto.node.add(name=name, op="Const")
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
        node.attr["dtype"].type = node.attr["value"].tensor.dtype
    proto.node.add(name="save", op="Save", input=["path", "names", "data"]).attr["T"].list.type.append(1)
    proto.node.add(name="restore", op="Restore", input=["path", "name"]).attr["dt"].type = 1
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(proto, name="")
        session.run("save")
        assert session.run("restore:0").tolist() == [1, 2]


def test_the_command_lists_and_compares_it(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoint", "show", path]) == 0
    assert main(["checkpoint", "diff", path, path]) == 0
    assert "parts" in capsys.readouterr().out


def test_types_that_it_has_not_are_refused(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.UnimplementedError, match="bfloat16 not yet supported: tensor 'v'"):
        SliceFileWriter(str(tmp_path / "m")).add("v", np.zeros(2, tf.bfloat16.as_numpy_dtype))


def _damage(path: str) -> tf.errors.OpError | None:
    try:
        with open_checkpoint(path) as reader:
            reader.verify()
    except tf.errors.OpError as error:
        return error
    return None


def test_damage_names_the_file(path: str) -> None:
    whole = Path(path).read_bytes()
    for place in range(0, len(whole), 7):
        Path(path).write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        found = _damage(path)
        assert found is None or (isinstance(found, tf.errors.DataLossError) and path in found.message)
    for length in range(0, len(whole), 11):
        Path(path).write_bytes(whole[:length])
        with pytest.raises(tf.errors.DataLossError, match="model"):
            open_checkpoint(path)


def test_slices_that_overlap_are_damage(tmp_path: Path) -> None:
    with SliceFileWriter(str(tmp_path / "model")) as writer:
        for start in (0, 1):
            writer.add_slice("parts", [4], [start], [2], np.float32([1, 2]))
    with pytest.raises(tf.errors.DataLossError, match="slices of partitioned tensor 'parts' overlap: 0,2 and 1,2"):
        open_checkpoint(str(tmp_path / "model")).lookup("parts")


def test_damage_behind_a_good_checksum_is_an_error_too(path: str) -> None:
    entries = list(Table(Path(path).read_bytes(), path).items())
    random = np.random.RandomState(5)
    found = []
    for number in range(300):
        changed = [(key, bytearray(value)) for key, value in entries]
        value = changed[number % len(entries)][1]
        value[random.randint(len(value))] = random.randint(256)
        table = io.BytesIO()
        writer = TableWriter(table)
        for key, each in changed:
            writer.add(key, bytes(each))
        writer.finish()
        Path(path).write_bytes(table.getvalue())
        found.append(_damage(path))
    kinds = tf.errors.DataLossError, tf.errors.UnimplementedError, tf.errors.InvalidArgumentError
    assert all(isinstance(error, kinds) and path in error.message for error in found if error is not None)
    assert sum(error is not None for error in found) > 50


@pytest.mark.oracle
@pytest.mark.timeout(200)
@pytest.mark.parametrize("version", sorted(tensorflows.VARIABLES))
def test_tensorflow_reads_what_is_written_and_the_other_way_round(version: str, path: str) -> None:
    script = """
import sys, numpy as np, tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
reader = tf.train.NewCheckpointReader(sys.argv[1])
assert reader.get_tensor("float").tolist() == [[1, 2, 3], [4, 5, 6]]
assert reader.get_tensor("int64").tolist() == [-5000000000, 7]
parts = tf.get_variable("parts", [4, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.zeros_initializer())
with tf.Session() as session:
    tf.train.Saver().restore(session, sys.argv[1])
    assert np.concatenate(session.run(list(parts))).tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    tf.train.Saver(write_version=tf.train.SaverDef.V1).save(session, sys.argv[1] + "-theirs")
"""
    command = [tensorflows.interpreter(version), "-c", script, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180, env=tensorflows.environment())
    assert done.returncode == 0, done.stderr[-3000:]
    assert tf.train.NewCheckpointReader(f"{path}-theirs").get_tensor("parts").tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
