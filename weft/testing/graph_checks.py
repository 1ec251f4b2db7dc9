"""What tests of graphs ask of tensorflow.python.framework.test_util: nodes by name, equal graphs, versions."""

from __future__ import annotations

import unittest
from collections.abc import Mapping

from tensorboard.compat.proto import graph_pb2, meta_graph_pb2, node_def_pb2

from weft.framework.graphs.graph import Graph
from weft.framework.importing.importer import import_graph_def
from weft.testing.environment import assert_equal_graph_def


def assert_ops_in_graph(expected_ops: Mapping[str, str], graph: Graph) -> dict[str, node_def_pb2.NodeDef]:
    """The nodes of a graph that are expected to be in it.

    Args:
        expected_ops: op types by names of nodes.
        graph: the graph.

    Returns:
        Their NodeDefs by name.

    Raises:
        ValueError: a node is missing, or has another type.
    """
    found = {node.name: node for node in graph.as_graph_def().node if node.name in expected_ops}
    for name, kind in expected_ops.items():
        if name in found and found[name].op != kind:
            raise ValueError(f"Expected op for node {name} is different. {kind} vs {found[name].op}")
    if set(found) != set(expected_ops):
        raise ValueError(f"Not all expected ops are present. Expected {list(expected_ops)}, found {list(found)}")
    return found


def get_node_def_from_graph(node_name: str, graph_def: graph_pb2.GraphDef) -> node_def_pb2.NodeDef | None:
    """The node of that name, None when there is none.

    Args:
        node_name: its name.
        graph_def: the GraphDef that is looked through.
    """
    return next((node for node in graph_def.node if node.name == node_name), None)


def assert_equal_graph_def_v2(expected: graph_pb2.GraphDef, actual: graph_pb2.GraphDef) -> None:
    """Raise AssertionError unless two GraphDefs have the same nodes; the random parts of names may differ.

    Args:
        expected, actual: GraphDefs.
    """
    assert_equal_graph_def(actual, expected, checkpoint_v2=True, hash_table_shared_name=True)


def assert_meta_graph_protos_equal(
    tester: unittest.TestCase, a: meta_graph_pb2.MetaGraphDef, b: meta_graph_pb2.MetaGraphDef
) -> None:
    """Let a test fail unless two MetaGraphDefs are equal, apart from the order of their nodes.

    Args:
        tester: the test.
        a, b: MetaGraphDefs.
    """
    assert_equal_graph_def_v2(a.graph_def, b.graph_def)
    rests = []
    for each in (a, b):
        rest = meta_graph_pb2.MetaGraphDef()
        rest.CopyFrom(each)
        rest.ClearField("graph_def")
        rests.append(rest)
    if rests[0] != rests[1]:
        tester.fail(f"The MetaGraphDefs differ beside their graphs: {rests[0]}\nand {rests[1]}")


def set_producer_version(graph: Graph, producer_version: int) -> None:
    """Give an empty graph the version of the program that made it.

    Args:
        graph: the graph.
        producer_version: the version.
    """
    graph_def = graph_pb2.GraphDef()
    graph_def.versions.producer = producer_version
    with graph.as_default():
        import_graph_def(graph_def)
    if graph.graph_def_versions.producer != producer_version:
        raise AssertionError(f"The graph has producer version {graph.graph_def_versions.producer}, not {producer_version}.")
