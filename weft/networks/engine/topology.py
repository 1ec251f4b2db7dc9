"""The order of a network's layers: from the calls that lead from its inputs to its outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.framework.building.aliases import Nest
from weft.framework.nested import nest
from weft.networks.config import KerasObject
from weft.networks.engine.calls.history import History, Node, history_of, is_tensor, key_of, set_mask


@dataclass
class Topology:
    """The calls and layers of a network.

    Attributes:
        nodes: the calls, each after those that it needs.
        layers: the layers; those farthest from the outputs first, in TensorFlow's order, which is the order of weights.
    """

    nodes: list[Node]
    layers: list[Nest]

    def replayed(
        self, inputs: Mapping[str, Nest], masks: Sequence[Nest], outputs: Nest, layers: Mapping[str, KerasObject] | None = None
    ) -> Nest:
        """What the outputs are for other inputs: the layers are called anew, in order.

        Args:
            inputs: the new inputs, by the keys of the network's own.
            masks: their masks.
            outputs: the network's own outputs.
            layers: others to call instead, by name.
        """
        made = dict(inputs)
        for given, mask in zip(inputs.values(), masks, strict=True):
            set_mask(given, mask)
        for node in self.nodes:
            if not node.inputs():
                continue
            inward = nest.map_structure(lambda each: made[key_of(each)], node.input_tensors)
            further = nest.map_structure(lambda each: _replaced(each, made), dict(node.arguments))
            layer = node.outbound_layer
            outward = (layers or {}).get(layer.name, layer)(inward, **further)
            for own, new in zip(nest.flatten(node.output_tensors), nest.flatten(outward), strict=True):
                made[key_of(own)] = new
        return nest.map_structure(lambda each: made[key_of(each)], outputs)


def _replaced(value: Nest, made: Mapping[str, Nest]) -> Nest:
    return made.get(key_of(value), value) if is_tensor(value) else value


class _Walk:
    """A walk from the outputs back, depth first."""

    def __init__(self) -> None:
        self.finished: list[Node] = []
        self.order: dict[Any, int] = {}
        self._begun: set[int] = set()
        self._open: set[int] = set()

    def visit(self, tensor: Nest) -> None:
        history = history_of(tensor)
        if history is None:
            raise ValueError("Output tensors to a Model must be the output of a TensorFlow `Layer` (thus holding past layer "
                             f"metadata). Found: {tensor}. A model begins with tf.keras.Input(shape).")  # fmt: skip
        node = history.layer.inbound_nodes[history.node_index]
        if id(node) in self._open:
            raise ValueError(f'The tensor {tensor} at layer "{history.layer.name}" is part of a cycle.')
        if id(node) in self._begun:
            return
        self._begun.add(id(node))
        self._open.add(id(node))
        self.order.setdefault(history.layer, len(self.order))
        for each in node.inputs():
            self.visit(each)
        self._open.discard(id(node))
        self.finished.append(node)


def topology_of(inputs: Sequence[Nest], outputs: Sequence[Nest]) -> Topology:
    """The calls and layers between inputs and outputs.

    Raises:
        ValueError: an output comes from no layer or from another input, or two layers have one name.
    """
    walk = _Walk()
    for each in outputs:
        walk.visit(each)
    node_depths, layer_depths = _depths(walk.finished)
    for each in inputs:
        layer = _layer_of(each)
        if layer not in layer_depths:
            layer_depths[layer] = 0
            walk.order.setdefault(layer, -1)
            node_depths[id(layer.inbound_nodes[0])] = (0, layer.inbound_nodes[0])
    layers = sorted(layer_depths, key=lambda layer: (-layer_depths[layer], walk.order[layer]))
    by_depth = sorted(node_depths.values(), key=lambda pair: -pair[0])
    nodes = [node for _, node in by_depth]
    _check_connected(inputs, nodes)
    _check_names(layers)
    return Topology(nodes, layers)


def _layer_of(tensor: Nest) -> Nest:
    history = history_of(tensor)
    if history is None:
        raise ValueError(
            f"Input tensors to a Model must come from `tf.keras.Input`. Received: {tensor} (missing previous layer metadata). "
            "tf.keras.Input(shape) makes one, tf.keras.Input(tensor=x) one of a tensor, and layers are called with it."
        )
    return history.layer


def _depths(finished: Sequence[Node]) -> tuple[dict[int, tuple[int, Node]], dict[Any, int]]:
    """How far each call and each layer is from the outputs, at most."""
    nodes: dict[int, tuple[int, Node]] = {}
    layers: dict[Any, int] = {}
    for node in reversed(finished):
        depth = max(nodes.get(id(node), (0, node))[0], layers.get(node.outbound_layer, 0))
        layers[node.outbound_layer] = depth
        nodes[id(node)] = (depth, node)
        for history in node.histories():
            inbound = history.layer.inbound_nodes[history.node_index]
            nodes[id(inbound)] = (max(depth + 1, nodes.get(id(inbound), (0, inbound))[0]), inbound)
    return nodes, layers


def _check_connected(inputs: Sequence[Nest], nodes: Sequence[Node]) -> None:
    known = {key_of(each) for each in inputs}
    given = [history.layer.name for each in inputs if (history := history_of(each)) is not None]
    passed: list[str] = []
    for node in nodes:
        layer = node.outbound_layer
        for each in node.inputs():
            if key_of(each) not in known:
                raise ValueError(f'Graph disconnected: cannot obtain value for tensor {each} at layer "{layer.name}". The '
                                 f"following previous layers were accessed without issue: {passed}. The outputs need it, and "
                                 f"the inputs are {given}: give all Inputs that the outputs come from.")  # fmt: skip
        if node.inputs() or any(key_of(each) in known for each in nest.flatten(node.output_tensors)):
            known.update(key_of(each) for each in nest.flatten(node.output_tensors))
        if node.inputs() or layer.name in given:
            passed.append(layer.name)


def _check_names(layers: Sequence[Nest]) -> None:
    for name, count in Counter(layer.name for layer in layers).items():
        if count != 1:
            raise ValueError(f'The name "{name}" is used {count} times in the model. All layer names should be unique.')


def located(tensor: Nest) -> History:
    """Where an input or output of a network came from."""
    history = history_of(tensor)
    assert history is not None
    return history
