"""The ranks that inputs must have: of those that an op's declaration gives, checked when a node is built, and before it runs.

A node whose inputs' ranks are known is checked when it is built, and never again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from weft.framework.node_types import group
from weft.framework.op_def import OpDef
from weft.framework.operation import Operation

Wanted: TypeAlias = tuple[tuple[int, str, int], ...]
"""The number of an argument, its name, and the rank that it must have."""


def check_ranks(op: Operation) -> None:
    """Raise ValueError where an input's known rank is another than the declaration says."""
    ranks = op.op_def.ranks
    for arg, tensor in group(op.op_def.inputs, op.attrs, op.inputs):
        if arg.name in ranks and tensor.dims is not None and len(tensor.dims) != ranks[arg.name]:
            raise ValueError(f"Shape must be rank {ranks[arg.name]} but is rank {len(tensor.dims)} ({arg.name})")


def unsettled(definition: OpDef, op: Operation) -> Wanted:
    """The arguments of a node whose ranks are to be checked when it runs, since they were not known when it was built."""
    if not definition.ranks or op.op_def is not definition:
        return ()
    items = group(definition.inputs, op.attrs, op.inputs)
    return tuple(
        (number, arg.name, definition.ranks[arg.name])
        for number, (arg, tensor) in enumerate(items)
        if arg.name in definition.ranks and tensor.dims is None
    )


def check_values(wanted: Iterable[tuple[int, str, int]], arguments: Sequence[ArrayLike]) -> None:
    """Raise ValueError where an argument that a kernel is about to get has another rank."""
    for number, name, rank in wanted:
        found = np.shape(arguments[number])
        if len(found) != rank:
            raise ValueError(f"{name} must have rank {rank}, a {_KINDS[rank]}, but has shape {list(found)}")


_KINDS = ("scalar", "vector", "matrix", "stack of matrices", "tensor of four axes", "tensor of five axes")
