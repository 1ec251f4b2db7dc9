"""Parts of GraphDefs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft as tf
from weft.framework.importing.subgraph import (
    extract_sub_graph,
    must_run_on_cpu,
    remove_training_nodes,
    tensor_shape_from_node_def_name,
)


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as fresh:
        yield fresh


def names(graph_def: tf.GraphDef) -> list[str]:
    return [node.name for node in graph_def.node]


def test_a_part_has_what_its_nodes_need_in_order(graph: tf.Graph) -> None:
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    with tf.control_dependencies([tf.no_op(name="first")]):
        c = tf.add(a, a, name="c")
    tf.add(b, c, name="d")
    tf.identity(c, name="e")
    assert names(extract_sub_graph(graph.as_graph_def(), ["e"])) == ["a", "first", "c", "e"]
    assert names(extract_sub_graph(graph.as_graph_def(), ["b", "a"])) == ["a", "b"]


def test_bad_arguments_are_told(graph: tf.Graph) -> None:
    with pytest.raises(AssertionError, match="none is not in graph"):
        extract_sub_graph(graph.as_graph_def(), ["none"])
    with pytest.raises(TypeError, match="dest_nodes must be a list"):
        extract_sub_graph(graph.as_graph_def(), "none")
    with pytest.raises(TypeError, match=r"graph_def must be a graph_pb2.GraphDef proto"):
        extract_sub_graph("graph", ["none"])


def test_nodes_of_training_alone_are_removed(graph: tf.Graph) -> None:
    a = tf.constant(1.0, name="a")
    checked = tf.check_numerics(tf.identity(a, name="b"), "message", name="checked")
    tf.add(checked, tf.identity(a, name="kept"), name="c")
    with tf.control_dependencies([tf.identity(a, name="order")]):
        tf.identity(a, name="ordered")
    left = remove_training_nodes(graph.as_graph_def(), protected_nodes=["kept"])
    assert names(left) == ["a", "kept", "c", "order", "ordered"]
    assert list(left.node[2].input) == ["a", "kept"]


def test_some_nodes_belong_on_the_cpu(graph: tf.Graph) -> None:
    assert must_run_on_cpu(tf.constant(1).op)
    assert must_run_on_cpu(tf.constant("text").op.node_def)
    assert not must_run_on_cpu(tf.constant(1.0).op)
    variable = tf.Variable(1.0)
    assert not must_run_on_cpu(variable.op)
    assert must_run_on_cpu(variable.op, pin_variables_on_cpu=True)
    assert must_run_on_cpu(tf.assign_add(variable, 1.0).op, pin_variables_on_cpu=True)
    assert not must_run_on_cpu(variable.value().op, pin_variables_on_cpu=True)


def test_shapes_are_found_by_the_names_that_node_defs_use(graph: tf.Graph) -> None:
    tf.placeholder(tf.float32, [None, 3], name="x")
    assert tensor_shape_from_node_def_name(graph, "x").as_list() == [None, 3]
    assert tensor_shape_from_node_def_name(graph, "^x:0").as_list() == [None, 3]
