"""Rows of a table by number: embedding_lookup and its sparse forms.

The gather is made on the device of the table, so that of a table on another task only the rows travel, and so do, as
IndexedSlices, only the rows of its gradient.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from weft.framework.building.aliases import DTypeLike, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import brackets
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.framework.types.value_types import OrNone
from weft.ops.array.constant import constant
from weft.ops.array.filling import fill, zeros_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.padding import slice_of
from weft.ops.array.partitioning import dynamic_partition, parallel_dynamic_stitch
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import select_node
from weft.ops.array.sets import unique
from weft.ops.array.shape_ops import expand_dims, rank, reshape, shape_internal, size_internal
from weft.ops.array.slices_conversion import convert_to_tensor_or_indexed_slices
from weft.ops.array.slicing import slice_helper
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import tile
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast, to_float
from weft.ops.math.clip import clip_by_norm
from weft.ops.math.comparison import greater, greater_equal, less, logical_and, maximum
from weft.ops.math.division import div, power
from weft.ops.math.reduce_functions import reduce_prod, reduce_sum
from weft.ops.math.segment import segment_sum
from weft.ops.math.unary import sqrt
from weft.ops.sparse.layout import sparse_fill_empty_rows, sparse_reshape, sparse_retain
from weft.ops.sparse.segment import sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum
from weft.ops.variables.partitioned_variable import PartitionedVariable
from weft.ops.variables.resource_variable import ResourceVariable
from weft.platform.logs import tf_logging


def _parts(params: VariableLike) -> list[VariableLike]:
    """The parts of a table: a list of variables or tensors."""
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, PartitionedVariable):
        params = list(params)
    parts = list(params) if isinstance(params, list | tuple) else [params]
    if not parts:
        raise ValueError("Need at least one param")
    return parts


def embedding_lookup(
    params: VariableLike, ids: TensorLike, partition_strategy: str = "mod", name: str | None = None,
    validate_indices: bool = True, max_norm: float | None = None,
) -> Tensor:  # fmt: skip
    """The rows `ids` of a table.

    Args:
        params: the table: a variable or tensor, a list of parts, or a PartitionedVariable.
        ids: row numbers, of any shape.
        partition_strategy: how rows are dealt to several parts: "mod" in turn, "div" in equal runs.
        name: the name scope.
        validate_indices: has no effect.
        max_norm: rows with a greater Euclidean norm are scaled down to it.

    Returns:
        [*shape of `ids`, *shape of a row] tensor of the table's type.

    Raises:
        ValueError: there is no table, or the strategy is neither of the two.

    >>> table = tf.constant([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> sess.run(tf.nn.embedding_lookup(table, [2, 0]))
    array([[3., 3.],
           [1., 1.]], dtype=float32)
    """
    parts = given = _parts(params)
    with _shards_named(given), input_scope(name, "embedding_lookup", (*parts, ids)) as scope:
        if not any(isinstance(part, ResourceVariable) for part in parts):
            parts = [convert_to_tensor_or_indexed_slices(part, name=f"params_{i}") for i, part in enumerate(parts)]
        ids = convert_to_tensor(ids, name="ids")
        if len(parts) == 1:
            with get_default_graph().colocate_with(_op_of(parts[0])):
                found = _clip(gather(parts[0], ids, name=scope), ids, max_norm)
            # The caller's copy is not bound to the table's device.
            return identity(found)
        return _clip(_gathered(parts, ids, partition_strategy, scope), ids, max_norm)


def _op_of(part: VariableLike) -> Operation | OrNone:
    return part.handle.op if isinstance(part, ResourceVariable) else part.op


def _gathered(parts: list[VariableLike], ids: Tensor, strategy: str, scope: str) -> Tensor:
    """The rows of a table in several parts: each part gives its own, which are then put in order."""
    flat = reshape(ids, [-1])
    order = range_of(size_internal(flat))
    owners, rows = _dealt(parts, flat, strategy)
    owners = cast(owners, dtypes.int32)
    rows_of = dynamic_partition(rows, owners, len(parts))
    places = dynamic_partition(order, owners, len(parts))
    found = []
    for part, wanted in zip(parts, rows_of, strict=True):
        with get_default_graph().colocate_with(_op_of(part)):
            found.append(gather(part, wanted))
    joined = parallel_dynamic_stitch(places, found, name=scope)
    row = _dims_of(parts[0])[1:]
    for part in parts[1:]:
        row = row.merge_with(_dims_of(part)[1:])
    if row.is_fully_defined():
        row_shape: Any = row.as_list()
    else:
        with get_default_graph().colocate_with(_op_of(parts[0])):
            row_shape = slice_helper(shape_internal(parts[0]), slice(1, None))
    result = reshape(joined, concat([shape_internal(ids), row_shape], 0) if row.ndims != 0 else shape_internal(ids))
    result.set_shape(ids.shape.concatenate(row))
    return result


@contextlib.contextmanager
def _shards_named(parts: list[VariableLike]) -> Iterator[None]:
    """Name the parts of a table in an error about rows that are unlike: the nodes that it is about are of this module."""
    try:
        yield
    except (ValueError, TypeError) as error:
        described = [f"{_op_of(part).name} {brackets(as_dims(_dims_of(part)))} {part.dtype.base_dtype.name}" for part in parts]
        if len({(part.dtype.base_dtype, str(_dims_of(part)[1:])) for part in parts}) == 1:
            raise
        told = f"  params: {', '.join(described)}. The parts of one table have rows of one shape and one type."
        raise type(error)(f"{error}\n{told}") from None


def _dims_of(part: VariableLike) -> TensorShape:
    return TensorShape(part.get_shape())


def _dealt(parts: list[VariableLike], ids: Tensor, strategy: str) -> tuple[Tensor, Tensor]:
    """Which part each row is in, and its number there."""
    count = len(parts)
    if strategy == "mod":
        return ids % count, ids // count
    if strategy != "div":
        raise ValueError(f"Unrecognized partition strategy: {strategy}. It is 'mod' or 'div'.")
    total = _total_rows(parts, ids.dtype.base_dtype)
    per_part, extras = total // count, total % count
    # The first `extras` parts have one row more than the others.
    owners = maximum(ids // (per_part + 1), (ids - extras) // per_part)
    is_longer = less(owners, extras)
    return owners, select_node(is_longer, ids % (per_part + 1), (ids - extras) % per_part)


def _total_rows(parts: list[VariableLike], dtype: DTypeLike) -> Tensor:
    sizes: list[Any] = [None if (dims := _dims_of(part)).ndims is None else dims.as_list()[0] for part in parts]
    if None not in sizes:
        return constant(sum(size for size in sizes if size is not None), dtype)
    counts: list[Any] = []
    for part, size in zip(parts, sizes, strict=True):
        if size is not None:
            counts.append(size)
            continue
        with get_default_graph().colocate_with(_op_of(part)):
            counts.append(slice_helper(shape_internal(part), 0))
    return reduce_sum(cast(stack(counts), dtype))


def _clip(rows: Tensor, ids: Tensor, max_norm: float | None) -> Tensor:
    """The rows, none longer than `max_norm`."""
    if max_norm is None:
        return rows
    first, last = ids.shape.ndims, rows.shape.ndims
    if first is not None and last is not None:
        return clip_by_norm(rows, max_norm, axes=list(range(first, last)))
    return clip_by_norm(rows, max_norm, axes=range_of(rank(ids), rank(rows)))


# Sparse lookups.


def embedding_lookup_sparse(
    params: VariableLike, sp_ids: SparseTensor, sp_weights: SparseTensor | None, partition_strategy: str = "mod",
    name: str | None = None, combiner: str | None = None, max_norm: float | None = None,
) -> Tensor:  # fmt: skip
    """For each row of `sp_ids` the rows of the table that it names, combined into one.

    Args:
        params: the table, as in embedding_lookup.
        sp_ids: a SparseTensor of row numbers; each of its rows has at least one.
        sp_weights: a SparseTensor of their weights, or None for weights of one.
        partition_strategy: "mod" or "div", as in embedding_lookup.
        name: the name scope.
        combiner: "mean" (the default), "sqrtn" or "sum".
        max_norm: rows with a greater Euclidean norm are scaled down to it first.

    Returns:
        [rows of `sp_ids`, *sizes of a row of the table] tensor of the table's dtype.

    Raises:
        TypeError: ids or weights are not sparse.
        ValueError: the combiner is none of the three.
    """
    if combiner is None:
        tf_logging.warn('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner!r}")
    parts = _parts(params)
    _check_sparse(sp_ids, sp_weights)
    with input_scope(name, "embedding_lookup_sparse", (*parts, sp_ids.values)) as scope:
        segment_ids = cast(slice_helper(sp_ids.indices, (slice(None), 0)), dtypes.int32)
        ids, places = unique(sp_ids.values)
        rows = embedding_lookup(parts, ids, partition_strategy=partition_strategy, max_norm=max_norm)
        if rows.dtype.base_dtype in (dtypes.float16, dtypes.bfloat16):
            rows = to_float(rows)
        if sp_weights is None:
            combine = {"sum": sparse_segment_sum, "mean": sparse_segment_mean, "sqrtn": sparse_segment_sqrt_n}[combiner]
            return combine(rows, places, segment_ids, name=scope)
        weights = cast(sp_weights.values, rows.dtype.base_dtype)
        return _weighted(gather(rows, places), weights, segment_ids, combiner, scope)


def _check_sparse(sp_ids: SparseTensor, sp_weights: SparseTensor | None) -> None:
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError(
            f"sp_ids must be SparseTensor, got {sp_ids!r}. tf.nn.embedding_lookup takes dense ids; "
            "tf.contrib.layers.dense_to_sparse makes sparse ones of them."
        )
    if sp_weights is None:
        return
    if not isinstance(sp_weights, SparseTensor):
        raise TypeError(f"sp_weights must be either None or SparseTensor, a weight for each of sp_ids. Got {sp_weights!r}.")
    for part in ("values", "indices", "dense_shape"):
        getattr(sp_ids, part).shape.assert_is_compatible_with(getattr(sp_weights, part).shape)


def _weighted(rows: Tensor, weights: Tensor, segment_ids: Tensor, combiner: str, scope: str) -> Tensor:
    ones = fill(expand_dims(rank(rows) - 1, 0), 1)
    known, count = weights.shape, rows.shape.ndims
    weights = reshape(weights, concat([shape_internal(weights), ones], 0))
    if count is not None:
        weights.set_shape(known.concatenate([1] * (count - 1)))
    rows = rows * weights
    if combiner == "sum":
        return segment_sum(rows, segment_ids, name=scope)
    total = segment_sum(rows, segment_ids)
    if combiner == "mean":
        return div(total, segment_sum(weights, segment_ids), name=scope)
    return div(total, sqrt(segment_sum(power(weights, 2), segment_ids)), name=scope)


def safe_embedding_lookup_sparse(
    embedding_weights: VariableLike, sparse_ids: SparseTensor, sparse_weights: SparseTensor | None = None,
    combiner: str = "mean", default_id: int | None = None, name: str | None = None, partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Tensor:  # fmt: skip
    """`embedding_lookup_sparse` that allows rows without ids, negative ids and, but for sums, weights that are not positive.

    Args:
        embedding_weights: the table, as in embedding_lookup.
        sparse_ids: a SparseTensor of row numbers, of rank 2 or more.
        sparse_weights: a SparseTensor of their weights, or None.
        combiner: "mean", "sqrtn" or "sum".
        default_id: the row for an empty row of ids; zeros when None.
        name: the name scope.
        partition_strategy: "mod" or "div".
        max_norm: rows with a greater Euclidean norm are scaled down to it first.

    Raises:
        ValueError: there is no table.
    """
    if embedding_weights is None or (isinstance(embedding_weights, list | tuple) and not embedding_weights):
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    wanted = None if sparse_weights is None else sparse_weights.dtype
    parts = [_typed(part, wanted) for part in _parts(embedding_weights)]
    with input_scope(name, "embedding_lookup", (*parts, sparse_ids.values)) as scope:
        outer = sparse_ids.dense_shape
        known_rank = outer.shape.with_rank(1).as_list()[0]
        count = size_internal(outer) if known_rank is None else known_rank
        columns = gather(outer, count - 1)
        ids = sparse_reshape(sparse_ids, stack([reduce_prod(slice_of(outer, [0], [count - 1])), columns]))
        weights = None
        if sparse_weights is not None:
            weights = SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
        ids, weights = _pruned(ids, weights, combiner)
        ids, is_empty = sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse_fill_empty_rows(weights, 1.0)
        found = embedding_lookup_sparse(
            parts, ids, weights, combiner=combiner, partition_strategy=partition_strategy,
            name=None if default_id is None else scope, max_norm=max_norm,
        )  # fmt: skip
        if default_id is None:
            width = slice_helper(shape_internal(found), 1)
            is_empty = tile(reshape(is_empty, [-1, 1]), stack([1, width]))
            found = select_node(is_empty, zeros_like(found), found, name=scope)
        rows = slice_of(cast(outer, dtypes.int32), [0], [count - 1])
        result = reshape(found, concat([rows, slice_of(shape_internal(found), [1], [-1])], 0))
        lead = TensorShape(None if known_rank is None else [None] * (known_rank - 1))
        result.set_shape(lead.concatenate(found.shape[1:]))
        return result


def _typed(part: VariableLike, dtype: DTypeLike | None) -> VariableLike:
    if isinstance(part, ResourceVariable) and dtype in (None, part.dtype):
        return part
    return convert_to_tensor(part, dtype)


def _pruned(ids: SparseTensor, weights: SparseTensor | None, combiner: str) -> tuple[SparseTensor, SparseTensor | None]:
    """Ids and weights without negative ids and, but for sums, without weights that are not positive."""
    is_valid = greater_equal(ids.values, 0)
    if weights is not None and combiner != "sum":
        is_valid = logical_and(is_valid, greater(weights.values, 0))
    kept = sparse_retain(ids, is_valid)
    return kept, None if weights is None else sparse_retain(weights, is_valid)
