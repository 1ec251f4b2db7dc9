"""Transforms that take nodes away, put them in order, or change what is written on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from tensorboard.compat.proto import graph_pb2, node_def_pb2

from weft.client.graph_transforms.request import Request
from weft.errors import InvalidArgumentError
from weft.framework.importing.subgraph import needed_nodes, node_name
from weft.framework.registry import op_registry
from weft.framework.registry.op_protos import get_registered_ops
from weft.framework.serial.node_order import in_order
from weft.framework.types import dtypes, tensor_util


def with_nodes(graph: graph_pb2.GraphDef, nodes: Sequence[node_def_pb2.NodeDef]) -> graph_pb2.GraphDef:
    """A graph of these nodes, with the functions of another one."""
    return graph_pb2.GraphDef(node=nodes, library=graph.library, versions=graph.versions)


def constant(name: str, value: np.ndarray) -> node_def_pb2.NodeDef:
    """A node that holds an array."""
    made = node_def_pb2.NodeDef(name=name, op="Const")
    proto = tensor_util.make_tensor_proto(value)
    made.attr["dtype"].type = proto.dtype
    made.attr["value"].tensor.CopyFrom(proto)
    return made


def needed_for(graph: graph_pb2.GraphDef, request: Request) -> list[node_def_pb2.NodeDef]:
    """The nodes that the outputs need, behind the inputs; InvalidArgumentError where there is no such node."""
    try:
        return needed_nodes(graph, request.outputs, request.inputs)
    except KeyError as error:
        name = error.args[0]
        how = f"{request.name} was told that it is an output" if name in request.outputs else "another node reads it"
        raise InvalidArgumentError.of(f"Input node {name} not found in graph: {how}") from None


def strip_unused_nodes(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The part between inputs and outputs: inputs become placeholders, of float32 scalars where nothing else is said."""
    names = request.arguments.get("name", ())
    types = dict(zip(names, request.arguments.get("type_for_name", ()), strict=False))
    shapes = dict(zip(names, request.arguments.get("shape_for_name", ()), strict=False))
    made = []
    for node in needed_for(graph, request):
        if node.name in request.inputs and node.op != "Placeholder":
            kind = types.get(node.name, request.one("type") or "float")
            node = _placeholder(node.name, kind, shapes.get(node.name, request.one("shape") or ""))
        made.append(node)
    return with_nodes(graph, made)


def _placeholder(name: str, kind: str, shape: str) -> node_def_pb2.NodeDef:
    made = node_def_pb2.NodeDef(name=name, op="Placeholder")
    try:
        made.attr["dtype"].type = dtypes.as_dtype("float32" if kind == "float" else kind).as_datatype_enum
        sizes = [int(each) for each in shape.split(",") if each.strip()]
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError.of(
            f"strip_unused_nodes: the placeholder {name!r} cannot have type {kind!r} and shape {shape!r}; a type is as float, "
            "a shape as 1,224,224,3"
        ) from error
    made.attr["shape"].shape.SetInParent()
    for size in sizes:
        made.attr["shape"].shape.dim.add(size=size)
    return made


def remove_nodes(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The graph without nodes of some types that have one input, which those behind them read then."""
    kinds = request.arguments.get("op", ())
    if not kinds:
        raise InvalidArgumentError.of("remove_nodes expects at least one 'op' argument, e.g. remove_nodes(op=Identity)")
    waited_for = {item[1:] for node in graph.node for item in node.input if item.startswith("^")}
    gone = {
        node.name: node.input[0]
        for node in graph.node
        if node.op in kinds
        and len(node.input) == 1
        and not node.input[0].startswith("^")
        and node.name not in request.kept
        # A control input does not name an output.
        and not (node.name in waited_for and ":" in node.input[0])
    }

    def behind(item: str) -> str:
        mark, item = ("^", item[1:]) if item.startswith("^") else ("", item)
        while (name := item.removesuffix(":0")) in gone:
            item = gone[name]
        return f"^{node_name(item)}" if mark else item

    return _with_inputs(graph, [node for node in graph.node if node.name not in gone], behind)


def _with_inputs(
    graph: graph_pb2.GraphDef, nodes: Sequence[node_def_pb2.NodeDef], renamed: Callable[[str], str]
) -> graph_pb2.GraphDef:
    made = with_nodes(graph, nodes)
    for node in made.node:
        data = [renamed(item) for item in node.input if not item.startswith("^")]
        waits = {renamed(item): None for item in node.input if item.startswith("^")}
        del node.input[:]
        node.input.extend([*data, *waits])
    return made


def merge_duplicate_nodes(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The graph with one node in the place of those that compute the same of the same."""
    while True:
        first: dict[tuple[object, ...], str] = {}
        same: dict[str, str] = {}
        for node in graph.node:
            if node.name in request.kept or node.op.startswith("Placeholder") or not is_stateless(node):
                continue
            attrs = tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in sorted(node.attr))
            kept = first.setdefault((node.op, node.device, tuple(node.input), attrs), node.name)
            if kept != node.name:
                same[node.name] = kept
        if not same:
            return graph
        left = [node for node in graph.node if node.name not in same]
        graph = _with_inputs(graph, left, lambda item, same=same: _renamed(item, same))  # type: ignore[misc]


def _renamed(item: str, names: dict[str, str]) -> str:
    name = node_name(item)
    return item.replace(name, names[name], 1) if name in names else item


def is_stateless(node: node_def_pb2.NodeDef) -> bool:
    """Whether a node is of a type that is known to give the same for the same inputs."""
    return op_registry.is_registered(node.op) and not op_registry.lookup(node.op).stateful


def sort_by_execution_order(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The nodes, each behind its inputs."""
    return with_nodes(graph, in_order(graph, {node.name for node in graph.node}))


def remove_device(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The nodes without devices."""
    return _changed(graph, lambda node: node.ClearField("device"))


def set_device(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The nodes on a device; with `if_default=true` those alone that have none."""
    device, only_without = request.one("device") or "", request.flag("if_default", False)

    def place(node: node_def_pb2.NodeDef) -> None:
        if not (only_without and node.device):
            node.device = device

    return _changed(graph, place)


def remove_control_dependencies(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The nodes without inputs that they only wait for."""

    def cut(node: node_def_pb2.NodeDef) -> None:
        data = [item for item in node.input if not item.startswith("^")]
        del node.input[:]
        node.input.extend(data)

    return _changed(graph, cut)


def remove_attribute(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The nodes, or those of one type, without an attribute."""
    name = request.needed("attribute_name", "remove_attribute(op_name=Mul, attribute_name=foo)")
    kind = request.one("op_name")

    def cut(node: node_def_pb2.NodeDef) -> None:
        if kind in (None, "*", node.op):
            node.attr.pop(name, None)

    return _changed(graph, cut)


def rename_attribute(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The nodes, or those of one type, with an attribute under another name."""
    example = "rename_attribute(old_attribute_name=foo, new_attribute_name=bar)"
    old, new = (request.needed(f"{which}_attribute_name", example) for which in ("old", "new"))
    kind = request.one("op_name")

    def rename(node: node_def_pb2.NodeDef) -> None:
        if kind in (None, "*", node.op) and old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]

    return _changed(graph, rename)


def rename_op(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The nodes of one type, of another one."""
    example = "rename_op(old_op_name=Mul, new_op_name=Multiply)"
    old, new = (request.needed(f"{which}_op_name", example) for which in ("old", "new"))

    def rename(node: node_def_pb2.NodeDef) -> None:
        if node.op == old:
            node.op = new

    return _changed(graph, rename)


def add_default_attributes(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The nodes with all attributes of their types that have a default value."""
    known = get_registered_ops()

    def add(node: node_def_pb2.NodeDef) -> None:
        for attr in known[node.op].attr if node.op in known else ():
            if attr.HasField("default_value") and attr.name not in node.attr:
                node.attr[attr.name].CopyFrom(attr.default_value)

    return _changed(graph, add)


def _changed(graph: graph_pb2.GraphDef, change: Callable[[node_def_pb2.NodeDef], object]) -> graph_pb2.GraphDef:
    made = graph_pb2.GraphDef()
    made.CopyFrom(graph)
    for node in made.node:
        change(node)
    return made
