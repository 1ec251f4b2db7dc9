"""An evaluation that waits for a checkpoint says in which folder, and what to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.estimators.checkpoint_evaluator import CheckpointEvaluator, EvalStatus


def _model(features: Any, labels: Any, mode: str) -> tf.estimator.EstimatorSpec:
    loss = tf.square(tf.get_variable("w", []))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.train.get_global_step().assign_add(1).op)


def _input() -> Any:
    return tf.data.Dataset.from_tensors(({"x": [1.0]}, [1.0]))


def test_it_names_the_folder_of_the_first_and_of_the_next_checkpoint(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    estimator = tf.estimator.Estimator(_model, str(tmp_path))
    evaluator = CheckpointEvaluator(estimator, tf.estimator.EvalSpec(_input, steps=1), max_training_steps=None)
    with caplog.at_level("WARNING"):
        assert evaluator.evaluate_and_export().status is EvalStatus.MISSING_CHECKPOINT
        assert evaluator.evaluate_and_export().status is EvalStatus.MISSING_CHECKPOINT
        estimator.train(_input, steps=1)
        assert evaluator.evaluate_and_export().status is EvalStatus.EVALUATED
        assert evaluator.evaluate_and_export().status is EvalStatus.NO_NEW_CHECKPOINT
    told = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    first, last = [text for text in told if "evaluation" in text]
    assert f"there is none in {str(tmp_path)!r}. Look whether the training runs" in first
    assert f"the last one is {str(tmp_path / 'model.ckpt-1')!r}. Look whether the training goes on" in last
