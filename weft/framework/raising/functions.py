"""Bodies cut out of a graph, as functions of its library."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from tensorboard.compat.proto import function_pb2, graph_pb2, node_def_pb2

from weft.framework.raising.flat_graph import (
    CONTROL_TRIGGER,
    Node,
    Nodes,
    Output,
    new_node,
    type_of,
    unused_name,
    variable_behind,
    write_node,
)  # fmt: skip
from weft.framework.registry import op_registry
from weft.framework.serial.function_def import output_places
from weft.framework.types import attr_value
from weft.framework.types.attr_value import AttrValue, FunctionName
from weft.framework.types.dtypes import DType

_PREFIX: Final = "raised_argument_"


class Argument(NamedTuple):
    """An argument of a body: its type, and the node of the variable that it stands for, if any."""

    dtype: DType
    variable: Node | None


Arguments: TypeAlias = Mapping[str, Argument]
"""The arguments of a body by the names that stand for them in its nodes."""


def source_of(output: Output, nodes: Nodes, arguments: Arguments) -> Argument:
    """The type of an output or argument, and the variable behind it."""
    if output.node in arguments:
        return arguments[output.node]
    known = {name: each.variable for name, each in arguments.items() if each.variable is not None}
    return Argument(type_of(output, nodes), variable_behind(output, nodes, known))


def argument(index: int) -> Output:
    """The output that stands for an argument inside of a body."""
    return Output(f"{_PREFIX}{index}", 0)


def is_argument(output: Output) -> bool:
    """Whether an output is an argument."""
    return output.node.startswith(_PREFIX)


def add_end(nodes: Nodes, ends: Sequence[str]) -> list[str]:
    """Add one node that runs behind all of those in `ends`; returns its name, nothing for no ends.

    So a body has to keep that one node, also where those before it stand in branches of its own that are not taken.
    """
    if not ends:
        return []
    name = unused_name("ends", nodes)
    nodes[name] = new_node(CONTROL_TRIGGER, name, (), ends)
    return [name]


class Library:
    """The functions that raising makes for one graph."""

    def __init__(self, existing: Iterable[function_pb2.FunctionDef]) -> None:
        self._stateful: dict[str, bool] = {each.signature.name: each.signature.is_stateful for each in existing}
        self.added: list[function_pb2.FunctionDef] = []

    def is_stateful(self, name: str) -> bool:
        """Whether a function reads or changes state."""
        return self._stateful[name]

    def add(
        self,
        name: str,
        arguments: Sequence[Argument],
        nodes: Nodes,
        results: Sequence[tuple[Output, DType]],
        waits: Sequence[str] = (),
    ) -> FunctionName:
        """Add a body.

        Args:
            name: what its name begins with; its contents give the rest, so that equal names mean equal functions.
            arguments: its arguments, which `argument(index)` stands for in the nodes.
            nodes: its nodes.
            results: what it returns, with types.
            waits: the nodes that run whenever it does, whether a result needs them or not.
        """
        proto = function_pb2.FunctionDef()
        for index, each in enumerate(arguments):
            _add_argument(proto, index, each)
        places = {node.name: _starts(node) for node in nodes.values()}
        for node in nodes.values():
            proto.node_def.append(write_node(node, lambda output: spelt(output, places)))
        for index, (output, dtype) in enumerate(results):
            proto.signature.output_arg.add(name=f"output_{index}", type=dtype.base_dtype.as_datatype_enum)
            proto.ret[f"output_{index}"] = spelt(output, places)
        for index, wait in enumerate(waits):
            proto.signature.control_output.append(f"control_{index}")
            proto.control_ret[f"control_{index}"] = wait
        proto.signature.is_stateful = any(self._has_state(node) for node in nodes.values())
        digest = hashlib.sha256(proto.SerializeToString(deterministic=True)).hexdigest()[:12]
        proto.signature.name = f"{name.replace('/', '_')}_{digest}"
        if proto.signature.name not in self._stateful:
            self._stateful[proto.signature.name] = proto.signature.is_stateful
            self.added.append(proto)
        return FunctionName(proto.signature.name)

    def _has_state(self, node: Node) -> bool:
        return op_registry.is_registered(node.op) and op_registry.lookup(node.op).stateful


def call_attrs(**functions: FunctionName) -> dict[str, AttrValue]:
    """The AttrValues that name the bodies of a node."""
    return {key: attr_value.encode("func", name) for key, name in functions.items()}


def _add_argument(proto: function_pb2.FunctionDef, index: int, given: Argument) -> None:
    added = proto.signature.input_arg.add(name=argument(index).node, type=given.dtype.base_dtype.as_datatype_enum)
    added.is_ref = given.dtype.is_ref
    if given.variable is None:
        return
    attrs, variable = proto.arg_attr[index].attr, given.variable.proto
    attrs["_variable"].CopyFrom(attr_value.encode("string", variable.name))
    if not given.dtype.is_ref:
        attrs["_handle_dtypes"].list.type.append(variable.attr["dtype"].type)
        attrs["_handle_shapes"].list.shape.append(variable.attr["shape"].shape)


def _starts(node: Node) -> Mapping[str, int]:
    return output_places(write_node(node)) if op_registry.is_registered(node.op) else {}


def spelt(output: Output, places: Mapping[str, Mapping[str, int]]) -> str:
    """An input as a FunctionDef spells it: `argument`, or `node:output_argument:index`."""
    if is_argument(output) or output.node not in places:
        return output.node
    # Of lists without elements several begin at one place: the last one there has the output.
    starts = [(start, name) for name, start in places[output.node].items() if start <= output.number]
    start, name = max(reversed(starts), key=lambda each: each[0], default=(0, "output"))
    return f"{output.node}:{name}:{output.number - start}"


def in_graph(nodes: Nodes, library: Library, original: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """The GraphDef of raised nodes, with the library of the original one and what was added to it."""
    result = graph_pb2.GraphDef(versions=original.versions)
    result.library.CopyFrom(original.library)
    result.library.function.extend(library.added)
    result.node.extend(without_lost_groups(write_node(node), nodes) for node in nodes.values())
    return result


def without_lost_groups(proto: node_def_pb2.NodeDef, nodes: Nodes) -> node_def_pb2.NodeDef:
    """The node, no longer colocated with nodes that raising has removed."""
    if "_class" in proto.attr:
        kept = [
            item
            for item in proto.attr["_class"].list.s
            if item[5:].decode(errors="replace") in nodes or not item.startswith(b"loc:@")
        ]
        del proto.attr["_class"].list.s[:]
        proto.attr["_class"].list.s.extend(kept)
    return proto
