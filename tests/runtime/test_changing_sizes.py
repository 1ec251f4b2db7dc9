"""Sizes and fed positions that change from run to run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft as tf
from weft.runtime import stage
from weft.runtime.stage import COLD_RUNS, COLD_UPDATE_BYTES, COMPILED_AT_ONCE
from weft.runtime.ways.engine import CODE_LIMIT, CompiledStage


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


def _sum_of_updates(sizes: int) -> float:
    """What weights that NumPy would have to copy are after as many updates, each by so many ones as no other has."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 1])
        weights = tf.get_variable("weights", [COLD_UPDATE_BYTES // 4 + 1], initializer=tf.zeros_initializer())
        session.run(weights.initializer)
        update = tf.assign_add(weights, tf.reduce_sum(x) * tf.ones_like(weights)).op
        for size in range(1, sizes + 1):
            session.run(update, {x: np.ones([size, 1], np.float32)})
        result: float = session.run(weights[-1])
        return result


def test_a_network_of_many_weights_is_not_compiled_for_each_size(compilations: Callable[[], int]) -> None:
    assert _sum_of_updates(8) == sum(range(1, 9))
    assert compilations() == COMPILED_AT_ONCE


def test_a_network_that_computes_longer_than_it_compiles_is_compiled_for_each_size(
    compilations: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "NUMPY_FACTOR", 1e9)
    assert _sum_of_updates(5) == sum(range(1, 6))
    assert compilations() == 5


def test_stages_that_are_compiled_for_each_size_keep_code_for_a_limited_number(compilations: Callable[[], int]) -> None:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        x = tf.placeholder(tf.float32, [None])
        y = tf.reduce_sum(x)
        most = 0
        for size in [*range(CODE_LIMIT + 6), CODE_LIMIT + 5, 1]:
            assert session.run(y, {x: np.ones(size, np.float32)}) == size
            most = max(most, compilations())
        assert most == CODE_LIMIT
        assert compilations() < CODE_LIMIT
