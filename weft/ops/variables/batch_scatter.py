"""batch_scatter_update: rows replaced in each element of a batch of tensors, by one scatter over positions."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.array.filling import ones_like
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import expand_dims, reshape, shape
from weft.ops.state.scatter_update import scatter_nd_update


def batch_scatter_update(
    ref: VariableLike, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
) -> VariableLike:
    """`ref[b, indices[b, i], :] = updates[b, i, :]` for each element b of the batch, which may have several dimensions.

    Args:
        ref: a variable of shape `[batch..., rows, ...]`.
        indices: `[batch..., n] int32 or int64`, of known rank; the last dimension counts the updates of an element.
        updates: `[batch..., n, ...]`, of the variable's type.
        use_locking: accepted and recorded; updates are always whole.
        name: the name scope.

    Returns:
        The variable after that.

    Raises:
        ValueError: the rank of `indices` is not known.
    """
    with get_default_graph().name_scope(name):
        rows = convert_to_tensor(indices, name="indices")
        if rows.get_shape().ndims is None:
            raise ValueError(f"batch_scatter_update: the rank of indices must be known, got {rows}")
        position = concat([*_batch_positions(rows), expand_dims(rows, -1)], axis=-1)
        return scatter_nd_update(ref, position, updates, use_locking=use_locking)


def _batch_positions(rows: Tensor) -> list[Tensor]:
    """For each dimension of the batch, the number of the element that each index belongs to: `[batch..., n, 1]`."""
    rank = len(rows.get_shape())
    sizes, positions = shape(rows, out_type=rows.dtype), []
    for axis in range(rank - 1):
        along = [1] * axis + [-1] + [1] * (rank - axis)
        positions.append(reshape(range_of(0, sizes[axis], dtype=rows.dtype), along) * expand_dims(ones_like(rows), -1))
    return positions
