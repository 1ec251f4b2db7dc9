"""Updates of a table's rows happen in place, and nobody sees a part of one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

ROWS, WIDTH = 8192, 32  # 1 MB


def _table(use_resource: bool = False) -> Any:
    return tf.get_variable("table", [ROWS, WIDTH], initializer=tf.ones_initializer(), use_resource=use_resource)


def _adagrad(table: np.ndarray, accumulator: np.ndarray, ids: np.ndarray, gradients: np.ndarray) -> None:
    summed = np.zeros_like(table)
    np.add.at(summed, ids, gradients)
    accumulator += summed**2
    table -= 0.1 * summed / np.sqrt(accumulator)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("limit", [ROWS, 20, 1], ids=["few repeated", "many repeated", "one row"])
def test_sparse_training_is_that_of_numpy(use_resource: bool, limit: int) -> None:
    ids, weights = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None, WIDTH])
    table = _table(use_resource)
    update = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.gather(table, ids) * weights))
    generator = np.random.default_rng(0)
    expected, accumulator = np.ones((ROWS, WIDTH), np.float32), np.full((ROWS, WIDTH), 0.1, np.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for count in (0, 1, 50, 300, 301):
            fed = generator.integers(0, limit, count), generator.random((count, WIDTH), np.float32)
            session.run(update, dict(zip((ids, weights), fed, strict=True)))
            _adagrad(expected, accumulator, *fed)
        np.testing.assert_allclose(session.run(table), expected, rtol=1e-5)


_SCATTERS: dict[str, tuple[Callable[..., Any], Any]] = {
    "add": (tf.scatter_add, np.add),
    "sub": (tf.scatter_sub, np.subtract),
    "mul": (tf.scatter_mul, np.multiply),
    "max": (tf.scatter_max, np.maximum),
}


@pytest.mark.parametrize("name", _SCATTERS)
def test_scatters_apply_each_repeated_row(name: str) -> None:
    scatter, ufunc = _SCATTERS[name]
    ids, updates = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None, WIDTH])
    table = _table()
    update = scatter(table, ids, updates).op
    generator = np.random.default_rng(0)
    fed = generator.integers(0, 60, 100), generator.random((100, WIDTH), np.float32)
    expected = np.ones((ROWS, WIDTH), np.float32)
    ufunc.at(expected, *fed)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update, dict(zip((ids, updates), fed, strict=True)))
        np.testing.assert_allclose(session.run(table), expected, rtol=1e-6)


def test_a_fetched_table_stays_as_it_was() -> None:
    ids = tf.placeholder(tf.int32, [None])
    table = _table()
    update = tf.scatter_add(table, ids, tf.ones([1, WIDTH])).op
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(3):
            before = session.run(table)
            session.run(update, {ids: [5]})
            assert (before[5] == 1.0 + step).all()


def test_a_row_that_is_not_there_changes_nothing() -> None:
    ids = tf.placeholder(tf.int32, [None])
    table = _table()
    update = tf.scatter_add(table, ids, tf.ones([2, WIDTH])).op
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 8192 is not in \[0, 8192\)"):
            session.run(update, {ids: [3, ROWS]})
        assert (session.run(table) == 1.0).all()
        session.run(update, {ids: [3, 4]})
        assert (session.run(table)[3:5] == 2.0).all()


def test_an_uninitialized_table_is_named() -> None:
    ids = tf.placeholder(tf.int32, [None])
    rows = tf.gather(_table(), ids)
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="table"):
        session.run(rows, {ids: [0]})


def test_a_gather_and_an_update_of_one_run_are_ordered_by_control_inputs() -> None:
    ids = tf.placeholder(tf.int32, [None])
    table = _table()
    before = tf.gather(table, ids)
    with tf.control_dependencies([before]):
        update = tf.scatter_add(table, ids, tf.ones([1, WIDTH])).op
    with tf.control_dependencies([update]):
        after = tf.gather(table, ids)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(2):
            old, new = session.run([before, after], {ids: [7]})
            assert (old == 1.0 + step).all()
            assert (new == 2.0 + step).all()


def test_concurrent_updates_are_all_counted_and_readers_see_whole_rows() -> None:
    ids = tf.placeholder(tf.int32, [None])
    table = _table()
    update = tf.scatter_add(table, ids, tf.ones([2, WIDTH])).op
    whole = tf.identity(table)
    torn: list[Any] = []

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def train() -> None:
            for _ in range(50):
                session.run(update, {ids: [1, 2]})

        def look() -> None:
            for _ in range(50):
                pair = session.run(whole)[1:3]
                if not (pair == pair[0, 0]).all():
                    torn.append(pair)

        threads = [threading.Thread(target=work) for work in (train, train, look)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not torn
        assert (session.run(table)[1:3] == 101.0).all()
