"""Steps wait at a closed gate, and who closes it knows when the last one is over."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.platform.waits import wait_notice
from weft.training.saving.saver import Saver
from weft.training.sessions.presence import presence_of
from weft.training.sessions.step_gate import StepGate


def test_a_closed_gate_holds_steps_until_it_is_opened() -> None:
    gate = StepGate()
    gate.begin_step()
    assert not gate.close(0.02)  # a step runs
    gate.end_step()
    assert gate.close(0.02)
    passed = threading.Event()
    thread = threading.Thread(target=lambda: (gate.begin_step(), passed.set()))
    thread.start()
    assert not passed.wait(0.05)
    gate.open()
    assert passed.wait(10)
    thread.join(10)


def test_a_step_that_waits_at_the_gate_says_for_whom(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.0)
    gate, told = StepGate(), threading.Event()
    caplog.handler.addFilter(lambda record: told.set() or True)
    gate.close(0.0)
    opener = threading.Thread(target=lambda: (told.wait(10), gate.open()))
    opener.start()
    gate.begin_step()
    opener.join(10)
    assert re.search(r"A step has waited \d+ s for the chief, which gives the model its values", caplog.text)


def test_the_steps_of_all_threads_are_waited_for() -> None:
    gate, ends = StepGate(), threading.Event()
    begun = threading.Barrier(3)

    def step() -> None:
        gate.begin_step()
        begun.wait(10)
        ends.wait(10)
        gate.end_step()

    threads = [threading.Thread(target=step) for _ in range(2)]
    for thread in threads:
        thread.start()
    begun.wait(10)
    gate.begin_step()
    gate.end_step()
    assert not gate.close(0.02)
    ends.set()
    assert gate.close(10)
    for thread in threads:
        thread.join(10)


@pytest.mark.parametrize("is_supervised", [False, True], ids=["MonitoredTrainingSession", "Supervisor"])
def test_a_replica_does_not_train_while_its_chief_restores_the_model(
    is_supervised: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tf.train.Server.create_local_server() as server:
        chief, _ = chief_of(server.target, tmp_path)
        end_as_if_killed(chief)
        trains, stop = threading.Event(), threading.Event()
        replica = threading.Thread(target=supervise if is_supervised else train, args=(server.target, trains, stop))
        replica.start()
        assert trains.wait(20)
        seen: list[int] = []
        restore = Saver.restore

        def slow(saver: Saver, session: Any, path: str) -> None:
            step = tf.train.get_global_step(session.graph)
            seen.append(session.run(step))
            restore(saver, session, path)
            for _ in range(3):
                threading.Event().wait(0.05)
                seen.append(session.run(step))

        monkeypatch.setattr(Saver, "restore", slow)
        try:
            chief, step = chief_of(server.target, tmp_path, restore="always")
            assert seen[0] > 0
            assert seen[1:] == [0, 0, 0]  # nobody trained in between
            trains.clear()
            assert trains.wait(20)  # and the replica goes on
            assert chief.run(step) > 0
            stop.set()
            chief.close()
        finally:
            stop.set()
            replica.join(20)


def chief_of(target: str, directory: Path, **arguments: Any) -> Any:
    with tf.Graph().as_default(), tf.device("/job:local"):  # a Supervisor's replica wants to be told where variables are
        step = tf.train.get_or_create_global_step()
        session = tf.train.MonitoredTrainingSession(
            target, True, str(directory), save_summaries_steps=None, log_step_count_steps=None, **arguments
        )
        return session, step


def end_as_if_killed(session: Any) -> None:
    presence = presence_of(session._tf_sess())
    assert presence is not None
    presence.wait_until_posted(10.0)
    presence.will_return()
    session._tf_sess().close()


def train(target: str, trains: threading.Event, stop: threading.Event) -> None:
    with tf.Graph().as_default(), tf.device("/job:local"):
        step = tf.train.get_or_create_global_step()
        more = step.assign_add(1)
        with tf.train.MonitoredTrainingSession(target, is_chief=False, log_step_count_steps=None) as session:
            while not stop.is_set():
                session.run(more)
                trains.set()


def supervise(target: str, trains: threading.Event, stop: threading.Event) -> None:
    with tf.Graph().as_default(), tf.device("/job:local"):
        step = tf.train.get_or_create_global_step()
        more = step.assign_add(1)
        supervisor = tf.train.Supervisor(is_chief=False, logdir=None)
        with supervisor.managed_session(target) as session:
            while not stop.is_set():
                session.run(more)
                trains.set()
