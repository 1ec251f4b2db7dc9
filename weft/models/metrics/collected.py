"""The metric that keeps the values themselves: all batches behind each other."""

from __future__ import annotations

from weft.framework.building.aliases import Collections, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.models.metrics.state import Metric, metric_scope, metric_variable, published
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.transposing import transpose
from weft.ops.variables.assign import assign


def concatenated(
    values: TensorLike, axis: int = 0, max_size: int | None = None, metrics_collections: Collections = None,
    updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The values of all batches so far, behind each other.

    Args:
        values: a tensor of known rank, whose sizes are known but for that along `axis`.
        axis: the dimension that grows.
        max_size: how many are kept at most along that dimension, the first ones; all when None.
        metrics_collections, updates_collections: where to add the value and the update operation.
        name: the variable scope.

    Returns:
        The values, and the operation that takes a batch in and gives how many there are then.

    Raises:
        ValueError: the rank or another size is not known, or there is no such dimension.
    """
    with metric_scope(name, "streaming_concat", (values,)):
        values = convert_to_tensor(values)
        if values.dims is None:
            raise ValueError("`values` must have known statically known rank")
        rank = len(values.dims)
        place = axis + rank if axis < 0 else axis
        if not 0 <= place < rank:
            raise ValueError(f"axis = {axis!r} not in [0, {rank!r})")
        fixed = [size for index, size in enumerate(values.dims) if index != place]
        if None in fixed:
            raise ValueError(
                "all dimensions of `values` other than the dimension to concatenate along must have statically known size, "
                f"found {values.shape}, axis {axis}"
            )
        first = [place, *(index for index in range(rank) if index != place)]
        back = [first.index(index) for index in range(rank)]
        array = metric_variable([0, *fixed], values.dtype.base_dtype, "array", validate_shape=False)
        grown = concat([array.value(), transpose(values, first)], 0)[:max_size]
        updated = assign(array, grown, validate_shape=False)
        # A view of its own: the variable's shape would be that of its first value.
        kept = array.value()[:]
        kept.set_shape([None, *fixed])
        count = shape_of(updated)[0]
        return published(transpose(kept, back, name="concat"), count, metrics_collections, updates_collections)
