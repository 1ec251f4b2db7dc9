"""add_check_numerics_ops: one operation that checks all floating point tensors of a graph."""

from __future__ import annotations

from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation
from weft.ops.control_flow.assertion import check_numerics
from weft.ops.control_flow.ordering import group


def add_check_numerics_ops() -> Operation:
    """An operation that fails when a floating point tensor of the graph so far holds a NaN or an infinity.

    The tensors are checked in the order in which they were made, so the error names the first bad one.
    """
    graph = get_default_graph()
    checks: list[Operation] = []
    for op in graph.get_operations():
        for output in op.outputs:
            if output.dtype.is_floating:
                with graph.control_dependencies(checks[-1:]):
                    checks.append(check_numerics(output, f"{op.name}:{output.value_index}").op)
    return group(*checks)
