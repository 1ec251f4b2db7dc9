"""fold_constants: constants in the place of what follows of constants alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from tensorboard.compat.proto import graph_pb2, node_def_pb2

from weft.client.graph_transforms.nodes import constant, is_stateless, needed_for, with_nodes
from weft.client.graph_transforms.request import Request
from weft.client.session import Session
from weft.errors import InvalidArgumentError, OpError
from weft.framework.graphs.graph import Graph
from weft.framework.importing.importer import import_graph_def
from weft.framework.importing.subgraph import node_name
from weft.framework.serial.node_order import in_order
from weft.framework.types import dtypes
from weft.platform.logs import tf_logging

# As TensorFlow has it: greater constants would make files of graphs larger than what computes them.
_LARGEST_BYTES: Final = 10 * 1024 * 1024
_FLOW: Final = frozenset((
    "Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond", "ControlTrigger", "RefSwitch", "RefMerge", "RefEnter",
    "RefExit", "RefNextIteration",
))  # fmt: skip


def fold_constants(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    """The nodes that the outputs need, with constants in the place of those that follow of constants.

    With `ignore_errors=true` the graph stays as it is where that cannot be computed; with `clear_output_shapes=false` nodes
    keep the shapes that are written on them.
    """
    needed = with_nodes(graph, needed_for(graph, request))
    for node in needed.node:
        if node.name in request.inputs and node.op not in ("Placeholder", "PlaceholderWithDefault"):
            raise InvalidArgumentError.of(
                f"Input '{node.name}' was expected to be a Placeholder or PlaceholderWithDefault op, but was {node.op}: "
                "strip_unused_nodes makes inputs placeholders"
            )
        if request.flag("clear_output_shapes", True):
            node.attr.pop("_output_shapes", None)
    try:
        return _folded(needed, request)
    except (OpError, ValueError, TypeError) as error:
        if not request.flag("ignore_errors", False):
            raise
        tf_logging.warning("fold_constants: the graph stays as it is: %s", error)
        return graph


def _folded(graph: graph_pb2.GraphDef, request: Request) -> graph_pb2.GraphDef:
    refused: set[str] = set(request.inputs)
    while True:
        follows = _following(graph, refused)
        wanted = sorted(set(_read_elsewhere(graph, follows, request.outputs)))
        values = _values(with_nodes(graph, [node for node in graph.node if node.name in follows]), wanted)
        too_much = {node_name(item) for item, value in values.items() if not _may_be_written(value)}
        if not too_much:
            known = {item: value for item, value in values.items() if value is not None}
            return _with_constants(graph, request, follows, known)
        refused |= too_much


def _following(graph: graph_pb2.GraphDef, refused: set[str]) -> set[str]:
    """The nodes that follow of constants alone, which are some of them."""
    follows: set[str] = set()
    for node in in_order(graph, {node.name for node in graph.node}):
        if node.name in refused or node.op in _FLOW or not is_stateless(node):
            continue
        if (node.op == "Const" and not node.input) or (
            node.input and all(not item.startswith("^") and node_name(item) in follows for item in node.input)
        ):
            follows.add(node.name)
    return follows


def _read_elsewhere(graph: graph_pb2.GraphDef, follows: set[str], outputs: Sequence[str]) -> Iterator[str]:
    """The outputs of such nodes, constants left out, that other nodes or the program read."""
    kinds = {node.name: node.op for node in graph.node}
    for node in graph.node:
        items = [item for item in node.input if node.name not in follows] + [node.name for name in outputs if name == node.name]
        for item in items:
            name = node_name(item)
            if name in follows and kinds[name] != "Const" and not item.startswith("^"):
                yield item if ":" in item else f"{item}:0"


def _values(graph: graph_pb2.GraphDef, wanted: Sequence[str]) -> dict[str, np.ndarray | None]:
    """What outputs are; None for those that no constant can hold."""
    with Graph().as_default() as made:
        import_graph_def(graph, name="")
        held = (dtypes.resource, dtypes.variant)
        plain = [item for item in wanted if made.get_tensor_by_name(item).dtype not in held]
        with Session() as session:
            values = session.run(plain)
    return {**dict.fromkeys(wanted), **{item: np.asarray(value) for item, value in zip(plain, values, strict=True)}}


def _may_be_written(value: np.ndarray | None) -> bool:
    return value is not None and value.nbytes <= _LARGEST_BYTES


def _with_constants(
    graph: graph_pb2.GraphDef, request: Request, follows: set[str], values: dict[str, np.ndarray]
) -> graph_pb2.GraphDef:
    """The graph with the values, under the names of the nodes that they are of; that of a later output has its number."""
    names = {item: item.removesuffix(":0").replace(":", "/output_") for item in values}
    made = [constant(names[item], values[item]) for item in values]
    taken = set(names.values())
    for node in graph.node:
        if node.name in taken:
            continue
        copy = node_def_pb2.NodeDef()
        copy.CopyFrom(node)
        for place, item in enumerate(node.input):
            full = item if ":" in item else f"{item}:0"
            if node.name not in follows and full in names:
                copy.input[place] = names[full]
        made.append(copy)
    whole = with_nodes(graph, made)
    left = {node.name for node in needed_for(whole, request)}
    return with_nodes(whole, [node for node in in_order(whole, {each.name for each in made}) if node.name in left])
