"""CheckpointManager: which checkpoints stay, and that a later manager goes on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.training.tracking import checkpoint_manager


@pytest.fixture
def checkpoint() -> Any:
    return tf.train.Checkpoint(v=tf.Variable(1.0))


def _names(manager: Any) -> list[str]:
    return [os.path.basename(path) for path in manager.checkpoints]


def test_only_the_last_checkpoints_stay(checkpoint: Any, tmp_path: Path) -> None:
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    assert manager.latest_checkpoint is None
    with tf.Session() as session:
        session.run(checkpoint.v.initializer)
        manager.save()
        manager.save()
        step = tf.Variable(7, name="step")
        session.run(step.initializer)
        assert manager.save(checkpoint_number=step) == str(tmp_path / "ckpt-7")
        assert _names(manager) == ["ckpt-2", "ckpt-7"]
        assert sorted(path.stem for path in tmp_path.glob("*.index")) == ["ckpt-2", "ckpt-7"]
        assert session.run(checkpoint.save_counter) == 3
        later = tf.train.CheckpointManager(checkpoint, str(tmp_path), 2, checkpoint_name="more")
        assert later.latest_checkpoint == str(tmp_path / "ckpt-7") == tf.train.latest_checkpoint(str(tmp_path))
        later.save()
        assert _names(later) == ["ckpt-7", "more-4"]


def test_one_of_each_period_is_kept_for_ever(checkpoint: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 1_000_000.0
    monkeypatch.setattr(checkpoint_manager.time, "time", lambda: now_s)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), 1, keep_checkpoint_every_n_hours=1.0)
    with tf.Session() as session:
        session.run(checkpoint.v.initializer)
        for _ in range(5):
            now_s += 1800.0
            manager.save()
    # The second came an hour after the beginning, the fourth an hour after it.
    assert sorted(path.stem for path in tmp_path.glob("*.index")) == ["ckpt-2", "ckpt-4", "ckpt-5"]
    assert _names(manager) == ["ckpt-5"]


def test_a_limit_below_one_is_refused(checkpoint: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Expected a positive integer or `None`"):
        tf.train.CheckpointManager(checkpoint, str(tmp_path), 0)
