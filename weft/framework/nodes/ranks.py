"""The ranks that inputs must have: of those that an op's declaration gives, checked when a node is built, and before it runs.

A node whose inputs' ranks are known is checked when it is built, and never again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import AtLeast, AtMost

Wanted: TypeAlias = tuple[tuple[int, str, int], ...]
"""The number of an argument, its name, and the rank that it must have."""


def check_ranks(op: Operation) -> None:
    """Raise ValueError where an input's known rank is another than the declaration says."""
    ranks = op.op_def.ranks
    for arg, item in group(op.op_def.inputs, op.attrs, op.inputs):
        if arg.name not in ranks:
            continue
        rank = ranks[arg.name]
        for tensor in item if arg.is_list else (item,):
            if tensor.dims is not None and not _fits(len(tensor.dims), rank):
                raise ValueError(f"Shape must be {_bound(rank)}rank {rank} but is rank {len(tensor.dims)} ({arg.name})")


def with_declared_ranks(op: Operation) -> Operation:
    """The node itself, or one on inputs of the ranks that its declaration tells, where those of its own are not known."""
    ranks = op.op_def.ranks
    if all(tensor.dims is not None for tensor in op.inputs):
        return op
    inputs: list[Tensor] = []
    for arg, item in group(op.op_def.inputs, op.attrs, op.inputs):
        rank = ranks.get(arg.name)
        tensors = item if arg.is_list else [item]
        if rank is None or isinstance(rank, AtLeast | AtMost):
            inputs.extend(tensors)
        else:
            inputs.extend(_of_rank(each, rank) if each.dims is None else each for each in tensors)
    return Operation(op.graph, op.op_def, op.name, inputs, (), [each.dtype for each in op.outputs], op.attrs)


def _of_rank(tensor: Tensor, rank: int) -> Tensor:
    made = Tensor(tensor.op, tensor.value_index, tensor.dtype)
    made.dims = (None,) * rank
    return made


def _fits(found: int, rank: int) -> bool:
    if isinstance(rank, AtLeast):
        return found >= rank
    return found <= rank if isinstance(rank, AtMost) else found == rank


def _bound(rank: int) -> str:
    return "at least " if isinstance(rank, AtLeast) else "at most " if isinstance(rank, AtMost) else ""


def check_values(wanted: Wanted, arguments: Sequence[ArrayLike | list[ArrayLike]]) -> None:
    """Raise ValueError where an argument that a kernel is about to get has another rank."""
    for number, name, rank in wanted:
        argument = arguments[number]
        for value in argument if isinstance(argument, list) else (argument,):
            found = np.shape(value)
            if not _fits(len(found), rank):
                raise ValueError(f"{name} must have {_bound(rank)}rank {rank}, {_KINDS[rank]}, but has shape {list(found)}")


_KINDS = ("a scalar", "a vector", "a matrix", "a stack of matrices", "a tensor of four axes", "a tensor of five axes")
