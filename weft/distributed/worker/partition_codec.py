"""Partitions as GraphDefs: what a master sends to a worker when it registers a graph.

The serial form has the partition's nodes with their devices, an `_Arg` for each feed, a `_Recv` for each edge that comes in and
a `_Send` for each that leaves. Where a stage begins travels as attributes of the nodes.
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import graph_pb2

from weft.framework.graphs.graph import Graph
from weft.framework.importing.importer import add_nodes
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.serial.function_def import functions_of
from weft.framework.serial.graph_def import to_node_def
from weft.framework.types import attr_value
from weft.framework.types.dtypes import float32
from weft.ops.process.sendrecv import SOURCE_NAME
from weft.passes.partition import Edge, Partition
from weft.passes.stage import Kind

_LEVEL, _KIND, _STATIC, _EDGE, _SHAPE = "_weft_level", "_weft_kind", "_weft_static", "_weft_edge", "_shape"
# Only on the nodes of a partition that reads variables at one moment.
_ONE_MOMENT = "_weft_one_moment"


def encode(partition: Partition) -> graph_pb2.GraphDef:
    """The GraphDef of a partition."""
    graph = graph_pb2.GraphDef()
    renamed: dict[str, str] = {}
    for index, tensor in enumerate(partition.feeds):
        node = graph.node.add(name=f"weft.arg_{index}", op="_Arg")
        _set(
            node,
            T=tensor.dtype.base_dtype,
            index=index,
            **{_STATIC: tensor in partition.static_feeds, SOURCE_NAME: tensor.name},
        )
        node.attr[_SHAPE].CopyFrom(attr_value.encode("shape", tensor.dims))
        renamed[tensor.as_node_def_input()] = node.name
    for source, edge in partition.recvs.items():
        node = graph.node.add(name=f"weft.recv_{edge.number}", op="_Recv")
        dims = source.dims if isinstance(source, Tensor) else ()
        _set(node, tensor_type=_dtype_of(source), **_endpoints(edge), **{SOURCE_NAME: source.name})
        node.attr[_SHAPE].CopyFrom(attr_value.encode("shape", dims))
        renamed[source.as_node_def_input() if isinstance(source, Tensor) else f"^{source.name}"] = node.name
    for op in partition.nodes:
        graph.node.append(_encode_node(op, partition, renamed))
    for edge in partition.sends:
        _encode_send(graph, edge)
    library = partition.nodes[0].graph.functions if partition.nodes else {}
    graph.library.function.extend(function.to_function_def() for function in functions_of(partition.nodes, library))
    return graph


def _encode_node(op: Operation, partition: Partition, renamed: dict[str, str]) -> Any:
    node = to_node_def(op)
    # A control input that is neither here nor received has run in an earlier piece of the step.
    absent = {f"^{c.name}" for c in op.control_inputs if c not in partition.kinds and c not in partition.recvs}
    inputs = [_renamed_input(name, renamed) for name in node.input if name not in absent]
    del node.input[:]
    node.input.extend(inputs)
    node.device = partition.devices[op]
    # Whom a node was to be with is settled by now.
    node.attr.pop("_class", None)
    _set(node, **{_LEVEL: partition.levels[op], _KIND: partition.kinds[op].value})
    if partition.one_moment:
        _set(node, **{_ONE_MOMENT: True})
    return node


def _renamed_input(name: str, renamed: dict[str, str]) -> str:
    if name.startswith("^"):
        return f"^{renamed[name]}" if name in renamed else name
    return renamed.get(name, name)


def _encode_send(graph: graph_pb2.GraphDef, edge: Edge) -> None:
    node = graph.node.add(name=f"weft.send_{edge.number}", op="_SendControl" if edge.is_control else "_Send")
    if isinstance(edge.source, Operation):
        node.input.append(f"^{edge.source.name}")
        _set(node, **_endpoints(edge))
    else:
        node.input.append(edge.source.as_node_def_input())
        _set(node, T=edge.source.dtype.base_dtype, **_endpoints(edge))


def _endpoints(edge: Edge) -> dict[str, Any]:
    name = edge.source.name
    return {
        "tensor_name": f"edge_{edge.number}_{name}", "send_device": edge.sender, "recv_device": edge.receiver,
        "send_device_incarnation": 0, _EDGE: edge.number,
    }  # fmt: skip


def _dtype_of(source: Tensor | Operation) -> Any:
    return source.dtype.base_dtype if isinstance(source, Tensor) else float32


def _set(node: Any, **attrs: object) -> None:
    for key, value in attrs.items():
        node.attr[key].CopyFrom(attr_value.encode(attr_value.kind_of(value), value))


def decode(proto: graph_pb2.GraphDef, task: str, fetches: list[str]) -> Partition:
    """The partition of a GraphDef; the fetches are named as the GraphDef's nodes are.

    Raises:
        ValueError: the GraphDef is malformed.
        NotFoundError: it has an op that is not known here.
    """
    graph = Graph()
    add_nodes(graph, proto)
    partition = Partition(task, owns_feeds=True)
    feeds: dict[int, Tensor] = {}
    for op in graph.get_operations():
        role = op.op_def.role
        if role is Role.ARGUMENT:
            feeds[op.attrs["index"]] = op.outputs[0]
            if op.attrs[_STATIC]:
                partition.static_feeds.add(op.outputs[0])
        elif role is Role.RECEIVE:
            edge = Edge(op.attrs[_EDGE], op.outputs[0], op.attrs["send_device"], task)
            # Which of both it is shows in how the nodes use it: as a value or as a control input.
            partition.recvs[op.outputs[0]] = edge
            partition.recvs[op] = edge
        elif role is Role.SEND:
            source = op.inputs[0] if op.inputs else op.control_inputs[0]
            partition.sends.append(Edge(op.attrs[_EDGE], source, task, op.attrs["recv_device"]))
        else:
            partition.nodes.append(op)
            partition.devices[op] = op.device
            partition.kinds[op] = Kind(op.attrs[_KIND])
            partition.levels[op] = op.attrs[_LEVEL]
            partition.one_moment |= op.attrs.get(_ONE_MOMENT, False)
    partition.feeds = [feeds[index] for index in sorted(feeds)]
    partition.fetches = [graph.get_tensor_by_name(name) for name in fetches]
    return partition
