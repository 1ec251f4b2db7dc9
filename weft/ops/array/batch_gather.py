"""Gathering by position, and gathering where the leading dimensions of tensor and indices go together."""

from __future__ import annotations

from weft.framework.building.aliases import Array, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor, is_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.ops.array.filling import zeros_like
from weft.ops.array.gather_scatter import gather, gather_nd_node
from weft.ops.array.joining import concat_v2
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import reshape, shape_internal
from weft.ops.declaration import rank_of
from weft.ops.dispatch import dispatchable
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import add


@dispatchable
def batch_gather(params: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """Gather along the last dimension of `indices`, all dimensions before it going together.

    Args:
        params: [*batch, n, *inner] tensor of any dtype.
        indices: [*batch, k] tensor of int32 or int64: positions in the n slices.

    Returns:
        [*batch, k, *inner] tensor of the dtype of `params`.

    Raises:
        ValueError: `indices` is of unknown rank.
    """
    with input_scope(name, "BatchGather", (params, indices)):
        positions = convert_to_tensor(indices, name="indices")
        rank = rank_of(positions)
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        params = convert_to_tensor(params, name="params")
        # TensorFlow counts the positions in all batches through; later random nodes get their seeds by the count.
        with get_default_graph().node_count.as_many_as(4 + 19 * rank if rank > 1 else 25):
            return gather(params, positions, batch_dims=rank - 1, axis=rank - 1)


@dispatchable
def gather_nd(params: TensorLike, indices: TensorLike, name: str | None = None, batch_dims: Array = 0) -> Tensor:
    """Take the slices of `params` at the index vectors along the last dimension of `indices`.

    Args:
        params: [*batch, *sizes] tensor or variable of any dtype.
        indices: [*batch, ..., depth] tensor of int32 or int64; each vector is a position in the first `depth` dimensions
            after the batch.
        name: the node's name.
        batch_dims: how many leading dimensions `params` and `indices` share.

    Returns:
        A tensor of the dtype of `params`: `[*batch, ...]` of `indices`, then the dimensions of `params` that no position goes
        into.

    Raises:
        TypeError: `batch_dims` is no int, or a tensor whose value is not known yet.
    """
    known = constant_value(batch_dims) if isinstance(batch_dims, Tensor) else batch_dims
    if known is None or is_tensor(known):
        raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
    batch_rank = int(known)
    if batch_rank:
        return batch_gather_nd(params, indices, batch_rank, name)
    direct = getattr(params, "gather_nd", None)
    if direct is not None and not isinstance(params, Tensor):
        gathered: Tensor = direct(indices, name=name)
        return gathered
    return gather_nd_node(params, indices, name=name)


def batch_gather_nd(params: TensorLike, indices: TensorLike, batch_dims: int, name: str | None = None) -> Tensor:
    """gather_nd with the numbers of the batch put in front of each index vector.

    Args: those of `gather_nd`; `batch_dims` is an int.

    Raises:
        TypeError: it is none.
        ValueError: it is negative, or no less than a rank; `indices` is of unknown rank.
    """
    if not isinstance(batch_dims, int):
        raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
    if batch_dims < 0:
        raise ValueError(f"tf.gather_nd does not allow negative batch_dims: batch_dims = {batch_dims}")
    params, indices = convert_to_tensor(params), convert_to_tensor(indices)
    rank = rank_of(indices)
    if rank is None:
        raise ValueError("gather_nd with batch_dims: the rank of indices must be known, it is not")
    for what, have in (("indices", rank), ("params", rank_of(params))):
        if have is not None and batch_dims >= have:
            raise ValueError(f"batch_dims = {batch_dims} must be less than rank({what}) = {have}")
    with input_scope(name, "BatchGatherND", (params, indices)):
        sizes = shape_internal(indices)
        nothing = zeros_like(indices[..., :1])
        numbers = [
            add(nothing, cast(reshape(range_of(0, sizes[at]), _along(at, rank)), indices.dtype)) for at in range(batch_dims)
        ]
        return gather_nd_node(params, concat_v2([*numbers, indices], -1))


def _along(axis: int, rank: int) -> list[int]:
    return [-1 if each == axis else 1 for each in range(rank)]
