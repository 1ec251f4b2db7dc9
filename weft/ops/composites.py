"""What control flow carries: tensors, and objects made of several tensors that are taken apart on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dims import Dims


class _Kind(NamedTuple):
    parts: Callable[[Any], list[Tensor]]
    rebuild: Callable[[Any, list[Tensor]], Any]
    loop_dims: Callable[[list[Tensor]], list[Dims]]


_KINDS: Final[dict[type, _Kind]] = {}


def register_composite(
    kind: type,
    parts: Callable[[Any], list[Tensor]],
    rebuild: Callable[[Any, list[Tensor]], object],
    loop_dims: Callable[[list[Tensor]], list[Dims]] = lambda tensors: [None] * len(tensors),
) -> None:
    """Let control flow carry objects of a class.

    Args:
        kind: the class.
        parts: the tensors of an object.
        rebuild: such an object made of other tensors.
        loop_dims: of the tensors' shapes what a loop keeps; nothing by default.
    """
    _KINDS[kind] = _Kind(parts, rebuild, loop_dims)


register_composite(SparseTensor, lambda v: [v.indices, v.values, v.dense_shape], lambda v, tensors: SparseTensor(*tensors))
register_composite(
    IndexedSlices,
    lambda v: [v.values, v.indices] + ([] if v.dense_shape is None else [v.dense_shape]),
    lambda v, tensors: IndexedSlices(*tensors),
)


def as_leaf(value: object, name: str = "value") -> Any:
    """A leaf of a structure as control flow takes it: a tensor, or an object that is made of tensors."""
    if isinstance(value, Tensor) or type(value) in _KINDS:
        return value
    return convert_to_tensor(value, name=name)


def tensors_of(leaf: Any) -> list[Tensor]:
    """The tensors of a leaf."""
    kind = _KINDS.get(type(leaf))
    return [leaf] if kind is None else kind.parts(leaf)


def flat_tensors(structure: object) -> list[Tensor]:
    """The tensors of all leaves."""
    return [tensor for leaf in nest.flatten(structure) for tensor in tensors_of(leaf)]


def packed(structure: object, tensors: Sequence[Tensor]) -> Any:
    """The structure with other tensors in its leaves."""
    left = list(tensors)
    leaves = []
    for leaf in nest.flatten(structure):
        count = len(tensors_of(leaf))
        taken, left = left[:count], left[count:]
        kind = _KINDS.get(type(leaf))
        leaves.append(taken[0] if kind is None else kind.rebuild(leaf, taken))
    return nest.pack_sequence_as(structure, leaves)


def dims_of_parts(leaf: Nest, invariant: Dims) -> list[Dims]:
    """The shapes that a loop keeps of the tensors of a leaf.

    Args:
        leaf: a tensor, or an object that is made of tensors.
        invariant: what the program says of it: of a SparseTensor the shape of its dense shape, of IndexedSlices that of
            their values. What a TensorArray holds is free.
    """
    if isinstance(leaf, SparseTensor):
        given = leaf.dense_shape.dims if invariant is None else invariant
        if given is not None and len(given) != 1:
            raise ValueError(
                "Expected a shape with 1 dimension: the shape invariant of a SparseTensor is that of its dense_shape"
            )
        rank = None if given is None else given[0]
        return [(None, rank), (None,), (rank,)]
    if isinstance(leaf, IndexedSlices):
        if invariant is None:
            return [tensor.dims for tensor in tensors_of(leaf)]
        dims: list[Dims] = [invariant, invariant[:1], (len(invariant),)]
        return dims[: len(tensors_of(leaf))]
    return [leaf.dims] if isinstance(leaf, Tensor) else _KINDS[type(leaf)].loop_dims(tensors_of(leaf))
