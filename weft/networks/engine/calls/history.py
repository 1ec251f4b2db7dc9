"""How tensors came from layers: one Node for each call of a layer on tensors that lead back to an Input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from weft.framework.building.aliases import Nest
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import Graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.networks.config import KerasObject
from weft.networks.state.graph_state import state_of


class History(NamedTuple):
    """Where a tensor came from: the layer, which of its calls, and which output of that call."""

    layer: KerasObject
    node_index: int
    tensor_index: int


@dataclass(eq=False)
class Node:
    """One call of a layer.

    Attributes:
        outbound_layer: the layer that was called.
        input_tensors, output_tensors: in the structure of the call.
        arguments: what `call` was given beside the first argument.
    """

    outbound_layer: KerasObject
    input_tensors: Nest
    output_tensors: Nest
    arguments: Mapping[str, object]

    def inputs(self) -> list[Tensor]:
        """All tensors with a history that the call used, those among the further arguments last."""
        further = [each for each in nest.flatten(dict(self.arguments)) if is_tensor(each) and history_of(each)]
        return [*nest.flatten(self.input_tensors), *further]

    def inbound_layers(self) -> Nest:
        """The layers that the inputs came from, in their structure."""
        return nest.map_structure(lambda each: _known(each).layer, self.input_tensors)

    def histories(self) -> list[History]:
        """Where the inputs came from."""
        return [_known(each) for each in self.inputs()]


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor of either kind."""
    return isinstance(value, Tensor | SparseTensor)


def key_of(tensor: Nest) -> str:
    """The name by which the graph's state knows a tensor."""
    name: str = tensor.values.name if isinstance(tensor, SparseTensor) else tensor.name
    return name


def graph_of(tensor: Nest) -> Graph:
    """The graph of a tensor of either kind."""
    graph: Graph = tensor.graph
    return graph


def history_of(tensor: Nest) -> History | None:
    """Where a tensor came from, or None when no layer on the way to an Input made it."""
    return state_of(graph_of(tensor)).histories.get(key_of(tensor))


def _known(tensor: Nest) -> History:
    found = history_of(tensor)
    assert found is not None
    return found


def have_histories(tensors: Iterable[Nest]) -> bool:
    """Whether all tensors came from layers."""
    return all(is_tensor(each) and history_of(each) is not None for each in tensors)


def set_history(tensor: Nest, history: History) -> None:
    """Note where a tensor came from. The last note counts: the outermost of the layers whose calls gave it."""
    state_of(graph_of(tensor)).histories[key_of(tensor)] = history


def mask_of(tensor: Nest) -> Tensor | None:
    """The mask of a tensor, which tells the time steps to skip, or None."""
    if not is_tensor(tensor):
        return None
    return state_of(graph_of(tensor)).masks.get(key_of(tensor))


def set_mask(tensor: Nest, mask: Tensor | None) -> None:
    """Give a tensor a mask."""
    if mask is not None and is_tensor(tensor):
        state_of(graph_of(tensor)).masks[key_of(tensor)] = mask


def leads_to_input(tensors: Iterable[Nest]) -> bool:
    """Whether a tensor that has no history itself depends on one that has."""
    waiting = [each for each in tensors if is_tensor(each)]
    if not waiting or not state_of(graph_of(waiting[0])).histories:
        return False
    seen: set[str] = set()
    ops = [op for each in waiting if history_of(each) is None for op in _makers(each)]
    while ops:
        op = ops.pop()
        if op.name in seen:
            continue
        seen.add(op.name)
        for tensor in op.inputs:
            if history_of(tensor) is not None:
                return True
            ops.append(tensor.op)
    return False


def _makers(tensor: Nest) -> list[Nest]:
    return [tensor.values.op] if isinstance(tensor, SparseTensor) else [tensor.op]
