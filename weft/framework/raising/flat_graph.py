"""The nodes of a GraphDef in a form that can be cut apart: by name, with inputs as pairs of a node and a number."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from tensorboard.compat.proto import node_def_pb2

from weft.framework.nodes.node_types import output_types
from weft.framework.op_types.op_role import Role
from weft.framework.registry import op_registry
from weft.framework.serial.node_def_reader import naming, read_attrs
from weft.framework.serial.node_order import CycleError, inputs_first
from weft.framework.types import attr_value, dtypes
from weft.framework.types.attr_value import AttrValue
from weft.framework.types.dtypes import DType, as_dtype


class Output(NamedTuple):
    """One output of a node, or an argument of a function, whose number is 0."""

    node: str
    number: int


@dataclasses.dataclass(slots=True, eq=False)
class Node:
    """A node: `proto` has its op, device and attributes, and no inputs."""

    proto: node_def_pb2.NodeDef
    inputs: list[Output]
    waits: list[str]
    """The nodes that come before it by control edges alone."""

    @property
    def name(self) -> str:
        """The node's name."""
        name: str = self.proto.name
        return name

    @property
    def op(self) -> str:
        """The node's op type."""
        op: str = self.proto.op
        return op

    def sources(self) -> Iterable[str]:
        """The names of all nodes that it waits for."""
        yield from (each.node for each in self.inputs)
        yield from self.waits


Nodes: TypeAlias = dict[str, Node]


def new_node(
    op: str, name: str, inputs: Iterable[Output], waits: Iterable[str] = (), device: str = "", **attrs: AttrValue
) -> Node:
    """A node with attributes given as AttrValues."""
    proto = node_def_pb2.NodeDef(name=name, op=op, device=device)
    for key, value in attrs.items():
        proto.attr[key].CopyFrom(value)
    return Node(proto, list(inputs), list(dict.fromkeys(waits)))


def read_nodes(protos: Iterable[node_def_pb2.NodeDef]) -> Nodes:
    """The nodes of a GraphDef.

    Raises:
        ValueError: two have one name, an input is no tensor's name, or a node of control flow has not the inputs that its op
            takes.
    """
    nodes: Nodes = {}
    for proto in protos:
        if proto.name in nodes:
            raise ValueError(f"Node {proto.name!r} is not unique: two nodes of the GraphDef have this name")
        nodes[proto.name] = read_node(proto, functools.partial(_output, proto.name))
    return nodes


def read_node(proto: node_def_pb2.NodeDef, output: Callable[[str], Output]) -> Node:
    """A node; `output` reads the spelling of an input.

    Raises:
        ValueError: it is a node of control flow and has not the inputs, or not the type, that its op takes.
    """
    copy = node_def_pb2.NodeDef()
    copy.CopyFrom(proto)
    del copy.input[:]
    inputs = [output(item) for item in proto.input if not item.startswith("^")]
    node = Node(copy, inputs, [item[1:] for item in proto.input if item.startswith("^")])
    if node.op in CONTROL_FLOW:
        _check_control(node)
    return node


def _output(node: str, item: str) -> Output:
    name, colon, index = item.partition(":")
    if not name or (colon and not (index.isascii() and index.isdigit())):
        raise ValueError(f"Node {node!r} has input {item!r}, which is no tensor's name such as 'node:0' or 'node'")
    return Output(name, int(index or 0))


def _check_control(node: Node) -> None:
    fewest, most = (2, 2) if node.op in SWITCHES else (1, _ANY_NUMBER) if node.op in MERGES else (1, 1)
    if not fewest <= len(node.inputs) <= most:
        wanted = "at least 1 input" if most == _ANY_NUMBER else f"{fewest} input{'s' * (fewest > 1)}"
        raise ValueError(f"Node {node.name!r} has {len(node.inputs)} inputs, but op {node.op} takes {wanted}")
    if node.op == LOOP_CONDITION:
        return
    try:
        as_dtype(node.proto.attr["T"].type)
    except TypeError:
        text = f"Node {node.name!r} of op {node.op} has no attribute 'T', the type of what it hands on, or one that is no type"
        raise ValueError(text) from None


def write_node(node: Node, reference: Callable[[Output], str] | None = None) -> node_def_pb2.NodeDef:
    """The NodeDef of a node; `reference` spells its inputs, by default as a GraphDef does."""
    proto = node_def_pb2.NodeDef()
    proto.CopyFrom(node.proto)
    spelt = reference or (lambda output: f"{output.node}:{output.number}" if output.number else output.node)
    proto.input.extend(spelt(each) for each in node.inputs)
    proto.input.extend(f"^{each}" for each in node.waits)
    return proto


def in_order(nodes: Nodes, without: Collection[str] = ()) -> list[Node]:
    """The nodes so that those which one waits for come before it; edges out of nodes of the op types `without` do not count.

    Raises:
        ValueError: there is a circle of other edges.
    """

    def sources_of(node: Node) -> Iterable[Node]:
        found = [nodes.get(source) for source in node.sources()]
        return [each for each in found if each is not None and each.op not in without]

    try:
        return inputs_first(nodes.values(), sources_of)
    except CycleError as error:
        raise ValueError(f"GraphDef has a circle through node {error.node!r} that is no loop's") from None


def consumers_of(nodes: Nodes) -> dict[str, list[Node]]:
    """The nodes that take an output of each node as input."""
    found: dict[str, list[Node]] = {}
    for node in nodes.values():
        for name in dict.fromkeys(each.node for each in node.inputs):
            found.setdefault(name, []).append(node)
    return found


def closure(nodes: Nodes, wanted: Iterable[str], follow: Callable[[Output], str] = lambda output: output.node) -> Nodes:
    """The nodes that these wait for, and they themselves, as far as they are in `nodes`; `follow` tells whose an input is."""
    found: Nodes = {}
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name in found or name not in nodes:
            continue
        found[name] = nodes[name]
        waiting.extend(follow(each) for each in nodes[name].inputs)
        waiting.extend(nodes[name].waits)
    return found


def type_of(output: Output, nodes: Nodes) -> DType:
    """The dtype of an output.

    Raises:
        ValueError: its op type is unknown, or its attributes are wrong, or the node is not there.
    """
    node = nodes.get(output.node)
    if node is None:
        raise ValueError(f"Unknown input node {output.node!r}")
    if node.op in CONTROL_FLOW:
        return _type_of_control(node, output.number)
    try:
        definition = op_registry.lookup(node.op)
    except LookupError:
        raise ValueError(f"No op named {node.op} in defined operations: node {node.name!r} needs it.") from None
    with naming(node.proto):
        types = output_types(definition, read_attrs(definition, write_node(node)))
    if output.number >= len(types):
        raise ValueError(
            f"Connecting to invalid output {output.number} of source node {node.name} which has {len(types)} outputs."
        )
    return types[output.number]


def _type_of_control(node: Node, index: int) -> DType:
    if node.op == LOOP_CONDITION:
        return dtypes.bool
    if node.op in MERGES and index == 1:
        return dtypes.int32
    dtype = as_dtype(node.proto.attr["T"].type)
    return dtype._as_ref if node.op.startswith("Ref") else dtype


def variable_behind(output: Output, nodes: Nodes, known: Mapping[str, Node]) -> Node | None:
    """The node of the variable whose reference or handle an output is, None for a value; `known` tells those of arguments."""
    seen: set[Output] = set()
    while output.node in nodes and output not in seen:
        seen.add(output)
        node = nodes[output.node]
        if op_registry.role_of(node.op) is Role.VARIABLE:
            return node
        if not node.inputs or not (node.op in CONTROL_FLOW or op_registry.role_of(node.op) is Role.ALIAS):
            return None
        output = node.inputs[0]
    return known.get(output.node)


def unused_name(base: str, nodes: Nodes) -> str:
    """A name that no node has yet."""
    name, number = base, 0
    while name in nodes:
        number += 1
        name = f"{base}_{number}"
    return name


def type_attr(dtype: DType) -> AttrValue:
    """The AttrValue of a type."""
    return attr_value.encode("type", dtype.base_dtype)


def types_attr(types: Iterable[DType]) -> AttrValue:
    """The AttrValue of a list of types."""
    return attr_value.encode("list(type)", [dtype.base_dtype for dtype in types])


SWITCHES = frozenset(("Switch", "RefSwitch"))
MERGES = frozenset(("Merge", "RefMerge"))
ENTERS = frozenset(("Enter", "RefEnter"))
EXITS = frozenset(("Exit", "RefExit"))
NEXT_ITERATIONS = frozenset(("NextIteration", "RefNextIteration"))
LOOP_CONDITION = "LoopCond"
CONTROL_TRIGGER = "ControlTrigger"
DEEPEST: Final = 100
"""So deep may branches, loops or calls be inside of each other: the time that each takes grows with those around it."""
_ANY_NUMBER: Final = 1 << 31
CONTROL_FLOW = SWITCHES | MERGES | ENTERS | EXITS | NEXT_ITERATIONS | {LOOP_CONDITION}
"""The op types of control flow by dead values; none of them is left when a graph was raised."""
