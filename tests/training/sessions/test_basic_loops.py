"""basic_train_loop: a Supervisor's session and a function."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf


def test_the_loop_calls_the_function_until_the_supervisor_should_stop(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1)
    supervisor = tf.train.Supervisor(logdir=str(tmp_path))
    seen: list[object] = []

    def turn(session: tf.Session, name: str, limit: int = 0) -> None:
        seen.append((name, int(session.run(train))))
        if len(seen) == limit:
            supervisor.request_stop()

    tf.train.basic_train_loop(supervisor, turn, args=["turn"], kwargs={"limit": 3})
    assert seen == [("turn", 1), ("turn", 2), ("turn", 3)]


def test_a_lost_task_begins_a_new_session_and_another_error_ends_the_loop() -> None:
    tf.train.get_or_create_global_step()
    supervisor = tf.train.Supervisor(logdir=None)
    errors: list[Exception] = [tf.errors.AbortedError(None, None, "lost"), KeyError("mistake")]
    sessions: list[object] = []

    def fail(session: tf.Session) -> None:
        sessions.append(session)
        raise errors.pop(0)

    with pytest.raises(KeyError, match="mistake"):
        tf.train.basic_train_loop(supervisor, fail)
    assert len(sessions) == 2
    assert sessions[0] is not sessions[1]
