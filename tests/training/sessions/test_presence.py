"""A training session sees on the board who else is there."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.training.sessions import presence
from weft.training.sessions.presence import presence_of


def test_a_chief_that_finds_another_one_at_work_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    told = threading.Event()

    def note(message: str, *arguments: object) -> None:
        assert not told.is_set()
        caplog.handler.handle(logging.makeLogRecord({"msg": message % arguments}))
        told.set()

    monkeypatch.setattr(presence.tf_logging, "warning", note)
    with tf.train.Server.create_local_server() as server:
        first = _chief(server.target, tmp_path)
        posted = presence_of(first._tf_sess())
        assert posted is not None
        posted.wait_until_posted(20.0)
        monkeypatch.setattr(presence, "this_process", lambda: "another:1")
        monkeypatch.setattr(presence, "_RIVAL_S", 0.0)
        second = _chief(server.target, tmp_path)
        assert told.wait(20.0)
        second.close()
        first.close()
    assert "Another chief " in caplog.text
    assert "Start all replicas but one with is_chief=False" in caplog.text


def _chief(target: str, directory: Path) -> Any:
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        return tf.train.MonitoredTrainingSession(
            target, True, str(directory), save_summaries_steps=None, log_step_count_steps=None
        )
