"""A variable's value or, before it has one, its initial value; and initial values that depend on other variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from weft.framework.building.aliases import Array, ArrayModule, Result
from weft.framework.graphs.collections import GraphKeys
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.control_flow.cond import cond
from weft.ops.declaration import Role, op, same_as_input

_LEFT_ALONE: Final = frozenset((Role.PROBE, Role.READ, Role.BRANCH))


@op(
    "VariableValue",
    "ref: Ref(T) -> value: T",
    role=Role.READ,
    infer=same_as_input,
    gradient=lambda node, grad: [grad],
    stateful=True,
)
def variable_value(xp: ArrayModule, ref: Array) -> Result:
    """The value of a variable, which a branch reads only when it is chosen: `[...] -> [...]`."""
    return ref


def initialized_value(is_initialized: Tensor, read: Callable[[], Tensor], initial_value: Tensor | None) -> Tensor:
    """The result of `read` when the variable is initialized, else its initial value."""
    value: Tensor = cond(is_initialized, read, lambda: initial_value)
    return value


def guarded_initial_value(name: str, initial_value: Tensor) -> Tensor:
    """A form of `initial_value` in which variables that have no value yet stand for their own initial values.

    So an initializer may run before, or in the same step as, those of the variables that it reads.

    Args:
        name: the name scope of the variable to initialize; the copied nodes are named after it.
        initial_value: what the program gave.
    """
    return _guarded_tensor(name, initial_value, {})


def _guarded_tensor(name: str, tensor: Tensor, done: dict[Operation, Operation]) -> Tensor:
    found = done.get(tensor.op)
    if found is None:
        found = done[tensor.op] = _guarded_op(name, tensor.op, done)
    return found.outputs[tensor.value_index]


def _guarded_op(name: str, operation: Operation, done: dict[Operation, Operation]) -> Operation:
    if operation.op_def.role in _LEFT_ALONE:
        if operation.op_def.role is Role.BRANCH and any(each.dtype.is_ref for each in operation.inputs):
            # TensorFlow guards the read inside as well: by a branch, and by copies of the three nodes behind that.
            operation.graph.node_count.total += 12
        return operation
    if operation.op_def.role is Role.VARIABLE:
        value = _initialized_value_of(operation)
        return operation if value is None else value.op
    inputs = [_guarded_tensor(name, tensor, done) for tensor in operation.inputs]
    if all(new is old for new, old in zip(inputs, operation.inputs, strict=True)):
        return operation
    copy_name = f"{operation.name}_{name}".replace(":", "_")
    types = [tensor.dtype for tensor in operation.outputs]
    return operation.graph.create_op(operation.type, inputs, types, name=copy_name, attrs=dict(operation.attrs))


def _initialized_value_of(operation: Operation) -> Tensor | None:
    for collection in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in operation.graph.get_collection(collection):
            if getattr(variable, "op", None) is operation:
                value: Tensor = variable.initialized_value()
                return value
    return None
