"""A training session tells its launcher how it gets on."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

import weft as tf
from weft.platform.process.launcher_link import VARIABLE, TaskNews, descriptor_text


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    read_end, write_end = os.pipe()
    monkeypatch.setenv(VARIABLE, descriptor_text(write_end))
    yield read_end
    os.close(read_end)
    os.close(write_end)


def _news(descriptor: int) -> list[TaskNews | None]:
    return [TaskNews.decode(line) for line in os.read(descriptor, 65536).splitlines()]


def test_the_step_its_end_and_the_loss_are_told_and_not_at_every_step(told: int) -> None:
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        train = tf.assign_add(step, 1)
        hooks = [tf.train.StopAtStepHook(last_step=50), tf.train.NanTensorHook(tf.constant(0.25))]
        with tf.train.MonitoredSession(hooks=hooks) as session:
            while not session.should_stop():
                session.run(train)
    first, *others = _news(told)
    assert first == TaskNews(step=1, last_step=50, loss=0.25)
    assert len(others) < 40


def test_the_last_step_may_be_a_number_of_numpy(told: int) -> None:
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(last_step=np.int64(5))]) as session:
            session.run(step)
    assert _news(told)[0] == TaskNews(step=0, last_step=5)


def test_a_supervisor_tells_the_step(told: int) -> None:
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        supervisor = tf.train.Supervisor(global_step=step)
        with supervisor.managed_session():
            assert _news(told)[0] == TaskNews(step=0)


def test_without_a_launcher_nothing_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with tf.Graph().as_default() as graph:
        tf.train.get_or_create_global_step()
        with tf.train.MonitoredSession():
            assert [op.name for op in graph.get_operations() if op.name == "global_step/add"] == []
