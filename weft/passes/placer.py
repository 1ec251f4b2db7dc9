"""Placer: assigns every operation of a run to one device of the cluster.

The rules, in order: a node keeps the device of an earlier run; nodes that must be together (colocation groups, a variable
and the ops on its reference) are placed as one; a group goes to the first device, by type and then by name, that satisfies
every pin in it and for which every node in it has a kernel; a node without inputs and with one consumer, and a node that only
looks at its input's shape, follow that neighbour. The result depends on the graph and the device list alone, so every session
of a cluster places alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from weft.errors import InvalidArgumentError
from weft.framework.devices import device_spec
from weft.framework.graphs.func_graph import bodies_of, input_arguments
from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import resource
from weft.platform.hints.spelling import did_you_mean

_LONE_JOBS: Final = frozenset(("local", "localhost"))  # of a server without a cluster, and of a session without a server
_SOFT: Final = "tf.Session(config=tf.ConfigProto(allow_soft_placement=True))"

# The best type first; a type that is not listed comes between the accelerators and the CPU.
_TYPE_PRIORITY: Final = {"TPU": 0, "GPU": 1, "CPU": 9}

# Nodes of a function that do nothing which a device could matter for.
_ANYWHERE: Final = frozenset((Role.ARGUMENT, Role.CONSTANT, Role.ALIAS, Role.ORDER, Role.ABSENT))


class Placer:
    """Places operations on the devices given; remembers placements, so a session keeps one for its life.

    Args:
        devices: full device names of every task.
        allow_soft_placement: fall back to the CPU of the same task where a pin cannot be satisfied.
        default_job_task: unused fields of a pin are free; nothing prefers the local task.
    """

    def __init__(self, devices: Sequence[str], allow_soft_placement: bool = False) -> None:
        self._devices = sorted(devices, key=_preference)
        self._soft = allow_soft_placement
        self.placement: dict[Operation, str] = {}
        self._checked = 0
        self._pins: dict[str, bool] = {}

    @property
    def devices(self) -> list[str]:
        """The devices in order of preference."""
        return list(self._devices)

    def place(self, ops: Iterable[Operation]) -> Mapping[Operation, str]:
        """Place what is not placed yet and return the whole placement.

        Raises:
            InvalidArgumentError: a pin names a device that is not there, pins in a group contradict each other, or a node has
                no kernel for the device that it is pinned to.
        """
        ops = [op for op in ops if op not in self.placement]
        groups = _groups(ops)
        followers: list[Operation] = []
        for members in groups:
            if len(members) == 1 and _may_follow(members[0]):
                followers.append(members[0])
                continue
            self._assign(members)
        for op in followers:
            neighbour = self._neighbour(op)
            if neighbour is not None and _has_kernel(op, neighbour):
                self.placement[op] = neighbour
            else:
                self._assign([op])
        for op in ops:
            if op.op_def.bodies:
                self._check_bodies(op)
            elif _reads_after_others(op):
                self.placement[op] = self.placement.get(op.inputs[0].op, self.placement[op])
        return self.placement

    def check_pins(self, ops: Sequence[Operation]) -> None:
        """Refuse a graph one of whose nodes can have no place, also where no run asks for it; `ops` are all nodes of the graph.

        Nodes for tasks that are left out of the session, or have left the cluster, are no concern of runs without them.

        Raises:
            InvalidArgumentError: a node is pinned to a device that its task has not.
        """
        new, self._checked = ops[self._checked :], len(ops)
        for op in new:
            # The place of the others is that of what they are tied to.
            if op.device and "_class" not in op.attrs and not any(tensor.dtype is resource for tensor in op.inputs):
                self._check_pin(op)

    def _check_pin(self, op: Operation) -> None:
        if self._has(op.device) or (self._soft and self._soft_candidates(op.device)):
            return
        spec = device_spec.DeviceSpec.from_string(op.device)
        task = device_spec.DeviceSpec(spec.job, spec.replica, spec.task).to_string()
        if self._has(task) or all(device_spec.DeviceSpec.from_string(each).job in _LONE_JOBS for each in self._devices):
            raise self._unplaceable([op], op.device, exists=False)

    def _has(self, pin: str) -> bool:
        if pin not in self._pins:
            self._pins[pin] = any(device_spec.is_prefix(pin, device) for device in self._devices)
        return self._pins[pin]

    def place_copies(self, ops: Sequence[Operation], originals: Mapping[Operation, Operation]) -> Mapping[Operation, str]:
        """Place a narrowed run's nodes where those are, or will be, that they are copies of; the copies are not remembered."""
        for copy, original in originals.items():
            if original in self.placement:
                self.placement[copy] = self.placement[original]
        try:
            self.place(ops)
            for copy, original in originals.items():
                if copy in self.placement:
                    self.placement.setdefault(original, self.placement[copy])
            return {copy: self.placement[copy] for copy in ops}
        finally:
            for copy in originals:
                self.placement.pop(copy, None)

    def _check_bodies(self, op: Operation) -> None:
        """Refuse a node whose bodies update variables of several tasks: a body runs in one."""
        places = {other: self.placement[other] for other in _tied(op) if other in self.placement}
        if len({device_spec.task_name(device) for device in (*places.values(), self.placement[op])}) > 1:
            listed = ", ".join(f"{other.name!r} on {device}" for other, device in places.items())
            raise InvalidArgumentError.of(
                f"Node {op.name!r} ({op.type}) has bodies that use variables of several tasks: {listed}. A body "
                f"runs where its node is ({self.placement[op]}), so the variables that it updates, and all resource variables "
                "that it uses, must be there. Read the others outside of it, for example with tf.identity(variable), and use "
                "the value inside",
                op,
            )

    def _neighbour(self, op: Operation) -> str | None:
        if op.op_def.shape_only:
            return self.placement.get(op.inputs[0].op)
        consumers = op.outputs[0].consumers()
        return self.placement.get(consumers[0])

    def _assign(self, members: Sequence[Operation]) -> None:
        device = self._settled(members) or self._choose(members)
        for op in members:
            # A member that an earlier run placed stays where it is.
            self.placement.setdefault(op, device)

    def _settled(self, members: Sequence[Operation]) -> str | None:
        # Members of a group that an earlier run placed carry their device over.
        for op in members:
            for other in _tied(op):
                if other in self.placement:
                    return self.placement[other]
        return None

    def _choose(self, members: Sequence[Operation]) -> str:
        pin = self._merged_pin(members)
        matching = [device for device in self._devices if device_spec.is_prefix(pin, device)]
        for device in matching:
            if all(_has_kernel(op, device) for op in members):
                return device
        if self._soft:
            for device in self._soft_candidates(pin):
                if all(_has_kernel(op, device) for op in members):
                    return device
        raise self._unplaceable(members, pin, bool(matching))

    def _merged_pin(self, members: Sequence[Operation]) -> str:
        pin = ""
        for op in members:
            wanted = _pin_of(op)
            if not wanted:
                continue
            if pin and not _agree(pin, wanted):
                if any(tensor.dtype is resource for tensor in op.inputs):
                    # What uses a queue or a variable behind a handle goes where that is: TensorFlow forgets its own pin, too.
                    continue
                if self._soft and _agree(_without_device(pin), _without_device(wanted)):
                    pin = device_spec.merge_names(_without_device(pin), _without_device(wanted))
                    continue
                others = ", ".join(f"{m.name} ({m.device or 'no device'})" for m in members)
                raise InvalidArgumentError.of(
                    f"Cannot colocate nodes {members[0].name!r} and {op.name!r} because no device type supports both of them "
                    f"and the other nodes they must be with, or their devices contradict each other: {others}",
                    op,
                )
            pin = device_spec.merge_names(pin, wanted)
        return pin

    def _soft_candidates(self, pin: str) -> list[str]:
        spec = device_spec.DeviceSpec.from_string(pin)
        task = device_spec.DeviceSpec(spec.job, spec.replica, spec.task).to_string()
        candidates = [d for d in self._devices if device_spec.is_prefix(task, d)]
        same_type = [d for d in candidates if device_spec.device_type(d) == spec.device_type]
        return same_type + [d for d in candidates if device_spec.device_type(d) == "CPU"]

    def _unplaceable(self, members: Sequence[Operation], pin: str, exists: bool) -> Exception:
        op = next((m for m in members if m.device), members[0])
        if exists:
            kind = device_spec.device_type(pin) or "the matching"
            lacking = next(m for m in members if not _has_kernel(m, pin))
            reason = (
                f"Could not satisfy explicit device specification '{pin}' because no supported kernel for {kind} devices is "
                f"available for {lacking.name!r} ({lacking.type}, {_types_of(lacking)}); pin it to a CPU, or let weft do so: "
                f"{_SOFT}"
            )
        else:
            reason = (
                f"Operation was explicitly assigned to {op.device or pin} but available devices are "
                f"[ {', '.join(sorted(self._devices))} ]. Make sure the device specification refers to a valid device. "
                f"{self._advice(op.device or pin)}"
            )
        return InvalidArgumentError.of(f"Cannot assign a device for operation {op.name}: {reason}", op)

    def _advice(self, pin: str) -> str:
        """The next step after a device that is not there: its job, its task or its kind."""
        wanted = device_spec.DeviceSpec.from_string(pin)
        there = [device_spec.DeviceSpec.from_string(device) for device in self._devices]
        jobs = {device.job: None for device in there if device.job}
        if wanted.job is not None and wanted.job not in jobs:
            if _LONE_JOBS.issuperset(jobs):
                return (
                    f"The session runs in this process alone, or on a server without a cluster, whose one job is "
                    f"{min(jobs)!r}: give it the target of a server of the cluster, as in tf.Session(server.target)."
                )
            return f"The cluster has the jobs {sorted(jobs)}.{did_you_mean(wanted.job, jobs)}"
        tasks = sorted({device.task for device in there if device.job == wanted.job and device.task is not None})
        if wanted.job is not None and wanted.task is not None and wanted.task not in tasks:
            return f"Job {wanted.job!r} has the tasks {tasks}."
        return f"To use another device where this one is missing: {_SOFT}"


def _preference(device: str) -> tuple[int, str, int]:
    spec = device_spec.DeviceSpec.from_string(device)
    task = f"{spec.job}/{spec.task or 0:09d}"
    return _TYPE_PRIORITY.get(spec.device_type or "", 5), task, spec.device_index or 0


def _without_device(pin: str) -> str:
    spec = device_spec.DeviceSpec.from_string(pin)
    return device_spec.DeviceSpec(spec.job, spec.replica, spec.task).to_string()


def _pin_of(op: Operation) -> str:
    """The device that a node asks for; one that runs functions asks for what all nodes in these agree on."""
    pin = op.device
    if not op.op_def.bodies:
        return pin
    within = [each for body in bodies_of(op) for each in body.get_operations() if each.op_def.role not in _ANYWHERE]
    for each in within:
        wanted = _pin_of(each)
        if not wanted or not _agree(pin, wanted):
            return op.device
        pin = device_spec.merge_names(pin, wanted)
    return pin


def _agree(a: str, b: str) -> bool:
    one, two = device_spec.DeviceSpec.from_string(a)._fields(), device_spec.DeviceSpec.from_string(b)._fields()
    return all(x is None or y is None or x == y for x, y in zip(one, two, strict=True))


def _has_kernel(op: Operation, device: str) -> bool:
    kind = device_spec.device_type(device)
    if kind in (None, "CPU"):
        return True
    if op.op_def.is_host:
        return False
    # Accelerators keep int32 in host memory; a variable of it has no kernel there (guide 3).
    return op.op_def.role is not Role.VARIABLE or not _is_host_type(op)


def _is_host_type(op: Operation) -> bool:
    dtype = op.attrs["dtype"]
    return dtype.name in ("int32", "string", "bool", "int16", "uint16", "int8", "uint8")


def _types_of(op: Operation) -> str:
    return ", ".join(tensor.dtype.base_dtype.name for tensor in op.outputs) or "no outputs"


def _tied(op: Operation) -> Iterable[Operation]:
    """The operations that must be on the same device as `op`."""
    for place in op.attrs.get("_class", ()):
        if place.startswith("loc:@"):
            other = op.graph.operations.get(place[5:])
            if other is not None:
                yield other
    if op.op_def.bodies:
        # The bodies run where their node is, which is where the variables are that they update.
        for tensor, wanted in zip(op.inputs, input_arguments(op), strict=True):
            if wanted.dtype.is_ref or tensor.dtype is resource:
                yield tensor.op
        return
    for tensor, is_tied in zip(op.inputs, _taken_by_reference(op), strict=True):
        if is_tied or tensor.dtype is resource:
            yield tensor.op


def _reads_after_others(op: Operation) -> bool:
    return op.op_def.role is Role.ALIAS and bool(op.control_inputs) and any(tensor.dtype.is_ref for tensor in op.inputs)


def _taken_by_reference(op: Operation) -> list[bool]:
    """For each input of a node, whether it is a reference that the op takes as one."""
    if not any(tensor.dtype.is_ref for tensor in op.inputs):
        return [False] * len(op.inputs)
    return [
        arg.is_ref and tensor.dtype.is_ref
        for arg, members in group(op.op_def.inputs, op.attrs, op.inputs)
        for tensor in (members if isinstance(members, list) else [members])
    ]


def _groups(ops: Sequence[Operation]) -> list[list[Operation]]:
    """Join operations that are tied to each other, in the order of their first members."""
    parent: dict[Operation, Operation] = {}

    def find(op: Operation) -> Operation:
        while parent.setdefault(op, op) is not op:
            parent[op] = op = parent[parent[op]]
        return op

    for op in ops:
        for other in _tied(op):
            parent[find(op)] = find(other)
    members: dict[Operation, list[Operation]] = {}
    for op in ops:
        members.setdefault(find(op), []).append(op)
    # A tie to a node outside this run still counts: its pin is part of the group.
    for root, tied in members.items():
        if root not in tied and (root.device or len(tied) == 1):
            tied.append(root)
    return list(members.values())


def _may_follow(op: Operation) -> bool:
    if op.device or "_class" in op.attrs:
        return False
    if op.op_def.shape_only:
        return True
    if op.inputs or op.control_inputs or len(op.outputs) != 1 or op.op_def.stateful:
        return False
    return len(op.outputs[0].consumers()) == 1 and op.outputs[0].consumers()[0].op_def is not None
