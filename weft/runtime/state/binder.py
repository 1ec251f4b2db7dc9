"""Binder: which variable slot a reference or a resource handle of the graph stands for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.nodes.variable_node import declared_dims
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import resource
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.variable_slot import VariableSlot


class Binder:
    """Finds the slot that a reference or a resource handle stands for.

    Args:
        resources: the task's state.
        values: tensors that are plain values, although their type may be that of a reference.
        only_asked: the variables that are only asked whether they have a value.
        assigned: the resource variables that get a value.
    """

    def __init__(
        self,
        resources: ResourceManager,
        values: Iterable[Tensor] = (),
        only_asked: Collection[Operation] = (),
        assigned: Collection[Operation] = (),
    ) -> None:
        self._resources = resources
        self._only_asked = only_asked
        self._assigned = assigned
        self._slots: dict[Tensor, VariableSlot | None] = dict.fromkeys(values)

    def inside(self, arguments: Mapping[Tensor, VariableSlot | None]) -> Binder:
        """The binder for a body whose arguments stand for these slots."""
        binder = Binder(self._resources)
        binder._slots.update(arguments)
        return binder

    def __call__(self, tensor: Tensor) -> VariableSlot | None:
        """The slot behind a tensor, None when it is a plain value."""
        if tensor not in self._slots:
            self._slots[tensor] = self._find(tensor)
        return self._slots[tensor]

    def _find(self, tensor: Tensor) -> VariableSlot | None:
        op = tensor.op
        if op.op_def.role is Role.VARIABLE:
            name = op.attrs.get("shared_name") or op.name
            container, dtype = op.attrs.get("container", ""), op.attrs["dtype"]
            renews = op in self._assigned if tensor.dtype is resource else None
            declares = op not in self._only_asked
            return self._resources.variable(container, name, dtype, declared_dims(op), declares, renews)
        if tensor.dtype.is_ref:
            wanted = op.op_def.updates[:1]
            for arg, members in group(op.op_def.inputs, op.attrs, op.inputs):
                if (arg.name in wanted or not wanted) and isinstance(members, Tensor) and members.dtype.is_ref:
                    return self(members)
        if tensor.dtype is resource and op.op_def.is_loop and tensor.value_index < len(op.inputs):
            # A loop hands a handle on from iteration to iteration.
            return self(op.inputs[tensor.value_index])
        if tensor.dtype is resource and op.op_def.hands_on:
            return self(op.inputs[tensor.value_index])
        return None
