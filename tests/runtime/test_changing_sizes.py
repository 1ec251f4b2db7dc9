"""Sizes and fed positions that change from run to run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft as tf
from weft.runtime.engine import CompiledStage
from weft.runtime.stage import COLD_RUNS, COMPILED_AT_ONCE


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Tells for how many sizes the stages that were made during a test have been compiled."""
    made: list[CompiledStage] = []
    original = CompiledStage.__init__

    def noting(self: CompiledStage, *arguments: object) -> None:
        original(self, *arguments)  # type: ignore[arg-type]
        made.append(self)

    monkeypatch.setattr(CompiledStage, "__init__", noting)
    return lambda: sum(stage.compilations for stage in made)


def test_a_last_partial_batch_is_compiled_once(compilations: Callable[[], int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        y = tf.reduce_sum(x * 2.0)
        for _ in range(4):
            for size in (8, 8, 8, 3):
                assert session.run(y, {x: np.ones(size, np.float32)}) == 2.0 * size
        assert compilations() == 2


def test_sizes_that_never_recur_are_not_compiled_each(compilations: Callable[[], int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        total = tf.get_variable("total", [], initializer=tf.zeros_initializer())
        session.run(total.initializer)
        update = tf.assign_add(total, tf.reduce_sum(x * 2.0))
        expected = 0.0
        for size in range(40):
            expected += 2.0 * size
            assert session.run(update, {x: np.ones(size, np.float32)}) == expected
        assert compilations() == COMPILED_AT_ONCE


def test_a_position_that_is_fed_is_not_compiled_for_each_value(compilations: Callable[[], int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, i = tf.constant(np.arange(40.0)), tf.placeholder(tf.int32, [])
        y = x[i] + 1.0
        for position in range(40):
            assert session.run(y, {i: position}) == position + 1.0
        assert compilations() <= COMPILED_AT_ONCE


def test_a_size_that_recurs_is_compiled_after_all(compilations: Callable[[], int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        y = tf.reduce_sum(x)
        for size in range(COLD_RUNS + COMPILED_AT_ONCE):
            session.run(y, {x: np.ones(size, np.float32)})
        before = compilations()
        runs = 0
        while compilations() == before and runs < 100_000:
            assert session.run(y, {x: np.ones(50, np.float32)}) == 50.0
            runs += 1
        assert compilations() == before + 1
        assert runs > 1
