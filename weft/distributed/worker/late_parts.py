"""Which parts of a step have nothing to do before other tasks send them something: their start can travel with the values."""

from __future__ import annotations

from collections.abc import Collection

from weft.framework.nodes.operation import Operation
from weft.passes.partition import Partition
from weft.passes.stage import Kind


def begins_with_values_from(part: Partition, tasks: Collection[str]) -> bool:
    """Whether a part has nothing to do before a value comes from one of these tasks."""
    if not part.recvs or any(edge.sender not in tasks for edge in part.recvs.values()):
        return False
    later = _waiting_nodes(part)
    # A node that waits for nothing itself may belong to a stage that does.
    waiting = {_stage_of(part, op) for op in later if part.kinds[op] is not Kind.HOST}
    leaving = {tensor.op for tensor in part.fetches} | {edge.producer for edge in part.sends}
    first = [op for op in part.nodes if op not in later and (part.kinds[op] is not Kind.FREE or op in leaving)]
    return all(_stage_of(part, op) in waiting for op in first)


def _waiting_nodes(part: Partition) -> set[Operation]:
    """The nodes that need something of another task, by themselves or by a node before them."""
    fed = frozenset(part.feeds)
    later: set[Operation] = set()
    for op in part.nodes:
        waits_for_value = any(t in part.recvs or t.op in later for t in op.inputs if t not in fed)
        if waits_for_value or any(c in part.recvs or c in later for c in op.control_inputs):
            later.add(op)
    return later


def _stage_of(part: Partition, op: Operation) -> tuple[int, str, Kind]:
    return part.levels[op], part.devices[op], part.kinds[op]
