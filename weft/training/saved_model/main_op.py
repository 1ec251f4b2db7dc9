"""Operations that make a loaded SavedModel ready: they initialize tables and local variables."""

from __future__ import annotations

from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.control_flow.ordering import group
from weft.ops.lookup.tables import tables_initializer
from weft.ops.variables.collections import global_variables_initializer, local_variables_initializer


def main_op() -> Operation:
    """Initialize all variables, local ones and tables.

    Returns:
        One operation that does all of it.
    """
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


def main_op_with_restore(restore_op_name: str | Operation | Tensor) -> Operation:
    """Initialize all variables, local ones and tables, and after that run an operation that restores the variables.

    Args:
        restore_op_name: the operation, its first tensor, or the name of either.

    Returns:
        One operation that does all of it.
    """
    with get_default_graph().control_dependencies([main_op()]):
        restored = get_default_graph().as_graph_element(restore_op_name)
        return group(restored.op if isinstance(restored, Tensor) else restored)
