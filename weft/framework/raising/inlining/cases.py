"""Case nodes turned into calls of functions that choose by If nodes, one branch after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tensorboard.compat.proto import function_pb2, graph_pb2, node_def_pb2

from weft.framework.types import attr_value, dtypes

CASES: Final = {"Case": ("If", "StatefulPartitionedCall"), "StatelessCase": ("StatelessIf", "PartitionedCall")}
"""The op types of nodes that run one of several functions, with those of the nodes that stand for them."""


def cases_as_calls(proto: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """The graph with calls in place of its Case nodes; as it is when it has none.

    A number that is no branch's chooses the last one.
    """
    if not any(node.op in CASES for node in _all_nodes(proto)):
        return proto
    result = graph_pb2.GraphDef()
    result.CopyFrom(proto)
    for node in list(_all_nodes(result)):
        if node.op in CASES:
            _replace(node, result.library)
    return result


def _all_nodes(proto: graph_pb2.GraphDef) -> Iterator[node_def_pb2.NodeDef]:
    yield from proto.node
    for function in proto.library.function:
        yield from function.node_def


def _replace(node: node_def_pb2.NodeDef, library: function_pb2.FunctionDefLibrary) -> None:
    """Make a Case node a call, and add the functions that it needs."""
    chooser, call = CASES[node.op]
    branches = [function.name for function in node.attr["branches"].list.func]
    taken = {function.signature.name for function in library.function}
    prefix = f"{node.name.replace('/', '_')}_case"
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    for number, branch in enumerate(branches):
        library.function.append(_branch(f"{prefix}_{number}", node, call, branch))
    for number in range(len(branches) - 1):
        behind = f"{prefix}_from_{number + 1}" if number + 2 < len(branches) else f"{prefix}_{number + 1}"
        library.function.append(_choice(f"{prefix}_from_{number}", node, chooser, number, (f"{prefix}_{number}", behind)))
    first = f"{prefix}_from_0" if len(branches) > 1 else f"{prefix}_0"
    types_in, types_out = list(node.attr["Tin"].list.type), list(node.attr["Tout"].list.type)
    kept = {key: value for key, value in node.attr.items() if key.startswith("_")}
    for key in list(node.attr):
        if key not in kept:
            del node.attr[key]
    node.op = call
    node.attr["Tin"].list.type.extend([dtypes.int32.as_datatype_enum, *types_in])
    node.attr["Tout"].list.type.extend(types_out)
    node.attr["f"].func.name = first


def _function(name: str, case: node_def_pb2.NodeDef) -> function_pb2.FunctionDef:
    """A function that takes a Case's inputs, its number first, and has its outputs."""
    function = function_pb2.FunctionDef()
    function.signature.name = name
    function.signature.input_arg.add(name="number", type=dtypes.int32.as_datatype_enum)
    for index, kind in enumerate(case.attr["Tin"].list.type):
        function.signature.input_arg.add(name=f"input_{index}", type=kind)
    for index, kind in enumerate(case.attr["Tout"].list.type):
        function.signature.output_arg.add(name=f"output_{index}", type=kind)
        function.ret[f"output_{index}"] = f"chosen:output:{index}"
    return function


def _inputs(case: node_def_pb2.NodeDef) -> list[str]:
    return [f"input_{index}" for index in range(len(case.attr["Tin"].list.type))]


def _branch(name: str, case: node_def_pb2.NodeDef, call: str, branch: str) -> function_pb2.FunctionDef:
    function = _function(name, case)
    node = function.node_def.add(name="chosen", op=call, input=_inputs(case))
    for key in ("Tin", "Tout"):
        node.attr[key].CopyFrom(case.attr[key])
    node.attr["f"].func.name = branch
    return function


def _choice(
    name: str, case: node_def_pb2.NodeDef, chooser: str, number: int, names: tuple[str, str]
) -> function_pb2.FunctionDef:
    function = _function(name, case)
    constant = function.node_def.add(name="own_number", op="Const")
    constant.attr["dtype"].CopyFrom(attr_value.encode("type", dtypes.int32))
    constant.attr["value"].tensor.dtype = dtypes.int32.as_datatype_enum
    constant.attr["value"].tensor.int_val.append(number)
    equal = function.node_def.add(name="is_it", op="Equal", input=["number", "own_number:output:0"])
    equal.attr["T"].CopyFrom(attr_value.encode("type", dtypes.int32))
    node = function.node_def.add(name="chosen", op=chooser, input=["is_it:z:0", "number", *_inputs(case)])
    node.attr["Tcond"].CopyFrom(attr_value.encode("type", dtypes.bool))
    node.attr["Tin"].list.type.extend([dtypes.int32.as_datatype_enum, *case.attr["Tin"].list.type])
    node.attr["Tout"].CopyFrom(case.attr["Tout"])
    node.attr["then_branch"].func.name, node.attr["else_branch"].func.name = names
    return function
