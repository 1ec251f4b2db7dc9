"""What of a graph depends on some of its tensors."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from weft.framework.building.aliases import Nest
from weft.framework.nested.nest import flatten
from weft.framework.nodes.operation import Operation, Tensor


def get_reachable_from_inputs(inputs: Nest, targets: Nest = None) -> set[Nest]:
    """The operations and tensors that some tensors lead to, those themselves among them.

    Args:
        inputs: tensors, operations or variables.
        targets: where to stop: once all of these are found, what lies behind is not looked for.

    Raises:
        TypeError: one of the inputs is none of a graph's.
    """
    found: set[Nest] = set(flatten(inputs))
    wanted = None if targets is None else set(flatten(targets))
    waiting = deque(flatten(inputs))
    while waiting:
        new = [each for each in _next(waiting.popleft()) if each not in found]
        found.update(new)
        if wanted is not None and wanted <= found:
            break
        waiting.extend(new)
    return found


def _next(node: Nest) -> Iterable[Nest]:
    if isinstance(node, Operation):
        return node.outputs
    if isinstance(node, Tensor):
        return node.consumers()
    if isinstance(getattr(node, "op", None), Operation):  # a variable
        return (node.op,)
    raise TypeError(f"Expected Operation, Variable, or Tensor, got {node!r}")
