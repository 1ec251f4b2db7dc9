"""How the items of a collection become protos and come back, by the collection's name.

Variables, queue runners and savers register here, so that a MetaGraphDef can hold them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class ProtoFunctions:
    """The serial form of one collection's items.

    `to_proto(item, export_scope=...)` gives the proto, None for an item outside the scope; `from_proto(proto,
    import_scope=...)` makes the item of the nodes in the default graph.
    """

    proto_type: Any
    to_proto: Callable[..., Any]
    from_proto: Callable[..., Any]


_FUNCTIONS: Final[dict[str, ProtoFunctions]] = {}


def register_proto_function(
    collection_name: str, proto_type: object, to_proto: Callable[..., object], from_proto: Callable[..., object]
) -> None:
    """Tell how the items of a collection are kept in a MetaGraphDef.

    Raises:
        TypeError: a function cannot be called.
        KeyError: the collection is registered already.
    """
    if not callable(to_proto) or not callable(from_proto):
        raise TypeError(f"Collection {collection_name!r}: to_proto and from_proto must be callable.")
    if collection_name in _FUNCTIONS:
        raise KeyError(f"Collection {collection_name!r} has its functions to and from protos already")
    _FUNCTIONS[collection_name] = ProtoFunctions(proto_type, to_proto, from_proto)


def proto_functions(collection_name: str) -> ProtoFunctions | None:
    """The registered functions of a collection, None for one of plain values, nodes and tensors."""
    return _FUNCTIONS.get(collection_name)
