"""BodyNodes: the functions of an If or a While as nodes among those of a graph, as TensorFlow's first version has them.

A function of TensorFlow's cannot take a reference, so what hands a variable's reference to its functions cannot be written as
an If or a While. `weft.framework.raising` makes those of the nodes again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from tensorboard.compat.proto import node_def_pb2

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import DType

_OPENED: Final = frozenset((Role.BRANCH, Role.LOOP))


def bodies(op: Operation) -> list[Any]:
    """The functions that the node runs."""
    return [op.graph.get_function(op.attrs[name]) for name in op.op_def.bodies]


def takes_references(op: Operation) -> bool:
    """Whether the node is an If or a While one of whose functions takes a variable's reference."""
    if op.op_def.role not in _OPENED or not op.outputs or not any(tensor.dtype.is_ref for tensor in op.inputs):
        return False
    return any(tensor.dtype.is_ref for function in bodies(op) for tensor in function.inputs)


class BodyNodes:
    """The nodes that stand for one node with functions, below its name.

    Args:
        op: the node.
        name: the name that the last of the nodes gets.
        waits: the control inputs.
        reference: gives the name of a tensor that was written before.
        note: told by what name a tensor of the functions, or an output of the node, is known.
        write: writes a node of a function.
    """

    def __init__(
        self,
        op: Operation,
        name: str,
        waits: list[str],
        reference: Callable[[Tensor], str],
        note: Callable[[Tensor, str], None],
        write: Callable[[Operation], Iterable[node_def_pb2.NodeDef]],
    ) -> None:
        self.op = op
        self.name = name
        self.waits = waits
        self.reference = reference
        self._note = note
        self._write = write
        # Where nodes are that were told to be beside an argument.
        self._beside: dict[bytes, bytes] = {}
        self.nodes: list[node_def_pb2.NodeDef] = []

    def add(self, op: str, name: str, inputs: list[str], **types: DType) -> str:
        """Add a node below the name, or of that name for ''; returns its whole name."""
        node = node_def_pb2.NodeDef(
            name=f"{self.name}/{name}" if name else self.name, op=op, input=inputs, device=self.op.device
        )
        for key, dtype in types.items():
            node.attr[key].type = dtype.as_datatype_enum
        self.nodes.append(node)
        return str(node.name)

    def beside(self, source: str) -> None:
        """Have the node that was added last stand where another is."""
        self.nodes[-1].attr["_class"].list.s.append(_place(source))

    def bind(self, argument: Tensor, outer: Tensor, inside: str) -> None:
        """Let an argument of a function, which is given `outer`, be known by a name within."""
        self._note(argument, inside)
        self._beside[_place(argument.op.name)] = _place(self.reference(outer))

    def write(self, function: Any, pivot: str, constants: Iterable[Tensor] = ()) -> None:
        """Write the nodes of a function; one that takes nothing, or only `constants`, waits for the pivot."""
        arguments, free = {tensor.op for tensor in function.inputs}, set(constants)
        for op in function.get_operations():
            if op not in arguments:
                waits = bool(free) and bool(op.inputs) and free.issuperset(op.inputs)
                self._write_node(op, f"^{pivot}", waits)

    def _write_node(self, op: Operation, pivot: str, waits: bool) -> None:
        for node in self._write(op):
            if "_class" in node.attr:
                places = [self._beside.get(place, place) for place in node.attr["_class"].list.s]
                node.attr["_class"].list.s[:] = places
            if waits or not node.input:
                node.input.append(pivot)
            self.nodes.append(node)

    def give(self, results: list[str], dtypes: list[DType]) -> None:
        """Let these, which are several, be the outputs."""
        self.add("IdentityN", "", results)
        self.nodes[-1].attr["T"].list.type.extend(dtype.as_datatype_enum for dtype in dtypes)

    def note_outputs(self) -> None:
        """Let the node's outputs be those of the last node."""
        for number, tensor in enumerate(self.op.outputs):
            self._note(tensor, output(self.name, number))


def output(node: str, index: int) -> str:
    """An output of a node, as a GraphDef names it."""
    return f"{node}:{index}" if index else node


def _place(source: str) -> bytes:
    return f"loc:@{source.split(':')[0]}".encode()
