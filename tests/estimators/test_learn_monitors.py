"""Monitors are told of the steps that TensorFlow's are told of."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf


class _Noting(tf.contrib.learn.monitors.EveryN):  # type: ignore[misc]
    def __init__(self, *arguments: int) -> None:
        super().__init__(*arguments)
        self.noted: dict[str, list[int]] = {"begin": [], "end": [], "post": []}

    def every_n_step_begin(self, step: int) -> list[Any]:
        self.noted["begin"].append(step)
        return []

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        self.noted["end"].append(step)
        return False

    def every_n_post_step(self, step: int, session: Any) -> None:
        self.noted["post"].append(step)


def _trained(monitor: Any, begin: int, steps: int) -> Any:
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        start, further = tf.assign(step, begin), tf.assign_add(step, 1)
        hook = tf.contrib.learn.monitors.RunHookAdapterForMonitors([monitor])
        with tf.train.SingularMonitoredSession([hook]) as session:
            session.raw_session().run(start)
            for _ in range(steps):
                session.run(further)
    return monitor.noted


@pytest.mark.parametrize(
    ("every", "first", "begin", "told", "post"),
    [
        (3, 1, 0, [1, 4, 7], [1, 4, 7, 8]),
        (3, -1, 0, [3, 6], [3, 6, 8]),
        (1, -1, 0, [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8]),
        (3, -1, 10, [11, 14, 17], [11, 14, 17, 18]),
        (20, 2, 0, [1, 2], [1, 2, 8]),
    ],
)
def test_every_so_many_steps_the_first_and_the_last(
    every: int, first: int, begin: int, told: list[int], post: list[int]
) -> None:
    assert _trained(_Noting(every, first), begin, 8) == {"begin": told, "end": told, "post": post}


def test_a_monitor_of_checkpoints_does_not_look_before_its_first_interval(tmp_path: Any) -> None:
    evaluated: list[str] = []

    class Estimator:
        model_dir = str(tmp_path)

        def evaluate(self, input_fn: Any, checkpoint_path: str, **_: Any) -> dict[str, int]:
            evaluated.append(checkpoint_path.rpartition("-")[2])
            return {"global_step": 0}

    monitor = tf.contrib.learn.monitors.ValidationMonitor(input_fn=dict, every_n_steps=4, check_interval_secs=None)
    monitor.set_estimator(Estimator())
    with tf.Graph().as_default():
        further = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        hooks = [tf.contrib.learn.monitors.RunHookAdapterForMonitors([monitor])]
        hooks.append(tf.train.CheckpointSaverHook(str(tmp_path), save_steps=4))
        with tf.train.SingularMonitoredSession(hooks) as session:
            for _ in range(8):
                session.run(further)
    assert evaluated == ["0", "4"]
