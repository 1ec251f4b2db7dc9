"""OpDef protos of weft's own declarations, and what readers of a graph do with them: defaults of attributes.

A graph that says which attributes its writer knew can be read by an older or newer version: an attribute that has its
default may be left out.
"""

from __future__ import annotations

from typing import Final

from tensorboard.compat.proto import graph_pb2, meta_graph_pb2, node_def_pb2, op_def_pb2

from weft.framework.op_types.op_def import REQUIRED, to_op_def_proto
from weft.framework.registry import op_registry
from weft.framework.types import attr_value

# What readers take for the version of the writer: that of the API.
_API_VERSION: Final = "1.15.0"


def describe(meta_graph_def: meta_graph_pb2.MetaGraphDef) -> None:
    """Let a MetaGraphDef tell who wrote it and, unless it does already, which ops its graph uses, as they are declared here."""
    info = meta_graph_def.meta_info_def
    info.tensorflow_version = _API_VERSION
    info.tensorflow_git_version = "weft"
    if not info.stripped_op_list.op:
        info.stripped_op_list.CopyFrom(stripped_op_list(meta_graph_def.graph_def))


def ops_used_by_graph_def(graph_def: graph_pb2.GraphDef) -> list[str]:
    """The names of the op types that a graph uses, and the functions that it calls use, in order.

    Args:
        graph_def: the graph.
    """
    functions = {function.signature.name: function for function in graph_def.library.function}
    waiting = [node.op for node in graph_def.node]
    used: set[str] = set()
    while waiting:
        op = waiting.pop()
        if op not in used:
            used.add(op)
            waiting += [node.op for node in functions[op].node_def] if op in functions else []
    return sorted(used - functions.keys())


def stripped_op_list_for_graph(graph_def: graph_pb2.GraphDef) -> op_def_pb2.OpList:
    """The OpDefs of the ops that a graph uses, and the functions that it calls use, in order of name.

    Args:
        graph_def: the graph.

    Returns:
        An OpList; ops that weft does not have are left out.
    """
    known = [name for name in ops_used_by_graph_def(graph_def) if op_registry.is_registered(name)]
    return op_def_pb2.OpList(op=[to_op_def_proto(op_registry.lookup(name)) for name in known])


def stripped_op_list(graph_def: graph_pb2.GraphDef) -> op_def_pb2.OpList:
    """The OpDefs of all ops that a graph and its functions use, in order of name."""
    functions = {function.signature.name for function in graph_def.library.function}
    used = {node.op for node in graph_def.node}
    used.update(node.op for function in graph_def.library.function for node in function.node_def)
    known = sorted(name for name in used - functions if op_registry.is_registered(name))
    return op_def_pb2.OpList(op=[to_op_def_proto(op_registry.lookup(name)) for name in known])


def strip_default_attrs(graph_def: graph_pb2.GraphDef) -> None:
    """Remove from all nodes, in place, the attributes that have their defaults."""
    for node in graph_def.node:
        _strip_node(node)
    for function in graph_def.library.function:
        for node in function.node_def:
            _strip_node(node)


def _strip_node(node: node_def_pb2.NodeDef) -> None:
    if not op_registry.is_registered(node.op):
        return
    attrs = op_registry.lookup(node.op).attrs
    for key in list(node.attr):
        attr = attrs.get(key)
        if attr is None or attr.default is REQUIRED or (attr.default is None and attr.kind != "shape"):
            continue
        if node.attr[key] == attr_value.encode(attr.kind, attr.default):
            del node.attr[key]
