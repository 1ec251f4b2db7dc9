"""Which inputs of a loop may have rows behind those that they have, so that code made for long ones serves short ones too.

The arrays behind TensorArrays and the recorded values of a forward loop are as long as the sequences are, which is what keeps
changing where sequences of several lengths are trained on. What loops do with them is to touch rows by number: further rows
change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from weft.framework.graphs.func_graph import FuncGraph, bodies_of
from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation, Tensor
from weft.passes.bodies import body_nodes


class LongerInputs(NamedTuple):
    """Places of a loop's inputs that may get further rows, equally many; `is_checked` tells whether numbers of rows are."""

    places: list[int]
    is_checked: bool


def longer_inputs(op: Operation) -> list[LongerInputs]:
    """The inputs of a loop that may get further rows, in groups.

    The loop then makes the same values, and its results at these places have as many further rows.

    Args:
        op: a While node.
    """
    functions = bodies_of(op)
    count = len(op.inputs)
    places = {place for place in range(count) if _has_rows(functions[-1].inputs[place])}
    while True:
        traced = [_Function(function, places, count if function is functions[-1] else 0) for function in functions]
        kept = set.intersection(*(each.kept for each in traced))
        if kept == places:
            checked = set().union(*(each.checked for each in traced))
            groups = _joined(places, [alike for each in traced for alike in each.alike])
            return [LongerInputs(group, not checked.isdisjoint(group)) for group in groups]
        places = kept


def _has_rows(argument: Tensor) -> bool:
    dims = argument.dims
    return dims is None or (len(dims) > 0 and dims[0] is None)


def _joined(places: Iterable[int], alike: Iterable[set[int]]) -> list[list[int]]:
    """The places in groups, such that all that are alike are in one."""
    groups = {place: {place} for place in places}
    for members in alike:
        merged = set().union(*(groups[place] for place in members))
        groups.update(dict.fromkeys(merged, merged))
    return sorted(sorted(members) for members in {id(members): members for members in groups.values()}.values())


class _Function:
    """What a condition or a body does with its arguments at some places, which have further rows.

    Args:
        function: the condition or the body.
        places: those of the arguments.
        outputs: how many of its first outputs are the next values of the arguments: these have further rows where those do.

    Attributes:
        alike: sets of places of arguments that must have equally many rows.
        checked: the places of those whose numbers of rows are checked.
        kept: the places of those that may have further rows, as far as this function alone tells.
    """

    def __init__(self, function: FuncGraph, places: Iterable[int], outputs: int) -> None:
        self.alike: list[set[int]] = []
        self.checked: set[int] = set()
        # The arguments that each tensor with further rows has as many as.
        self._behind: dict[Tensor, set[int]] = {function.inputs[place]: {place} for place in places}
        lost: set[int] = set()
        for op in body_nodes(function):
            lost |= self._follow(op)
        for place, tensor in enumerate(function.outputs):
            behind = self._behind.get(tensor, set())
            if (place < outputs and place in places) != bool(behind):
                lost |= behind | {place}
            elif behind:
                self.alike.append(behind | {place})
        self.kept = set(places) - lost

    def _follow(self, op: Operation) -> set[int]:
        """Note what a node makes; returns the places of arguments that it uses in another way."""
        longer = [tensor for tensor in op.inputs if tensor in self._behind]
        if not longer:
            return set()
        behind = set().union(*(self._behind[tensor] for tensor in longer))
        definition = op.op_def
        if (definition.hands_on or definition.ufunc is not None) and len(longer) == len(op.inputs):
            self._behind[op.outputs[0]] = behind
            self.alike.append(behind)
            return set()
        access = definition.row_access
        if access is None or longer != _named(op, access.input):
            return behind
        if access.keeps:
            self._behind[op.outputs[0]] = behind
        if access.is_checked:
            self.checked |= behind
        return set()


def _named(op: Operation, name: str) -> list[Tensor]:
    return [tensor for arg, tensor in group(op.op_def.inputs, op.attrs, op.inputs) if arg.name == name]
