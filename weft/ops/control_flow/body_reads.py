"""Reads of variables taken out of bodies and into them.

What a body only reads comes in as a value: a body runs in one task, which need not be the one of each variable that it reads.
Only resource variables need this; a reference that nothing updates comes in as its value in any case.

A loop that updates a variable reads it anew in each iteration. In TensorFlow `name/read`, which is outside of the loop, shares
the variable's memory, so that users of it see the updates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weft.framework.devices import device_spec
from weft.framework.graphs.func_graph import FuncGraph, handle_attrs, is_updated
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dtypes import resource
from weft.ops.array.identity import identity_node
from weft.ops.declaration import Role, definition_of
from weft.ops.state.resource_state import read_variable_op

# What has its value as the body begins.
_AT_ONCE: Final = (Role.ARGUMENT, Role.CONSTANT)


def read_outside(functions: Sequence[FuncGraph], captured: Sequence[Tensor], only_if_apart: bool = False) -> list[Tensor]:
    """The captured tensors, handles of variables that the functions only read replaced by the values, read here.

    Args:
        functions: bodies that have the same captures, in the same order.
        captured: these captures.
        only_if_apart: leave the handles where all variables are of one task: a branch that is not chosen does not read them.
    """
    handles = [tensor for tensor in captured if tensor.dtype is resource and _is_only_read(functions, tensor)]
    if only_if_apart and len({_task(tensor) for tensor in captured if tensor.dtype is resource}) < 2:
        return list(captured)
    return [_replaced(functions, tensor) if tensor in handles else tensor for tensor in captured]


def read_inside(functions: Sequence[FuncGraph]) -> None:
    """Let a loop's functions read a variable themselves that one of them updates, at the beginning of each iteration."""
    for function in functions:
        for outer, argument in list(function.captures.items()):
            reference = outer.op.inputs[0] if outer.op.op_def is definition_of(identity_node) else None
            if reference is not None and reference.dtype.is_ref and _is_updated(functions, reference):
                _read_anew(function, argument, reference)


def _is_updated(functions: Sequence[FuncGraph], reference: Tensor) -> bool:
    return any(reference in function.captures and is_updated(function.captures[reference]) for function in functions)


def _read(function: FuncGraph, reference: Tensor, waits: Sequence[Operation]) -> Tensor:
    with function.building(), function.control_dependencies(None), function.control_dependencies(waits):
        return identity_node(function.capture(reference), name=f"{reference.op.name.rpartition('/')[2]}/read")


def _read_anew(function: FuncGraph, argument: Tensor, reference: Tensor) -> None:
    consumers = argument.consumers()
    value = _read(function, reference, ())
    # Of the orders that edges allow the runtime takes that of the numbers.
    value.op.id = 0
    for op in dict.fromkeys(consumers):
        # One that waits for an update, by itself or by way of another input, reads what that has made.
        waits = [*op.control_inputs, *(t.op for t in op.inputs if t.op.op_def.role not in _AT_ONCE)]
        taken = value if not waits else _read(function, reference, waits)
        taken.op.id = op.id if waits else 0
        for index, tensor in enumerate(op.inputs):
            if tensor is argument:
                op.update_input(index, taken)
    function.outputs = [value if tensor is argument else tensor for tensor in function.outputs]


def _is_only_read(functions: Sequence[FuncGraph], handle: Tensor) -> bool:
    consumers = [op for function in functions for op in function.captures[handle].consumers()]
    is_only_read = bool(consumers) and all(op.op_def.role is Role.READ for op in consumers)
    return is_only_read and "_handle_dtype" in handle_attrs(handle)


def _task(handle: Tensor) -> str:
    return device_spec.task_name(handle.op.device)


def _replaced(functions: Sequence[FuncGraph], handle: Tensor) -> Tensor:
    dtype = handle_attrs(handle)["_handle_dtype"]
    value: Tensor = read_variable_op(handle, dtype=dtype, name=f"{handle.op.name.rpartition('/')[2]}/read")
    for function in functions:
        argument = function.captures[handle]
        for key in ("_variable", "_handle_shape", "_handle_dtype"):
            argument.op.attrs.pop(key, None)
        argument.op.attrs.update(T=dtype.base_dtype, _shape=value.dims)
        argument.dtype, argument.dims = dtype.base_dtype, value.dims
        for read in argument.consumers():
            _pass_on(read)
        function.captures = {value if outer is handle else outer: inner for outer, inner in function.captures.items()}
    return value


def _pass_on(read: Operation) -> None:
    """Make a read of a handle a node that hands the value on."""
    read.op_def = definition_of(identity_node)
    read.type = read.op_def.name
    read.attrs = {"T": read.outputs[0].dtype.base_dtype, **{k: v for k, v in read.attrs.items() if k.startswith("_")}}
