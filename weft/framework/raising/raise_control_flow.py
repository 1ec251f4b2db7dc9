"""Graphs with control flow of TensorFlow's first version as graphs with that of its second."""

from __future__ import annotations

from tensorboard.compat.proto import graph_pb2

from weft.framework.raising.branches import raise_branches
from weft.framework.raising.flat_graph import CONTROL_FLOW, read_nodes
from weft.framework.raising.functions import Library, in_graph
from weft.framework.raising.loops import raise_loops


def has_dataflow_control(proto: graph_pb2.GraphDef) -> bool:
    """Whether a graph has Switch, Merge, Enter, Exit or NextIteration nodes."""
    return any(node.op in CONTROL_FLOW for node in proto.node)


def raise_control_flow(proto: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """The graph with If and While nodes in place of Switch, Merge, Enter, Exit, NextIteration and LoopCond.

    Each Merge and each Exit becomes an Identity of its name, so that what came out of a branch or a loop is found as before;
    the nodes inside go into functions of the graph's library. A graph without such nodes is returned as it is.

    Raises:
        ValueError: nodes that cannot be raised, which the message names.
    """
    if not has_dataflow_control(proto):
        return proto
    library = Library(proto.library.function)
    nodes = raise_loops(read_nodes(proto.node), library)
    return in_graph(raise_branches(nodes, library), library, proto)
