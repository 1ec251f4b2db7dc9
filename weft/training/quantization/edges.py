"""Edges of a graph that is rewritten: who takes what, and letting them take something else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Final

from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor

# Gradients, updates and summaries stay as they are.
UNTOUCHED: Final = ("gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary", "ScalarSummary")


def rewire(new: Tensor, old: Tensor, among: Collection[Operation] | None = None) -> int:
    """Let operations take one tensor where they took another.

    Args:
        new: what they take from now on.
        old: what they took.
        among: the operations that may be changed; all when None.

    Returns:
        How many inputs were changed.
    """
    edges = [
        (op, index)
        for op in dict.fromkeys(old.consumers())
        if among is None or op in among
        for index, each in enumerate(op.inputs)
        if each is old
    ]
    for op, index in edges:
        op.update_input(index, new)
    return len(edges)


class Consumers:
    """Who took what in a graph at one moment: what is put between them later does not change it."""

    def __init__(self, graph: Graph) -> None:
        self._ops: dict[Tensor, dict[Operation, None]] = defaultdict(dict)
        for op in graph.get_operations():
            if not op.name.startswith(UNTOUCHED):
                for tensor in op.inputs:
                    self._ops[tensor][op] = None

    def of(self, op: Operation) -> list[Operation]:
        """Those that took an output of an operation.

        Args:
            op: the operation.
        """
        return list(dict.fromkeys(taker for tensor in op.outputs for taker in self._ops[tensor]))
