"""Graphs whose variables became constants."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as fresh:
        yield fresh


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_frozen_graph_gives_the_same_without_variables(graph: tf.Graph, use_resource: bool) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    w = tf.get_variable("w", initializer=[2.0, 3.0], use_resource=use_resource)
    table = tf.get_variable("table", initializer=[[1.0, 1.0], [5.0, 7.0]], use_resource=use_resource)
    tf.add(x * w, tf.gather(table, 1), name="y")
    tf.get_variable("unused", initializer=1.0, use_resource=use_resource)
    with tf.Session() as sess:
        sess.run([w.initializer, table.initializer])
        frozen = tf.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), ["y"])
    assert not {node.op for node in frozen.node} & {"VariableV2", "VarHandleOp", "ReadVariableOp", "ResourceGather"}
    with tf.Graph().as_default(), tf.Session() as sess:
        (y,) = tf.import_graph_def(frozen, return_elements=["y:0"], name="")
        assert sess.run(y, {"x:0": [1.0, 1.0]}).tolist() == [7.0, 10.0]


def test_variables_may_be_chosen(graph: tf.Graph) -> None:
    first, second = tf.Variable(1.0, name="first"), tf.Variable(2.0, name="second")
    tf.add(first, second, name="y")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        convert = tf.graph_util.convert_variables_to_constants
        listed = convert(sess, graph.as_graph_def(), ["y"], variable_names_whitelist=["first"])
        unlisted = convert(sess, graph.as_graph_def(), ["y"], variable_names_blacklist=["first"])
    assert [node.name for node in listed.node if node.op == "VariableV2"] == ["second"]
    assert [node.name for node in unlisted.node if node.op == "VariableV2"] == ["first"]


def test_bodies_that_read_resource_variables_are_frozen_with_them(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0), use_resource=True)
    table = tf.get_variable("t", [2, 2], initializer=tf.ones_initializer(), use_resource=True)

    def looped() -> tf.Tensor:
        body = lambda i, a: (i + 1, a * w + tf.reduce_sum(tf.gather(table, [i % 2])))  # noqa: E731
        return tf.while_loop(lambda i, a: i < 3, body, [tf.constant(0), x])[1]

    y = tf.identity(tf.cond(x > 1.0, looped, lambda: x - w), name="y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = [session.run(y, {x: value}) for value in (2.0, 0.5)]
        frozen = tf.graph_util.convert_variables_to_constants(session, session.graph_def, ["y"])
    with tf.Graph().as_default(), tf.Session() as session:
        (again,) = tf.import_graph_def(frozen, return_elements=["y:0"], name="f")
        assert [session.run(again, {"f/x:0": value}) for value in (2.0, 0.5)] == expected
