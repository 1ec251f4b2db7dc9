"""Loops that update variables by reference are written as frames, which are read as loops again."""

from __future__ import annotations

from typing import Any

import weft as tf


def _run_again(*made: Any) -> tuple[set[str], list[Any], list[Any]]:
    """The ops that the default graph is written in, and what a run and then the count give, here and where it is read."""
    names = [each.name for each in made]

    def run(graph: Any) -> list[Any]:
        with tf.Session(graph=graph) as session:
            session.run("init")
            return [each.tolist() for each in (*session.run(names), session.run("count:0"))]

    written = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as again:
        tf.import_graph_def(written, name="")
    return {node.op for node in written.node}, run(tf.get_default_graph()), run(again)


def _counted(count: Any, limit: Any) -> Any:
    def body(i: Any) -> Any:
        with tf.control_dependencies([count.assign_add(2.0)]):
            return i + 1

    return tf.while_loop(lambda i: i < limit, body, [0])


def test_a_loop_variable_alone_is_left_by_the_loops_own_name() -> None:
    count = tf.Variable(1.0, name="count")
    result = _counted(count, 3)
    tf.global_variables_initializer()
    ops, own, again = _run_again(result)
    assert {"RefEnter", "LoopCond", "NextIteration", "Exit"} <= ops
    assert "While" not in ops
    assert own == again == [3, 7.0]


def test_an_update_waits_for_the_condition() -> None:
    # Nothing of the loop's own goes into the update: without a word it would run before the condition was known.
    count = tf.Variable(1.0, name="count")
    result = _counted(count, tf.placeholder_with_default(0, []))
    tf.global_variables_initializer()
    _, own, again = _run_again(result)
    assert own == again == [0, 1.0]


def test_branches_and_loops_stand_within_each_other() -> None:
    count = tf.Variable(0.0, name="count")

    def body(i: Any, total: Any) -> Any:
        inner = tf.cond(tf.equal(i % 2, 0), lambda: tf.identity(count.assign_add(1.0)), lambda: tf.constant(0.0))
        with tf.control_dependencies([inner]):
            again = _counted(count, 2)
        with tf.control_dependencies([again]):
            return i + 1, total + inner

    result = tf.while_loop(lambda i, total: i < 3, body, [0, 0.0])
    tf.global_variables_initializer()
    ops, own, again = _run_again(*result)
    assert {"RefEnter", "RefSwitch"} <= ops
    assert own == again == [3, 11.0, 14.0]
