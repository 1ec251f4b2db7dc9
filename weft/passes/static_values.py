"""Which values are known when a stage is compiled: those that follow from constants, shapes and feeds on its device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.passes.bodies import needed_static_inputs, static_inputs

_COPIED_BYTES: Final = 1 << 20


def is_copied(op: Operation) -> bool:
    """Whether a constant goes with the parts of all tasks that use it; one that is large, or part of an order, is sent."""
    return op.attrs["value"].nbytes <= _COPIED_BYTES and not op.control_inputs and not op.control_consumers


class StaticValues:
    """Tells of nodes whether all is known that must be to compile them.

    Args:
        placement: the device of each node of the run.
        fed: the tensors that the run feeds.
    """

    def __init__(self, placement: Mapping[Operation, str], fed: frozenset[Tensor]) -> None:
        self._placement = placement
        self._fed = fed
        self._known: dict[tuple[Tensor, str], bool] = {}
        self.feeds: set[Tensor] = set()
        """The feeds that the nodes told of so far need the values of."""

    def suffice(self, op: Operation) -> bool:
        """Whether a node can be compiled with what is known then, all its static inputs or those that it cannot do without."""
        device = self._placement[op]
        for wanted in (static_inputs(op), needed_static_inputs(op)):
            if wanted is not None and all(self._is_known(tensor, device) for tensor in wanted):
                for tensor in wanted:
                    self._note_feeds(tensor)
                return True
        return False

    def _is_known(self, tensor: Tensor, device: str) -> bool:
        found = self._known.get((tensor, device))
        if found is None:
            found = self._known[tensor, device] = self._follows(tensor, device)
        return found

    def _follows(self, tensor: Tensor, device: str) -> bool:
        op = tensor.op
        if tensor in self._fed:
            return True
        is_here = self._placement.get(op) == device
        if op.op_def.role is Role.CONSTANT:
            return is_here or is_copied(op)
        if not is_here:
            return False
        if op.op_def.shape_only:
            return True
        return op.op_def.can_fold and bool(op.inputs) and all(self._is_known(each, device) for each in op.inputs)

    def _note_feeds(self, tensor: Tensor) -> None:
        if tensor in self._fed:
            self.feeds.add(tensor)
        elif not tensor.op.op_def.shape_only:
            for other in tensor.op.inputs:
                self._note_feeds(other)
