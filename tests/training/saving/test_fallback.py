"""A session whose latest checkpoint is damaged goes on with the newest one that is whole, and says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft as tf


def train(directory: Path, steps: int) -> int:
    """Trains with a checkpoint for each step; returns the step that it began with."""
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        tf.Variable(1.0, name="other")
        train = tf.assign_add(step, 1)
        hook = tf.train.CheckpointSaverHook(str(directory), save_steps=1)
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=str(directory), save_checkpoint_secs=None, hooks=[], chief_only_hooks=[hook]
        ) as session:
            begun = int(session.run(step))
            for _ in range(steps):
                session.run(train)
    return begun


def damage(directory: Path, step: int) -> None:
    path = directory / f"model.ckpt-{step}.data-00000-of-00001"
    path.write_bytes(path.read_bytes()[:-1])


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    for module in ("weft.checkpoint.wholeness", "weft.training.saving.fallback"):
        monkeypatch.setattr(f"{module}.tf_logging.warning", lambda text, *values: told.append(text % values))
    return told


def test_training_goes_on_from_the_newest_whole_checkpoint(tmp_path: Path, warnings: list[str]) -> None:
    assert train(tmp_path, 4) == 0
    damage(tmp_path, 4)
    damage(tmp_path, 3)
    assert train(tmp_path, 1) == 2
    assert [str(tmp_path / f"model.ckpt-{step}") in text for step, text in zip((4, 3), warnings, strict=False)] == [True, True]
    assert "the file ends at byte" in warnings[0]
    assert warnings[2].startswith(f"Restored {tmp_path / 'model.ckpt-2'} instead of {tmp_path / 'model.ckpt-4'}")


def test_without_a_whole_checkpoint_the_first_failure_is_raised(tmp_path: Path, warnings: list[str]) -> None:
    train(tmp_path, 0)
    damage(tmp_path, 0)
    with pytest.raises(tf.errors.DataLossError, match=r"model\.ckpt-0"):
        train(tmp_path, 1)
    assert len(warnings) == 1


def test_a_graph_that_does_not_fit_gets_no_older_checkpoint(tmp_path: Path, warnings: list[str]) -> None:
    train(tmp_path, 2)
    tf.train.get_or_create_global_step()
    tf.Variable(1.0, name="another")
    with pytest.raises(tf.errors.NotFoundError, match="Key another not found"):
        _restored(tmp_path)
    assert warnings == []


def _restored(directory: Path) -> Any:
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(directory), save_checkpoint_secs=None):
        pass
