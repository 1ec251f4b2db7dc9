"""Nodes that have grown: a gradient, or a node outside of a branch, gives nodes that run functions further outputs."""

from __future__ import annotations

from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation
from weft.framework.serial.function_def import functions_of


def grown_operations(graph: Graph, version: int) -> list[Operation]:
    """The nodes of a graph that have got further outputs since that version, or run functions with such nodes."""
    grown = {name for name, when in graph.grown.items() if when > version}
    if not grown:
        return []
    nodes = [op for op in graph.get_operations() if op.op_def.bodies]
    return [
        op for op in nodes
        if op.name in grown or any(function.name in grown for function in functions_of([op], graph.functions))
    ]  # fmt: skip
