"""Which stacks of recording loops are written as TensorLists from end to end, rather than made to tensors behind the loop.

A list takes values that differ in shape from one iteration to the next, which a tensor cannot hold. It is possible where
nothing but loops backwards use the stack: they take single values out of it, and ask for its length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from weft.framework.nodes.graph_elements import Elements
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.registry import op_registry
from weft.framework.registry.tensorflow_form import Lists

_LOOPS: Final = frozenset((Role.LOOP, Role.RECORDING_LOOP))


def recorded_lists(graph: Elements) -> dict[Tensor, int]:
    """The tensors of a graph and its functions that are written as lists: 1 for a list of values, 2 for one of such lists."""
    functions = graph.functions.values()
    users: dict[str, list[Operation]] = {}
    for op in [*graph.get_operations(), *(op for function in functions for op in function.get_operations())]:
        for attr in op.op_def.bodies:
            users.setdefault(str(op.attrs[attr]), []).append(op)
    loops = {op for ops in users.values() for op in ops if op.op_def.role is Role.RECORDING_LOOP}
    lists: dict[Tensor, int] = {}
    # Loops inside of others first: a list of theirs is what those around record.
    for loop in sorted(loops, key=lambda op: -_depth(op.graph)):
        for tensor in loop.outputs[len(loop.inputs) :]:
            dims = None if tensor.dims is None else tensor.dims[1:]
            if tensor not in lists and (dims is None or None in dims):
                found: dict[Tensor, int] = {}
                if _Uses(users, lists, found).fit(tensor, 1):
                    lists.update(found)
    return lists


def _depth(graph: Elements) -> int:
    outer = getattr(graph, "outer_graph", None) if getattr(graph, "has_outer_graph", False) else None
    return 0 if outer is None else 1 + _depth(outer)


class _Uses:
    """The walk over all that a stack reaches."""

    def __init__(self, users: Mapping[str, list[Operation]], lists: Lists, found: dict[Tensor, int]) -> None:
        self._users = users
        self._lists = lists
        self._found = found

    def fit(self, tensor: Tensor, depth: int) -> bool:
        """Whether all that uses a tensor can take a list in its place."""
        if tensor in self._found:
            return self._found[tensor] == depth
        if tensor in self._lists:
            return False
        self._found[tensor] = depth
        return self._returned(tensor, depth) and all(self._taken(op, tensor, depth) for op in set(tensor.consumers()))

    def _returned(self, tensor: Tensor, depth: int) -> bool:
        """Whether the nodes that run the function of a tensor can return a list for it."""
        function: Any = tensor.op.graph
        places = [place for place, each in enumerate(getattr(function, "outputs", ())) if each is tensor]
        for op in self._users.get(function.name, ()) if places else ():
            if op.op_def.role not in _LOOPS:
                return False
            count = len(op.inputs)
            for place in places:
                if place < count and function.inputs[place] is not tensor:
                    return False
                if not self.fit(op.outputs[place], depth if place < count else depth + 1):
                    return False
        return True

    def _taken(self, op: Operation, tensor: Tensor, depth: int) -> bool:
        places = [place for place, each in enumerate(op.inputs) if each is tensor]
        if op.op_def.bodies:
            return all(self._passed(op, place, depth) for place in places)
        if not op_registry.takes_list(op.type, places):
            return False
        # A value out of a list of lists is a list.
        return depth == 1 or op.op_def.shape_only or self.fit(op.outputs[0], depth - 1)

    def _passed(self, op: Operation, place: int, depth: int) -> bool:
        first = len(op.op_def.inputs) - 1
        functions = [op.graph.get_function(op.attrs[attr]) for attr in op.op_def.bodies]
        if place < first or (op.op_def.role in _LOOPS and functions[-1].outputs[place] is not functions[-1].inputs[place]):
            return False
        return all(self.fit(function.inputs[place - first], depth) for function in functions)
