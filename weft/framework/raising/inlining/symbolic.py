"""SymbolicGradient nodes: the gradient of a function, which TensorFlow's clients leave to the runtime to work out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from tensorboard.compat.proto import graph_pb2, node_def_pb2

SYMBOLIC: Final = "SymbolicGradient"

Maker: TypeAlias = Callable[[graph_pb2.GraphDef, node_def_pb2.NodeDef], graph_pb2.GraphDef]
"""Takes a graph and such a node of it; gives nodes that take its place, and the functions that these run."""

_MAKERS: Final[dict[str, Maker]] = {}


def register_maker(make: Maker) -> None:
    """Say what works gradients out: that knows more than graphs."""
    _MAKERS[SYMBOLIC] = make


def with_gradients(proto: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """The graph with the nodes of gradients in place of its SymbolicGradient nodes; itself where it has none.

    Raises:
        ValueError: the gradient of a function cannot be made.
    """
    own = {each.function_name: each.gradient_func for each in proto.library.gradient}
    if not any(node.op == SYMBOLIC and (_MAKERS or node.attr["f"].func.name in own) for node in proto.node):
        return proto
    result = graph_pb2.GraphDef(versions=proto.versions, library=proto.library)
    known = {function.signature.name for function in proto.library.function}
    for node in proto.node:
        given = own.get(node.attr["f"].func.name) if node.op == SYMBOLIC else None
        if given:
            result.node.append(_call(given, node))
            continue
        if node.op != SYMBOLIC or not _MAKERS:
            result.node.add().CopyFrom(node)
            continue
        made = _MAKERS[SYMBOLIC](proto, node)
        result.node.extend(made.node)
        for function in made.library.function:
            if function.signature.name not in known:
                known.add(function.signature.name)
                result.library.function.add().CopyFrom(function)
    return result


def _call(function: str, node: node_def_pb2.NodeDef) -> node_def_pb2.NodeDef:
    """The call of the gradient that the program itself has for a function: it takes and gives what the node does."""
    return node_def_pb2.NodeDef(name=node.name, op=function, input=node.input, device=node.device)
