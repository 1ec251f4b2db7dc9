"""Copies of variables that a worker keeps for itself while it makes use of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.framework.building.aliases import VariableLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation
from weft.ops.control_flow.ordering import group
from weft.ops.variables.assign import assign
from weft.ops.variables.variable import Variable


@dataclass(frozen=True)
class Cache:
    """Copies of variables.

    Args:
        copies: what is read: local variables, or the variables themselves.
        fill: takes the variables' values.
        empty: lets them go.
    """

    copies: Sequence[VariableLike]
    fill: Operation
    empty: Operation


def cached(variables: Mapping[str, VariableLike], *, is_kept: bool) -> Cache:
    """Copies of variables, or, unless they are to be kept, the variables themselves.

    Args:
        variables: what is copied, by the copies' names.
        is_kept: whether there are copies.
    """
    if not is_kept:
        return Cache(list(variables.values()), group(), group())
    copies = [_local(name) for name in variables]
    filled: list[Operation] = []
    for copy, variable in zip(copies, variables.values(), strict=True):
        # One after the other, so that no more than one value is on its way.
        with get_default_graph().colocate_with(copy), control_dependencies(filled[-1:]):
            filled.append(assign(copy, variable, validate_shape=False).op)
    return Cache(copies, group(*filled[-1:]), group(*(assign(copy, 1.0, validate_shape=False) for copy in copies)))


def _local(name: str) -> VariableLike:
    return Variable(1.0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], validate_shape=False, name=name)
