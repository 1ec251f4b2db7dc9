"""slim.evaluation and tf.contrib.training's loops: train, then evaluate the checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft as tf

training, evaluation = tf.contrib.training, tf.contrib.slim.evaluation


@pytest.fixture
def trained(tmp_path: Path) -> str:
    """The directory of a checkpoint of step 4, at which v is 2.8."""
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=3.0)
        clip = training.clip_gradient_norms_fn(0.5)
        train_op = training.create_train_op(tf.square(v), tf.train.GradientDescentOptimizer(0.1), transform_grads_fn=clip)
        loss = training.train(train_op, str(tmp_path), hooks=[tf.train.StopAtStepHook(num_steps=4)])
    tf.summary.FileWriterCache.clear()
    assert loss == pytest.approx(2.85**2, rel=1e-5)
    return str(tmp_path)


def metric() -> tuple[Any, Any]:
    """The mean of the restored variable, and its update."""
    tf.train.get_or_create_global_step()
    mean, update = tf.metrics.mean(tf.get_variable("v", initializer=1.0))
    tf.summary.scalar("v_mean", mean)
    return mean, update


def summaries(directory: str) -> list[tuple[int, str, float]]:
    tf.summary.FileWriterCache.clear()
    (path,) = Path(directory).glob("events*")
    events = list(tf.train.summary_iterator(str(path)))
    return [(event.step, value.tag, round(value.simple_value, 3)) for event in events for value in event.summary.value]


def test_a_checkpoint_is_evaluated_by_so_many_batches(trained: str, tmp_path: Path) -> None:
    mean, update = metric()
    logs = str(tmp_path / "once")
    path = tf.train.latest_checkpoint(trained)
    count = training.get_or_create_eval_step()
    found = evaluation.evaluate_once("", path, logs, num_evals=3, eval_op=[update], final_op=[mean, count])
    assert found == [pytest.approx(2.8), 3]
    assert summaries(logs) == [(4, "v_mean", 2.8)]


def test_each_new_checkpoint_is_evaluated(trained: str, tmp_path: Path) -> None:
    mean, update = metric()
    logs = str(tmp_path / "loop")
    found = evaluation.evaluation_loop(
        "", trained, logs, num_evals=2, eval_op=update, final_op={"mean": mean}, max_number_of_evaluations=1,
        variables_to_restore=tf.global_variables(), eval_interval_secs=0,
    )  # fmt: skip
    assert found == {"mean": pytest.approx(2.8)}
    assert summaries(logs) == [(4, "v_mean", 2.8)]


def test_one_graph_serves_several_checkpoints(trained: str, tmp_path: Path) -> None:
    mean, update = metric()
    saver = tf.train.Saver()
    logs = str(tmp_path / "repeated")
    evaluated: list[float] = []

    class Next(tf.train.SessionRunHook):  # type: ignore[misc]
        """Writes the next checkpoint when an evaluation ends."""

        def end(self, session: Any) -> None:
            evaluated.append(float(session.run(mean)))
            saver.save(session, f"{trained}/next.ckpt", global_step=len(evaluated), write_meta_graph=False)

    hooks = [training.StopAfterNEvalsHook(2), training.SummaryAtEndHook(logs), Next()]
    training.evaluate_repeatedly(
        trained, eval_ops={"update": update}, hooks=hooks, eval_interval_secs=0, max_number_of_evaluations=2
    )
    assert evaluated == [pytest.approx(2.8)] * 2
    assert summaries(logs) == [(4, "v_mean", 2.8)] * 2
    assert len(hooks) == 3


def test_without_checkpoints_a_timeout_ends_the_wait(tmp_path: Path) -> None:
    mean, _ = metric()
    asked: list[bool] = []

    def is_over() -> bool:
        asked.append(len(asked) == 1)
        return asked[-1]

    assert training.evaluate_repeatedly(str(tmp_path), final_ops=mean, timeout=0, timeout_fn=is_over) is None
    assert asked == [False, True]
    assert training.wait_for_new_checkpoint(str(tmp_path), timeout=0) is None


def test_a_directory_is_needed_for_what_is_to_be_written() -> None:
    with pytest.raises(ValueError, match="logdir cannot be None when save_summaries_steps is not None"):
        training.train(tf.constant(1.0), None)
    with pytest.raises(ValueError, match="logdir cannot be None when save_checkpoint_secs is not None"):
        training.train(tf.constant(1.0), None, save_summaries_steps=None)
    with pytest.raises(ValueError, match=r"One of log_dir or summary_writer should be used\."):
        training.SummaryAtEndHook()
