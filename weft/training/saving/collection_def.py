"""The collections of a graph inside a MetaGraphDef: protos of variables and the like, nodes by name, plain values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

from google.protobuf.any_pb2 import Any as AnyProto
from tensorboard.compat.proto import meta_graph_pb2, variable_pb2

from weft.framework.graphs.collection_proto import ProtoFunctions, proto_functions, register_proto_function
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph
from weft.framework.importing.name_prefix import prepend_name_scope, strip_name_scope
from weft.framework.serial.proto_reading import parse
from weft.ops.variables.variable import Variable
from weft.platform.logs import tf_logging

UNBOUND_INPUT_PREFIX: Final = "$unbound_inputs_"

# Collections that share their objects: a variable is in several, and is one object afterwards as well.
_VARIABLE_COLLECTIONS: Final = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.GLOBAL_STEP,
)

# Theirs are handles, which each process makes anew.
_WITHOUT_FORM: Final = (GraphKeys.RESOURCES, GraphKeys.LOCAL_RESOURCES)


def should_include(item: object, export_scope: str | None, excluded: Collection[str]) -> bool:
    """Whether a node, variable or name belongs to an export; what has no name always does."""
    name = item if isinstance(item, str) else getattr(item, "name", None)
    if not isinstance(name, str):
        return True
    if name.partition(":")[0] in excluded:
        return False
    return name.startswith(UNBOUND_INPUT_PREFIX) or not export_scope or name.startswith(export_scope)


def add_collection_def(
    meta_graph_def: meta_graph_pb2.MetaGraphDef,
    key: object,
    graph: Graph,
    export_scope: str | None = None,
    excluded: Collection[str] = (),
    contents: Iterable[object] | None = None,
) -> None:
    """Add a collection to a MetaGraphDef; one whose items have no serial form is left out with a warning.

    Args:
        meta_graph_def: the MetaGraphDef to change.
        key: the collection's name.
        graph: the graph that has it.
        export_scope: keep only items in this name scope, and take it off their names.
        excluded: names of nodes to leave out.
        contents: what to write instead of the collection's items.
    """
    if not isinstance(key, str | bytes):
        tf_logging.warning("Only collections with string type keys will be serialized. This key has %s", type(key))
        return
    name = key.decode() if isinstance(key, bytes) else key
    if name in _WITHOUT_FORM:
        return
    given = graph.get_collection(name) if contents is None else contents
    items = [item for item in given if should_include(item, export_scope, excluded)]
    if not items:
        return
    try:
        _fill(meta_graph_def.collection_def[name], items, proto_functions(name), export_scope)
    except (AttributeError, TypeError, ValueError) as error:
        tf_logging.warning(
            "Collection %s is left out of the meta graph: its items have no serial form or differ in kind. %s",
            name,
            error,
        )
        del meta_graph_def.collection_def[name]


def _fill(proto: Any, items: list[Any], functions: ProtoFunctions | None, export_scope: str | None) -> None:
    if functions is not None:
        proto.bytes_list.SetInParent()
        for item in items:
            made = functions.to_proto(item, export_scope=export_scope)
            if made is not None:
                proto.bytes_list.value.append(made.SerializeToString())
        return
    first = items[0]
    if isinstance(first, str | bytes):
        proto.bytes_list.value.extend(item.encode() if isinstance(item, str) else item for item in items)
    elif isinstance(first, int):
        proto.int64_list.value.extend(items)
    elif isinstance(first, float):
        proto.float_list.value.extend(items)
    elif isinstance(first, AnyProto):
        proto.any_list.value.extend(items)
    else:
        proto.node_list.value.extend(strip_name_scope(item.name, export_scope) for item in items)


def restore_collections(
    graph: Graph,
    meta_graph_def: meta_graph_pb2.MetaGraphDef,
    scope: str,
    is_wanted: Callable[[str], bool],
    unbound_inputs_key: str | None,
) -> None:
    """Add the items of a MetaGraphDef's collections, whose nodes are in `scope` now, to those of a graph."""
    variables: dict[bytes, Any] = {}
    # The trainable ones first: they tell about a variable what older files say nowhere else.
    trainable = GraphKeys.TRAINABLE_VARIABLES
    for key in sorted(meta_graph_def.collection_def, key=lambda name: (name != trainable, name)):
        if key == unbound_inputs_key or not is_wanted(key):
            continue
        proto = meta_graph_def.collection_def[key]
        kind = proto.WhichOneof("kind")
        if kind is None:
            tf_logging.error("Cannot identify data type for collection %s. Skipping.", key)
            continue
        known = variables if key in _VARIABLE_COLLECTIONS else {}
        for item in _items(graph, key, kind, getattr(proto, kind).value, scope, known):
            graph.add_to_collection(key, item)


def _items(graph: Graph, key: str, kind: str, values: Iterable[Any], scope: str, known: dict[bytes, Any]) -> Iterable[Any]:
    functions = proto_functions(key)
    for number, value in enumerate(values):
        if functions is not None and kind == "bytes_list":
            if value not in known:
                proto = parse(functions.proto_type, value, f"Item {number} of collection {key!r}")
                known[value] = functions.from_proto(proto, import_scope=scope)
            yield known[value]
        elif kind == "node_list":
            yield graph.as_graph_element(prepend_name_scope(value, scope))
        elif kind == "bytes_list":
            yield _prefixed(value, scope)
        else:
            yield value


def _prefixed(value: bytes, scope: str) -> bytes | str:
    """A string of a collection: text, in its name scope, where it can be text."""
    try:
        return prepend_name_scope(value.decode(), scope)
    except UnicodeDecodeError:
        return value


def _to_variable_def(variable: Variable, export_scope: str | None = None) -> Any:
    return variable.to_proto(export_scope=export_scope)


for _key in _VARIABLE_COLLECTIONS:
    register_proto_function(_key, variable_pb2.VariableDef, to_proto=_to_variable_def, from_proto=Variable.from_proto)
