"""Summing what several consumers contribute to the gradient of one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.joining import concat
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import add_n

Gradient: TypeAlias = "Tensor | IndexedSlices"


class AggregationMethod:
    """How contributions are summed: by one AddN, or pair by pair. XLA orders the additions itself."""

    ADD_N: Final = 0
    DEFAULT: Final = ADD_N
    EXPERIMENTAL_TREE: Final = 1
    EXPERIMENTAL_ACCUMULATE_N: Final = 2


_METHODS: Final = (
    AggregationMethod.ADD_N,
    AggregationMethod.EXPERIMENTAL_TREE,
    AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
)


def checked_method(method: int | None) -> int:
    """The method to use; ValueError when there is no such method."""
    if method is None:
        return AggregationMethod.DEFAULT
    if method not in _METHODS:
        raise ValueError(f"Invalid aggregation_method specified {method}\nAccepted values are {list(_METHODS)}.")
    return method


def aggregate(op: Operation, index: int, contributions: Sequence[Gradient], method: int) -> Gradient | None:
    """The sum of the contributions to output `index` of `op`: IndexedSlices when all are, None when there are none.

    Raises:
        TypeError: a contribution is neither a Tensor nor an IndexedSlices.
    """
    if not all(isinstance(each, Tensor | IndexedSlices) for each in contributions):
        raise TypeError(
            f"Invalid gradient {list(contributions)} [index = {index}]. Gradients have to be either all Tensors or all "
            "IndexedSlices"
        )
    if len(contributions) < 2:
        return contributions[0] if contributions else None
    slices = [each for each in contributions if isinstance(each, IndexedSlices)]
    if len(slices) == len(contributions):
        return joined(slices)
    if slices:
        dense: Tensor = add_n([convert_to_tensor(each) for each in contributions])
        return dense
    tensors = [each for each in contributions if isinstance(each, Tensor)]
    if method == AggregationMethod.ADD_N:
        return _add_by_device(tensors)
    with get_default_graph().name_scope(f"{op.name}_gradient_sum"):
        total = tensors[0]
        for each in tensors[1:]:
            total = add_n([total, each])
        return total


def joined(slices: Sequence[IndexedSlices]) -> IndexedSlices:
    """All slices one after the other: whoever applies them adds up those of one index.

    Args:
        slices: of one tensor each; their indices become int64 where some are.
    """
    if any(each.indices.dtype is dtypes.int64 for each in slices):
        slices = [IndexedSlices(s.values, cast(s.indices, dtypes.int64), s.dense_shape) for s in slices]
    values = concat([each.values for each in slices], axis=0)
    indices = concat([each.indices for each in slices], axis=0)
    return IndexedSlices(values, indices, slices[0].dense_shape)


def _add_by_device(tensors: Sequence[Tensor]) -> Tensor:
    """Sum on each device first, so that one tensor leaves each."""
    by_device: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        by_device.setdefault(tensor.device, []).append(tensor)
    partial_sums = []
    for _, members in sorted(by_device.items()):
        with get_default_graph().colocate_with(members[0].op, ignore_existing=True):
            partial_sums.append(add_n(members))
    return add_n(partial_sums)
