"""A graph that is written again as it was is read back; any change of it is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import weft as tf


def _graph() -> Any:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.placeholder(tf.float32, [None], name="y")
        tf.reduce_sum(x * 2.0, name="sum")
        tf.cond(y[0] > 0.0, lambda: y * x, lambda: y, name="branch")
    return graph


def _anew(graph: Any, **how: bool) -> Any:
    graph.last_written = None
    return graph.as_graph_def(**how)


def _gradient(graph: Any) -> None:
    with graph.as_default():
        tf.gradients(graph.get_tensor_by_name("branch/Merge:0"), graph.get_tensor_by_name("x:0"))


def _node(graph: Any) -> None:
    with graph.as_default():
        tf.constant(1.0)


CHANGES: dict[str, Callable[[Any], object]] = {
    "a node": _node,
    "a gradient through a branch": _gradient,
    "a device": lambda graph: graph.get_operation_by_name("sum")._set_device("/device:CPU:1"),
    "an attribute": lambda graph: graph.get_operation_by_name("sum")._set_attr("_mine", True),
    "an attribute's value": lambda graph: graph.get_operation_by_name("x")._set_attr("shape", (None, None)),
    "a shape": lambda graph: graph.get_tensor_by_name("x:0").set_shape([3]),
    "an input": lambda graph: graph.get_operation_by_name("mul").update_input(0, graph.get_tensor_by_name("y:0")),
    "a wait": lambda graph: graph.get_operation_by_name("sum")._add_control_input(graph.get_operation_by_name("y")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_written_before_a_change_is_not_given_after_it(change: str) -> None:
    graph = _graph()
    before = graph.as_graph_def(add_shapes=True)
    assert graph.as_graph_def(add_shapes=True) == before
    assert graph.as_graph_def(add_shapes=True) == before
    CHANGES[change](graph)
    after = graph.as_graph_def(add_shapes=True)
    assert after != before
    assert after == _anew(graph, add_shapes=True)


def test_values_of_attributes_are_not_changed_in_place() -> None:
    graph, mine = _graph(), [1]
    op = graph.get_operation_by_name("sum")
    op._set_attr("_mine", mine)
    with graph.as_default():
        tf.constant([1.0, 2.0], name="ones")
    mine.append(2)
    op.get_attr("_mine").append(3)
    assert op.get_attr("_mine") == [1]
    with tf.Graph().as_default() as copy:
        tf.import_graph_def(graph.as_graph_def(), name="")
    assert not copy.get_operation_by_name("ones").attrs["value"].flags.writeable


def test_a_graph_is_written_once_and_given_as_often_as_wanted() -> None:
    graph = _graph()
    graph.as_graph_def()
    first = graph.as_graph_def()
    kept = graph.last_written
    names = [node.name for node in first.node]
    del first.node[:]
    assert [node.name for node in graph.as_graph_def().node] == names
    assert graph.last_written is kept
    assert graph.as_graph_def(add_shapes=True) == _anew(graph, add_shapes=True)
    assert graph.as_graph_def() == _anew(graph)


def test_bytes_are_kept_of_a_graph_that_is_written_again() -> None:
    graph = _graph()
    kept = []
    for _ in range(3):
        graph.as_graph_def()
        kept.append(graph.last_written.data)
    assert kept[0] is None
    assert kept[1] is not None
    assert kept[2] is kept[1]
