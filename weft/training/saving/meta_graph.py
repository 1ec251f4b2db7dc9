"""Meta graphs: a graph with its collections and its Saver as one MetaGraphDef, whole or one name scope of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from tensorboard.compat.proto import graph_pb2, meta_graph_pb2, node_def_pb2, saver_pb2

from weft.framework.graphs.collection_proto import proto_functions
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.importing.graph_file import read_proto, write_graph
from weft.framework.importing.importer import import_graph_def
from weft.framework.importing.name_prefix import strip_name_scope
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.registry.op_list import describe
from weft.framework.registry.op_list import strip_default_attrs as strip_defaults
from weft.framework.serial.proto_reading import UnparsableFileError, reading
from weft.ops.variables.variable import Variable
from weft.training.saving.collection_def import UNBOUND_INPUT_PREFIX, add_collection_def, restore_collections, should_include

MetaGraphDef = meta_graph_pb2.MetaGraphDef

_UNBOUND_INPUTS: Final = "unbound_inputs"
_LARGEST_PROTO_BYTES: Final = (1 << 31) - 1
_SAVE_AND_RESTORE_OPS: Final = frozenset(
    f"{prefix}{name}"
    for prefix in ("", "Legacy")
    for name in ("Save", "SaveSlice", "SaveV2", "Restore", "RestoreSlice", "RestoreV2")
)


def export_meta_graph(
    filename: str | None = None,
    meta_info_def: meta_graph_pb2.MetaGraphDef.MetaInfoDef | None = None,
    graph_def: graph_pb2.GraphDef | None = None,
    saver_def: saver_pb2.SaverDef | None = None,
    collection_list: object = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> meta_graph_pb2.MetaGraphDef:
    """The MetaGraphDef of a graph, written to a file if one is named.

    Args:
        filename: the file's path.
        meta_info_def: what the MetaGraphDef tells about itself.
        graph_def: the nodes; the graph's when None.
        saver_def: the Saver to name in it.
        collection_list: the names of the collections to take; all when None.
        as_text: whether the file is text.
        graph: the graph; the default one when None.
        export_scope: take only this name scope, and take it off all names; inputs from outside become unbound ones.
        clear_devices: forget where nodes were placed.
        clear_extraneous_savers: leave out the nodes of all Savers but that of `saver_def`.
        strip_default_attrs: leave out attributes that have their defaults.
        save_debug_info: accepted; there is no debug information to save.
        kwargs: `unbound_inputs_col_name`, the collection that names unbound inputs.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: the graph is larger than a proto may be, 2 GB.
    """
    return export_scoped_meta_graph(
        filename, graph_def, graph, export_scope, as_text, clear_devices=clear_devices, saver_def=saver_def,
        clear_extraneous_savers=clear_extraneous_savers, strip_default_attrs=strip_default_attrs,
        meta_info_def=meta_info_def, collection_list=collection_list, **kwargs,
    )[0]  # fmt: skip


def export_scoped_meta_graph(
    filename: str | None = None,
    graph_def: graph_pb2.GraphDef | None = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    as_text: bool = False,
    unbound_inputs_col_name: str | None = _UNBOUND_INPUTS,
    clear_devices: bool = False,
    saver_def: saver_pb2.SaverDef | None = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    meta_info_def: meta_graph_pb2.MetaGraphDef.MetaInfoDef | None = None,
    collection_list: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """The MetaGraphDef, and the global variables in it by their names there; see `export_meta_graph`."""
    _check_types(graph, meta_info_def, graph_def, saver_def)
    graph = graph or get_default_graph()
    excluded: Collection[str] = ()
    proto = graph_def or graph.as_graph_def(add_shapes=True)
    if clear_extraneous_savers:
        excluded = _extraneous_saver_nodes(proto, saver_def)
    if export_scope or clear_extraneous_savers or clear_devices:
        proto, unbound = _cut(proto, export_scope, excluded, clear_devices)
        if unbound_inputs_col_name:
            graph.get_collection_ref(unbound_inputs_col_name)[:] = unbound
    meta_graph_def = MetaGraphDef(graph_def=proto, saver_def=saver_def)
    if meta_info_def is not None:
        meta_graph_def.meta_info_def.CopyFrom(meta_info_def)
    describe(meta_graph_def)
    if strip_default_attrs:
        strip_defaults(meta_graph_def.graph_def)
        meta_graph_def.meta_info_def.stripped_default_attrs = True
    for key in graph.get_all_collection_keys() if collection_list is None else collection_list:
        contents = None
        if clear_extraneous_savers and key == GraphKeys.SAVERS:
            contents = [_saver_of(saver_def)] if saver_def is not None else []
        add_collection_def(meta_graph_def, key, graph, export_scope, excluded, contents)
    if filename:
        _check_size(meta_graph_def)
        directory, name = os.path.split(os.fsdecode(filename))
        write_graph(meta_graph_def, directory, name, as_text=as_text)
    found = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=export_scope)
    included = [variable for variable in found if should_include(variable, export_scope, excluded)]
    return meta_graph_def, {strip_name_scope(variable.name, export_scope): variable for variable in included}


def _check_types(
    graph: Graph | None,
    meta_info_def: meta_graph_pb2.MetaGraphDef.MetaInfoDef | None,
    graph_def: graph_pb2.GraphDef,
    saver_def: saver_pb2.SaverDef | None,
) -> None:
    for name, value, kind in (
        ("graph", graph, Graph),
        ("meta_info_def", meta_info_def, MetaGraphDef.MetaInfoDef),
        ("graph_def", graph_def, graph_pb2.GraphDef),
        ("saver_def", saver_def, saver_pb2.SaverDef),
    ):
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{name} must be of type {kind.__name__}. Received type: {type(value)}.")


def _saver_of(saver_def: saver_pb2.SaverDef | None) -> Any:
    functions = proto_functions(GraphKeys.SAVERS)
    assert functions is not None
    return functions.from_proto(saver_def)


def _check_size(proto: Any) -> None:
    size = proto.ByteSize()
    if size > _LARGEST_PROTO_BYTES:
        raise ValueError(
            f"GraphDef cannot be larger than 2GB. Received size: {size}. Constants are part of the graph: feed large "
            "arrays, or keep them in variables"
        )


def _extraneous_saver_nodes(graph_def: graph_pb2.GraphDef, saver_def: saver_pb2.SaverDef | None) -> set[str]:
    """The nodes in name scopes of Savers, apart from the scope of the Saver to keep."""
    scopes = {_scope_of(node.name) for node in graph_def.node if node.op in _SAVE_AND_RESTORE_OPS}
    if saver_def is not None:
        scopes -= {_scope_of(saver_def.save_tensor_name), _scope_of(saver_def.restore_op_name)}
    return {node.name for node in graph_def.node if any(node.name.startswith(f"{scope}/") for scope in scopes)}


def _scope_of(name: str) -> str:
    return name.lstrip("^").rpartition("/")[0]


def _cut(
    graph_def: graph_pb2.GraphDef, export_scope: str | None, excluded: Collection[str], clear_devices: bool
) -> tuple[graph_pb2.GraphDef, list[str]]:
    """The nodes that an export keeps, under their new names, and the inputs that are missing then."""
    proto = graph_pb2.GraphDef(versions=graph_def.versions, library=graph_def.library)
    unbound: list[str] = []
    for source in graph_def.node:
        if not should_include(source.name, export_scope, excluded):
            continue
        node = proto.node.add()
        node.CopyFrom(source)
        if clear_devices:
            node.device = ""
        if export_scope:
            _leave_scope(node, export_scope, unbound)
    return proto, unbound


def _leave_scope(node: node_def_pb2.NodeDef, scope: str, unbound: list[str]) -> None:
    node.name = strip_name_scope(node.name, scope)
    for place, name in enumerate(node.input):
        if name.lstrip("^").startswith(scope):
            node.input[place] = strip_name_scope(name, scope)
        else:
            mark = "^" if name.startswith("^") else ""
            node.input[place] = f"{mark}{UNBOUND_INPUT_PREFIX}{name.lstrip('^')}"
            unbound.append(node.input[place])
    if "_class" in node.attr:
        groups = [group.decode() for group in node.attr["_class"].list.s]
        kept = [strip_name_scope(group, scope) for group in groups if group.partition("@")[2].startswith(scope)]
        node.attr["_class"].list.s[:] = [group.encode() for group in kept]


def as_meta_graph_def(meta_graph_or_file: Any) -> Any:
    """The MetaGraphDef given, or read from the file given; OSError when there is none."""
    if isinstance(meta_graph_or_file, MetaGraphDef):
        return meta_graph_or_file
    return read_meta_graph_file(meta_graph_or_file)


def read_meta_graph_file(filename: str | os.PathLike[str]) -> Any:
    """The MetaGraphDef in a file, binary or text; OSError when there is none, or only a part of one."""
    proto = MetaGraphDef()
    read_proto(filename, proto)
    if not proto.HasField("graph_def"):
        name = os.fsdecode(filename)
        raise UnparsableFileError.of(
            f"Cannot parse file {name} as a MetaGraphDef: it has no graph_def. The file is cut off, or of another kind."
        )
    return proto


def import_scoped_meta_graph(
    meta_graph_or_file: object,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: Mapping[str, object] | None = None,
    unbound_inputs_col_name: str | None = _UNBOUND_INPUTS,
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
) -> dict[str, Variable]:
    """Add the nodes and collections of a MetaGraphDef to a graph.

    As `import_scoped_meta_graph_with_return_elements`, whose arguments and errors it has, without what that returns second.
    """
    variables, _ = import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices, graph, import_scope, input_map, unbound_inputs_col_name,
        restore_collections_predicate,
    )  # fmt: skip
    return variables


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: object,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: Mapping[str, object] | None = None,
    unbound_inputs_col_name: str | None = _UNBOUND_INPUTS,
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
    return_elements: Sequence[str] | None = None,
) -> tuple[dict[str, Variable], Sequence[Operation | Tensor] | None]:
    """Add the nodes and collections of a MetaGraphDef to a graph, and find some of them.

    Args:
        meta_graph_or_file: the MetaGraphDef, or the path of a file with one.
        clear_devices: forget where nodes were placed.
        graph: the graph; the default one when None.
        import_scope: the name scope to put all into.
        input_map: tensors of the graph by the names of inputs that they replace.
        unbound_inputs_col_name: the collection that names the inputs which must be in `input_map`.
        restore_collections_predicate: asked for each collection's name whether to take it over.
        return_elements: names of operations and tensors in the MetaGraphDef to return.

    Returns:
        The global variables by their names in the MetaGraphDef, and the elements asked for, or None.

    Raises:
        NotFoundError: a node's op is not known.
        OSError: there is no such file.
        ValueError: inputs are unbound, or an element is not there.
    """
    proto = as_meta_graph_def(meta_graph_or_file)
    if unbound_inputs_col_name:
        _check_bound(proto, unbound_inputs_col_name, input_map)
    graph = graph or get_default_graph()
    nodes = proto.graph_def
    if clear_devices:
        nodes = graph_pb2.GraphDef()
        nodes.CopyFrom(proto.graph_def)
        for node in nodes.node:
            node.device = ""
    with graph.as_default():
        scope = graph.unique_name(import_scope or "", mark_as_used=False)
        op_list = proto.meta_info_def.stripped_op_list if proto.meta_info_def.HasField("stripped_op_list") else None
        with reading(None if isinstance(meta_graph_or_file, MetaGraphDef) else meta_graph_or_file):
            elements = import_graph_def(nodes, input_map, return_elements, import_scope or scope, producer_op_list=op_list)
            restore_collections(graph, proto, scope, restore_collections_predicate, unbound_inputs_col_name)
    found = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)
    return {strip_name_scope(variable.name, scope): variable for variable in found}, elements


def _check_bound(meta_graph_def: meta_graph_pb2.MetaGraphDef, key: str, input_map: Mapping[str, object] | None) -> None:
    if key not in meta_graph_def.collection_def:
        return
    names = [name.decode() for name in meta_graph_def.collection_def[key].bytes_list.value]
    if names and (not input_map or sorted(names) != sorted(input_map)):
        missing = ",".join(name for name in names if name not in (input_map or {}))
        raise ValueError(f"Graph contains unbound inputs: {missing}. Must provide these inputs through input_map.")


def copy_scoped_meta_graph(
    from_scope: str, to_scope: str, from_graph: Graph | None = None, to_graph: Graph | None = None
) -> dict[str, Any]:
    """Copy a name scope with its collections to another scope, perhaps of another graph; returns the new variables.

    Raises:
        ValueError: both are the same.
    """
    from_graph = from_graph or get_default_graph()
    to_graph = to_graph or get_default_graph()
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError(
            "'from_scope' and 'to_scope' need to be different when performing copy in the same graph. Received: "
            f"'from_graph': {from_graph}, 'to_graph': {to_graph}, 'from_scope': {from_scope}, 'to_scope': {to_scope}."
        )
    proto, _ = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)
    return import_scoped_meta_graph(proto, graph=to_graph, import_scope=to_scope)
