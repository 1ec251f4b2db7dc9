"""Nodes by name, equal graphs, versions; and shapes of images."""

from __future__ import annotations

import unittest

import pytest

import weft as tf
from weft.testing import graph_checks
from weft.testing.layouts import nchw_to_nhwc, nhwc_to_nchw


def _graph(value, other_first=False):
    with tf.Graph().as_default() as graph:
        if other_first:
            tf.no_op(name="b")
        tf.constant(value, name="a")
        if not other_first:
            tf.no_op(name="b")
    return graph


def test_expected_ops_are_found():
    graph = _graph(1)
    assert graph_checks.assert_ops_in_graph({"b": "NoOp"}, graph)["b"].op == "NoOp"
    with pytest.raises(ValueError, match="is different"):
        graph_checks.assert_ops_in_graph({"a": "Add"}, graph)
    with pytest.raises(ValueError, match="Not all expected ops are present"):
        graph_checks.assert_ops_in_graph({"c": "Add"}, graph)


def test_a_node_is_found_by_name():
    graph_def = _graph(1).as_graph_def()
    assert graph_checks.get_node_def_from_graph("a", graph_def).op == "Const"
    assert graph_checks.get_node_def_from_graph("c", graph_def) is None


def test_meta_graphs_are_equal_in_any_order_of_nodes():
    one, same, other = (tf.train.export_meta_graph(graph=graph) for graph in (_graph(1), _graph(1, True), _graph(2)))
    graph_checks.assert_meta_graph_protos_equal(unittest.TestCase(), one, same)
    with pytest.raises(AssertionError):
        graph_checks.assert_meta_graph_protos_equal(unittest.TestCase(), one, other)
    same.meta_info_def.tags.append("serve")
    with pytest.raises(AssertionError, match="beside their graphs"):
        graph_checks.assert_meta_graph_protos_equal(unittest.TestCase(), one, same)


def test_an_empty_graph_gets_its_producer():
    graph = tf.Graph()
    graph_checks.set_producer_version(graph, 21)
    assert graph.graph_def_versions.producer == 21


def test_images_change_the_order_of_their_dimensions():
    assert nhwc_to_nchw([2, 3, 4, 5]) == [2, 5, 3, 4]
    assert nchw_to_nhwc([2, 5, 3, 4, 6]) == [2, 3, 4, 6, 5]
    assert nchw_to_nhwc(tf.zeros([2, 5, 3, 4])).shape == [2, 3, 4, 5]
