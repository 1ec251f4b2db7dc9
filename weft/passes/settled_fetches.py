"""Settled fetches: which fetched references show what the step's own updates made of their variables.

TensorFlow hands out the memory of a reference variable and fills the fetches when the step is over, so that
`run([train_op, global_step])` in one process gives the step that has just been made. Programs print and compare that number.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.passes.partition import Partition


def settled_fetches(part: Partition) -> dict[Tensor, list[Operation]]:
    """The fetches of a partition that stand for a variable's memory, and the nodes of the step that update it.

    A fetch stands for it if it is the variable itself, what an update returned, or an Identity of one of these on the same
    device. What one update returns is its own result where nothing else updates the variable.
    """
    wanted = {tensor: variable for tensor in part.fetches if (variable := _variable_behind(tensor, part)) is not None}
    if not wanted:
        return {}
    updates: dict[Operation, list[Operation]] = {variable: [] for variable in wanted.values()}
    for op in part.nodes:
        for variable in _updated_by(op, part):
            if variable in updates:
                updates[variable].append(op)
    return {tensor: updates[variable] for tensor, variable in wanted.items() if set(updates[variable]) - {tensor.op}}


def _updated_by(op: Operation, part: Partition) -> set[Operation]:
    definition = op.op_def
    if definition.bodies:
        # What a body does with a variable that it is given is not looked into.
        references: Sequence[Tensor] = [tensor for tensor in op.inputs if tensor.dtype.is_ref]
    elif definition.updates:
        members = ((arg.name, member) for arg, member in group(definition.inputs, op.attrs, op.inputs))
        references = [member for name, member in members if name in definition.updates and isinstance(member, Tensor)]
    else:
        return set()
    return {variable for tensor in references if (variable := _variable_behind(tensor, part)) is not None}


def _variable_behind(tensor: Tensor, part: Partition) -> Operation | None:
    """The variable whose memory a tensor is, None for a value of its own."""
    device = part.devices.get(tensor.op)
    while tensor not in part.feeds and tensor not in part.recvs and part.devices.get(tensor.op) == device:
        op = tensor.op
        if op.op_def.role is Role.VARIABLE and tensor.dtype.is_ref:
            return op
        source = op.inputs[0] if op.inputs and (op.op_def.role is Role.ALIAS or tensor.dtype.is_ref) else None
        if source is None or not (source.dtype.is_ref or source.op.op_def.role is Role.ALIAS):
            return None
        tensor = source
    return None
