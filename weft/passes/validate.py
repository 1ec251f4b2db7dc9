"""The rules that the results of passes keep, said once: tests check them after every pass.

A broken rule is an InternalError that names the rule, and the node, tensor or edge that breaks it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from weft.errors import InternalError
from weft.framework.devices import device_spec
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import string, variant
from weft.passes.partition import Edge, Partition
from weft.passes.row_wise import is_read
from weft.passes.stage import FREE_ROLES, Kind, Staging

_HOST_TYPES: Final = frozenset((string, variant))


def validate_staging(
    staging: Staging, ops: Sequence[Operation], placement: Mapping[Operation, str], feeds: Iterable[Tensor]
) -> None:
    """Check the kinds and numbers of a run's nodes.

    Raises:
        InternalError: a rule is broken.
    """
    fed = frozenset(feeds)
    for name, numbered in (("a kind", staging.kinds), ("a number", staging.levels)):
        _require(set(numbered) == set(ops), f"every node of the run, and no other, has {name}", *(set(numbered) ^ set(ops)))
    _require(staging.static_feeds <= fed, "what is fed static is fed", *(staging.static_feeds - fed))
    for op in ops:
        _check_kind(op, staging.kinds[op], placement[op])
        for producer in _producers(op, fed, staging.levels):
            low, high = staging.levels[producer], staging.levels[op]
            _require(low <= high, f"an edge leads to no lower number, here from {low} to {high}", producer, op)
            if staging.is_boundary(producer, op):
                _require(low < high, f"an edge over a boundary leads to a higher number, here {low} twice", producer, op)


def _check_kind(op: Operation, kind: Kind, device: str) -> None:
    definition = op.op_def
    if kind is Kind.FREE:
        is_read_by_row = is_read(op) and not op.control_consumers
        _require(definition.role in FREE_ROLES or is_read_by_row, "a free node is a constant, a variable or a read", op)
        _require(not op.control_inputs, "a free node waits for nothing", op)
    elif kind is Kind.COMPILED:
        types = {tensor.dtype.base_dtype for tensor in (*op.inputs, *op.outputs)}
        _require(not definition.is_host, "a compiled node has a kernel for XLA", op)
        _require(not types & _HOST_TYPES, "a compiled node has only types that XLA has", op)
    elif kind is Kind.ROWS:
        is_update = bool(definition.by_row or definition.by_element)
        _require(is_update or is_read(op) or definition.role is Role.ORDER, "a node by rows gathers, updates or reads", op)
        _require(device_spec.device_type(device) == "CPU", f"a node by rows is on a CPU, here on {device}", op)


def _producers(op: Operation, fed: Collection[object], among: Mapping[Operation, object]) -> list[Operation]:
    producers = [*(tensor.op for tensor in op.inputs if tensor not in fed), *op.control_inputs]
    return [producer for producer in producers if producer in among]


def validate_partitions(
    parts: Mapping[str, Partition],
    ops: Sequence[Operation],
    placement: Mapping[Operation, str],
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
) -> None:
    """Check what a run was cut into: each part, that the parts have all nodes and fetches, and that edges have two ends.

    Raises:
        InternalError: a rule is broken.
    """
    for task, part in parts.items():
        _require(part.task == task, f"a part is kept by its task, here that of {part.task!r} by {task!r}")
        validate_partition(part)
        order = [tensor for tensor in feeds if tensor in part.feeds]
        _require(part.feeds == order, f"the feeds of {task!r} are the run's, in their order", *part.feeds)
    _check_nodes(parts, ops, placement)
    _check_fetches(parts, ops, fetches)
    _check_edges(parts)


def _check_nodes(parts: Mapping[str, Partition], ops: Sequence[Operation], placement: Mapping[Operation, str]) -> None:
    held = Counter(op for part in parts.values() for op in part.nodes)
    _require(held.keys() == set(ops), "every node of the run, and no other, is in a part", *(held.keys() ^ set(ops)))
    for op, count in held.items():
        is_copied = op.op_def.role is Role.CONSTANT
        _require(is_copied or count == 1, "only constants are in several parts", op)
        task = device_spec.task_name(placement[op])
        _require(is_copied or op in parts[task].devices, f"a node is in the part of its task, here {task!r}", op)


def _check_fetches(parts: Mapping[str, Partition], ops: Sequence[Operation], fetches: Sequence[Tensor]) -> None:
    run = set(ops)
    given = Counter(tensor for part in parts.values() for tensor in part.fetches)
    wanted = {tensor for tensor in fetches if tensor.op in run}
    _require(given.keys() == wanted, "every fetch that a node makes is a part's", *(given.keys() ^ wanted))
    _require(all(count == 1 for count in given.values()), "a fetch comes from one part", *given)


def _check_edges(parts: Mapping[str, Partition]) -> None:
    sends = [edge for part in parts.values() for edge in part.sends]
    numbers = Counter(edge.number for edge in sends)
    for edge in sends:
        _require(numbers[edge.number] == 1, f"an edge has a number of its own, here {edge.number} again", edge)
        receiver = parts.get(edge.receiver)
        _require(receiver is not None and edge in receiver.recvs.values(), "what is sent is received", edge)
    for part in parts.values():
        for edge in part.recvs.values():
            _require(edge in parts[edge.sender].sends, "what is received is sent", edge)


def validate_partition(part: Partition) -> None:
    """Check one part by itself, as the task that runs it could.

    Raises:
        InternalError: a rule is broken.
    """
    nodes = set(part.nodes)
    _require(len(nodes) == len(part.nodes), "a part has a node once", *part.nodes)
    for name, known in (("device", part.devices), ("kind", part.kinds), ("number", part.levels)):
        _require(set(known) == nodes, f"every node of a part, and no other, has a {name}", *(set(known) ^ nodes))
    _require(part.static_feeds <= set(part.feeds), "what is fed static is fed", *part.static_feeds)
    for op, device in part.devices.items():
        is_here = device_spec.task_name(device) == part.task or op.op_def.role is Role.CONSTANT
        _require(is_here, f"a node's device is of the part's task, {part.task!r}, here {device!r}", op)
    _check_sources(part)
    _check_ends(part)


def _check_sources(part: Partition) -> None:
    """Whatever a node takes is there before it: fed, received, or made by an earlier node."""
    before: set[Operation] = set()
    fed = frozenset(part.feeds)
    for op in part.nodes:
        for tensor in op.inputs:
            is_known = tensor in fed or tensor in part.recvs or tensor.op in before
            _require(is_known, "an input is fed, received or made by an earlier node", tensor, op)
        for producer in _producers(op, {*part.feeds, *part.recvs}, part.levels):
            _require(producer in before, "a node comes behind those that it waits for", producer, op)
            _require(part.levels[producer] <= part.levels[op], "an edge leads to no lower number", producer, op)
        before.add(op)


def _check_ends(part: Partition) -> None:
    nodes = set(part.nodes)
    for source, edge in part.recvs.items():
        _require(edge.receiver == part.task != edge.sender, f"{part.task!r} receives what others send to it", edge)
        _require(source in (edge.source, edge.producer), "an edge is kept by what crosses", edge)
    for edge in part.sends:
        _require(edge.sender == part.task != edge.receiver, f"{part.task!r} sends to others what is its own", edge)
        _require(edge.producer in nodes, "what is sent is made by a node of the part", edge)
    for tensor in part.fetches:
        _require(tensor.op in nodes or tensor in part.feeds, "what is fetched is made by a node of the part", tensor)
    for tensor, updates in part.settled.items():
        _require(tensor in part.fetches, "what is read at the end is fetched", tensor)
        _require(set(updates) <= nodes, "what a fetch waits for is in its part", *updates)


def _require(holds: bool, rule: str, *found: Operation | Tensor | Edge) -> None:
    if not holds:
        raise InternalError.of(f"After a pass: {rule}: {', '.join(map(_described, found)) or 'nothing is named'}")


def _described(found: Operation | Tensor | Edge) -> str:
    if isinstance(found, Edge):
        return f"edge {found.number} with {found.source.name!r} from {found.sender} to {found.receiver}"
    return f"{found.name!r} ({found.type if isinstance(found, Operation) else found.op.type})"
