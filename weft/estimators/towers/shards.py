"""The parts of a batch that towers take: features and labels, divided along their first dimension."""

from __future__ import annotations

from weft.estimators.aliases import Features, Labels
from weft.framework.building.aliases import Nest
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nested import nest
from weft.ops.array.joining import split
from weft.ops.sparse.joining import sparse_split


def shards(features: Features, labels: Labels, count: int) -> list[tuple[Features, Labels]]:
    """Divide a batch evenly.

    Args:
        features: a tensor or a structure of tensors, sparse ones too.
        labels: a tensor, a structure of tensors, or None.
        count: how many parts there are.

    Returns:
        The parts of features and labels.

    Raises:
        ValueError: the size of the batch is known and no multiple of `count`.
    """
    both = (features, labels)
    parts = [_parts(each, count) for each in nest.flatten(both)]
    return [nest.pack_sequence_as(both, [each[index] for each in parts]) for index in range(count)]


def _parts(value: Nest, count: int) -> list[Nest]:
    if value is None or count == 1:
        return [value] * count
    if isinstance(value, SparseTensor):
        return list(sparse_split(sp_input=value, num_split=count, axis=0))
    size = value.shape[0].value if value.shape.ndims is not None else None
    if size is not None and size % count:
        raise ValueError(
            f"Batch size {size} needs to be divisible by the number of GPUs, which is {count}. Take another batch size, or "
            "batch with drop_remainder=True."
        )
    return list(split(value, count))
