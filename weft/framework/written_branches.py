"""Branches that update variables by reference, as graphs of TensorFlow have them: between Switch and Merge nodes.

A function of TensorFlow's cannot take a reference, so an If that hands one to its branches cannot be written as an If.
`weft.framework.raising` makes an If of these nodes again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from tensorboard.compat.proto import node_def_pb2

from weft.framework.dtypes import DType
from weft.framework.op_role import Role
from weft.framework.operation import Operation, Tensor

_SWITCH: Final = "Switch"


def bodies(op: Operation) -> list[Any]:
    """The functions that the node runs."""
    return [op.graph.get_function(op.attrs[name]) for name in op.op_def.bodies]


def takes_references(op: Operation) -> bool:
    """Whether the node is an If one of whose branches takes a variable's reference."""
    return op.op_def.role is Role.BRANCH and bool(op.outputs) and any(t.dtype.is_ref for f in bodies(op) for t in f.inputs)


class Branches:
    """The nodes that stand for one If, under its name.

    Args:
        op: the If.
        name: the name that the last of the nodes gets.
        waits: the control inputs.
        reference: gives the name of a tensor that was written before.
        note: told by what name a tensor of the branches, or an output of the If, is known.
        write: writes a node of a branch.
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
        self._op = op
        self._name = name
        self._reference = reference
        self._note = note
        self._write = write
        self._waits = waits
        # Where nodes are that were told to be beside an argument.
        self._beside: dict[bytes, bytes] = {}
        self.nodes: list[node_def_pb2.NodeDef] = []

    def build(self) -> list[node_def_pb2.NodeDef]:
        """The nodes, in order."""
        op = self._op
        predicate = self._reference(op.inputs[0])
        self._add(_SWITCH, "switch", [predicate, predicate, *self._waits], T=op.inputs[0].dtype)
        then, otherwise = bodies(op)
        for side, branch in ((1, then), (0, otherwise)):
            label = "true" if side else "false"
            pivot = self._add("Identity", f"pivot_{label}", [_output(f"{self._name}/switch", side)], T=op.inputs[0].dtype)
            for argument, outer in zip(branch.inputs, op.inputs[1:], strict=True):
                self._switch(f"{label}/{argument.op.name}", argument, outer, predicate, side)
            arguments = {tensor.op for tensor in branch.inputs}
            for each in branch.get_operations():
                if each not in arguments:
                    self._branch_node(each, pivot)
        self._merge(list(zip(then.outputs, otherwise.outputs, strict=True)))
        return self.nodes

    def _switch(self, name: str, argument: Tensor, outer: Tensor, predicate: str, side: int) -> None:
        by_reference = argument.dtype.is_ref and outer.dtype.is_ref
        source = self._reference(outer)
        made = self._add(
            f"Ref{_SWITCH}" if by_reference else _SWITCH, name, [source, predicate, *self._waits], T=outer.dtype.base_dtype
        )
        if by_reference:
            self.nodes[-1].attr["_class"].list.s.append(f"loc:@{source.split(':')[0]}".encode())
        self._note(argument, _output(made, side))
        self._beside[f"loc:@{argument.op.name}".encode()] = f"loc:@{source.split(':')[0]}".encode()

    def _branch_node(self, op: Operation, pivot: str) -> None:
        """A node of a branch; one that takes nothing of the branch waits until it is chosen."""
        for node in self._write(op):
            if "_class" in node.attr:
                places = [self._beside.get(place, place) for place in node.attr["_class"].list.s]
                node.attr["_class"].list.s[:] = places
            if not node.input:
                node.input.append(f"^{pivot}")
            self.nodes.append(node)

    def _merge(self, pairs: list[tuple[Tensor, Tensor]]) -> None:
        alone = len(pairs) == 1
        merged = []
        for number, (chosen, other) in enumerate(pairs):
            inputs = [self._reference(other), self._reference(chosen)]
            name = "" if alone else f"merge_{number}"
            merged.append(self._add("Merge", name, inputs, T=self._op.outputs[number].dtype.base_dtype))
            self.nodes[-1].attr["N"].i = 2
        if not alone:
            self._add("IdentityN", "", merged)
            self.nodes[-1].attr["T"].list.type.extend(t.dtype.base_dtype.as_datatype_enum for t in self._op.outputs)
        for number, tensor in enumerate(self._op.outputs):
            self._note(tensor, _output(self._name, number))

    def _add(self, op: str, name: str, inputs: list[str], **types: DType) -> str:
        node = node_def_pb2.NodeDef(
            name=f"{self._name}/{name}" if name else self._name, op=op, input=inputs, device=self._op.device
        )
        for key, dtype in types.items():
            node.attr[key].type = dtype.as_datatype_enum
        self.nodes.append(node)
        return str(node.name)


def _output(node: str, index: int) -> str:
    return f"{node}:{index}" if index else node
