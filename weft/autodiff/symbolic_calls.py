"""The nodes that stand for a SymbolicGradient: the function's own, and those of its gradient."""

from __future__ import annotations

from collections.abc import Sequence

from tensorboard.compat.proto import function_pb2, graph_pb2, node_def_pb2

from weft.autodiff.gradients import gradients
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import Graph
from weft.framework.importing.importer import import_graph_def
from weft.framework.nodes.operation import Tensor
from weft.framework.raising.inlining.symbolic import register_maker
from weft.framework.serial.graph_def import to_graph_def
from weft.ops.array.filling import zeros_like


def _nodes_of(graph: graph_pb2.GraphDef, node: node_def_pb2.NodeDef) -> graph_pb2.GraphDef:
    """What takes the place of a SymbolicGradient node: its name stays, with the gradients as its outputs."""
    function = _function(graph, node)
    arguments = len(function.signature.input_arg)
    if len(node.attr["Tin"].list.type) != arguments + len(function.signature.output_arg):
        raise ValueError(
            f"SymbolicGradient {node.name!r} has {len(node.attr['Tin'].list.type)} inputs for function "
            f"{function.signature.name!r} of {arguments} arguments and {len(function.signature.output_arg)} results"
        )
    inner = Graph()
    with inner.as_default():
        import_graph_def(_call(graph, node, function), name="")
        xs, grads = _tensors(inner, "in", arguments), _tensors(inner, "grad", len(function.signature.output_arg))
        found = gradients(_tensors(inner, "out", len(grads)), xs, grads)
        results = [zeros_like(x) if each is None else convert_to_tensor(each) for x, each in zip(xs, found, strict=True)]
    return _placed(to_graph_def(inner), node, arguments, [result.name for result in results])


def _function(graph: graph_pb2.GraphDef, node: node_def_pb2.NodeDef) -> function_pb2.FunctionDef:
    name = node.attr["f"].func.name
    found = next((each for each in graph.library.function if each.signature.name == name), None)
    if found is None:
        raise ValueError(f"SymbolicGradient {node.name!r} is of {name!r}, which the graph's library does not have")
    return found


def _tensors(graph: Graph, name: str, count: int) -> list[Tensor]:
    return [graph.get_tensor_by_name(f"{name}{number}:0") for number in range(count)]


def _call(graph: graph_pb2.GraphDef, node: node_def_pb2.NodeDef, function: function_pb2.FunctionDef) -> graph_pb2.GraphDef:
    """A graph of the function's arguments, its call, its results, and their gradients' values."""
    made = graph_pb2.GraphDef(versions=graph.versions, library=graph.library)
    types = list(node.attr["Tin"].list.type)
    arguments = len(function.signature.input_arg)
    for number, kind in enumerate(types):
        name = f"in{number}" if number < arguments else f"grad{number - arguments}"
        made.node.add(name=name, op="Placeholder").attr["dtype"].type = kind
    call = made.node.add(name="call", op=function.signature.name, input=[f"in{number}" for number in range(arguments)])
    for key, value in node.attr["f"].func.attr.items():
        call.attr[key].CopyFrom(value)
    for number, kind in enumerate(types[arguments:]):
        made.node.add(name=f"out{number}", op="Identity", input=[f"call:{number}"]).attr["T"].type = kind
    return made


def _placed(made: graph_pb2.GraphDef, node: node_def_pb2.NodeDef, arguments: int, results: Sequence[str]) -> graph_pb2.GraphDef:
    """The nodes under the name of the node whose place they take, with its inputs for the placeholders."""
    given = [each for each in node.input if not each.startswith("^")]
    waits = [each for each in node.input if each.startswith("^")]
    outer: dict[str, str] = {
        f"in{number}" if number < arguments else f"grad{number - arguments}": source for number, source in enumerate(given)
    }

    def renamed(source: str) -> str:
        if source.startswith("^"):
            return f"^{node.name}/{source[1:]}"
        name, _, number = source.partition(":")
        return outer.get(name, f"{node.name}/{name}{f':{number}' if number else ''}")

    placed = graph_pb2.GraphDef(library=made.library)
    for each in made.node:
        if each.name in outer:
            continue
        copy = placed.node.add()
        copy.CopyFrom(each)
        copy.name, copy.device = f"{node.name}/{each.name}", each.device or node.device
        del copy.input[:]
        copy.input.extend(renamed(source) for source in each.input if source.lstrip("^") not in outer or source[0] != "^")
        copy.input.extend(wait for wait in waits if wait not in copy.input)
    last = placed.node.add(name=node.name, op="IdentityN", device=node.device, input=[renamed(result) for result in results])
    last.attr["T"].list.type.extend(node.attr["Tout"].list.type)
    last.input.extend(waits)
    return placed


register_maker(_nodes_of)
