"""The rows of SQLite's tables are elements, with the values that TensorFlow 1.15 makes of them."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.ops.data.sql import column_of


@pytest.fixture
def database(tmp_path: Path) -> str:
    path = str(tmp_path / "data base.db")
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (a integer, b text, c real, d blob, e integer)")
        rows = [(1, "x", 1.5, b"q", 1), (-2, "yé", None, None, 0), (3, None, 2, b"", 1)]
        connection.executemany("insert into t values (?, ?, ?, ?, ?)", rows)
    connection.close()
    return path


def _rows(database: str, query: str, types: Any, driver: str = "sqlite") -> list[Any]:
    iterator = tf.data.experimental.SqlDataset(driver, database, query, types).make_initializable_iterator()
    element, found = iterator.get_next(), []
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        while True:
            try:
                found.append(sess.run(element))
            except tf.errors.OutOfRangeError:
                return found


def test_rows_are_elements_in_the_order_of_the_query(database: str) -> None:
    types = (tf.int32, tf.string, tf.float64, tf.string, tf.bool)
    assert _rows(database, "select a, b, c, d, e from t order by a desc", types) == [
        (3, b"", 2.0, b"", True), (1, b"x", 1.5, b"q", True), (-2, "yé".encode(), 0.0, b"", False)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "dtype", "values"),
    [
        ("select a from t", tf.uint8, [1, 254, 3]),
        ("select a from t", tf.uint16, [1, 65534, 3]),
        ("select a from t", tf.string, [b"1", b"-2", b"3"]),
        ("select a from t", tf.bool, [True, True, True]),
        ("select b from t", tf.int32, [0, 0, 0]),
        ("select c from t", tf.int64, [1, 0, 2]),
        ("select c from t", tf.string, [b"1.5", b"", b"2.0"]),
    ],
)
def test_columns_become_what_is_asked_for(database: str, query: str, dtype: tf.DType, values: list[object]) -> None:
    assert _rows(database, query, dtype) == values


def test_an_iterator_goes_on_where_it_was_saved(database: str, tmp_path: Path) -> None:
    dataset = tf.data.experimental.SqlDataset("sqlite", database, "select a from t", (tf.int32,))
    iterator = dataset.make_initializable_iterator()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    element = iterator.get_next()
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        sess.run(element)
        path = saver.save(sess, str(tmp_path / "place"))
        assert sess.run(element) == (-2,)
        saver.restore(sess, path)
        assert [sess.run(element), sess.run(element)] == [(-2,), (3,)]


@pytest.mark.parametrize(
    ("query", "types", "error", "told"),
    [
        ("select a from t", (tf.float32,), tf.errors.InvalidArgumentError, r"Each element of `output_types_` must be one of"),
        ("select a, b from t", (tf.int32,), tf.errors.InvalidArgumentError, r"columns in query \(2\) must match"),
        ("", (tf.int32,), tf.errors.InvalidArgumentError, r"columns in query \(0\) must match"),
        (
            "select abs(a - 9223372036854775806) from t",
            (tf.int64,),
            tf.errors.UnknownError,
            r"Step\(\) failed: \[1\] integer overflow: select abs",
        ),
        ("select no from t", (tf.int32,), tf.errors.UnknownError, r"Prepare\(\) failed: \[1\] no such column: no: select no"),
    ],
)
def test_queries_that_do_not_fit_are_told(
    database: str, query: str, types: Any, error: type[Exception], told: str
) -> None:  # fmt: skip
    with pytest.raises(error, match=told):
        _rows(database, query, types)


def test_a_database_must_be_there_and_of_sqlite(database: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"The database type, mysql, is not supported by SqlDataset"):
        _rows(database, "select a from t", (tf.int32,), driver="mysql")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"failed: unable to open database file"):
        _rows("/nowhere/x.db", "select a from t", (tf.int32,))


def test_integers_are_whole_to_64_bits_and_end_there() -> None:
    values = [1e300, float("-inf"), -1.7, b"9007199254740993", b" +1e3", b"-99999999999999999999", b".5", None]
    found = [int(column_of(value, tf.int64)) for value in values]
    assert found == [(1 << 63) - 1, -(1 << 63), -1, 9007199254740993, 1, -(1 << 63), 0, 0]
    assert int(column_of(1e300, tf.int32)) == -1
    assert float(column_of(b"1e3", tf.float64)) == 1000.0
