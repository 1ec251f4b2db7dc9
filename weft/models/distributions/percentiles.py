"""Percentiles: the values below which given shares of others lie."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.sequences import sort
from weft.ops.array.shape_ops import expand_dims, reshape, shape
from weft.ops.array.transposing import transpose
from weft.ops.debugging.checks import assert_greater_equal, assert_less_equal
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum, minimum
from weft.ops.math.unary import ceil, floor, round_node


def percentile(
    x: TensorLike, q: TensorLike, axis: int | Sequence[int] | None = None, interpolation: str | None = None,
    keep_dims: bool = False, validate_args: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The value below which q percent of the values lie, along some dimensions.

    Args:
        x: the values, of a known rank.
        q: a scalar from 0 to 100.
        axis: the dimensions, which the result lacks; all when None.
        interpolation: 'lower', 'higher' or 'nearest': which of the values around is taken; 'nearest' when None.
        keep_dims: whether the result has those dimensions, of size 1.
        validate_args: whether a run fails for other `q`.
        name: the name scope.

    Raises:
        ValueError: another interpolation, `q` is no scalar, or `x` lacks a dimension of `axis`.
    """
    how = "nearest" if interpolation is None else interpolation
    if how not in ("lower", "higher", "nearest"):
        raise ValueError(f"Argument 'interpolation' must be in {{'higher', 'lower', 'nearest'}}.  Found {interpolation}")
    with get_default_graph().name_scope(name or "percentile"):
        x = convert_to_tensor(x, name="x")
        share = cast(convert_to_tensor(q, name="q"), dtypes.float64)
        if share.dims not in (None, ()):
            raise ValueError(f"q must be a scalar, it has shape {share.shape}")
        checks = (
            [assert_greater_equal(share, cast(0.0, share.dtype)), assert_less_equal(share, cast(100.0, share.dtype))]
            if validate_args
            else []
        )
        rows, gone = _in_rows(x, axis)
        with get_default_graph().control_dependencies(checks):
            # Counted from the greatest value: so ties between two are broken as TensorFlow breaks them.
            place = (1.0 - share / 100.0) * cast(shape(rows)[-1] - 1, dtypes.float64)
        at = cast({"lower": ceil, "higher": floor, "nearest": round_node}[how](place), dtypes.int32)
        at = maximum(minimum(at, shape(rows)[-1] - 1), 0)
        result = gather(sort(rows, -1, "DESCENDING"), at, axis=-1)
        for each in gone if keep_dims else ():
            result = expand_dims(result, each)
        return result


def _dimension(axis: int, rank: int, x: Tensor) -> int:
    """The dimension counted from the front."""
    place = operator.index(axis)
    if not -rank <= place < rank:
        raise ValueError(
            f"axis of percentile must be from {-rank} to {rank - 1}, which x of shape {x.shape} has, it is {place}"
        )
    return place % rank


def _in_rows(x: Tensor, axis: int | Sequence[int] | None) -> tuple[Tensor, list[int]]:
    """The values of those dimensions in one, the last; and which dimensions they were."""
    rank = len(x.shape.as_list())
    if axis is None:
        return reshape(x, [-1]), list(range(rank))
    gone = sorted(_dimension(each, rank, x) for each in np.atleast_1d(axis))
    if len(set(gone)) < len(gone):
        raise ValueError(f"axis {axis} of percentile names a dimension of {x} twice")
    kept = [each for each in range(rank) if each not in gone]
    turned = transpose(x, kept + gone)
    return reshape(turned, concat([shape(turned)[: len(kept)], [-1]], 0)), gone
