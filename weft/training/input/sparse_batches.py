"""SparseTensors on their way through a batching queue: kept in a map on the task, with their numbers in the queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.framework.building.aliases import TensorLike
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.ops.array.filling import fill
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.selection import boolean_mask
from weft.ops.array.shape_ops import expand_dims, squeeze
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.declaration import definition_of
from weft.ops.math.casting import cast
from weft.ops.math.scans import cumsum
from weft.ops.sparse.tensors_map import (
    add_many_sparse_to_tensors_map,
    add_sparse_to_tensors_map,
    take_many_sparse_from_tensors_map,
)


@dataclass(frozen=True)
class SparseComponent:
    """A component of a batch that is sparse: the map that holds it, and the rank of one example."""

    map_name: str
    dtype: DType
    rank: int | None


def chosen(predicate: Tensor, if_true: Callable[[], object], if_false: Callable[[], object]) -> Any:
    """`cond`, decided at once where the predicate's value is known."""
    known = constant_value(predicate)
    if known is None:
        return cond(predicate, if_true, if_false)
    return if_true() if known else if_false()


def store(
    components: Sequence[TensorLike],
    enqueue_many: bool,
    keep_input: Tensor,
    like: Sequence[SparseComponent | None] | None = None,
) -> tuple[list[Any], list[SparseComponent | None]]:
    """Replace each SparseTensor by its number in a map; gives the components and what is needed to restore them.

    Args:
        components: what is to be enqueued.
        enqueue_many: whether the first dimension counts the examples.
        keep_input: whether to enqueue, a scalar, or for each example, a vector.
        like: what an earlier call gave, whose maps to use.
    """
    stored: list[Any] = []
    found: list[SparseComponent | None] = []
    for position, component in enumerate(components):
        if not isinstance(component, SparseTensor):
            stored.append(component)
            found.append(None)
            continue
        known = None if like is None else like[position]
        numbers, sparse = _store_one(component, enqueue_many, keep_input, known)
        stored.append(expand_dims(numbers, [-1]))
        found.append(sparse)
    return stored, found


def _store_one(
    component: SparseTensor, enqueue_many: bool, keep_input: Tensor, known: SparseComponent | None
) -> tuple[Any, SparseComponent]:
    if keep_input.get_shape().ndims == 1:
        component = _kept_rows(component, keep_input)
    add = add_many_sparse_to_tensors_map if enqueue_many else add_sparse_to_tensors_map
    name = definition_of(add).name
    is_open = keep_input.get_shape().ndims == 0 and constant_value(keep_input) is None
    # A node in a branch has no name that a node outside could share.
    shared = known.map_name if known else (get_default_graph().unique_name(name) if is_open else "")

    def keep() -> Any:
        return add(component.indices, component.values, component.dense_shape, shared_name=shared)

    def drop() -> Any:
        none = constant(-1, dtypes.int64)
        return fill(component.dense_shape[:1], none) if enqueue_many else none

    numbers = keep() if keep_input.get_shape().ndims == 1 else chosen(keep_input, keep, drop)
    numbers.set_shape([None] if enqueue_many else [])
    rank = component.get_shape().ndims
    example = rank - 1 if rank is not None and enqueue_many else rank
    return numbers, SparseComponent(shared or numbers.op.name, component.dtype, example)


def _kept_rows(component: SparseTensor, keep_input: Tensor) -> SparseTensor:
    """The rows to keep, moved together, so that the map never holds one that nobody takes."""
    positions = cumsum(cast(keep_input, dtypes.int64))
    kept = gather(keep_input, component.indices[:, 0])
    # Of indices whose rank only a run tells the graph does not know that theirs are a vector.
    kept.set_shape([None])
    indices = boolean_mask(component.indices, kept)
    rows = gather(positions, indices[:, 0]) - 1
    dense_shape = concat([positions[-1:], component.dense_shape[1:]], 0)
    moved = concat([expand_dims(rows, 1), indices[:, 1:]], 1)
    return SparseTensor(moved, boolean_mask(component.values, kept), dense_shape)


def restore(dequeued: Any, components: Sequence[SparseComponent | None]) -> list[Any]:
    """The components of a batch with the SparseTensors back in their places, along a new first dimension."""
    parts = list(dequeued) if isinstance(dequeued, list | tuple) else [dequeued]
    if not any(components):
        return parts
    restored = [
        part if sparse is None else _taken(squeeze(part, [1]), sparse) for part, sparse in zip(parts, components, strict=True)
    ]
    # Whoever reads one component takes the others out of their maps too, or these would grow.
    sources = [each.op for each in restored] + [parts[0].op]
    return [_after_all(each, sources) for each in restored]


def _after_all(value: Any, sources: Sequence[Operation]) -> Any:
    if not isinstance(value, SparseTensor):
        return with_dependencies([each for each in sources if each is not value.op], value)
    others = [each for each in sources if each is not value.op]
    return SparseTensor(*(with_dependencies(others, part) for part in (value.indices, value.values, value.dense_shape)))


def _taken(numbers: Tensor, sparse: SparseComponent) -> SparseTensor:
    indices, values, dense_shape = take_many_sparse_from_tensors_map(numbers, dtype=sparse.dtype, shared_name=sparse.map_name)
    columns = None if sparse.rank is None else sparse.rank + 1
    indices.set_shape([None, columns])
    dense_shape.set_shape([columns])
    return SparseTensor(indices, values, dense_shape)
