"""The order in which a function's nodes read and change state: that of the lines which made them."""

from __future__ import annotations

from typing import Final

from weft.framework.graphs.func_graph import FuncGraph, bodies_of
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import resource

# Prints, assertions and calls of Python have no variable by which to tell their order.
_WITHOUT_STATE: Final = object()


def order_effects(graph: FuncGraph) -> None:
    """Let nodes of a function that read or change one variable, queue or table run in the order in which they were made.

    All that change something run whenever the function does. The bodies of its branches and loops are ordered alike.
    """
    last: dict[object, Operation] = {}
    effects: list[Operation] = []
    for op in graph.get_operations():
        for body in bodies_of(op) if op.op_def.bodies else ():
            if not body.control_outputs:
                with body.reopened():
                    order_effects(body)
        if not _has_effect(op):
            continue
        effects.append(op)
        keys: list[object] = [_key(tensor) for tensor in op.inputs if _is_state(tensor)] or [_WITHOUT_STATE]
        before = [last[key] for key in dict.fromkeys(keys) if key in last]
        op._add_control_inputs([each for each in dict.fromkeys(before) if each not in op.control_inputs])
        last.update(dict.fromkeys(keys, op))
    graph.control_outputs = effects


def _has_effect(op: Operation) -> bool:
    """Whether a node, or one in its bodies, reads or changes what outlives the run, or does something outside."""
    if op.op_def.bodies:
        return any(_has_effect(inner) for body in bodies_of(op) for inner in body.get_operations())
    # A random node changes nothing but what it gives next.
    if op.op_def.role in (Role.ARGUMENT, Role.VARIABLE, Role.PLACEHOLDER) or op.op_def.is_random:
        return False
    return op.op_def.stateful or any(arg.is_ref for arg in op.op_def.inputs)


def _is_state(tensor: Tensor) -> bool:
    return tensor.dtype.is_ref or tensor.dtype is resource


def _key(tensor: Tensor) -> Tensor:
    """What a reference or handle leads to, through nodes that hand it on."""
    while tensor.op.op_def.role is Role.ALIAS and tensor.op.inputs and _is_state(tensor.op.inputs[0]):
        tensor = tensor.op.inputs[0]
    return tensor
