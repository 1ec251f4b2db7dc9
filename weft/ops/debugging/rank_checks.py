"""Checks of a tensor's rank: at once where it is known, else in each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.framework.building.aliases import Array, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import told_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import format_dims
from weft.ops.array.shape_ops import rank, shape_internal
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.ordering import no_op
from weft.ops.declaration import rank_of
from weft.ops.math.comparison import equal, less_equal, logical_or


def _rank_check(
    x: TensorLike, wanted: Sequence[object], scope: str, what: str, static: Callable[[int, Sequence[int]], bool],
    dynamic: Callable[[Any, Any], Tensor] | Callable[[Any, Sequence[Any]], Tensor], data: Sequence[object] | None,
    summarize: int | None, message: str | None, name: str | None,
) -> Operation:  # fmt: skip
    with get_default_graph().name_scope(name or scope):
        tensor = convert_to_tensor(x, name="x")
        ranks = [convert_to_tensor(each, name="rank") for each in wanted]
        for each in ranks:
            if not each.dtype.is_integer:
                raise TypeError(f"{message or ''}  {each.name} must be of type <dtype: 'int32'>: a rank is an integer.")
            if each.dims not in (None, ()):
                raise ValueError(f"Rank must be a scalar. It has shape {format_dims(each.dims)}.")
        # TensorFlow has a node for the type of each rank, and one for a shape that is known: later seeds go by the count.
        get_default_graph().node_count.total += len(ranks)
        prefix = f"{message}.  " if message else ""
        known = [told_value(each) for each in ranks]
        found = rank_of(tensor)
        if found is not None and None not in known:
            sizes = [int(each) for each in known]
            if not static(found, sizes):
                shown = sizes[0] if scope != "assert_rank_in" else tuple(sizes)
                raise ValueError(
                    f"{prefix}Tensor {tensor.name} must have rank {what}{shown}.  Received rank {found}, shape {tensor.shape}"
                )
            get_default_graph().node_count.total += 1
            return no_op(name="static_checks_determined_all_ok")
        shown_data = list(data) if data is not None else [
            prefix, f"Tensor {tensor.name} must have rank {what}".rstrip(), *ranks, "Received shape: ",
            shape_internal(tensor),
        ]  # fmt: skip
        scalars = [
            assert_that(equal(rank(each), 0), ["Rank must be a scalar. Received rank: ", each])
            for each in ranks
            if each.dims is None
        ]
        with get_default_graph().control_dependencies(scalars):
            found_rank = rank(tensor)
        return assert_that(dynamic(found_rank, ranks), shown_data, summarize=summarize)


def assert_rank(
    x: TensorLike,
    rank: int | None,
    data: Sequence[object] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Check that `x` has the rank given: ValueError now when it is known to differ, else an operation.

    Args:
        x: [...] tensor of any dtype.
        rank: the rank, an int32 scalar.
        data: tensors to show when it fails.
        summarize: how many elements to show of each.
        message: begins the error's text.

    Returns:
        The operation, which does nothing where the rank is known.
    """
    return _rank_check(
        x, [rank], "assert_rank", "", lambda found, wanted: found == wanted[0],
        lambda found, wanted: equal(found, wanted[0]), data, summarize, message, name,
    )  # fmt: skip


def assert_rank_at_least(
    x: TensorLike,
    rank: int | None,
    data: Sequence[object] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Check that `x` has at least the rank given: ValueError now when it is known to be less, else an operation.

    Args: those of `tf.assert_rank`.

    Returns:
        The operation, which does nothing where the rank is known.
    """
    return _rank_check(
        x, [rank], "assert_rank_at_least", "at least ", lambda found, wanted: found >= wanted[0],
        lambda found, wanted: less_equal(wanted[0], found), data, summarize, message, name,
    )  # fmt: skip


def _is_any(found: Array, wanted: Sequence[object]) -> Tensor:
    result = equal(found, wanted[0])
    for each in wanted[1:]:
        result = logical_or(result, equal(found, each))
    return result


def assert_rank_in(
    x: TensorLike,
    ranks: Sequence[TensorLike],
    data: Sequence[object] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Check that `x` has one of the ranks: ValueError now when it is known to have another, else an operation.

    Args:
        x: [...] tensor of any dtype.
        ranks: a list of int32 scalars.
        data: tensors to show when it fails.
        summarize: how many elements to show of each.
        message: begins the error's text.

    Returns:
        The operation, which does nothing where the rank is known.
    """
    return _rank_check(
        x, list(ranks), "assert_rank_in", "in ", lambda found, wanted: found in wanted, _is_any, data, summarize,
        message, name,
    )  # fmt: skip


def assert_scalar(tensor: TensorLike, name: str | None = None, message: str | None = None) -> Tensor:
    """The tensor; ValueError when it is known not to be a scalar.

    Args:
        tensor: a tensor, or what becomes one.
        message: begins the error's text.
    """
    with get_default_graph().name_scope(name or "assert_scalar") as scope:
        value = convert_to_tensor(tensor, name=scope)
        if rank_of(value) != 0:
            raise ValueError(f"{message or ''}Expected scalar shape for {value.name}, saw shape: {value.shape}.")
        return value
