"""Parts of GraphDefs: what some nodes need, and what only training needs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from tensorboard.compat.proto import graph_pb2, node_def_pb2, types_pb2

from weft.framework.graphs.graph import Graph
from weft.framework.op_types.op_role import Role
from weft.framework.registry import op_registry
from weft.framework.types.tensor_shape import TensorShape
from weft.platform.hints.spelling import nearest_in_scopes, one_of

_TRAINING_OPS: Final = frozenset(("CheckNumerics", "Identity"))
_SHOWN_NODES: Final = 3


def node_name(name: str) -> str:
    """The node that an input of a NodeDef, such as `a:1` or `^a`, comes from."""
    return name.lstrip("^").partition(":")[0]


def needed_nodes(
    graph_def: graph_pb2.GraphDef, wanted: Collection[str], given: Collection[str] = ()
) -> list[node_def_pb2.NodeDef]:
    """The nodes that some need, and these, in the graph's order; not what only nodes that are given need.

    Args:
        graph_def: the graph.
        wanted: names of nodes.
        given: names of nodes whose own inputs are not needed.

    Raises:
        KeyError: a node is missing.
    """
    inputs = {node.name: [] if node.name in given else [node_name(name) for name in node.input] for node in graph_def.node}
    needed: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            waiting.extend(inputs[name])
            needed.add(name)
    return [node for node in graph_def.node if node.name in needed]


def extract_sub_graph(graph_def: graph_pb2.GraphDef, dest_nodes: Sequence[str]) -> graph_pb2.GraphDef:
    """The nodes that the nodes named need, and these, in their order.

    Args:
        graph_def: the GraphDef; it is left as it is.
        dest_nodes: a list of names of nodes.

    Raises:
        TypeError: an argument is of a wrong type.
        AssertionError: there is no node of that name.
    """
    if not isinstance(graph_def, graph_pb2.GraphDef):
        meant = ": a graph's is graph.as_graph_def()" if isinstance(graph_def, Graph) else ""
        raise TypeError(f"graph_def must be a graph_pb2.GraphDef proto. It is {graph_def!r:.80}{meant}.")
    if isinstance(dest_nodes, str):
        raise TypeError(f"dest_nodes must be a list. Of one node it is [{dest_nodes!r}].")
    names = {node.name: None for node in graph_def.node}
    for name in dest_nodes:
        if name not in names:
            raise AssertionError(f"{name} is not in graph{_meant(name, names)}")
    kept = needed_nodes(graph_def, dest_nodes)
    return graph_pb2.GraphDef(node=kept, library=graph_def.library, versions=graph_def.versions)


def _meant(name: str, nodes: Collection[str]) -> str:
    """What to ask for in place of a node that a graph does not have."""
    if ":" in name:
        return f". Nodes are named without {name[name.index(':') :]!r}."
    near = one_of(nearest_in_scopes(name, nodes))
    if near or not nodes:
        return f".{near or ' The graph has no nodes.'}"
    last = ", ".join(repr(each) for each in list(nodes)[-_SHOWN_NODES:])
    return f", which has {len(nodes)} nodes; the last are {last}."


def remove_training_nodes(
    input_graph: graph_pb2.GraphDef, protected_nodes: Collection[str] | None = None
) -> graph_pb2.GraphDef:
    """A GraphDef without nodes that change nothing at inference: identities, and checks for numbers that are none.

    A node stays when it is protected, or orders others: when it has a control input or is one.

    Args:
        input_graph: the GraphDef; it is left as it is.
        protected_nodes: names of nodes that stay, such as those of the outputs.
    """
    ordering = {node_name(name) for node in input_graph.node for name in node.input if name.startswith("^")}
    spliced: dict[str, str] = {}
    for node in input_graph.node:
        has_order = node.name in ordering or any(name.startswith("^") for name in node.input)
        if node.op in _TRAINING_OPS and node.name not in (protected_nodes or ()) and not has_order:
            spliced[node.name] = node.input[0]
    output = graph_pb2.GraphDef(library=input_graph.library, versions=input_graph.versions)
    for node in input_graph.node:
        if node.name in spliced:
            continue
        copy = output.node.add()
        copy.CopyFrom(node)
        copy.input[:] = [_behind(name, spliced) for name in node.input]
    return output


def _behind(name: str, spliced: dict[str, str]) -> str:
    while node_name(name) in spliced:
        name = spliced[node_name(name)]
    return name


def must_run_on_cpu(node: node_def_pb2.NodeDef, pin_variables_on_cpu: bool = False) -> bool:
    """Whether a node, given as an Operation or NodeDef, has no place on an accelerator.

    Args:
        node: the node.
        pin_variables_on_cpu: whether variables, and what updates them, count as such.
    """
    node_def = node if isinstance(node, node_def_pb2.NodeDef) else node.node_def
    if op_registry.role_of(node_def.op) is Role.CONSTANT and node_def.attr["dtype"].type in (
        types_pb2.DT_STRING,
        types_pb2.DT_INT32,
    ):
        return True
    if node_def.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return bool(node_def.attr["T"].type == types_pb2.DT_INT32)
    if node_def.op == "Cast":
        return types_pb2.DT_INT32 in (node_def.attr["SrcT"].type, node_def.attr["DstT"].type)
    return pin_variables_on_cpu and _is_of_variable(node_def.op)


def _is_of_variable(op_type: str) -> bool:
    """Whether ops of a type stand for variables or update them."""
    if not op_registry.is_registered(op_type):
        return False
    definition = op_registry.lookup(op_type)
    return definition.role is Role.VARIABLE or bool(definition.updates)


def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> TensorShape:
    """The shape of the tensor that an input of a NodeDef names.

    Args:
        graph: the graph with the tensor.
        input_name: an input as a NodeDef has it, such as "conv/weights:0", with or without the number.
    """
    name = input_name.lstrip("^")
    return graph.get_tensor_by_name(name if ":" in name else f"{name}:0").get_shape()
