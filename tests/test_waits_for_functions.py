"""Whoever waits for a function of the program that training calls is told for which: a row for each kind of function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.told_waits import ToldWaits, told_soon


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[ToldWaits]:
    yield from told_soon(monkeypatch, ToldWaits(about=r"^The function .*\(test_waits_for_functions\.py:"))


def train(*hooks: tf.train.SessionRunHook, **kwargs: object) -> None:
    step = tf.train.get_or_create_global_step()
    with tf.train.MonitoredTrainingSession(hooks=list(hooks), **kwargs) as session:
        session.run(step)


def of_hook(method: str) -> Callable[[ToldWaits, Path], None]:
    def run(told: ToldWaits, folder: Path) -> None:
        def slow(self: object, *args: object) -> None:
            told.came.wait(20)

        train(type("Slow", (tf.train.SessionRunHook,), {method: slow})())

    return run


def of_listener(method: str) -> Callable[[ToldWaits, Path], None]:
    def run(told: ToldWaits, folder: Path) -> None:
        def slow(self: object, *args: object) -> None:
            told.came.wait(20)

        listener = type("Slow", (tf.train.CheckpointSaverListener,), {method: slow})()
        train(tf.train.CheckpointSaverHook(str(folder), save_steps=1, listeners=[listener]))

    return run


def of_scaffold(told: ToldWaits, folder: Path) -> None:
    def slow(scaffold: tf.train.Scaffold, session: tf.Session) -> None:
        told.came.wait(20)

    train(scaffold=tf.train.Scaffold(init_fn=slow))


def of_supervisor(told: ToldWaits, folder: Path) -> None:
    def slow(session: tf.Session) -> None:
        told.came.wait(20)

    tf.train.get_or_create_global_step()
    with tf.train.Supervisor(logdir=None, summary_op=None, init_fn=slow).managed_session():
        pass


def of_callback(told: ToldWaits, folder: Path) -> None:
    def slow(self: object, epoch: int, logs: object = None) -> None:
        told.came.wait(20)

    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    callback = type(
        "Slow", (tf.keras.callbacks.Callback,), {"on_epoch_end": lambda self, epoch, logs=None: slow(epoch, logs)}
    )()
    model.fit(np.ones((2, 2)), np.ones((2, 1)), callbacks=[callback], verbose=0)


def of_input_fn(told: ToldWaits, folder: Path) -> None:
    def slow() -> tf.data.Dataset:
        told.came.wait(20)
        return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [1.0]))

    column = tf.feature_column.numeric_column("x")
    tf.estimator.LinearRegressor([column], str(folder)).train(slow, steps=1)


FUNCTIONS = {
    **{f"a hook's {each}": of_hook(each) for each in ("begin", "after_create_session", "before_run", "after_run", "end")},
    **{f"a listener's {each}": of_listener(each) for each in ("begin", "before_save", "after_save", "end")},
    "a scaffold's init_fn": of_scaffold,
    "a supervisor's init_fn": of_supervisor,
    "a callback": of_callback,
    "an input_fn": of_input_fn,
}


@pytest.mark.parametrize("wait", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_that_takes_long_is_named(wait: Callable[[ToldWaits, Path], None], told: ToldWaits, tmp_path: Path) -> None:
    with tf.Graph().as_default():
        wait(told, tmp_path)
    assert told.texts[0].endswith("What called it goes on when it returns: look at what it reads and waits for.")
