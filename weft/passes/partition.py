"""Partition: cut a placed graph into one part per task; every edge that crosses becomes a numbered Send and Recv.

Two kinds of edges need no message. A small constant is part of every partition that uses it. And a NoOp for which nothing
waits, such as the end of a training step, does not wait for other tasks: the step ends only when all parts have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from weft.framework.devices import device_spec
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.passes.stage import FREE_ROLES, Kind, Staging
from weft.passes.static_values import is_copied


@dataclass(frozen=True, slots=True)
class Edge:
    """A value, or (when `source` is an Operation) only the fact that it ran, that goes from one task to another."""

    number: int
    source: Tensor | Operation
    sender: str
    receiver: str

    @property
    def is_control(self) -> bool:
        """Whether no value travels."""
        return isinstance(self.source, Operation)

    @property
    def producer(self) -> Operation:
        """The node that it comes from."""
        return self.source if isinstance(self.source, Operation) else self.source.op


@dataclass(slots=True)
class Partition:
    """What one task executes in a run.

    `feeds` and `fetches` are in the order in which their values travel; `sends` and `recvs` are keyed by what crosses.
    `settled` has the fetches that are read when the nodes given with them have run. With `one_moment` a stage that only reads
    variables reads them as they are at one moment. With `owns_feeds` the fed arrays are the task's own, as where they came with
    a message, and not the program's.
    """

    task: str
    nodes: list[Operation] = field(default_factory=list)
    devices: dict[Operation, str] = field(default_factory=dict)
    kinds: dict[Operation, Kind] = field(default_factory=dict)
    levels: dict[Operation, int] = field(default_factory=dict)
    feeds: list[Tensor] = field(default_factory=list)
    static_feeds: set[Tensor] = field(default_factory=set)
    fetches: list[Tensor] = field(default_factory=list)
    recvs: dict[Tensor | Operation, Edge] = field(default_factory=dict)
    sends: list[Edge] = field(default_factory=list)
    settled: dict[Tensor, list[Operation]] = field(default_factory=dict)
    one_moment: bool = False
    owns_feeds: bool = False


def partition(
    ops: Sequence[Operation],
    placement: Mapping[Operation, str],
    staging: Staging,
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
) -> dict[str, Partition]:
    """Cut a run's nodes into partitions by task name, in order of first use."""
    parts: dict[str, Partition] = {}
    one_moment = _reads_variables_only(ops) or any(op.op_def.one_moment for op in ops)
    tasks = {op: device_spec.task_name(placement[op]) for op in ops}
    users = _using_tasks(ops, placement, tasks, staging, {*feeds, *fetches})
    for op in ops:
        for task, device in users.get(op, {tasks[op]: placement[op]}).items():
            part = parts.setdefault(task, Partition(task, one_moment=one_moment))
            part.nodes.append(op)
            part.devices[op] = device
            part.kinds[op] = staging.kinds[op]
            part.levels[op] = staging.levels[op]
    _add_feeds(parts, ops, tasks, staging, feeds)
    _add_edges(parts, [op for op in ops if op not in users], tasks, {*feeds, *(op.outputs[0] for op in users)})
    for tensor in fetches:
        if tensor.op in tasks and tensor not in parts[tasks[tensor.op]].fetches:
            parts[tasks[tensor.op]].fetches.append(tensor)
    return parts


def _reads_variables_only(ops: Sequence[Operation]) -> bool:
    """Whether a run does nothing but fetch variables, as one that looks at a model, or saves it, does."""
    return all(op.op_def.hands_on or op.op_def.role in FREE_ROLES for op in ops)


def _using_tasks(
    ops: Sequence[Operation],
    placement: Mapping[Operation, str],
    tasks: Mapping[Operation, str],
    staging: Staging,
    visible: Collection[Tensor],
) -> dict[Operation, dict[str, str]]:
    """The small constants, with the tasks that use them and on which device of each; not those that are fed or fetched."""
    found: dict[Operation, dict[str, str]] = {}
    for op in ops:
        if op.op_def.role is not Role.CONSTANT or staging.kinds[op] is not Kind.FREE or op.outputs[0] in visible:
            continue
        using: dict[str, str] = {}
        for user in op.outputs[0].consumers():
            if user in tasks:
                using.setdefault(tasks[user], placement[user])
        # Its own device where it is used there too.
        using.update({tasks[op]: placement[op]} if tasks[op] in using else {})
        if using and is_copied(op):
            found[op] = using
    return found


def _ends(ops: Sequence[Operation], tasks: Mapping[Operation, str]) -> set[Operation]:
    """The NoOps for which nothing waits but others of them."""
    found: set[Operation] = set()
    for op in reversed(ops):
        if op.op_def.role is Role.ORDER and all(user in found for user in op.control_consumers if user in tasks):
            found.add(op)
    return found


def _add_feeds(
    parts: dict[str, Partition],
    ops: Sequence[Operation],
    tasks: Mapping[Operation, str],
    staging: Staging,
    feeds: Sequence[Tensor],
) -> None:
    users: dict[str, set[Tensor]] = {}
    for op in ops:
        users.setdefault(tasks[op], set()).update(op.inputs)
    for task, part in parts.items():
        part.feeds = [tensor for tensor in feeds if tensor in users[task]]
        part.static_feeds = staging.static_feeds & set(part.feeds)


def _add_edges(
    parts: dict[str, Partition], ops: Sequence[Operation], tasks: Mapping[Operation, str], here: set[Tensor]
) -> None:
    number = 0
    ends = _ends(ops, tasks)
    for op in ops:
        receiver = parts[tasks[op]]
        crossing: list[Tensor | Operation] = [t for t in op.inputs if t not in here and tasks[t.op] != receiver.task]
        if op not in ends:
            crossing += [c for c in op.control_inputs if c in tasks and tasks[c] != receiver.task]
        for source in crossing:
            if source in receiver.recvs:
                continue
            producer = source if isinstance(source, Operation) else source.op
            edge = Edge(number, source, tasks[producer], receiver.task)
            number += 1
            receiver.recvs[source] = edge
            parts[tasks[producer]].sends.append(edge)
