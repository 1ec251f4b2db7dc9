"""Saver: what it saves and restores, which checkpoints it keeps, and what it says when something does not fit."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.checkpoint.object_description import keys_by_name
from weft.training.saving import kept_checkpoints
from weft.training.saving.saver import get_saver_or_default
from weft.training.saving.saver_builder import BaseSaverBuilder
from weft.training.saving.streaming import streamed_restore
from weft.training.saving.transfer import CheckpointTransfer


def test_saved_values_come_back_into_another_graph(tmp_path: Path) -> None:
    values = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "scope/b": np.int64(7), "s": np.array([b"x", b""], object)}
    with tf.Graph().as_default(), tf.Session() as sess:
        for name, value in values.items():
            tf.Variable(value, name=name)
        sess.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        assert saver.save(sess, str(tmp_path / "model"), global_step=3) == str(tmp_path / "model-3")
        assert sorted(os.listdir(tmp_path)) == [
            "checkpoint", "model-3.data-00000-of-00001", "model-3.index", "model-3.meta",
        ]  # fmt: skip
    with tf.Graph().as_default(), tf.Session() as sess:
        variables = [tf.Variable(tf.zeros_like(value), name=name) for name, value in values.items()]
        tf.train.Saver().restore(sess, tf.train.latest_checkpoint(str(tmp_path)))
        for found, value in zip(sess.run(variables), values.values(), strict=True):
            np.testing.assert_array_equal(found, value)


def test_a_resource_variable_is_saved_under_the_name_of_its_op(tmp_path: Path) -> None:
    variable = tf.get_variable("r", initializer=[1.0, 2.0], use_resource=True)
    with tf.Session() as sess:
        sess.run(variable.initializer)
        saver = tf.train.Saver()
        path = saver.save(sess, str(tmp_path / "m"))
        sess.run(variable.assign([0.0, 0.0]))
        saver.restore(sess, path)
        np.testing.assert_array_equal(sess.run(variable), [1.0, 2.0])
    assert tf.train.list_variables(path) == [("r", [2])]


def test_nodes_have_tensorflows_names() -> None:
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    names = [op.name for op in tf.get_default_graph().get_operations() if op.name.startswith("save")]
    assert names == [
        "save/filename/input", "save/filename", "save/Const", "save/SaveV2/tensor_names",
        "save/SaveV2/shape_and_slices", "save/SaveV2", "save/control_dependency", "save/RestoreV2/tensor_names",
        "save/RestoreV2/shape_and_slices", "save/RestoreV2", "save/Assign", "save/restore_all",
    ]  # fmt: skip
    proto = saver.as_saver_def()
    assert (proto.filename_tensor_name, proto.save_tensor_name, proto.restore_op_name) == (
        "save/Const:0", "save/control_dependency:0", "save/restore_all",
    )  # fmt: skip


def test_a_dict_renames_variables(tmp_path: Path) -> None:
    variable = tf.Variable(5.0, name="here")
    saver = tf.train.Saver({"there": variable})
    with tf.Session() as sess:
        sess.run(variable.initializer)
        path = saver.save(sess, str(tmp_path / "m"))
        assert tf.train.list_variables(path) == [("there", [])]
        sess.run(variable.assign(0.0))
        saver.restore(sess, path)
        assert sess.run(variable) == 5.0


def test_only_the_variables_given_are_saved(tmp_path: Path) -> None:
    first, second = tf.Variable(1.0, name="first"), tf.Variable(2.0, name="second")
    local = tf.Variable(3.0, name="local", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    with tf.Session() as sess:
        sess.run([v.initializer for v in (first, second, local)])
        path = tf.train.Saver([second, local]).save(sess, str(tmp_path / "m"))
        assert [name for name, _ in tf.train.list_variables(path)] == ["local", "second"]
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
        assert [name for name, _ in tf.train.list_variables(path)] == ["first", "second"]


# What does not fit.


def test_a_name_for_two_variables_and_two_names_for_one_are_errors() -> None:
    first, second = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    with pytest.raises(ValueError, match="The same saveable will be restored with two names: w"):
        tf.train.Saver({"v": first, "w": first})
    with pytest.raises(ValueError, match="At least two variables have the same name: v"):
        tf.train.Saver([first, second, first])
    with pytest.raises(TypeError, match="Variable to save is not a Variable"):
        tf.train.Saver([first.value() + 1.0])
    with pytest.raises(TypeError, match="should be passed in a dict or a list"):
        tf.train.Saver(first)


def test_a_saver_of_nothing_is_an_error_unless_allowed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()
    saver = tf.train.Saver(allow_empty=True)
    tf.constant(1)
    with tf.Session() as sess:
        assert saver.save(sess, str(tmp_path / "m")) is None
        saver.restore(sess, str(tmp_path / "m"))


def test_a_format_that_is_none_is_refused_with_the_remedy() -> None:
    tf.Variable(1.0)
    with pytest.raises(RuntimeError, match=r"Unexpected write_version: 0; it is tf.train.SaverDef.V1 or V2"):
        tf.train.Saver(write_version=tf.train.SaverDef.LEGACY)


def test_restoring_what_is_no_checkpoint_is_a_value_error(tmp_path: Path) -> None:
    tf.Variable(1.0)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        with pytest.raises(ValueError, match="The passed save_path is not a valid checkpoint: "):
            saver.restore(sess, str(tmp_path / "nothing"))
        with pytest.raises(ValueError, match="Can't load save_path when it is None"):
            saver.restore(sess, None)


def save_one(path: Path, name: str, value: Any) -> str:
    with tf.Graph().as_default(), tf.Session() as sess:
        variable = tf.Variable(value, name=name)
        sess.run(variable.initializer)
        return tf.train.Saver().save(sess, str(path))


def test_a_missing_key_is_a_not_found_error_with_advice(tmp_path: Path) -> None:
    path = save_one(tmp_path / "m", "v", 1.0)
    for name in ("v", "w", "x"):
        tf.Variable(1.0, name=name)
    with tf.Session() as sess, pytest.raises(tf.errors.NotFoundError) as raised:
        tf.train.Saver().restore(sess, path)
    text = raised.value.message
    assert text.startswith("Restoring from checkpoint failed. This is most likely due to a Variable name or other graph key")
    assert "Key w not found in checkpoint" in text
    assert "it also lacks x" in text
    assert raised.value.op.name == "save/RestoreV2"


def test_another_dtype_is_an_invalid_argument_error(tmp_path: Path) -> None:
    path = save_one(tmp_path / "m", "v", np.float32(1))
    tf.Variable(np.int32(1), name="v")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as raised:
        tf.train.Saver().restore(sess, path)
    assert "tensor_name = v; expected dtype int32 does not equal original dtype float" in raised.value.message
    assert "a mismatch between the current graph and the graph from the checkpoint" in raised.value.message


@pytest.mark.parametrize("use_resource", [False, True])
def test_another_shape_is_an_invalid_argument_error_unless_reshaped(tmp_path: Path, use_resource: bool) -> None:
    path = save_one(tmp_path / "m", "v", np.arange(6.0))
    variable = tf.get_variable("v", [2, 3], tf.float64, use_resource=use_resource)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Assign requires shapes of both tensors to match"):
            tf.train.Saver().restore(sess, path)
        tf.train.Saver(reshape=True).restore(sess, path)
        np.testing.assert_array_equal(sess.run(variable), np.arange(6.0).reshape(2, 3))


def test_a_variable_without_declared_shape_takes_any(tmp_path: Path) -> None:
    path = save_one(tmp_path / "m", "v", np.arange(6.0))
    variable = tf.Variable(np.float64(0), validate_shape=False, name="v")
    with tf.Session() as sess:
        sess.run(variable.initializer)
        tf.train.Saver().restore(sess, path)
        np.testing.assert_array_equal(sess.run(variable), np.arange(6.0))


def test_saving_an_uninitialized_variable_names_it(tmp_path: Path) -> None:
    tf.Variable(1.0, name="never")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="never"):
            saver.save(sess, str(tmp_path / "m"))
        assert os.listdir(tmp_path) == []


def test_a_missing_parent_directory_is_told(tmp_path: Path) -> None:
    variable = tf.Variable(1.0)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(variable.initializer)
        with pytest.raises(ValueError, match=r"Parent directory of .* doesn't exist, can't save\."):
            saver.save(sess, str(tmp_path / "no" / "where" / "m"))


def test_bad_names_and_sessions_are_told(tmp_path: Path) -> None:
    tf.Variable(1.0)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        with pytest.raises(ValueError, match="'latest_filename' must not contain path components"):
            saver.save(sess, str(tmp_path / "m"), latest_filename="a/b")
        with pytest.raises(ValueError, match="'latest_filename' collides with 'save_path'"):
            saver.save(sess, str(tmp_path / "checkpoint"))
    with pytest.raises(TypeError, match="'sess' must be a Session"):
        saver.save(None, str(tmp_path / "m"))


def test_a_deferred_build_must_be_made_up_for(tmp_path: Path) -> None:
    saver = tf.train.Saver(defer_build=True)
    variable = tf.Variable(1.0)
    with pytest.raises(ValueError, match="build cannot be deferred"):
        tf.train.Saver([variable], defer_build=True)
    with tf.Session() as sess:
        sess.run(variable.initializer)
        with pytest.raises(RuntimeError, match=r"`build\(\)` should be called before save"):
            saver.save(sess, str(tmp_path / "m"))
        saver.build()
        assert saver.save(sess, str(tmp_path / "m"))


# Which checkpoints are kept.


def test_the_oldest_checkpoints_are_deleted(tmp_path: Path) -> None:
    variable = tf.Variable(1.0)
    saver = tf.train.Saver(max_to_keep=2)
    with tf.Session() as sess:
        sess.run(variable.initializer)
        paths = [saver.save(sess, str(tmp_path / "m"), global_step=step) for step in range(4)]
        assert saver.last_checkpoints == paths[2:]
        assert [tf.train.checkpoint_exists(path) for path in paths] == [False, False, True, True]
        assert not (tmp_path / "m-0.meta").exists()
        state = tf.train.get_checkpoint_state(str(tmp_path))
        assert state.model_checkpoint_path == paths[3]
        assert list(state.all_model_checkpoint_paths) == paths[2:]
        # Saved again, the older one is the newer.
        saver.save(sess, str(tmp_path / "m"), global_step=2)
        assert saver.last_checkpoints == [paths[3], paths[2]]


@pytest.mark.parametrize("max_to_keep", [0, None])
def test_all_checkpoints_are_kept_without_a_limit(tmp_path: Path, max_to_keep: int | None) -> None:
    variable = tf.Variable(1.0)
    saver = tf.train.Saver(max_to_keep=max_to_keep)
    with tf.Session() as sess:
        sess.run(variable.initializer)
        paths = [saver.save(sess, str(tmp_path / "m"), global_step=step) for step in range(7)]
    assert all(map(tf.train.checkpoint_exists, paths))
    assert saver.last_checkpoints == []


def test_one_checkpoint_per_period_is_kept_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(kept_checkpoints.time, "time", lambda: now[0])
    variable = tf.Variable(1.0)
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1)
    with tf.Session() as sess:
        sess.run(variable.initializer)
        paths = []
        for step in range(6):
            paths.append(saver.save(sess, str(tmp_path / "m"), global_step=step))
            now[0] += 1900
    assert [tf.train.checkpoint_exists(path) for path in paths] == [False, False, True, False, True, True]


def test_relative_paths_survive_a_move(tmp_path: Path) -> None:
    variable = tf.Variable(4.0)
    saver = tf.train.Saver(save_relative_paths=True)
    (tmp_path / "old").mkdir()
    with tf.Session() as sess:
        sess.run(variable.initializer)
        saver.save(sess, str(tmp_path / "old" / "m"), global_step=1)
        assert 'model_checkpoint_path: "m-1"' in (tmp_path / "old" / "checkpoint").read_text()
        (tmp_path / "old").rename(tmp_path / "new")
        saver.restore(sess, tf.train.latest_checkpoint(str(tmp_path / "new")))


def test_steps_may_come_from_tensors_and_be_padded(tmp_path: Path) -> None:
    step = tf.Variable(12, name="step")
    saver = tf.train.Saver(pad_step_number=True)
    with tf.Session() as sess:
        sess.run(step.initializer)
        assert saver.save(sess, str(tmp_path / "m"), global_step=step).endswith("m-00000012")
        assert saver.save(sess, str(tmp_path / "m"), global_step="step:0").endswith("m-00000012")
        assert saver.save(sess, str(tmp_path / "m"), global_step=np.int64(3)).endswith("m-00000003")


def test_without_state_nothing_is_noted_or_deleted(tmp_path: Path) -> None:
    variable = tf.Variable(1.0)
    saver = tf.train.Saver(max_to_keep=1)
    with tf.Session() as sess:
        sess.run(variable.initializer)
        for step in range(3):
            saver.save(sess, str(tmp_path / "m"), global_step=step, write_state=False, write_meta_graph=False)
    assert len(list(tmp_path.glob("*.index"))) == 3
    assert not (tmp_path / "checkpoint").exists()
    assert not list(tmp_path.glob("*.meta"))
    assert saver.last_checkpoints == []


def test_a_new_saver_takes_over_the_checkpoints_that_are_left(tmp_path: Path) -> None:
    variable = tf.Variable(1.0)
    with tf.Session() as sess:
        sess.run(variable.initializer)
        first = tf.train.Saver()
        paths = [first.save(sess, str(tmp_path / "m"), global_step=step) for step in range(3)]
        second = tf.train.Saver(max_to_keep=2)
        second.recover_last_checkpoints([*paths[1:], str(tmp_path / "gone")])
        assert second.last_checkpoints == paths[1:]
        newest = second.save(sess, str(tmp_path / "m"), global_step=3)
        assert second.last_checkpoints == [paths[2], newest]
        assert [tf.train.checkpoint_exists(path) for path in paths] == [True, False, True]
        second.set_last_checkpoints(paths[:1])
        assert second.last_checkpoints == paths[:1]
        second.set_last_checkpoints_with_time([(newest, 5.0)])
        assert second.last_checkpoints == [newest]


# Shards, slices, other objects.


def test_a_sharded_save_is_one_checkpoint(tmp_path: Path) -> None:
    with tf.device("/cpu:0"):
        first = tf.Variable([1.0, 2.0], name="first")
    second = tf.Variable([3.0], name="second")
    saver = tf.train.Saver(sharded=True)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "m"))
        assert path == str(tmp_path / "m")
        assert sorted(p.name for p in tmp_path.iterdir() if ".data" in p.name) == [
            "m.data-00000-of-00002", "m.data-00001-of-00002",
        ]  # fmt: skip
        assert not [p for p in tmp_path.iterdir() if p.is_dir()]
        sess.run([first.assign([0.0, 0.0]), second.assign([0.0])])
        saver.restore(sess, path)
        assert sess.run(first).tolist() == [1.0, 2.0]
        assert sess.run(second).tolist() == [3.0]


def partitioned(parts: int, value: Any) -> Any:
    partitioner = tf.fixed_size_partitioner(parts)
    return tf.get_variable("scope/p", initializer=tf.constant(value), partitioner=partitioner)


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize(("before", "after"), [(3, 4), (3, 1), (1, 2)])
def test_a_partitioned_variable_is_restored_into_another_partitioning(
    tmp_path: Path, before: int, after: int, sharded: bool
) -> None:
    value = np.arange(40, dtype=np.float32).reshape(10, 4)
    with tf.Graph().as_default(), tf.Session() as sess:
        partitioned(before, value)
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver(sharded=sharded).save(sess, str(tmp_path / "m"))
    assert tf.train.list_variables(path) == [("scope/p", [10, 4])]
    np.testing.assert_array_equal(tf.train.load_variable(path, "scope/p"), value)
    with tf.Graph().as_default(), tf.Session() as sess:
        variable = partitioned(after, np.zeros_like(value))
        tf.train.Saver(sharded=sharded).restore(sess, path)
        np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(variable)), value)


def test_a_partitioned_variable_may_be_given_whole_or_by_name(tmp_path: Path) -> None:
    value = np.arange(8.0, dtype=np.float32).reshape(4, 2)
    variable = partitioned(2, value)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for given in ([variable], {"scope/p": variable}, {"scope/p": list(variable)}):
            path = tf.train.Saver(given).save(sess, str(tmp_path / "m"))
            np.testing.assert_array_equal(tf.train.load_variable(path, "scope/p"), value)


class Doubled(BaseSaverBuilder.SaveableObject):
    """Saves a variable's double, and restores its half."""

    def __init__(self, variable: Any, name: str) -> None:
        spec = BaseSaverBuilder.SaveSpec(variable * 2.0, "", name + "_doubled")
        super().__init__(variable, [spec], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        return tf.assign(self.op, restored_tensors[0] / 2.0)


def test_other_objects_save_and_restore_themselves(tmp_path: Path) -> None:
    variable = tf.Variable(3.0, collections=[])
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, Doubled(variable, "object"))
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(variable.initializer)
        path = saver.save(sess, str(tmp_path / "m"))
        assert tf.train.load_variable(path, "object_doubled") == 6.0
        sess.run(variable.assign(0.0))
        saver.restore(sess, path)
        assert sess.run(variable) == 3.0


def test_a_base_saver_builder_restores_one_object_at_a_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        tf.Variable(1.0, name=name)
    saver = tf.train.Saver(builder=BaseSaverBuilder())
    names = [op.name for op in tf.get_default_graph().get_operations() if op.type == "RestoreV2"]
    assert names == ["save/RestoreV2", "save/RestoreV2_1"]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.restore(sess, saver.save(sess, str(tmp_path / "m")))


def test_saving_while_training_goes_on_writes_whole_values(tmp_path: Path) -> None:
    variable = tf.Variable(np.zeros(200_000, np.float32), name="v")
    step = variable.assign_add(tf.ones_like(variable))
    saver = tf.train.Saver(max_to_keep=None)
    with tf.Session() as sess:
        sess.run(variable.initializer)
        stop = threading.Event()

        def train() -> None:
            while not stop.is_set():
                sess.run(step.op)

        thread = threading.Thread(target=train)
        thread.start()
        try:
            paths = [saver.save(sess, str(tmp_path / "m"), global_step=n, write_meta_graph=False) for n in range(15)]
        finally:
            stop.set()
            thread.join()
    for path in paths:
        saved = tf.train.load_variable(path, "v")
        assert (saved == saved[0]).all()


def test_the_default_saver_is_the_collections_only_one() -> None:
    tf.Variable(1.0)
    saver = get_saver_or_default()
    assert saver is get_saver_or_default()
    assert saver.as_saver_def().sharded
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
    with pytest.raises(RuntimeError, match="More than one item in collection"):
        get_saver_or_default()


@pytest.mark.parametrize("prefix", ["m", "./m", "new/m"])
def test_paths_may_be_relative_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str) -> None:
    monkeypatch.chdir(tmp_path)
    variable = tf.Variable(2.0)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(variable.initializer)
        path = saver.save(sess, prefix, global_step=1)
        assert path == f"{prefix}-1"
        directory = os.path.dirname(prefix)
        assert os.path.normpath(tf.train.latest_checkpoint(directory or ".")) == os.path.normpath(path)
        sess.run(variable.assign(0.0))
        saver.restore(sess, path)
        assert sess.run(variable) == 2.0


def test_a_path_may_be_a_path_object(tmp_path: Path) -> None:
    variable = tf.Variable(2.0)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(variable.initializer)
        assert saver.save(sess, tmp_path / "m") == str(tmp_path / "m")
        saver.restore(sess, tmp_path / "m")


def test_a_finalized_graph_is_saved_and_restored(tmp_path: Path) -> None:
    variable = tf.Variable(2.0)
    saver = tf.train.Saver(sharded=True)
    tf.get_default_graph().finalize()
    with tf.Session() as sess:
        sess.run(variable.initializer)
        saver.restore(sess, saver.save(sess, str(tmp_path / "m")))


def test_the_files_of_a_failed_save_do_not_replace_the_checkpoint(tmp_path: Path) -> None:
    variable = tf.Variable(2.0, name="v")
    never = tf.Variable(1.0, name="never")
    with tf.Session() as sess:
        sess.run(variable.initializer)
        path = tf.train.Saver([variable]).save(sess, str(tmp_path / "m"))
        with pytest.raises(tf.errors.FailedPreconditionError):
            tf.train.Saver([variable, never], sharded=True).save(sess, str(tmp_path / "m"))
        assert tf.train.list_variables(path) == [("v", [])]


def test_a_save_removes_what_killed_saves_left(tmp_path: Path) -> None:
    left = tmp_path / "m-0.data-00000-of-00001.tempstate0123456789abcdef"
    left.write_bytes(b"half")
    os.utime(left, (1000, 1000))
    value = tf.Variable(1.0)
    with tf.Session() as sess:
        sess.run(value.initializer)
        tf.train.Saver().save(sess, str(tmp_path / "m"), 1)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == ["", ".data-00000-of-00001", ".index", ".meta"]


def test_of_two_threads_that_save_the_later_step_is_the_latest_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = tf.train.create_global_step()
    saver = tf.train.Saver()
    begun, may_end = threading.Event(), threading.Event()
    save = CheckpointTransfer.save

    def slow(*args: Any) -> str:
        begun.set()
        assert may_end.wait(10)
        return save(*args)

    with tf.Session() as sess:
        sess.run(step.initializer)
        monkeypatch.setattr(CheckpointTransfer, "save", slow)
        saves = [threading.Thread(target=saver.save, args=(sess, str(tmp_path / "model"), step)) for _ in range(2)]
        saves[0].start()  # as a timer's
        assert begun.wait(10)
        sess.run(step.assign(7))
        saves[1].start()
        monkeypatch.undo()
        saves[1].join(0.2)  # one that does not wait for the other is done by then
        may_end.set()
        for thread in saves:
            thread.join(10)
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model-7")


def test_a_full_disk_is_told_with_the_checkpoint_and_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    v = tf.Variable([1.0], name="v")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(v.initializer)
        whole = saver.save(sess, str(tmp_path / "m"), global_step=1)

        def fail(descriptor: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as context:
            context.setattr(os, "fsync", fail)
            with pytest.raises(
                tf.errors.ResourceExhaustedError, match=r"Nothing was saved as .*m-2: there is no room .*max_to_keep"
            ):
                saver.save(sess, str(tmp_path / "m"), global_step=2)
        assert tf.train.latest_checkpoint(str(tmp_path), verify=True) == whole
        assert [path.name for path in tmp_path.iterdir() if "m-1" not in path.name] == ["checkpoint"]


def _objects(folder: Path) -> str:
    with tf.Graph().as_default(), tf.Session() as sess:
        held = {"v": tf.get_variable("fruit", initializer=[0.5, 1.0]), "w": tf.get_variable("width", initializer=3.0)}
        sess.run(tf.global_variables_initializer())
        return tf.train.Checkpoint(**held).save(str(folder / "objects"))


def test_a_checkpoint_of_objects_is_restored_by_the_names_of_its_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("weft.platform.logs.tf_logging.warning", lambda text, *args: said.append(text % args))
    path = _objects(tmp_path)
    fruit, width = tf.get_variable("fruit", [2]), tf.get_variable("width", [])
    saver = tf.train.Saver()
    tf.get_default_graph().finalize()
    with tf.Session() as sess:
        saver.restore(sess, path)
        assert [each.tolist() for each in sess.run([fruit, width])] == [[0.5, 1.0], 3.0]
    assert len(said) == 1
    assert "is a checkpoint of objects" in said[0]


def test_a_checkpoint_of_objects_is_streamed_by_the_names_of_its_variables(tmp_path: Path) -> None:
    path = _objects(tmp_path)
    fruit = tf.get_variable("fruit", [2])
    saver = tf.train.Saver()
    with tf.Session() as sess:
        streamed_restore(sess, [sess.graph.as_graph_element(saver.saver_def.restore_op_name)], path, keys_by_name(path))
        assert sess.run(fruit).tolist() == [0.5, 1.0]


def test_what_does_not_fit_a_checkpoint_of_objects_is_told_as_of_any(tmp_path: Path) -> None:
    path = _objects(tmp_path)
    variables = {"lacking": tf.get_variable("other", [2]), "a mismatch": tf.get_variable("width", [2])}
    errors = {"lacking": tf.errors.NotFoundError, "a mismatch": tf.errors.InvalidArgumentError}
    for kind, variable in variables.items():
        with tf.Session() as sess, pytest.raises(errors[kind], match="Restoring from checkpoint failed"):
            tf.train.Saver([variable]).restore(sess, path)


def test_warm_starting_goes_by_the_names_of_a_checkpoint_of_objects(tmp_path: Path) -> None:
    path = _objects(tmp_path)
    fruit, renamed = tf.get_variable("fruit", [2]), tf.get_variable("renamed", [])
    tf.train.warm_start(path, var_name_to_prev_var_name={"renamed": "width"})
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert [each.tolist() for each in sess.run([fruit, renamed])] == [[0.5, 1.0], 3.0]


@pytest.mark.parametrize("hours", [None, 0])
def test_no_hours_between_checkpoints_to_keep_keep_all(tmp_path, hours):
    variable = tf.Variable(1.0)
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=hours)
    with tf.Session() as session:
        session.run(variable.initializer)
        paths = [saver.save(session, str(tmp_path / "model"), global_step=step) for step in range(3)]
    assert all(map(tf.train.checkpoint_exists, paths))
