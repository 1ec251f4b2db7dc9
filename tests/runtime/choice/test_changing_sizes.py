"""Sizes and fed positions that change from run to run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft as tf
from weft.runtime.choice import changing_sizes
from weft.runtime.choice.changing_sizes import COMPILED_AT_ONCE, ChangingSizes
from weft.runtime.choice.compile_rules import COLD_RUNS, COLD_UPDATE_BYTES
from weft.runtime.compiled.engine import CODE_LIMIT, CompiledStage


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
    monkeypatch.setattr(changing_sizes, "CODE_BYTES", 0)
    monkeypatch.setattr(changing_sizes, "CODE_NODE_BYTES", 1)
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


def _sizes(nodes: int, work: float) -> ChangingSizes:
    sizes = ChangingSizes(nodes)
    sizes.work = work
    return sizes


def test_a_size_is_worth_its_code_when_it_has_cost_as_much() -> None:
    sizes = _sizes(0, changing_sizes.CODE_BYTES // 3)
    for _ in range(3):
        assert not sizes.is_worth("a", 0, COLD_UPDATE_BYTES)
        sizes.note_run("a")
    assert sizes.is_worth("a", 0, COLD_UPDATE_BYTES)
    assert not sizes.is_worth("b", 0, COLD_UPDATE_BYTES)


def test_code_of_many_nodes_is_dearer() -> None:
    assert _sizes(100, 1 << 20).affordable_runs > 2 * _sizes(10, 1 << 20).affordable_runs


@pytest.mark.parametrize(("updated_mb", "work_gb", "at_once"), [(0, 100, False), (8, 0, False), (8, 100, True), (65, 0, True)])
def test_updates_that_numpy_would_copy_may_be_worth_code_at_once(updated_mb: int, work_gb: int, at_once: bool) -> None:
    sizes = _sizes(100, work_gb << 30)
    assert sizes.is_worth("a", updated_mb << 20, COLD_UPDATE_BYTES) == at_once


def test_the_notes_do_not_grow_without_end() -> None:
    sizes = _sizes(0, changing_sizes.CODE_BYTES)
    sizes.note_run("first")
    assert sizes.is_worth("first", 0, COLD_UPDATE_BYTES)
    for size in range(2000):
        sizes.note_run(size)
    assert not sizes.is_worth("first", 0, COLD_UPDATE_BYTES)


def test_a_loop_of_many_nodes_is_not_compiled_anew_for_sizes_that_few_runs_have(
    compilations: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # So few bytes that code for the nodes around the loop costs less than two runs on the host, with those inside many.
    monkeypatch.setattr(changing_sizes, "CODE_BYTES", 0)
    monkeypatch.setattr(changing_sizes, "CODE_NODE_BYTES", 1 << 16)
    runs = [*range(1, COLD_RUNS + COMPILED_AT_ONCE + 1), 50, 50, 50]
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])

        def body(i: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            for _ in range(300):
                total = total * 1.0
            return i + 1, total + 1.0

        y = tf.while_loop(lambda i, _: i < 1, body, [tf.constant(0), tf.reduce_sum(x)])[1]
        for size in runs:
            assert session.run(y, {x: np.ones(size, np.float32)}) == size + 1.0
    assert compilations() == COMPILED_AT_ONCE


def test_a_size_is_paid_for_when_its_runs_have_taken_as_long_as_its_code() -> None:
    sizes = ChangingSizes(10)
    for _ in range(3):
        assert not sizes.is_paid("a", 1.0, 0)
        sizes.note_time("a", 0.4)
    assert sizes.is_paid("a", 1.0, 0)
    assert not sizes.is_paid("b", 1.0, 0)
    assert sizes.is_paid("b", 1.0, changing_sizes.CHANGING_UPDATE_BYTES + 1)
