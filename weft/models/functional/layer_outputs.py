"""The collections that contrib's layers put their variables and outputs in."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

from weft.framework.building.aliases import Collections, VariableCollections
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.variables.variable import Variable

_ALIASES: Final[WeakKeyDictionary[Tensor, list[str]]] = WeakKeyDictionary()


def variable_collections(collections: VariableCollections, name: str) -> Sequence[str] | None:
    """The collections for a variable: those given, or those that a dict gives for its name."""
    return collections.get(name) if isinstance(collections, Mapping) else collections


def add_variable(variable: Variable, collections: VariableCollections, name: str) -> None:
    """Add a layer's variable to the collections for it."""
    names = variable_collections(collections, name)
    if variable is not None and names:
        graph = get_default_graph()
        for key in [names] if isinstance(names, str) else names:
            if variable not in graph.get_collection(key):
                graph.add_to_collection(key, variable)


def collected(collections: Collections, alias: str, outputs: Tensor) -> Tensor:
    """The outputs, after they were added to the collections given, under an alias for `convert_collection_to_dict`."""
    if collections:
        _ALIASES.setdefault(outputs, []).append(alias)
        get_default_graph().add_to_collections(collections, outputs)
    return outputs


def collect_named_outputs(collections: Collections, alias: str, outputs: Tensor) -> Tensor:
    """Add outputs to collections under an alias, as contrib's layers do.

    Args:
        collections: a collection's name, a list of them, or None for none.
        alias: the name under which `convert_collection_to_dict` finds them.
        outputs: the tensor.

    Returns:
        `outputs` itself.
    """
    return collected(collections, alias, outputs)


def append_tensor_alias(tensor: Tensor, alias: str) -> Tensor:
    """Give a tensor a further alias.

    Args:
        tensor: the tensor.
        alias: a name for it, as `convert_collection_to_dict` uses.

    Returns:
        The tensor itself.
    """
    _ALIASES.setdefault(tensor, []).append(alias)
    return tensor


def get_tensor_aliases(tensor: Tensor) -> list[str]:
    """The aliases of a tensor, in a list.

    Args:
        tensor: the tensor; without an alias it gives its name, without `:0`.
    """
    return list(_ALIASES.get(tensor, [tensor.name.removesuffix(":0")]))


def gather_tensors_aliases(tensors: Sequence[Tensor]) -> list[str]:
    """The aliases of some tensors, in one list.

    Args:
        tensors: the tensors; one without an alias gives its name, without `:0`.
    """
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(collection: str, clear_collection: bool = False) -> OrderedDict[str, Any]:
    """A collection of outputs by alias, in the order in which they were added.

    Args:
        collection: the collection's name.
        clear_collection: whether to empty the collection.
    """
    items = get_default_graph().get_collection(collection)
    found = OrderedDict((alias, item) for item in items for alias in _ALIASES.get(item, [item.name]))
    if clear_collection:
        get_default_graph().clear_collection(collection)
    return found
