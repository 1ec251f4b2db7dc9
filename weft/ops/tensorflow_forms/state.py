"""Forms of what looks at variables, queues and accumulators."""

from __future__ import annotations

from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.constant import constant
from weft.ops.array.gather_scatter import gather
from weft.ops.array.identity import identity_node
from weft.ops.array.selection import where_node
from weft.ops.array.shape_ops import rank_node, reshape
from weft.ops.array.stacking import stack
from weft.ops.control_flow.ordering import no_op
from weft.ops.data_flow.accumulators import (
    accumulator_join,
    accumulator_leave,
    accumulator_limit,
    accumulator_report,
    accumulator_restart,
)
from weft.ops.data_flow.queue_nodes import queue_reopen
from weft.ops.data_flow.replica_board import replica_board_leave
from weft.ops.math.comparison import logical_not
from weft.ops.tensorflow_forms.form import form
from weft.ops.variables.collections import ready_to_read, uninitialized_names
from weft.ops.variables.initialized_value import variable_value


@form(variable_value)
def _variable_value(node: Operation, ref: Tensor) -> Tensor:
    value: Tensor = identity_node(ref)
    return value


@form(uninitialized_names)
def _uninitialized_names(node: Operation, is_initialized: list[Tensor]) -> Tensor:
    places = reshape(where_node(logical_not(stack(is_initialized))), [-1])
    return gather(constant(node.attrs["names"]), places)


@form(ready_to_read)
def _ready_to_read(node: Operation, value: Tensor) -> Tensor:
    count: Tensor = rank_node(value)
    return count


@form(accumulator_report)
def _accumulator_report(node: Operation, handle: Tensor) -> Tensor:
    """No contributors are known."""
    return constant('{"step": 0, "count": 0, "needed": null, "replicas": []}')


@form(accumulator_join, accumulator_leave, accumulator_limit, accumulator_restart, queue_reopen, replica_board_leave)
def _nothing(node: Operation, *inputs: Tensor) -> Operation:
    """Replicas of weft that find each other; TensorFlow's don't."""
    return no_op()
