"""Transformations between elements and batches of them."""

from __future__ import annotations

from weft.data import structure
from weft.data.selecting import Made, int64
from weft.data.structure import DatasetLike
from weft.framework import dtypes
from weft.framework.aliases import TensorLike
from weft.framework.constant_value import constant_value
from weft.framework.tensor_conversion import convert_to_tensor
from weft.ops.data import batching


def batch(dataset: DatasetLike, batch_size: TensorLike, drop_remainder: TensorLike) -> Made:
    """Batches of elements; where none is shorter than others their size is known."""
    size = int64(batch_size, "batch_size")
    drops = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
    known = constant_value(size) if constant_value(drops) else None
    spec = structure.batched(dataset.element_spec, None if known is None else int(known))
    return Made(batching.batch_dataset_v2(dataset.variant_tensor, size, drops, **structure.flat_attrs(spec)), spec)
