"""What bodies of If and While nodes ask of the stage that runs them: which inputs must be known, or that it runs on the host.

A body is compiled together with its node unless a node in it only runs on the host, has strings, or needs a value to be
traced that changes from iteration to iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weft.framework.graphs.func_graph import FuncGraph, bodies_of, first_argument, is_invariant
from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import string, variant
from weft.passes.prune import prune

_UNCOMPILED: Final = frozenset((string, variant))


def body_nodes(function: FuncGraph) -> list[Operation]:
    """The nodes that a call of the function runs, in order; its arguments are left out."""
    return prune(function.outputs, function.inputs, function.control_outputs)


def static_inputs(op: Operation) -> list[Tensor] | None:
    """The inputs of a node whose values must be known when it is compiled; None when it cannot be compiled at all."""
    if op.op_def.bodies:
        numbers = _numbers_wanted(op)
        return None if numbers is None else [op.inputs[number] for number in sorted(numbers)]
    if op.op_def.static_members is not None:
        return [op.inputs[number] for number in op.op_def.static_members(op)]
    if not op.op_def.static:
        return []
    return [
        tensor
        for arg, members in group(op.op_def.inputs, op.attrs, op.inputs)
        if arg.name in op.op_def.static
        for tensor in (members if isinstance(members, list) else [members])
    ]


def needed_static_inputs(op: Operation) -> list[Tensor] | None:
    """As `static_inputs`, without those that this node can be compiled without knowing."""
    if op.op_def.dynamic is None:
        return static_inputs(op)
    free = op.op_def.dynamic(op)
    return [
        tensor
        for arg, members in group(op.op_def.inputs, op.attrs, op.inputs)
        if arg.name in op.op_def.static and arg.name not in free
        for tensor in (members if isinstance(members, list) else [members])
    ]


def _numbers_wanted(op: Operation) -> set[int] | None:
    functions = bodies_of(op)
    head = first_argument(op)
    wanted: set[int] = set()
    for function in functions:
        indices = _arguments_wanted(function)
        if indices is None:
            return None
        wanted |= indices
    if op.op_def.is_loop and _changes_shapes(op, functions[-1]):
        return None
    if op.op_def.is_loop and not all(is_invariant(functions[-1], index) for index in wanted):
        return None
    if op.op_def.role is Role.RECORDING_LOOP:
        counted = counters(functions[0], functions[1])
        if counted is None:
            return None
        wanted |= counted
    return {head + index for index in wanted}


def loop_constants(op: Operation) -> set[int] | None:
    """The inputs of a loop whose values must be known to compile it once it runs; None when it cannot be compiled."""
    condition, body = bodies_of(op)
    wanted: set[int] = set()
    for function in (condition, body):
        indices = _arguments_wanted(function)
        if indices is None or _is_checked_before(function):
            return None
        wanted |= indices
    if _changes_shapes(op, body) or not all(is_invariant(body, index) for index in wanted):
        return None
    return wanted


def _is_checked_before(function: FuncGraph) -> bool:
    """Whether a node in the function is one whose inputs are looked at before it runs compiled, which is not done in a loop."""
    return any(
        (op.op_def.check is not None and not op.op_def.checks_traced)
        or any(_is_checked_before(body) for body in bodies_of(op) if op.op_def.bodies)
        for op in body_nodes(function)
    )


def _changes_shapes(op: Operation, body: FuncGraph) -> bool:
    """Whether a loop was told that a variable will not keep its first shape, which compiled loops must."""
    return any(
        argument.dims is not None and argument.dims != tensor.dims
        for index, (tensor, argument) in enumerate(zip(op.inputs, body.inputs, strict=True))
        if not is_invariant(body, index)
    )


def counters(condition: FuncGraph, body: FuncGraph) -> set[int] | None:
    """The arguments that decide how often a loop runs; None when that also depends on what only a run tells."""
    wanted = arguments_behind(condition.outputs, _places(condition))
    if wanted is None:
        return None
    places = _places(body)
    waiting = list(wanted)
    while waiting:
        index = waiting.pop()
        behind = arguments_behind([body.outputs[index]], places)
        if behind is None:
            return None
        waiting.extend(behind - wanted)
        wanted |= behind
    return wanted


def _places(function: FuncGraph) -> dict[Tensor, int]:
    return {tensor: index for index, tensor in enumerate(function.inputs)}


def _arguments_wanted(function: FuncGraph) -> set[int] | None:
    """The arguments whose values must be known to compile the function, None when it cannot be compiled."""
    places = _places(function)
    wanted: set[int] = set()
    for op in body_nodes(function):
        if op.op_def.is_host or any(t.dtype.base_dtype in _UNCOMPILED for t in (*op.inputs, *op.outputs)):
            return None
        tensors = needed_static_inputs(op)
        indices = None if tensors is None else arguments_behind(tensors, places)
        if indices is None:
            return None
        wanted |= indices
    return wanted


def arguments_behind(tensors: Sequence[Tensor], places: dict[Tensor, int]) -> set[int] | None:
    """The arguments that the values of tensors follow from; None when they also follow from what only a run tells."""
    found: set[int] = set()
    seen: set[Tensor] = set()
    stack = list(tensors)
    while stack:
        tensor = stack.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        op = tensor.op
        if tensor in places:
            found.add(places[tensor])
        elif op.op_def.role is Role.CONSTANT or op.op_def.shape_only:
            continue
        elif not op.op_def.can_fold or not op.inputs:
            return None
        else:
            stack.extend(op.inputs)
    return found
