"""Frozen functions: bodies of branches and loops that took the handle of a variable, and take its value instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tensorboard.compat.proto import node_def_pb2

from weft.framework.registry import op_registry
from weft.framework.types import dtypes, tensor_util
from weft.ops.declaration import definition_of
from weft.ops.state.resource_state import read_variable_op, resource_gather

READ: Final = definition_of(read_variable_op).name
GATHER: Final = definition_of(resource_gather).name


def freeze_functions(node: node_def_pb2.NodeDef, library: Any, frozen: Mapping[str, int]) -> None:
    """Let a node, and the functions that it runs, take values where they took handles.

    Args:
        node: any NodeDef; nothing happens to one that runs no function.
        library: the GraphDef's library, which is changed.
        frozen: the types of the variables' values by the names under which the node's inputs have them.
    """
    definition = op_registry.lookup(node.op) if op_registry.is_registered(node.op) else None
    if definition is None or not definition.bodies:
        return
    # The inputs of the functions are the last of the node's, a list.
    types_attr, head = definition.inputs[-1].type_list_attr, len(definition.inputs) - 1
    places = {place - head: frozen[_plain(name)] for place, name in enumerate(node.input) if _plain(name) in frozen}
    if not places:
        return
    types = node.attr[types_attr].list.type
    for place, dtype in places.items():
        types[place] = dtype
    functions = {function.signature.name: function for function in library.function}
    for attr in node.attr.values():
        if attr.HasField("func") and attr.func.name in functions:
            _freeze(functions[attr.func.name], library, places)


def _plain(name: str) -> str:
    return name.removesuffix(":0")


def _freeze(function: Any, library: object, places: Mapping[int, int]) -> None:
    arguments = function.signature.input_arg
    frozen = {arguments[place].name: dtype for place, dtype in places.items()}
    for place, dtype in places.items():
        arguments[place].type = dtype
        arguments[place].is_ref = False
        function.arg_attr[place].attr.clear()
    for output in function.signature.output_arg:
        # A loop's body hands the argument on.
        output.type = frozen.get(function.ret[output.name], output.type)
    for node in list(function.node_def):
        if node.op == READ and node.input[0] in frozen:
            _make_identity(node)
            _rename_output(function, f"{node.name}:value:", f"{node.name}:output:")
        elif node.op == GATHER and node.input[0] in frozen:
            _make_gather(node, function)
        else:
            freeze_functions(node, library, frozen)


def _make_identity(node: node_def_pb2.NodeDef) -> None:
    node.op = "Identity"
    node.attr["T"].CopyFrom(node.attr["dtype"])
    del node.attr["dtype"]


def _rename_output(function: Any, old: str, new: str) -> None:
    for node in function.node_def:
        for place, name in enumerate(node.input):
            if name.startswith(old):
                node.input[place] = new + name[len(old) :]
    for key, name in function.ret.items():
        if name.startswith(old):
            function.ret[key] = new + name[len(old) :]


def _make_gather(node: Any, function: Any) -> None:
    axis = function.node_def.add(name=f"{node.name}/axis", op="Const")
    axis.attr["dtype"].type = dtypes.int32.as_datatype_enum
    axis.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(0, dtypes.int32))
    node.op = "GatherV2"
    node.input.append(f"{axis.name}:output:0")
    node.attr["Tparams"].CopyFrom(node.attr["dtype"])
    node.attr["Taxis"].type = dtypes.int32.as_datatype_enum
    for key in ("dtype", "validate_indices"):
        if key in node.attr:
            del node.attr[key]
