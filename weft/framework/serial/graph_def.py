"""The serial form of graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto import graph_pb2, node_def_pb2, versions_pb2

from weft.framework.nodes.node_types import attrs_of_inputs, output_types
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types import op_def
from weft.framework.op_types.op_def import REQUIRED
from weft.framework.op_types.op_summary import op_summary
from weft.framework.registry import op_registry
from weft.framework.types import attr_value
from weft.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from weft.framework.graphs.graph import Graph
    from weft.framework.types.dtypes import DType


def version_def(producer: int) -> Any:
    """A VersionDef of the producer given."""
    return versions_pb2.VersionDef(producer=producer)


def to_node_def(op: Operation, add_shapes: bool = False) -> node_def_pb2.NodeDef:
    """The NodeDef of an operation; attributes in TensorFlow's encoding."""
    node = node_def_without_inputs(op, add_shapes)
    node.input.extend(tensor.as_node_def_input() for tensor in op.inputs)
    node.input.extend(f"^{other.name}" for other in op.control_inputs)
    return node


def node_def_without_inputs(op: Operation, add_shapes: bool = False) -> node_def_pb2.NodeDef:
    """The NodeDef of an operation, whose inputs are still to be added."""
    node = node_def_pb2.NodeDef(name=op.name, op=op.type, device=op.device)
    declared = op.op_def.attrs
    for key in sorted(op.attrs):
        value = op.attrs[key]
        attr = declared.get(key)
        kind = attr.kind if attr is not None else attr_value.kind_of(value)
        if value is not None or kind == "shape":
            node.attr[key].CopyFrom(attr_value.encode(kind, value))
    if add_shapes and op.outputs:
        shapes = node.attr["_output_shapes"].list.shape
        shapes.extend(TensorShape(tensor.dims).as_proto() for tensor in op.outputs)
    return node


def to_graph_def(graph: Graph, from_version: int = 0, add_shapes: bool = False) -> graph_pb2.GraphDef:
    """The GraphDef of the operations that were made after `from_version`, in order."""
    return graph_def_of(graph, [op for op in graph.get_operations() if op.id > from_version], add_shapes)


def graph_def_of(graph: Graph, operations: Iterable[Operation], add_shapes: bool = False) -> graph_pb2.GraphDef:
    """The GraphDef of some operations of a graph, with all of its functions."""
    proto = graph_pb2.GraphDef(versions=graph.graph_def_versions)
    proto.node.extend(to_node_def(op, add_shapes) for op in operations)
    if graph.functions:
        # The first version that reads functions.
        proto.versions.min_consumer = 12
    for name in sorted(graph.functions):
        proto.library.function.append(graph.functions[name].to_function_def())
    return proto


def create_op_from_parts(
    graph: Graph,
    op_type: str,
    inputs: Sequence[Tensor],
    dtypes: Sequence[DType] | None,
    name: str | None,
    attrs: dict[str, Any],
    compute_device: bool = True,
) -> Operation:
    """Add a node of a declared type; attributes may be plain or AttrValue, missing ones take their defaults."""
    for index, tensor in enumerate(inputs):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"Input #{index} is not a tensor: {tensor}")
    definition = op_registry.lookup(op_type)
    values = {k: attr_value.decode(v) if isinstance(v, attr_value.AttrValue) else v for k, v in attrs.items()}
    for key, value in attrs_of_inputs(definition, inputs).items():
        values.setdefault(key, value)
    complete_attrs(definition, values, name or op_type)
    types = output_types(definition, values) if dtypes is None else list(dtypes)
    return graph.add_node(definition, graph.settle_name(name or op_type), inputs, types, values)


def complete_attrs(definition: op_def.OpDef, values: dict[str, object], node: str) -> None:
    """Fill in the defaults of attributes that are missing; ValueError, which names the node, when one has none."""
    missing = [key for key, attr in definition.attrs.items() if key not in values and attr.default is REQUIRED]
    if missing:
        named = ", ".join(repr(key) for key in missing)
        raise ValueError(
            f"NodeDef missing attr{'s' if len(missing) > 1 else ''} {named} from {op_summary(definition)}; "
            f"NodeDef: {{{{node {node}}}}}"
        )
    for key, attr in definition.attrs.items():
        values.setdefault(key, attr.default)
