"""Which of a run's variables are touched by rows only: tables that are gathered from and updated at some indices.

On the CPU such work belongs to the host. XLA scatters row by row in a loop, sorts slowly, and compiles anew for each number of
indices; NumPy takes and puts the rows in place, whatever their number. A variable counts if it is large and everything in the
run that uses it is a gather of rows or an update of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from weft.framework.devices import device_spec
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.nodes.variable_node import declared_dims
from weft.framework.op_types.op_role import Role
from weft.framework.types.tensor_shape import TensorShape

# Below this a table's stages are better merged with the computation around them.
MIN_BYTES: Final = 1 << 20


def row_wise_ops(
    ops: Sequence[Operation], placement: Mapping[Operation, str], feeds: Iterable[Tensor], fetches: Iterable[Tensor]
) -> set[Operation]:
    """The reads, gathers and updates that touch nothing but rows of such variables."""
    finder = _Finder(frozenset(ops), placement, frozenset((*feeds, *fetches)))
    users = {op: found for op in ops if op.op_def.role is Role.VARIABLE and (found := finder.users(op)) is not None}
    # An update of several variables counts if all of them do.
    while True:
        kept = {op: found for op, found in users.items() if all(_updated(user) <= users.keys() for user in found)}
        if len(kept) == len(users):
            return {user for found in users.values() for user in found}
        users = kept


def is_read(op: Operation) -> bool:
    """Whether a node reads the whole of a variable, if its input is one, and does nothing else."""
    return op.op_def.role in (Role.READ, Role.ALIAS) and len(op.inputs) == 1


class _Finder:
    def __init__(self, ops: frozenset[Operation], placement: Mapping[Operation, str], visible: frozenset[Tensor]) -> None:
        self._ops = ops
        self._placement = placement
        self._visible = visible

    def users(self, variable: Operation) -> set[Operation] | None:
        """What uses a variable, if that is by row throughout; None otherwise."""
        is_on_host = device_spec.device_type(self._placement[variable]) == "CPU"
        if not is_on_host or variable.control_inputs or _size_bytes(variable) < MIN_BYTES:
            return None
        return self._users_of(variable.outputs[0], variable)

    def _users_of(self, tensor: Tensor, variable: Operation) -> set[Operation] | None:
        if tensor in self._visible:
            return None
        found: set[Operation] = set()
        for user in tensor.consumers():
            if user not in self._ops:
                continue
            if self._placement[user] != self._placement[variable]:
                return None
            if is_read(user) and tensor is variable.outputs[0]:
                behind = self._users_of(user.outputs[0], variable)
                if behind is None:
                    return None
                found |= behind
            elif not self._is_by_row(user, tensor):
                return None
            found.add(user)
        return found

    def _is_by_row(self, user: Operation, tensor: Tensor) -> bool:
        if not user.op_def.by_row:
            return False
        if user.op_def.updates:
            is_used = any(t in self._visible or any(c in self._ops for c in t.consumers()) for t in user.outputs)
            return not is_used and user.inputs[: len(user.op_def.updates)].count(tensor) == 1
        if user.attrs.get("batch_dims") or user.inputs.count(tensor) != 1 or user.inputs[0] is not tensor:
            return False
        return all(self._is_first(t) for t, arg in zip(user.inputs, user.op_def.inputs, strict=True) if arg.name == "axis")

    def _is_first(self, axis: Tensor) -> bool:
        value = None if axis in self._visible else constant_value(axis)
        return value is not None and int(value) == 0


def _updated(user: Operation) -> set[Operation]:
    return {tensor.op for tensor in user.inputs[: len(user.op_def.updates)]}


def _size_bytes(variable: Operation) -> int:
    elements = TensorShape(declared_dims(variable)).num_elements()
    return 0 if elements is None else elements * int(variable.attrs["dtype"].base_dtype.size or 0)
