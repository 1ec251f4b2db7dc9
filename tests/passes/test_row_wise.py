"""Large tables that a run touches by rows alone are the host's; everything else is left to the compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import weft as tf
from weft.passes.stage import Kind, Staging

CPU, OTHER = "/job:a/replica:0/task:0/device:CPU:0", "/job:b/replica:0/task:0/device:CPU:0"
ROWS, WIDTH = 4096, 64  # 1 MB of float32


def _table(rows: int = ROWS, use_resource: bool = False) -> Any:
    return tf.get_variable("table", [rows, WIDTH], use_resource=use_resource)


def _staged(graph: tf.Graph, feeds: Sequence[Any] = (), fetches: Sequence[Any] = ()) -> Staging:
    # What initializes and what only looks is not part of such a run.
    skipped = ("Assign", "AssignVariableOp", "VarIsInitializedOp")
    ops = [op for op in graph.get_operations() if op.type not in skipped]
    ops = [op for op in ops if "/Initializer/" not in op.name and "/Read/" not in op.name]
    return Staging(ops, {op: op.device or CPU for op in ops}, feeds, fetches)


@pytest.mark.parametrize("use_resource", [False, True])
def test_gathers_and_sparse_updates_of_a_large_table_are_the_hosts(graph: tf.Graph, use_resource: bool) -> None:
    ids = tf.placeholder(tf.int32, [None])
    table = _table(use_resource=use_resource)
    rows = tf.gather(table, ids)
    tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.square(rows)))
    staging = _staged(graph, [ids])
    by_row = [op.type for op, kind in staging.kinds.items() if kind is Kind.ROWS and op.type != "NoOp"]
    assert sorted(by_row) == (
        ["ResourceGather", "ResourceSparseApplyAdagrad"] if use_resource else ["GatherV2", "SparseApplyAdagrad"]
    )


def test_a_small_table_stays_with_the_computation_around_it(graph: tf.Graph) -> None:
    ids = tf.placeholder(tf.int32, [None])
    rows = tf.gather(_table(rows=ROWS // 2), ids)
    assert _staged(graph, [ids]).kinds[rows.op] is Kind.COMPILED


def test_a_table_that_is_also_read_whole_is_compiled(graph: tf.Graph) -> None:
    ids = tf.placeholder(tf.int32, [None])
    table = _table()
    rows = tf.gather(table, ids)
    tf.reduce_sum(table)
    assert _staged(graph, [ids]).kinds[rows.op] is Kind.COMPILED


def test_a_table_that_is_fetched_whole_is_compiled(graph: tf.Graph) -> None:
    ids = tf.placeholder(tf.int32, [None])
    table = _table()
    rows = tf.gather(table, ids)
    read = graph.get_tensor_by_name("table/read:0")
    assert _staged(graph, [ids], [read]).kinds[rows.op] is Kind.COMPILED
    assert _staged(graph, [ids, read]).kinds[rows.op] is Kind.COMPILED


def test_a_gather_of_columns_is_compiled(graph: tf.Graph) -> None:
    ids = tf.placeholder(tf.int32, [None])
    columns = tf.gather(_table(), ids, axis=1)
    assert _staged(graph, [ids]).kinds[columns.op] is Kind.COMPILED


def test_a_gather_on_another_task_is_compiled(graph: tf.Graph) -> None:
    ids = tf.placeholder(tf.int32, [None])
    table = _table()
    with tf.device(OTHER):
        rows = tf.gather(table, ids)
    assert _staged(graph, [ids]).kinds[rows.op] is Kind.COMPILED


def test_an_update_whose_result_is_used_is_compiled(graph: tf.Graph) -> None:
    ids = tf.placeholder(tf.int32, [None])
    updated = tf.scatter_add(_table(), ids, tf.ones([1, WIDTH]))
    assert _staged(graph, [ids], [updated]).kinds[updated.op] is Kind.COMPILED
    assert _staged(graph, [ids]).kinds[updated.op] is Kind.ROWS


def test_a_read_that_something_waits_for_keeps_its_place(graph: tf.Graph) -> None:
    ids = tf.placeholder(tf.int32, [None])
    table = _table()
    read = graph.get_operation_by_name("table/read")
    rows = tf.gather(table, ids)
    assert _staged(graph, [ids]).kinds[read] is Kind.FREE
    with tf.control_dependencies([read]):
        tf.scatter_add(table, ids, tf.ones([1, WIDTH]))
    staging = _staged(graph, [ids])
    assert staging.kinds[read] is Kind.ROWS
    assert staging.kinds[rows.op] is Kind.ROWS


@pytest.mark.parametrize("alias", [tf.stop_gradient, lambda table: tf.raw_ops.Snapshot(input=table)])
def test_a_table_is_gathered_through_any_op_that_hands_it_on(graph: tf.Graph, alias: Callable[[Any], tf.Tensor]) -> None:
    ids = tf.placeholder(tf.int32, [None])
    handed_on = alias(graph.get_tensor_by_name(_table().op.name + ":0"))
    rows = tf.gather(handed_on, ids)
    kinds = _staged(graph, [ids]).kinds
    assert (kinds[handed_on.op], kinds[rows.op]) == (Kind.FREE, Kind.ROWS)


def test_rows_are_gathered_of_a_table_that_is_handed_on(graph: tf.Graph) -> None:
    table = tf.get_variable("table", [ROWS, WIDTH], initializer=tf.ones_initializer())
    rows = tf.gather(tf.stop_gradient(table), [1, 5])
    with tf.Session() as session:
        session.run(table.initializer)
        session.run(tf.scatter_add(table, [5], tf.ones([1, WIDTH])).op)
        assert session.run(rows)[:, 0].tolist() == [1.0, 2.0]


def test_a_variable_of_an_older_graph_counts_as_any(graph: tf.Graph) -> None:
    ids = tf.placeholder(tf.int32, [None])
    attrs = {"shape": (ROWS, WIDTH), "dtype": tf.float32}
    variable = graph.create_op("Variable", [], [tf.float32._as_ref], attrs=attrs)
    rows = tf.gather(variable.outputs[0], ids)
    assert _staged(graph, [ids]).kinds[rows.op] is Kind.ROWS
