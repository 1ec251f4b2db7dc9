"""The counter of the runs of a graph that is quantized later: what is delayed begins by it."""

from __future__ import annotations

from typing import Final

from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.identity import identity
from weft.ops.variables.assign import assign_add
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.options import VariableAggregation

_NAME: Final = "fake_quantization_step"


def quantization_step() -> Tensor:
    """How many runs there have been, this one included: a `[]` int64 tensor, made by the first who asks."""
    graph = get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{_NAME}/Identity:0")
    except KeyError:
        pass
    with graph.name_scope(None):
        step = get_variable(
            _NAME, [], dtypes.int64, Zeros(), trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES],
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
        )  # fmt: skip
        with graph.name_scope(f"{step.op.name}/"):
            return identity(assign_add(step, 1))
