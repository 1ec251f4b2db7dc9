"""sdca_shrink_l1: the step that L1 regularization takes behind dual coordinate ascent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.framework.building.aliases import VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation
from weft.ops.control_flow.ordering import group
from weft.ops.math.comparison import maximum
from weft.ops.math.complex_numbers import absolute, sign
from weft.ops.variables.assign import assign
from weft.ops.variables.resource_variable import is_resource_variable


def sdca_shrink_l1(weights: Sequence[VariableLike], l1: float, l2: float, name: str | None = None) -> Operation:
    """Bring weights nearer to zero by `l1 / l2`, and those that are nearer to it to zero.

    Args:
        weights: a list of float32 variables of the kind that is no resource.
        l1, l2: the regularization, numbers.
        name: the operation's name; "SdcaShrinkL1" when None.

    Returns:
        The operation that updates all of them.

    Raises:
        TypeError: `weights` is no list, one of them is no such variable, or a number is none.
    """
    if not isinstance(weights, list | tuple):
        raise TypeError(f"Expected list for 'weights' argument to 'sdca_shrink_l1' Op, not {weights!r}.")
    for key, value in (("l1", l1), ("l2", l2)):
        if not isinstance(value, int | float | np.number):
            raise TypeError(f"Expected float for argument {key!r} not {value!r}.")
    for each in weights:
        if not hasattr(each, "assign") or is_resource_variable(each):
            raise TypeError(
                "'SdcaShrinkL1' Op requires that input 'weights' be a mutable tensor (e.g.: a tf.Variable); "
                f"{each} is none: it is made without use_resource."
            )
    with np.errstate(divide="ignore", invalid="ignore"):
        threshold = float(np.float32(l1) / np.float32(l2))
    graph = get_default_graph()
    with graph.name_scope(name or "SdcaShrinkL1") as scope, graph.node_count.as_many_as(1):
        updates = [assign(each, sign(each) * maximum(absolute(each) - threshold, 0.0)) for each in weights]
        return group(*updates, name=scope)
