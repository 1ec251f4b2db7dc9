"""Prune: which operations a run needs, in an order in which they can be executed."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Collection, Iterable, Sequence

from weft.errors import InvalidArgumentError
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role


def prune(
    fetches: Sequence[Tensor],
    feeds: Iterable[Tensor],
    targets: Sequence[Operation],
    done: Collection[Operation] = (),
) -> list[Operation]:
    """The operations that the fetches and targets need when the feeds are given, in topological order.

    Of several possible orders it is the one in which the program made the nodes, so reads and updates of a variable that no
    edge orders happen as they were written. A fed tensor's op is left out unless something else needs it; so are the operations
    in `done`, which have run in an earlier piece of the step.

    Raises:
        InvalidArgumentError: the operations depend on each other in a circle.
    """
    fed = set(feeds)
    needed = _needed(fetches, fed, targets, done)
    waiting: dict[Operation, int] = {}
    # The second number tells apart nodes that stand at one place of the program.
    ready: list[tuple[int, int, Operation]] = []
    numbers = itertools.count()
    for op in needed:
        count = len(_producers(op, fed) & needed)
        waiting[op] = count
        if count == 0:
            ready.append((op.id, next(numbers), op))
    heapq.heapify(ready)
    consumers = _consumers(needed, fed)
    order: list[Operation] = []
    while ready:
        _, _, op = heapq.heappop(ready)
        order.append(op)
        for consumer in consumers.get(op, ()):
            waiting[consumer] -= 1
            if waiting[consumer] == 0:
                heapq.heappush(ready, (consumer.id, next(numbers), consumer))
    if len(order) != len(needed):
        names = sorted(op.name for op, count in waiting.items() if count > 0)[:5]
        raise InvalidArgumentError.of(f"Graph has a circle through {names}: their order cannot be satisfied")
    return order


def _needed(
    fetches: Sequence[Tensor], fed: set[Tensor], targets: Sequence[Operation], done: Collection[Operation]
) -> set[Operation]:
    stack = [t.op for t in fetches if t not in fed] + list(targets)
    needed: set[Operation] = set()
    while stack:
        op = stack.pop()
        if op in needed or op in done:
            continue
        needed.add(op)
        stack.extend(_producers(op, fed))
    return needed


def _consumers(needed: set[Operation], fed: set[Tensor]) -> dict[Operation, list[Operation]]:
    consumers: dict[Operation, list[Operation]] = {}
    for op in needed:
        for producer in _producers(op, fed) & needed:
            consumers.setdefault(producer, []).append(op)
    return consumers


def _producers(op: Operation, fed: set[Tensor]) -> set[Operation]:
    """What must run before `op`. Waiting for a fed placeholder is waiting for its feed, which is there."""
    controls = {c for c in op.control_inputs if c.op_def.role is not Role.PLACEHOLDER or c.outputs[0] not in fed}
    return controls | {tensor.op for tensor in op.inputs if tensor not in fed}
