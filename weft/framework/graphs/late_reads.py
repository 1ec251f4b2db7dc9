"""LateReads: nodes see the updates that they wait for, also by a read of the variable that was made before.

In TensorFlow the node that reads a variable of the old kind, `name/read`, shares the variable's memory. So a node on the same
device that uses this read and waits for an update sees the updated value, though nothing makes the read itself wait: the
gradients of a generator that is trained behind its discriminator are those of the trained one. weft's values do not change:
such a node gets another read, which waits for what the node waits for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.framework.devices.device_spec import canonical_name
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role


class LateReads:
    """What the nodes of one graph, added in order, come after: the variables that are updated before each of them."""

    def __init__(self) -> None:
        self._bits: dict[Operation, int] = {}
        self._updated: dict[Operation, int] = {}
        self._devices: dict[Operation, str] = {}
        self.made: dict[Operation, Tensor] = {}
        """The reads that were added, and what each stands for: the read that the program has."""

    def renew(self, op: Operation) -> None:
        """Give a node that a program has made, and that is about to be added, its reads; take note of it."""
        if self._updated:
            op.inputs[:] = self.inputs(op.name, op.device, op.inputs, op.control_inputs)
        self.note(op, op.device)

    def note(self, op: Operation, device: str) -> None:
        """Take note of a node that was added, and of the device that it asked for; what it needs was noted before."""
        if op.op_def.role is Role.ALIAS and op.inputs and op.inputs[0].dtype.is_ref:
            self._devices[op] = device
        found = self._before((tensor.op for tensor in op.inputs), op.control_inputs) if self._updated else 0
        if op.op_def.updates or op.op_def.bodies:
            for tensor in op.inputs:
                if tensor.dtype.is_ref and (variable := _variable_of(tensor)) is not None:
                    found |= self._bits.setdefault(variable, 1 << len(self._bits))
        if found:
            self._updated[op] = found

    def _before(self, *groups: Iterable[Operation]) -> int:
        found = 0
        for group in groups:
            for op in group:
                found |= self._updated.get(op, 0)
        return found

    def inputs(self, name: str, device: str, inputs: Sequence[Tensor], control: Sequence[Operation]) -> list[Tensor]:
        """The inputs of a node that is about to be added, with other reads for those that an update has overtaken.

        Args:
            name: the node's.
            device: the one that it asks for.
            inputs: as the GraphDef has them.
            control: what it waits for besides.
        """
        if not self._updated:
            return list(inputs)
        before = self._before((tensor.op for tensor in inputs), control)
        if not before:
            return list(inputs)
        return [
            self._again(f"{name}/_read_{place}", tensor, inputs, control)
            if self._is_overtaken(tensor, before, device)
            else tensor
            for place, tensor in enumerate(inputs)
        ]

    def _is_overtaken(self, tensor: Tensor, before: int, device: str) -> bool:
        read = tensor.op
        if read not in self._devices:
            return False
        variable = _variable_of(read.inputs[0])
        bit = self._bits.get(variable, 0) if variable is not None else 0
        if not bit & before & ~self._updated.get(read, 0):
            return False
        # To another device the value is sent when it was read.
        return canonical_name(device) == canonical_name(self._devices[read])

    def _again(self, name: str, tensor: Tensor, inputs: Sequence[Tensor], control: Sequence[Operation]) -> Tensor:
        read, graph = tensor.op, tensor.op.graph
        waits = list(dict.fromkeys([*control, *(each.op for each in inputs if each.op in self._updated)]))
        types = [output.dtype for output in read.outputs]
        # Where the first read is, whatever the blocks around say. TensorFlow has no such node: later seeds go by the count.
        with graph.colocate_with(None, ignore_existing=True), graph.node_count.as_many_as(0):
            made = graph.add_node(read.op_def, graph.settle_name(f"{name}/"), read.inputs, types, dict(read.attrs), waits)
        made._set_device(read.device)
        for output, first in zip(made.outputs, read.outputs, strict=True):
            output.dims = first.dims
        self.made[made] = tensor
        self.note(made, self._devices[read])
        return made.outputs[tensor.value_index]


def _variable_of(reference: Tensor) -> Operation | None:
    """The variable whose reference it is, also behind updates, which pass it on."""
    op = reference.op
    while op.op_def.role is not Role.VARIABLE:
        reference = next((tensor for tensor in op.inputs if tensor.dtype.is_ref), reference)
        if reference.op is op:
            return None
        op = reference.op
    return op
