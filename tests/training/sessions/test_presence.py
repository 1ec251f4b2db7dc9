"""A training session sees on the board who else is there."""

from __future__ import annotations

import logging
import threading
import time
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
        first = _chief(server.target, str(tmp_path))
        posted = presence_of(first._tf_sess())
        assert posted is not None
        posted.wait_until_posted(20.0)
        monkeypatch.setattr(presence, "this_process", lambda: "another:1")
        monkeypatch.setattr(presence, "_RIVAL_S", 0.0)
        second = _chief(server.target, str(tmp_path))
        assert told.wait(20.0)
        second.close()
        first.close()
    assert "Another chief " in caplog.text
    assert "Start all replicas but one with is_chief=False" in caplog.text


def test_chiefs_that_save_nothing_train_one_model_and_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    # As programs of agents begin whose processes all say is_chief=True.
    told: list[str] = []
    monkeypatch.setattr(presence.tf_logging, "warning", lambda message, *arguments: told.append(message % arguments))
    monkeypatch.setattr(presence, "_RIVAL_S", 0.3)
    with tf.train.Server.create_local_server() as server:
        first = _chief(server.target, None)
        assert first.run("train:0") == 1
        posted = presence_of(first._tf_sess())
        assert posted is not None
        posted.wait_until_posted(20.0)
        monkeypatch.setattr(presence, "this_process", lambda: "another:1")
        second = _chief(server.target, None)
        looks_by = time.monotonic() + 0.3
        assert second.run("train:0") == 2
        looked = presence_of(second._tf_sess())
        assert looked is not None
        while time.monotonic() < looks_by:
            assert looked.view.others()
        # It has looked around once it has posted two further notes.
        for state in ("ready", "training"):
            looked.set_state(state)
            looked.wait_until_posted(20.0)
        second.close()
        first.close()
    assert told == []


def _chief(target: str, directory: str | None) -> Any:
    with tf.Graph().as_default():
        tf.assign_add(tf.train.get_or_create_global_step(), 1, name="train")
        return tf.train.MonitoredTrainingSession(target, True, directory, save_summaries_steps=None, log_step_count_steps=None)
