"""TensorFlow reads what weft writes, and weft what TensorFlow writes; their index files are equal byte by byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft.checkpoint.bundle_merge import merge_bundles
from weft.checkpoint.bundle_reader import BundleReader
from weft.checkpoint.bundle_writer import BundleWriter
from weft.checkpoint.checkpoint_reader import NewCheckpointReader
from weft.checkpoint.checkpoint_state import get_checkpoint_state, latest_checkpoint, update_checkpoint_state
from weft.framework.types import dtypes

pytestmark = pytest.mark.oracle

WHOLE = np.arange(10 * 6, dtype=np.float32).reshape(10, 6)
BOXES = [((0, 0), (4, 6)), ((4, 0), (3, -1)), ((7, 0), (3, 2)), ((7, 2), (3, 4))]


def add_boxes(writer: BundleWriter, boxes: list[tuple[tuple[int, int], tuple[int, int]]]) -> None:
    for (row, column), (rows, columns) in boxes:
        end = 6 if columns < 0 else column + columns
        writer.add_slice("v", (10, 6), (row, column), (rows, columns), WHOLE[row : row + rows, column:end])


def test_tensorflow_reads_what_weft_writes(
    tmp_path: Path, values: dict[str, Any], tensorflow: Callable[..., Any], describe: Callable[[Any], Any]
) -> None:
    with BundleWriter(str(tmp_path / "plain")) as writer:
        for name, value in values.items():
            writer.add(name, value)
        for number in range(6000):
            writer.add(f"filler/{number}/a_long_name_to_fill_more_than_one_block", np.int32(number))
        writer.add("big", np.arange(3_000_000))
    with BundleWriter(str(tmp_path / "sliced")) as writer:
        add_boxes(writer, BOXES)
    parts = [str(tmp_path / "temp" / f"part-{i}") for i in range(3)]
    for i, part in enumerate(parts):
        with BundleWriter(part) as writer:
            add_boxes(writer, BOXES[i : i + 1] if i < 2 else BOXES[2:])
            writer.add(f"own_{i}", np.full(3, i))
    merge_bundles(parts, str(tmp_path / "merged"))
    update_checkpoint_state(str(tmp_path), str(tmp_path / "merged"), [str(tmp_path / "plain")], save_relative_paths=True)

    result = tensorflow(
        """
        folder, names = arguments["folder"], arguments["names"]
        reader = tf.train.NewCheckpointReader(folder + "/plain")
        result = {"plain": {n: describe(np.asarray(reader.get_tensor(n))) for n in names}}
        result["fillers"] = [int(reader.get_tensor("filler/%d/a_long_name_to_fill_more_than_one_block" % n))
                             for n in (0, 17, 3000, 5999)]
        result["count"] = len(reader.get_variable_to_shape_map())
        result["big"] = int(reader.get_tensor("big").sum())
        boxes = arguments["boxes"]
        with tf.Session() as session:
            for kind in ("sliced", "merged"):
                reader = tf.train.NewCheckpointReader(folder + "/" + kind)
                result[kind] = describe(reader.get_tensor("v"))
                result[kind + "_shapes"] = reader.get_variable_to_shape_map()
                specs = ["10 6 " + box for box in boxes]
                read = tf.raw_ops.RestoreV2(prefix=folder + "/" + kind, tensor_names=["v"] * len(specs),
                                            shape_and_slices=specs, dtypes=[tf.float32] * len(specs))
                result[kind + "_boxes"] = [describe(box) for box in session.run(read)]
        state = tf.train.get_checkpoint_state(folder)
        result["state"] = [state.model_checkpoint_path, list(state.all_model_checkpoint_paths)]
        result["latest"] = tf.train.latest_checkpoint(folder)
        """,
        folder=str(tmp_path), names=list(values), boxes=["2,5:0,6", "0,10:1,4", "-:-", "5,3:3,2"],
    )  # fmt: skip

    assert result["plain"] == {name: describe(value) for name, value in values.items()}
    assert result["fillers"] == [0, 17, 3000, 5999]
    assert result["count"] == len(values) + 6001
    assert result["big"] == np.arange(3_000_000).sum()
    boxes = [np.s_[2:7, :], np.s_[:, 1:5], np.s_[:, :], np.s_[5:8, 3:5]]
    for kind in ("sliced", "merged"):
        assert result[kind] == describe(WHOLE)
        assert result[kind + "_boxes"] == [describe(WHOLE[box]) for box in boxes]
    assert result["merged_shapes"] == {"v": [10, 6], "own_0": [3], "own_1": [3], "own_2": [3]}
    assert result["state"] == [str(tmp_path / "merged"), [str(tmp_path / "plain"), str(tmp_path / "merged")]]
    assert result["latest"] == str(tmp_path / "merged")


def test_weft_reads_what_tensorflow_writes(
    tmp_path: Path, values: dict[str, Any], tensorflow: Callable[..., Any], describe: Callable[[Any], Any]
) -> None:
    with BundleWriter(str(tmp_path / "input")) as writer:
        for name, value in values.items():
            writer.add(name, value)
    expected = tensorflow(
        """
        folder, names = arguments["folder"], sorted(arguments["names"], key=str.encode)
        reader = tf.train.NewCheckpointReader(folder + "/input")
        arrays = [np.asarray(reader.get_tensor(n)) for n in names]
        tensors = [tf.constant(a, reader.get_variable_to_dtype_map()[n]) for n, a in zip(names, arrays)]
        whole = np.arange(60, dtype=np.float32).reshape(10, 6)
        result = {}
        with tf.Session() as session:
            session.run(tf.raw_ops.SaveV2(prefix=folder + "/plain", tensor_names=names,
                                          shape_and_slices=[""] * len(names), tensors=tensors))
            pieces = [("10 6 0,4:0,6", whole[:4]), ("10 6 4,3:-", whole[4:7]), ("10 6 7,3:0,2", whole[7:, :2]),
                      ("10 6 7,3:2,4", whole[7:, 2:])]
            for name, chosen in (("part-0", pieces[:2]), ("part-1", pieces[2:])):
                specs = [spec for spec, _ in chosen]
                session.run(tf.raw_ops.SaveV2(prefix=folder + "/temp/" + name, tensor_names=["v"] * len(specs),
                                              shape_and_slices=specs, tensors=[piece for _, piece in chosen]))
            session.run(tf.raw_ops.MergeV2Checkpoints(
                checkpoint_prefixes=[folder + "/temp/part-0", folder + "/temp/part-1"],
                destination_prefix=folder + "/sliced"))
        with tf.Graph().as_default(), tf.Session() as session:
            with tf.variable_scope("net", partitioner=tf.fixed_size_partitioner(3)):
                v = tf.get_variable("table", [11, 3], initializer=tf.random_normal_initializer(seed=1))
            tf.Variable(17, name="step")
            session.run(tf.global_variables_initializer())
            for kind in (False, True):
                tf.train.Saver(sharded=kind, save_relative_paths=True).save(
                    session, folder + ("/sharded" if kind else "/saver"), global_step=17)
            result["table"] = describe(session.run(v.as_tensor()))
            tf.train.Saver([tf.global_variables()[-1]], write_version=2).save(session, folder + "/one")
        """,
        folder=str(tmp_path), names=list(values),
    )  # fmt: skip

    with BundleReader(str(tmp_path / "plain")) as reader:
        assert {name: describe(reader.lookup(name)) for name in values} == {n: describe(v) for n, v in values.items()}
    with BundleReader(str(tmp_path / "sliced")) as reader:
        np.testing.assert_array_equal(reader.lookup("v"), WHOLE)
        np.testing.assert_array_equal(reader.lookup_slice("v", (2, 1), (7, 4)), WHOLE[2:9, 1:5])
    for kind in ("saver-17", "sharded-17"):
        found = NewCheckpointReader(str(tmp_path / kind))
        assert found.get_variable_to_shape_map() == {"net/table": [11, 3], "step": []}
        assert describe(found.get_tensor("net/table")) == expected["table"]
        assert found.get_tensor("step") == 17
    assert latest_checkpoint(str(tmp_path)) == str(tmp_path / "one")
    assert get_checkpoint_state(str(tmp_path)) is not None
    check_equal_files(tmp_path, values)


def check_equal_files(tmp_path: Path, values: dict[str, Any]) -> None:
    """TensorFlow's SaveV2 writes tensors in the order of their names; in the same order weft's files are the same."""
    with BundleWriter(str(tmp_path / "ours")) as writer:
        for name in sorted(values, key=str.encode):
            writer.add(name, values[name])
    for suffix in (".index", ".data-00000-of-00001"):
        assert (tmp_path / ("ours" + suffix)).read_bytes() == (tmp_path / ("plain" + suffix)).read_bytes()
    parts = [str(tmp_path / "ours_temp" / f"part-{i}") for i in range(2)]
    for part, boxes in zip(parts, (BOXES[:2], BOXES[2:]), strict=True):
        with BundleWriter(part) as writer:
            add_boxes(writer, boxes)
    merge_bundles(parts, str(tmp_path / "ours_sliced"))
    assert (tmp_path / "ours_sliced.index").read_bytes() == (tmp_path / "sliced.index").read_bytes()


def test_small_types_are_the_same_in_both(tmp_path: Path, tensorflow: Callable[..., Any]) -> None:
    names = [kind.name for kind in dtypes.SMALL_DTYPES]
    for kind in dtypes.SMALL_DTYPES:
        with BundleWriter(str(tmp_path / kind.name)) as writer:
            writer.add("x", np.asarray([1, 0, 1]).astype(kind.as_numpy_dtype))
    result = tensorflow(
        """
        import os
        from tensorflow.python.framework import dtypes
        result = {}
        os.mkdir(arguments["folder"] + "/own")
        for name in [each for each in arguments["names"] if hasattr(dtypes, each)]:
            kind = getattr(dtypes, name)
            files = [arguments["folder"] + folder + name for folder in ("/", "/own/")]
            with tf.Graph().as_default(), tf.Session() as session:
                value = tf.raw_ops.RestoreV2(prefix=files[0], tensor_names=["x"], shape_and_slices=[""], dtypes=[kind])
                found = session.run(value)[0]
                saved = tf.placeholder(kind, [3])
                save = tf.raw_ops.SaveV2(prefix=files[1], tensor_names=["x"], shape_and_slices=[""], tensors=[saved])
                session.run(save, {saved: found})
            ends = (".index", ".data-00000-of-00001")
            same = all(open(files[0] + end, "rb").read() == open(files[1] + end, "rb").read() for end in ends)
            result[name] = [found.astype(int).tolist(), same]
        """,
        folder=str(tmp_path), names=names,
    )  # fmt: skip
    assert result
    assert result == {name: [[1, 0, 1], True] for name in result}
