"""Functions in their serial form: FuncGraph to FunctionDef and back.

In a FunctionDef an input is an argument's name or `node:output_argument:index`, in a graph it is `node:output`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from tensorboard.compat.proto import function_pb2, graph_pb2, node_def_pb2

from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.registry import op_registry
from weft.framework.serial.node_def_reader import naming, unknown_op
from weft.framework.serial.node_writer import NodeWriter
from weft.framework.types import attr_value
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.tensor_shape import as_dims


def to_function_def(function: Any, writer: NodeWriter | None = None) -> function_pb2.FunctionDef:
    """The FunctionDef of a finished body, whose nodes the writer writes."""
    write = writer or NodeWriter(reference)
    proto = function_pb2.FunctionDef()
    proto.signature.name = function.name
    arguments = {tensor.op for tensor in function.inputs}
    for index, tensor in enumerate(function.inputs):
        dtype, dims = write.type_and_dims(tensor)
        proto.signature.input_arg.add(name=tensor.op.name, type=dtype.base_dtype.as_datatype_enum, is_ref=dtype.is_ref)
        _add_argument_attrs(proto, index, tensor, dims)
    for index, tensor in enumerate(function.outputs):
        name = f"output_{index}"
        proto.signature.output_arg.add(name=name, type=write.type_and_dims(tensor)[0].base_dtype.as_datatype_enum)
    for index, op in enumerate(function.control_outputs):
        proto.signature.control_output.append(f"control_{index}")
        proto.control_ret[f"control_{index}"] = op.name
    nodes = [op for op in function.get_operations() if op not in arguments]
    proto.node_def.extend(written for op in nodes for written in write(op))
    for index, tensor in enumerate(function.outputs):
        proto.ret[f"output_{index}"] = write.reference(tensor)
    proto.signature.is_stateful = any(op.op_def.stateful for op in nodes)
    return proto


def _add_argument_attrs(proto: function_pb2.FunctionDef, index: int, tensor: Tensor, dims: Dims) -> None:
    attrs = proto.arg_attr[index].attr
    attrs["_output_shapes"].CopyFrom(attr_value.encode("list(shape)", [dims]))
    if "_variable" in tensor.op.attrs:
        attrs["_variable"].CopyFrom(attr_value.encode("string", tensor.op.attrs["_variable"]))
    if "_handle_dtype" in tensor.op.attrs:
        attrs["_handle_dtypes"].CopyFrom(attr_value.encode("list(type)", [tensor.op.attrs["_handle_dtype"]]))
        attrs["_handle_shapes"].CopyFrom(attr_value.encode("list(shape)", [tensor.op.attrs["_handle_shape"]]))


def reference(tensor: Tensor, node: str) -> str:
    """A tensor of a body as a FunctionDef names it; `node` is the name of the node that makes it."""
    if tensor.op.op_def.role is Role.ARGUMENT:
        return node
    left = tensor.value_index
    for arg, members in group(tensor.op.op_def.outputs, tensor.op.attrs, tensor.op.outputs):
        count = len(members) if isinstance(members, list) else 1
        if left < count:
            return f"{node}:{arg.name}:{left}"
        left -= count
    raise AssertionError(f"unreachable: {tensor} is an output of its node")


def functions_of(ops: Iterable[Operation], library: Mapping[str, Any]) -> list[Any]:
    """The functions that nodes run, and those that nodes in these run."""
    found: dict[str, Any] = {}
    waiting = list(ops)
    while waiting:
        op = waiting.pop()
        for attr in (*op.op_def.bodies, *op.op_def.calls):
            name = op.attrs[attr]
            if name not in found:
                found[name] = library[name]
                waiting.extend(library[name].get_operations())
    return [found[name] for name in sorted(found)]


def functions_named_by(nodes: Iterable[node_def_pb2.NodeDef], known: Set[str]) -> set[str]:
    """The names among the known ones that nodes of a GraphDef have as attributes, or as their ops."""
    found: set[str] = set()
    for node in nodes:
        found.add(node.op)
        for attr in node.attr.values():
            if attr.HasField("func"):
                found.add(attr.func.name)
            elif attr.HasField("list"):
                found.update(each.name for each in attr.list.func)
    return found & known


def functions_run_by(nodes: Iterable[node_def_pb2.NodeDef], library: function_pb2.FunctionDefLibrary) -> set[str]:
    """The names of the functions that nodes of a GraphDef run, and those that nodes in these run."""
    functions = {function.signature.name: function for function in library.function}
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        names = functions_named_by((waiting.pop(),), functions.keys())
        for name in names - found:
            waiting.extend(functions[name].node_def)
        found |= names
    return found


def body_graph_def(proto: function_pb2.FunctionDef) -> graph_pb2.GraphDef:
    """The nodes of a function as a graph's; its arguments are nodes that are not among them."""
    arguments = {arg.name for arg in proto.signature.input_arg}
    outputs = {node.name: output_places(node) for node in proto.node_def}
    result = graph_pb2.GraphDef()
    for node in proto.node_def:
        copy = result.node.add()
        copy.CopyFrom(node)
        del copy.input[:]
        copy.input.extend(_graph_input(name, arguments, outputs) for name in node.input)
    return result


def output_places(node: node_def_pb2.NodeDef) -> dict[str, int]:
    """Where each output argument of a node begins among its outputs."""
    try:
        definition = op_registry.lookup(node.op)
    except LookupError:
        raise unknown_op(node) from None
    places, start = {}, 0
    with naming(node):
        attrs = {key: attr_value.decode(value) for key, value in node.attr.items()}
        for key, attr in definition.attrs.items():
            attrs.setdefault(key, attr.default)
        for arg in definition.outputs:
            places[arg.name] = start
            if arg.type_list_attr:
                start += len(attrs[arg.type_list_attr])
            else:
                start += attrs[arg.number_attr] if arg.number_attr else 1
    return places


def _graph_input(name: str, arguments: Iterable[str], outputs: Mapping[str, Mapping[str, int]]) -> str:
    if name.startswith("^") or name in arguments or ":" not in name:
        return name
    parts = name.split(":")
    place = outputs[parts[0]][parts[1]] + int(parts[2] if len(parts) > 2 else 0)
    return f"{parts[0]}:{place}"


def add_arguments(function: Any, proto: function_pb2.FunctionDef) -> None:
    """Give an empty body the arguments of a FunctionDef."""
    for index, arg in enumerate(proto.signature.input_arg):
        attrs = {key: attr_value.decode(value) for key, value in proto.arg_attr[index].attr.items()}
        shapes = attrs.get("_output_shapes") or [None]
        extra = {"_variable": attrs["_variable"]} if "_variable" in attrs else {}
        if attrs.get("_handle_dtypes"):
            extra.update(_handle_dtype=attrs["_handle_dtypes"][0], _handle_shape=attrs["_handle_shapes"][0])
        dtype = as_dtype(arg.type)
        function.add_argument(arg.name, dtype._as_ref if arg.is_ref else dtype, as_dims(shapes[0]), exact=True, **extra)


def add_results(function: Any, proto: function_pb2.FunctionDef) -> None:
    """Tell a body whose nodes are there what it returns."""
    arguments = {arg.name for arg in proto.signature.input_arg}
    outputs = {node.name: output_places(node) for node in proto.node_def}
    for arg in proto.signature.output_arg:
        name = _graph_input(proto.ret[arg.name], arguments, outputs)
        function.outputs.append(function.get_tensor_by_name(name if ":" in name else f"{name}:0"))
    function.control_outputs = [
        function.get_operation_by_name(proto.control_ret[name]) for name in proto.signature.control_output
    ]
