"""Calls: the record of a layer's calls, and what a layer tells of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.framework.building.aliases import Nest
from weft.framework.nested import nest
from weft.framework.types.tensor_shape import TensorShape
from weft.networks.config import KerasObject
from weft.networks.engine.calls import history
from weft.networks.engine.calls.history import Node


class CallRecord:
    """The calls of one layer on tensors that lead back to an Input.

    Attributes:
        inbound: the calls, in their order.
        outbound: the calls of other layers on what this one made.
    """

    def __init__(self) -> None:
        self.inbound: list[Node] = []
        self.outbound: list[Node] = []

    def add(
        self, layer: KerasObject, inputs: Nest, outputs: Nest, arguments: Mapping[str, object], has_made: bool = True
    ) -> Node:
        """Note a call of the layer and, if it has made the outputs, at these that it did."""
        node = Node(layer, inputs, outputs, arguments)
        self.inbound.append(node)
        for each in node.inputs():
            maker = history.history_of(each)
            if maker is not None:
                maker.layer.outbound_nodes.append(node)
        index = len(self.inbound) - 1
        for position, tensor in enumerate(nest.flatten(outputs)):
            if has_made and history.is_tensor(tensor):
                history.set_history(tensor, history.History(layer, index, position))
        return node

    def at(self, node_index: int, what: str) -> Node:
        """A call by its number; RuntimeError before the first, ValueError behind the last."""
        if not self.inbound:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if not node_index < len(self.inbound):
            raise ValueError(
                f"Asked to get {what} at node {node_index}, but the layer has only {len(self.inbound)} inbound nodes."
            )
        return self.inbound[node_index]


class SharedByCalls:
    """The `input` or `output` of a layer's first call or their masks, or a shape that all calls share, as an attribute of it.

    Setting the attribute does nothing: the record tells it.

    Args:
        what: the attribute's name.
        of_call: takes it from a call.
        doc: what it is.
    """

    def __init__(self, what: str, of_call: Callable[[Node], Nest], doc: str) -> None:
        self._what, self._of_call, self.__doc__ = what, of_call, doc

    def __get__(self, layer: KerasObject, owner: type | None = None) -> Any:
        if layer is None:
            return self
        return _only(self._what, [self._of_call(node) for node in layer.inbound_nodes], layer.name)

    def __set__(self, layer: KerasObject, value: Nest) -> None:
        """Do nothing."""


def _only(what: str, values: Sequence[Nest], name: str) -> Nest:
    """That of the first call, for `input` and `output` and their masks; the shape that all calls share, for their shapes."""
    if not values:
        if what.endswith("shape"):
            raise AttributeError(f"The layer has never been called and thus has no defined {what.replace('_', ' ')}.")
        if what.startswith("output"):
            raise AttributeError(f"Layer {name} has no inbound nodes.")
        raise AttributeError(f"Layer {name} is not connected, no input to return.")
    words = what.replace("_", " ")
    if what.endswith("shape") and len({str(each) for each in values}) > 1:
        raise AttributeError(
            f'The layer "{name} has multiple inbound nodes, with different {words}s. '
            f'Hence the notion of "{words}" is ill-defined for the layer. Use `get_{what}_at(node_index)` instead.'
        )
    return values[0]


def single(tensors: Nest) -> Nest:
    """The one tensor in a list of one, anything else as it is."""
    return tensors[0] if isinstance(tensors, list | tuple) and len(tensors) == 1 else tensors


def masks_of(tensors: Nest) -> Nest:
    """The masks of tensors, None where there is none: one of one tensor, a list of several."""
    own = single(tensors)
    return [history.mask_of(each) for each in own] if isinstance(own, list | tuple) else history.mask_of(own)


def tuples_of(tensors: Nest) -> Nest:
    """The shapes of tensors as tuples, in the structure of the tensors."""
    return nest.map_structure(lambda each: _tuple(each.shape), tensors)


def _tuple(shape: TensorShape) -> tuple[int | None, ...] | None:
    return None if shape.ndims is None else tuple(shape.as_list())
