"""Rows that are kept in several variables: equal runs of them, the first of which have one more where they do not divide."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Final, TypeAlias

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import fill
from weft.ops.array.partitioning import dynamic_partition
from weft.ops.array.selection import where
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum
from weft.ops.random.functions import random_normal
from weft.ops.state.scatter_update import scatter_update
from weft.ops.variables.variable import Variable

RANDOM: Final = "random"
# One weight for all rows, one for each, or None.
Weights: TypeAlias = "float | Sequence[float] | Sequence[Sequence[float]] | None"


def factor_shards(rows: int, size: int, count: int, first: Nest, name: str) -> list[VariableLike]:
    """The variables of the factors `[rows, size]`.

    Args:
        rows, size: the shape of all of them together.
        count: how many variables there are.
        first: `random`, for normal numbers; their value; for several variables a list of values; or a function that gives one
            of these.
        name: begins the variables' names.

    Raises:
        ValueError: there are not as many values as variables.
    """
    given = first() if callable(first) else first
    if isinstance(given, str) and given == RANDOM:
        parts = [lambda each=each: random_normal([each, size]) for each in _sizes(rows, count)]
    else:
        parts = [lambda each=each: each for each in _one_each(given if isinstance(given, list) else [given], count, name)]
    return _variables(parts, name)


def weight_shards(weights: Weights, rows: int, count: int, name: str) -> list[VariableLike] | None:
    """The variables of the rows' weights; None where there are none.

    Args:
        weights: one for all rows, a list of one for each, or such a list for each variable.
        rows: how many rows there are.
        count: how many variables there are.
        name: begins the variables' names.

    Raises:
        ValueError: the weights are of another kind, or below zero, or not as many lists as variables.
    """
    if weights is None:
        return None
    if isinstance(weights, numbers.Real) and float(weights) >= 0:
        one = float(weights)
        return _variables([lambda each=each: fill([each], one) for each in _sizes(rows, count)], name)
    try:
        lists: Nest = list(weights)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(
            f"Invalid weight initialization argument {weights!r} of {name}. Must be one of these: None, a non-negative real "
            "number, or a list of lists of non-negative real numbers, one for each shard."
        ) from None
    lists = [lists] if count == 1 and len(lists) == rows else lists
    return _variables([lambda each=each: each for each in _one_each(lists, count, name)], name)


def update_rows(shards: Sequence[VariableLike], rows: int, indices: Tensor, values: Tensor, name: str) -> Operation:
    """Write rows into the variables that hold them.

    Args:
        shards: the variables.
        rows: how many rows they hold together.
        indices: the rows' numbers, `[n] int64`.
        values: the new rows, `[n, size]`.
        name: the operation's name.
    """
    graph = get_default_graph()
    if len(shards) == 1:
        with graph.colocate_with(shards[0]):
            return scatter_update(shards[0], indices, values, name=name).op
    least, more = divmod(rows, len(shards))
    owners = maximum(indices // (least + 1), (indices - more) // least)
    places = where(owners < more, indices % (least + 1), (indices - more) % least)
    numbers_of = cast(owners, dtypes.int32)
    own_places = dynamic_partition(places, numbers_of, len(shards))
    own_values = dynamic_partition(values, numbers_of, len(shards))
    updates = []
    for shard, place, value in zip(shards, own_places, own_values, strict=True):
        with graph.colocate_with(shard):
            updates.append(scatter_update(shard, place, value))
    return group(*updates, name=name)


def _sizes(rows: int, count: int) -> list[int]:
    least, more = divmod(rows, count)
    return [least + 1] * more + [least] * (count - more)


def _one_each(values: Sequence[Nest], count: int, name: str) -> Sequence[Nest]:
    if len(values) != count:
        raise ValueError(f"{name} is kept in {count} shards, but {len(values)} values are given.")
    return values


def _variables(first: Sequence[Nest], name: str) -> list[VariableLike]:
    return [Variable(each, dtype=dtypes.float32, name=f"{name}_shard_{number}") for number, each in enumerate(first)]
