"""What each node of a graph costs: counted from its shapes, and measured in one traced step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from tensorboard.compat.proto import config_pb2

from weft.client.analysis.node import Costs
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.float_operations import float_operations


class Measured(NamedTuple):
    """The microseconds of nodes by name, on CPUs and on other devices, over some traced steps; and how many steps."""

    cpu_micros: Mapping[str, int]
    accelerator_micros: Mapping[str, int]
    steps: int


def measured(runs: Collection[config_pb2.RunMetadata]) -> Measured:
    """What the traces of steps say; of a node that ran several times in a step it is the sum."""
    on_cpu: Counter[str] = Counter()
    elsewhere: Counter[str] = Counter()
    for run in runs:
        for device in run.step_stats.dev_stats:
            into = on_cpu if "cpu" in device.device.lower() else elsewhere
            for node in device.node_stats:
                # TensorFlow's traces have the names of some nodes with their types behind.
                into[node.node_name.partition(":")[0]] += max(node.all_end_rel_micros, 0)
    return Measured(on_cpu, elsewhere, max(len(runs), 1))


def costs_of(op: Operation, variables: Mapping[str, str], found: Measured) -> Costs:
    """What a node costs; its bytes where it ran and makes new values.

    Args:
        op: the node.
        variables: the trainable variables, by the names of their nodes.
        found: what was measured.
    """
    parameters = (op.outputs[0].shape.num_elements() or 0) if op.name in variables else 0
    if op.name not in found.cpu_micros and op.name not in found.accelerator_micros:
        return Costs(parameters, float_operations(op), definition_count=1)
    cpu, accelerator = (times.get(op.name, 0) // found.steps for times in (found.cpu_micros, found.accelerator_micros))
    output_bytes = 0 if op.op_def.hands_on or op.op_def.reshapes else sum(map(_bytes_of, op.outputs))
    return Costs(parameters, float_operations(op), cpu, accelerator, output_bytes, 1, 1)


def _bytes_of(tensor: Tensor) -> int:
    """How large a tensor is; 0 where that is not known while the graph is built."""
    return (tensor.shape.num_elements() or 0) * (tensor.dtype.base_dtype.size or 0)


def shapes_of_variables(graph: Graph) -> dict[str, str]:
    """The shapes of the trainable variables by the names of their nodes, as text: `4x3`."""
    variables = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
    return {each.op.name: "x".join(str(size) for size in each.get_shape().as_list()) for each in variables}
