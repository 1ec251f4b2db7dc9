"""Estimator: what the differential programs do not show: the log, the graphs that stay apart, other hooks' savers."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

import weft as tf


def _input_fn():
    return tf.constant([[1.0], [2.0]]), tf.constant([[2.0], [4.0]])


def _model_fn(features, labels, mode):
    weight = tf.get_variable("weight", [1, 1], initializer=tf.zeros_initializer())
    predictions = tf.matmul(features, weight)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.mean_squared_error(labels, predictions)
    step = tf.train.get_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def test_the_log_tells_what_tensorflows_tells(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "weft")
    config = tf.estimator.RunConfig(save_checkpoints_steps=2, log_step_count_steps=2)
    estimator = tf.estimator.Estimator(_model_fn, str(tmp_path), config)
    estimator.train(_input_fn, max_steps=3)
    estimator.train(_input_fn, max_steps=3)
    estimator.evaluate(_input_fn, steps=1)
    told = [record.getMessage() for record in caplog.records]
    wanted = [
        "Calling model_fn.", "Done calling model_fn.", "Create CheckpointSaverHook.", "Graph was finalized.",
        "Running local_init_op.", "Done running local_init_op.", f"Saving checkpoints for 0 into {tmp_path}/model.ckpt.",
        "loss = 10.0, step = 1", f"Saving checkpoints for 2 into {tmp_path}/model.ckpt.",
        f"Saving checkpoints for 3 into {tmp_path}/model.ckpt.", "Loss for final step: 0.625.",
        "Skipping training since max_steps has already saved.", "Calling model_fn.", "Done calling model_fn.",
        "Graph was finalized.", f"Restoring parameters from {tmp_path}/model.ckpt-3", "Running local_init_op.",
        "Done running local_init_op.", "Evaluation [1/1]", "Saving dict for global step 3: global_step = 3, loss = 0.15625",
        f"Saving 'checkpoint_path' summary for global step 3: {tmp_path}/model.ckpt-3",
    ]  # fmt: skip
    assert [line for line in told if line in wanted] == wanted


def test_predictions_leave_the_callers_graph_alone(tmp_path: Path) -> None:
    estimator = tf.estimator.Estimator(_model_fn, str(tmp_path))
    estimator.train(_input_fn, steps=1)
    own = tf.get_default_graph()
    first, second = estimator.predict(_input_fn), estimator.predict(_input_fn)
    found: dict[object, list[float]] = {first: [], second: []}
    for _ in range(3):
        for predictions in (first, second):
            with tf.Graph().as_default():
                found[predictions].append(float(next(predictions)[0]))
            assert tf.get_default_graph() is own
    assert found[first] == found[second] == found[first][:2] + found[first][:1]
    first.close()
    second.close()


def test_a_models_own_saver_hook_gets_the_listeners(tmp_path: Path) -> None:
    saved = []

    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            saved.append(int(global_step_value))

    estimator = tf.estimator.Estimator(_model_fn, str(tmp_path), tf.estimator.RunConfig(save_checkpoints_steps=1))
    scaffold_free = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=2)
    estimator.train(_input_fn, hooks=[scaffold_free], steps=3, saving_listeners=[Listener()])
    assert saved == [0, 2, 3]
    assert sorted(path.stem for path in tmp_path.glob("*.index")) == ["model.ckpt-0", "model.ckpt-2", "model.ckpt-3"]


def test_a_train_graph_is_exported_with_its_signature_and_train_op(tmp_path: Path) -> None:
    estimator = tf.estimator.Estimator(_model_fn, str(tmp_path / "model"))
    estimator.train(_input_fn, steps=1)
    receiver = tf.estimator.experimental.build_raw_supervised_input_receiver_fn(*_input_fn())
    receivers = {"train": receiver, "eval": receiver}
    path = estimator.experimental_export_all_saved_models(str(tmp_path / "export"), receivers)
    found = {}
    for tag in ("train", "eval"):
        with tf.Session(graph=tf.Graph()) as session:
            loaded = tf.saved_model.loader.load(session, [tag], path.decode())
            signature = loaded.signature_def[tag]
            found[tag] = signature.method_name, sorted(signature.inputs), sorted(signature.outputs)
            assert session.run(signature.outputs["loss"].name, {signature.inputs["input"].name: [[1.0]],
                                                                signature.inputs["label"].name: [[1.0]]}) == 0.0  # fmt: skip
    assert found == {
        "train": ("tensorflow/supervised/training", ["input", "label"], ["loss"]),
        "eval": ("tensorflow/supervised/eval", ["input", "label"], ["loss"]),
    }


def test_members_are_overridden_where_the_program_lifts_the_check(tmp_path: Path) -> None:
    class Changed(tf.estimator.Estimator):
        def train(self, *args: Any, **kwargs: Any) -> str:
            return "trained"

    class Lifted(Changed):
        _assert_members_are_not_overridden = staticmethod(lambda _: None)

    with pytest.raises(ValueError, match="cannot override members of Estimator"):
        Changed(lambda features: None, str(tmp_path))
    assert Lifted(lambda features: None, str(tmp_path)).train() == "trained"


def test_a_class_makes_the_step_that_all_its_graphs_have(tmp_path: Path) -> None:
    class Counting(tf.estimator.Estimator):
        graphs: list[tf.Graph] = []  # noqa: RUF012

        def _create_and_assert_global_step(self, graph: tf.Graph) -> Any:
            self.graphs.append(graph)
            return super()._create_and_assert_global_step(graph)

    estimator = Counting(_model_fn, model_dir=str(tmp_path))
    estimator.train(_input_fn, steps=1)
    estimator.evaluate(_input_fn, steps=1)
    assert len(set(Counting.graphs)) == 2
    with tf.Graph().as_default() as graph:
        assert estimator._create_and_assert_global_step(graph) is tf.train.get_global_step(graph)
