"""The graphs that a run was cut into, one for each device, as GraphDefs: for programs that look at what ran where."""

from __future__ import annotations

from tensorboard.compat.proto import graph_pb2, node_def_pb2

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.serial.graph_def import to_node_def
from weft.passes.partition import Partition


def partition_graphs(partition: Partition) -> list[graph_pb2.GraphDef]:
    """A GraphDef for each device of a task, in order of the devices' names.

    A feed is an `_Arg`, a fetch a `_Retval`; what comes from another device, or goes there, is a `_Recv` or a `_Send`.
    """
    devices = sorted(set(partition.devices.values()))
    graphs = {device: graph_pb2.GraphDef() for device in devices}
    writer = _Writer(partition, graphs)
    for op in partition.nodes:
        writer.add(op)
    writer.add_ends()
    return [graphs[device] for device in devices]


class _Writer:
    def __init__(self, partition: Partition, graphs: dict[str, graph_pb2.GraphDef]) -> None:
        self._partition = partition
        self._graphs = graphs
        self._feeds = {tensor: number for number, tensor in enumerate(partition.feeds)}
        self._received: dict[tuple[Tensor | Operation, str], str] = {}

    def add(self, op: Operation) -> None:
        device = self._partition.devices[op]
        inputs = [self._input(tensor, device) for tensor in op.inputs]
        controls = [self._control(other, device) for other in op.control_inputs if self._is_there(other)]
        node = to_node_def(op)
        node.device = device
        node.input[:] = inputs + controls
        self._graphs[device].node.add().CopyFrom(node)

    def _is_there(self, op: Operation) -> bool:
        return op in self._partition.devices or op in self._partition.recvs

    def _input(self, tensor: Tensor, device: str) -> str:
        if tensor in self._feeds:
            return self._received_as(tensor, device, f"_arg_{tensor.op.name}_{tensor.value_index}_{self._feeds[tensor]}")
        if self._partition.devices.get(tensor.op) == device:
            return tensor.as_node_def_input()
        return self._received_as(tensor, device, f"{tensor.op.name}/_{tensor.value_index}")

    def _control(self, op: Operation, device: str) -> str:
        if self._partition.devices.get(op) == device:
            return f"^{op.name}"
        return f"^{self._received_as(op, device, f'{op.name}/_control')}"

    def _received_as(self, source: Tensor | Operation, device: str, name: str) -> str:
        """The node of a device that stands for a value from elsewhere; made at its first use, with the node that sends it."""
        known = self._received.get((source, device))
        if known is not None:
            return known
        self._received[source, device] = name
        if isinstance(source, Tensor) and source in self._feeds:
            node = self._graphs[device].node.add(name=name, op="_Arg", device=device)
            _set_type(node, "T", source)
            node.attr["index"].i = self._feeds[source]
            return name
        producer = source if isinstance(source, Operation) else source.op
        sender = self._partition.devices.get(producer, self._sender_of(source))
        node = self._graphs[device].node.add(name=name, op="_Recv", device=device)
        _set_edge(node, "tensor_type", source, sender, device)
        if sender in self._graphs:
            self._add_send(source, sender, device, f"{name}/send")
        return name

    def _sender_of(self, source: Tensor | Operation) -> str:
        edge = self._partition.recvs.get(source)
        return edge.sender if edge is not None else ""

    def _add_send(self, source: Tensor | Operation, sender: str, receiver: str, name: str) -> None:
        node = self._graphs[sender].node.add(name=name, op="_Send", device=sender)
        node.input.append(source.as_node_def_input() if isinstance(source, Tensor) else f"^{source.name}")
        _set_edge(node, "T", source, sender, receiver)

    def add_ends(self) -> None:
        """Add what leaves the task: to other tasks, and to the client."""
        for edge in self._partition.sends:
            producer = edge.source if isinstance(edge.source, Operation) else edge.source.op
            self._add_send(
                edge.source, self._partition.devices[producer], edge.receiver, f"{producer.name}/_send_{edge.number}"
            )
        for number, tensor in enumerate(self._partition.fetches):
            device = self._partition.devices[tensor.op]
            name = f"_retval_{tensor.op.name}_{tensor.value_index}_{number}"
            node = self._graphs[device].node.add(name=name, op="_Retval", device=device, input=[tensor.as_node_def_input()])
            _set_type(node, "T", tensor)
            node.attr["index"].i = number


def _set_type(node: node_def_pb2.NodeDef, attr: str, source: Tensor | Operation) -> None:
    if isinstance(source, Tensor):
        node.attr[attr].type = source.dtype.base_dtype.as_datatype_enum


def _set_edge(node: node_def_pb2.NodeDef, attr: str, source: Tensor | Operation, sender: str, receiver: str) -> None:
    _set_type(node, attr, source)
    node.attr["tensor_name"].s = source.name.encode()
    node.attr["send_device"].s = sender.encode()
    node.attr["recv_device"].s = receiver.encode()
    node.attr["client_terminated"].b = False
