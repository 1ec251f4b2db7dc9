"""Calls of functions replaced by the nodes of the functions.

A call is a PartitionedCall or StatefulPartitionedCall node, or a node whose op type is a function's name. Its place is taken
by an IdentityN of its name, or by a NoOp for a function without results; this waits for what has to run whenever the function
does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tensorboard.compat.proto import attr_value_pb2, function_pb2, graph_pb2, node_def_pb2

from weft.framework.raising.flat_graph import (
    Node,
    Nodes,
    Output,
    new_node,
    read_node,
    read_nodes,
    unused_name,
    write_node,
)
from weft.framework.raising.functions import spelt, without_lost_groups
from weft.framework.raising.inlining.call_sizes import check_sizes
from weft.framework.registry import op_registry
from weft.framework.serial.function_def import output_places
from weft.framework.types.attr_value import AttrValue

CALLS: Final = frozenset(("PartitionedCall", "StatefulPartitionedCall"))


def inline_calls(proto: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """The graph with the nodes of functions in place of their calls, in the bodies of its library too.

    A graph without calls is returned as it is.

    Raises:
        ValueError: a function that is called is not in the library, is given a wrong number of inputs, or calls itself; or
            there are more than 100,000 nodes in the functions that are called.
    """
    library = {function.signature.name: function for function in proto.library.function}
    inliner = _Inliner(library)
    if not inliner.has_calls(proto.node) and not any(inliner.has_calls(each.node_def) for each in proto.library.function):
        return proto
    check_sizes(proto, inliner.called)
    result = graph_pb2.GraphDef(versions=proto.versions)
    nodes = inliner.expanded(read_nodes(proto.node))
    result.node.extend(without_lost_groups(write_node(node), nodes) for node in nodes.values())
    result.library.gradient.extend(proto.library.gradient)
    result.library.function.extend(inliner.expanded_function(function) for function in proto.library.function)
    return result


# Of Switch, Merge and their forms for references, the outputs that are not the first.
_SECOND: Final = {"output_true": 1, "value_index": 1}


class _Body(NamedTuple):
    """A function in the form of a graph: what it returns and what has to run, as outputs and names of its nodes."""

    nodes: Nodes
    results: Sequence[Output]
    ends: Sequence[str]


class _Inliner:
    def __init__(self, library: Mapping[str, function_pb2.FunctionDef]) -> None:
        self._library = library

    def has_calls(self, nodes: Sequence[node_def_pb2.NodeDef]) -> bool:
        return any(self._is_call(node.op) for node in nodes)

    def _is_call(self, op: str) -> bool:
        return op in CALLS or (op in self._library and not op_registry.is_registered(op))

    def called(self, node: node_def_pb2.NodeDef) -> str:
        """The name of the function that a node calls; '' for a node that is no call."""
        if node.op in CALLS:
            return str(node.attr["f"].func.name)
        return str(node.op) if self._is_call(node.op) else ""

    def expanded(self, nodes: Nodes) -> Nodes:
        """The nodes with those of the functions that they call."""
        result: Nodes = {}
        for node in nodes.values():
            if self._is_call(node.op):
                result.update(self._called(node, nodes))
            else:
                result[node.name] = node
        return result

    def expanded_function(self, function: function_pb2.FunctionDef) -> function_pb2.FunctionDef:
        """A function of the library with its calls replaced."""
        if not self.has_calls(function.node_def):
            return function
        body = self._body(function, {})
        result = function_pb2.FunctionDef()
        result.CopyFrom(function)
        del result.node_def[:]
        places = {name: output_places(write_node(node)) for name, node in body.nodes.items() if _is_known(node)}
        result.node_def.extend(write_node(node, lambda output: spelt(output, places)) for node in body.nodes.values())
        for arg, output in zip(function.signature.output_arg, body.results, strict=True):
            result.ret[arg.name] = spelt(output, places)
        return result

    def _called(self, call: Node, around: Nodes) -> Nodes:
        function, values = self._function_of(call)
        arguments = [arg.name for arg in function.signature.input_arg]
        if len(arguments) != len(call.inputs):
            raise ValueError(f"Node {call.name!r} calls {function.signature.name!r}, which takes {len(arguments)} inputs, with "
                             f"{len(call.inputs)}")  # fmt: skip
        body = self._body(function, values)
        result: Nodes = {}
        given = dict(zip((Output(name, 0) for name in arguments), self._waiting(call, function, result), strict=True))

        def outside(output: Output) -> Output:
            return given[output] if output in given else Output(f"{call.name}/{output.node}", output.number)

        for node in body.nodes.values():
            waits = [f"{call.name}/{wait}" for wait in node.waits if wait not in arguments]
            inputs = [outside(each) for each in node.inputs]
            copy = node_def_pb2.NodeDef()
            copy.CopyFrom(node.proto)
            copy.name = f"{call.name}/{node.name}"
            groups = copy.attr["_class"].list.s if "_class" in copy.attr else []
            for index, group in enumerate(groups):
                if group.startswith(b"loc:@") and group[5:].decode(errors="replace") in body.nodes:
                    groups[index] = b"loc:@" + f"{call.name}/".encode() + group[5:]
            if "frame_name" in copy.attr:
                # Each call of the function has loops of its own.
                copy.attr["frame_name"].s = f"{call.name}/".encode() + copy.attr["frame_name"].s
            copy.device = copy.device or call.proto.device
            result[copy.name] = Node(copy, inputs, waits if inputs or waits else list(call.waits))
        ends = [f"{call.name}/{name}" for name in body.ends]
        result[call.name] = _result(call, function, values, [outside(each) for each in body.results], ends or call.waits)
        return result

    def _waiting(self, call: Node, function: function_pb2.FunctionDef, result: Nodes) -> list[Output]:
        """The call's inputs, behind what the call waits for."""
        if not call.waits:
            return call.inputs
        passed = []
        for arg, given in zip(function.signature.input_arg, call.inputs, strict=True):
            name = unused_name(f"{call.name}/{arg.name}/given", result)
            kind = attr_value_pb2.AttrValue(type=arg.type)
            if arg.type == 0 or arg.is_ref:
                passed.append(given)  # its type is the caller's choice: what uses it still waits where it has no other input
                continue
            result[name] = new_node("Identity", name, [given], call.waits, call.proto.device, T=kind)
            passed.append(Output(name, 0))
        return passed

    def _function_of(self, call: Node) -> tuple[function_pb2.FunctionDef, Mapping[str, AttrValue]]:
        """The function that a node calls, and the values of its attributes."""
        name = self.called(call.proto)
        values = call.proto.attr["f"].func.attr if call.op in CALLS else call.proto.attr
        if name not in self._library:
            raise ValueError(f"Node {call.name!r} calls function {name!r}, which is not in the GraphDef's library")
        return self._library[name], values

    def _body(self, function: function_pb2.FunctionDef, values: Mapping[str, AttrValue]) -> _Body:
        places = {node.name: self._places(node, values) for node in function.node_def}
        arguments = {arg.name for arg in function.signature.input_arg}

        def output(item: str) -> Output:
            parts = item.split(":")
            if parts[0] in arguments or len(parts) == 1:
                return Output(parts[0], 0)
            start = places[parts[0]].get(parts[1], 0) if parts[0] in places else 0
            return Output(parts[0], start + int(parts[2] if len(parts) > 2 else 0))

        nodes = {proto.name: read_node(_with_values(proto, values), output) for proto in function.node_def}
        unsaid = [arg.name for arg in function.signature.output_arg if not function.ret.get(arg.name)]
        if unsaid:
            raise ValueError(f"Function {function.signature.name!r} does not say what it returns for {', '.join(unsaid)}")
        results = [output(function.ret[arg.name]) for arg in function.signature.output_arg]
        return _Body(self.expanded(nodes), results, list(function.control_ret.values()))

    def _places(self, node: node_def_pb2.NodeDef, values: Mapping[str, AttrValue]) -> Mapping[str, int]:
        """Where each output argument of a node begins among its outputs."""
        if node.op in CALLS:
            return {"output": 0}
        if self._is_call(node.op):
            return {arg.name: index for index, arg in enumerate(self._library[node.op].signature.output_arg)}
        return output_places(_with_values(node, values)) if op_registry.is_registered(node.op) else _SECOND


def _is_known(node: Node) -> bool:
    return op_registry.is_registered(node.op)


def _with_values(node: node_def_pb2.NodeDef, values: Mapping[str, AttrValue]) -> node_def_pb2.NodeDef:
    """A node, its attributes with the values of the call where the function leaves them open."""
    copy = node_def_pb2.NodeDef()
    copy.CopyFrom(node)
    for key, attr in node.attr.items():
        if attr.HasField("placeholder") and attr.placeholder in values:
            copy.attr[key].CopyFrom(values[attr.placeholder])
    return copy


def _result(
    call: Node,
    function: function_pb2.FunctionDef,
    values: Mapping[str, AttrValue],
    results: Sequence[Output],
    ends: Sequence[str],
) -> Node:
    if not results:
        return new_node("NoOp", call.name, (), ends, call.proto.device)
    types = attr_value_pb2.AttrValue()
    for arg in function.signature.output_arg:
        types.list.type.append(arg.type or values[arg.type_attr].type)
    return new_node("IdentityN", call.name, results, ends, call.proto.device, T=types)
