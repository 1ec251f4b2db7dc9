"""The config of a network made of inputs and outputs: its layers and their calls, in TensorFlow's form."""

from __future__ import annotations

from collections.abc import Mapping

from weft.framework.building.aliases import Nest
from weft.framework.nested import nest
from weft.networks.config import Config, KerasObject
from weft.networks.engine.calls import history
from weft.networks.engine.topology import located


def network_config(network: KerasObject) -> Config:
    """The layers of a network and their calls, in TensorFlow's form."""
    assert network.topology is not None
    kept = _kept_nodes(network)
    layers = []
    for layer in network.layers:
        nodes = [_node_config(node, kept) for node in layer.inbound_nodes if id(node) in kept and node.inputs()]
        layers.append(
            {"name": layer.name, "class_name": type(layer).__name__, "config": layer.get_config(), "inbound_nodes": nodes}
        )
    return {
        "name": network.name,
        "layers": layers,
        "input_layers": [_place(each, kept) for each in network.inputs or ()],
        "output_layers": [_place(each, kept) for each in network.outputs or ()],
    }


def _kept_nodes(network: KerasObject) -> dict[int, int]:
    """The calls of the network's layers that belong to it, numbered for each layer; a model's first is its own making."""
    assert network.topology is not None
    own = {id(node) for node in network.topology.nodes}
    numbers: dict[int, int] = {}
    for layer in network.layers:
        first = first_call(layer)
        for number, node in enumerate((node for node in layer.inbound_nodes if id(node) in own), first):
            numbers[id(node)] = number
    return numbers


def first_call(layer: KerasObject) -> int:
    """The number of a layer's first call in configs: 1 for a model, whose call 0 leads from its inputs to its outputs."""
    return 1 if hasattr(layer, "topology") else 0


def _place(tensor: Nest, kept: Mapping[int, int]) -> list[str | int]:
    found = located(tensor)
    return [found.layer.name, kept[id(found.layer.inbound_nodes[found.node_index])], found.tensor_index]


def _node_config(node: history.Node, kept: Mapping[int, int]) -> Nest:
    plain = {name: each for name, each in node.arguments.items() if not any(map(history.is_tensor, nest.flatten(each)))}
    if len(plain) != len(node.arguments):
        lost = sorted(node.arguments.keys() - plain.keys())
        raise NotImplementedError(f"{node.outbound_layer.name} was called with tensors as {lost}, which a config cannot hold")
    return [[*_place(each, kept), plain] for each in nest.flatten(node.input_tensors)]
