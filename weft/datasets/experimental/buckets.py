"""bucket_by_sequence_length: batches of elements of like lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weft.datasets import nest
from weft.datasets.dataset import Dataset
from weft.datasets.experimental.transformations import Apply, group_by_window
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.constant import constant
from weft.ops.array.selection import where
from weft.ops.debugging.checks import assert_less
from weft.ops.math.comparison import less, less_equal, logical_and
from weft.ops.math.reduce_functions import reduce_min


def bucket_by_sequence_length(
    element_length_func: Callable[..., Nest],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Nest = None,
    padding_values: Nest = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: TensorLike = False,
) -> Apply:
    """Padded batches of elements whose lengths lie between the same boundaries.

    Args:
        element_length_func: the length of an element, a scalar int32.
        bucket_boundaries: lengths, ascending; the upper one of two belongs to the next bucket.
        bucket_batch_sizes: the size of each bucket's batches, one more than there are boundaries.
        padded_shapes, padding_values: see `Dataset.padded_batch`; the elements' own shapes when None.
        pad_to_bucket_boundary: whether unknown sizes become the boundary less one, not the largest in the batch.
        no_padding: whether batches are of elements of one shape.
        drop_remainder: whether batches of fewer elements are left out.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: the numbers of boundaries and of sizes do not fit.
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError(
            f"len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1. There are {len(bucket_boundaries)} boundaries, so "
            f"{len(bucket_boundaries) + 1} buckets, and {len(bucket_batch_sizes)} sizes: the last bucket is of what is longer."
        )
    with get_default_graph().name_scope("bucket_by_seq_length"):
        sizes = constant(bucket_batch_sizes, dtypes.int64)
    limits = np.iinfo(np.int32)
    lower, upper = [limits.min, *bucket_boundaries], [*bucket_boundaries, limits.max]

    def bucket_of(*element: Nest) -> Tensor:
        length = element_length_func(*element)
        return reduce_min(where(logical_and(less_equal(lower, length), less(length, upper))))

    def filler(bucket: Tensor) -> Tensor:
        check = assert_less(
            bucket,
            constant(len(bucket_batch_sizes) - 1, dtypes.int64),
            message="When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries).",
        )
        with get_default_graph().control_dependencies([check]):
            return constant(bucket_boundaries, dtypes.int64)[bucket] - 1

    def as_batches(bucket: Tensor, group: Dataset) -> Dataset:
        size = sizes[bucket]
        if no_padding:
            return group.batch(size, drop_remainder=drop_remainder)
        fill = filler(bucket) if pad_to_bucket_boundary else None
        shapes = nest.map_structure(lambda shape: _filled(shape, fill), padded_shapes or group.output_shapes)
        return group.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)

    return group_by_window(bucket_of, as_batches, window_size_func=lambda bucket: sizes[bucket])


def _filled(shape: Nest, fill: Tensor | None) -> Nest:
    return [fill if size is None else size for size in TensorShape(shape).as_list()]
