"""Whether a graph's updates are made of several replicas' gradients."""

from __future__ import annotations

from weft.framework.graphs.graph import Graph
from weft.ops.data_flow.accumulators import accumulator_take_gradient, sparse_accumulator_take_gradient
from weft.ops.declaration import definition_of


def trains_in_step(graph: Graph) -> bool:
    """Whether updates are made of several replicas' gradients: a part of such a model cannot go back by itself."""
    takes = (definition_of(accumulator_take_gradient), definition_of(sparse_accumulator_take_gradient))
    return any(op.op_def in takes for op in graph.get_operations())
