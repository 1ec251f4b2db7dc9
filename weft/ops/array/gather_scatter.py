"""Gathering rows by index and scattering them back.

An index outside the dimension is InvalidArgumentError when the op runs on NumPy, and when indices come into a compiled
stage from outside (`check=`). Those that compiled code computes itself it cannot refuse: there, as in TensorFlow on
accelerators, such a gather gives zeros and such a scatter nothing.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, DynamicShape, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.constant_value import constant_shape, constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import AtLeast
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.ops.array.joining import concat_v2
from weft.ops.array.padding import slice_node
from weft.ops.array.row_order import are_rows
from weft.ops.array.shape_ops import INDEX, brackets, reshape, shape_internal, size_internal
from weft.ops.declaration import op, rank_of
from weft.ops.dispatch import dispatchable
from weft.ops.gradient_nodes import of_gather
from weft.ops.symbolic_gradient import vjp
from weft.ops.traced_checks import note_wrong
from weft.platform.machine.aligned_memory import aligned_empty

INDEX16: Final = (dtypes.int16, *INDEX)


# Gather.


def _gathered(params: Dims, indices: Dims, axis: int | None, batch_dims: int = 0) -> Dims:
    if params is None or indices is None:
        return None
    if axis is None:
        return (None,) * (len(params) + len(indices) - 1 - batch_dims)
    if not -len(params) <= axis < len(params):
        raise ValueError(f"Shape must be at least rank {axis + 1 if axis >= 0 else -axis} but is rank {len(params)}")
    axis %= len(params)
    batch = merge_dims(params[:batch_dims], indices[:batch_dims])
    assert batch is not None
    return batch + params[batch_dims:axis] + indices[batch_dims:] + params[axis + 1 :]


def _gather_v2_shape(node: Operation) -> list[Dims]:
    axis, batch_dims = constant_value(node.inputs[2]), node.attrs["batch_dims"]
    rank = rank_of(node.inputs[1])
    if batch_dims < 0:
        if rank is None:
            return [None]
        batch_dims += rank
    return [_gathered(node.inputs[0].dims, node.inputs[1].dims, None if axis is None else int(axis), batch_dims)]


def check_indices(indices: Array, limit: int, what: str = "indices") -> None:
    """Raise InvalidArgumentError for the first index that is not in [0, limit)."""
    if are_rows(indices, limit):
        return
    wrong = (indices < 0) | (indices >= limit)
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        where = f"{what}[{','.join(map(str, place))}]" if place else what
        raise InvalidArgumentError.of(f"{where} = {indices[place]} is not in [0, {limit})")


def _shape_of(tensor: Tensor, value: Array) -> Dims:
    """The shape of a value if it is there, else what the graph knows of the tensor."""
    return tensor.dims if value is None else tuple(value.shape)


def _check_gathered(node: Operation, params: Array, indices: Array, axis: Array = 0) -> None:
    if indices is None:
        return
    dims = _shape_of(node.inputs[0], params)
    axis = constant_value(node.inputs[2]) if axis is None else axis
    if dims is not None and axis is not None:
        limit = dims[int(axis) % len(dims)]
        if limit is not None:
            check_indices(indices, limit)


def _take(xp: ArrayModule, params: Array, indices: Array, axis: int) -> Array:
    limit = params.shape[axis]
    if xp is np:
        check_indices(indices, limit)
        if not indices.size or params.dtype.hasobject:
            return np.take(params, indices, axis)
        taken = aligned_empty((*params.shape[:axis], *indices.shape, *params.shape[axis + 1 :]), params.dtype)
        # That clips nothing; NumPy would check indices once more, and take to other memory first.
        return params.take(indices, axis, out=taken, mode="clip")
    note_wrong((indices < 0) | (indices >= limit))
    # Negative indices count from the end for JAX; here they are outside.
    return xp.take(params, xp.where(indices < 0, limit, indices), axis, mode="fill", fill_value=_nothing(params))


def _nothing(params: Array) -> bool | int:
    return False if params.dtype == np.bool_ else 0


def _gather_gradient(node: Operation, grad: Tensor) -> Gradients:
    params, indices = node.inputs[:2]
    rest = [None] * (len(node.inputs) - 2)
    axis = constant_value(node.inputs[2]) if rest else 0
    if axis is None or int(axis) != 0 or node.attrs.get("batch_dims"):
        return vjp(node, grad)
    return [slices_of(params, indices, grad), None, *rest]


def slices_of(params: Tensor, indices: Tensor, grad: Tensor) -> IndexedSlices:
    """The IndexedSlices that are the gradient of `params` when `grad` is the gradient of its rows `indices`."""
    dims = params.dims
    with get_default_graph().colocate_with(params):
        dense_shape = shape_internal(params)
    count = size_internal(indices)
    if dims is not None and None not in dims[1:]:
        known = constant_value(count)
        values_shape: DynamicShape = [count if known is None else int(known), *dims[1:]]
    else:
        values_shape = concat_v2([reshape(count, [1]), slice_node(dense_shape, [1], [-1])], 0)
    flat = indices if rank_of(indices) == 1 else reshape(indices, reshape(count, [1]))
    values = grad if rank_of(indices) == 1 else reshape(grad, values_shape)
    return IndexedSlices(convert_to_tensor(values), flat, dense_shape)


@op("GatherV2", "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams",
    ranks={"axis": 0, "params": AtLeast(1)}, checks_traced=True,
    infer=_gather_v2_shape,
    gradient=_gather_gradient, gradient_nodes=of_gather, static=("axis",), by_row=True, check=_check_gathered,
    types={"Tindices": INDEX16, "Taxis": INDEX})  # fmt: skip
def gather_v2_node(xp: ArrayModule, params: Array, indices: Array, axis: Array, *, batch_dims: int = 0) -> Result:
    """The slices of `params` along `axis` at `indices`; the first `batch_dims` dimensions of both go together.

    `[*batch, *outer, n, *inner], [*batch, *places], scalar -> [*batch, *outer, *places, *inner]`.
    """
    rank = len(params.shape)
    if not -rank <= int(axis) < rank:
        least = int(axis) + 1 if axis >= 0 else -int(axis)
        raise InvalidArgumentError.of(f"Shape must be at least rank {least} but is rank {rank}")
    at = int(axis) % rank
    count = batch_dims + len(indices.shape) if batch_dims < 0 else batch_dims
    if not count:
        return _take(xp, params, indices, at)
    limit = params.shape[at]
    if xp is np:
        check_indices(indices, limit)
    else:
        note_wrong((indices < 0) | (indices >= limit))
    batch = params.shape[:count]
    moved = xp.moveaxis(params, at, count)
    flat = xp.reshape(moved, (math.prod(batch), *moved.shape[count:]))
    positions = xp.reshape(indices, (math.prod(batch), math.prod(indices.shape[count:])))
    rows = np.arange(flat.shape[0])[:, None]
    taken = flat[rows, positions]
    shaped = xp.reshape(taken, (*batch, *indices.shape[count:], *moved.shape[count + 1 :]))
    inner = len(indices.shape) - count
    for step in range(inner):
        shaped = xp.moveaxis(shaped, count + inner - 1 - step, at + inner - 1 - step)
    return shaped


@op("Gather", "params: Tparams, indices: Tindices -> output: Tparams",
    ranks={"params": AtLeast(1)},
    checks_traced=True, gradient=_gather_gradient,
    by_row=True, check=_check_gathered, types={"Tindices": INDEX},
    infer=lambda node: [_gathered(node.inputs[0].dims, node.inputs[1].dims, 0)])  # fmt: skip
def gather_v1_node(xp: ArrayModule, params: Array, indices: Array, *, validate_indices: bool = True) -> Result:
    """The older form of GatherV2, along the first dimension: `[n, *inner], [*places] -> [*places, *inner]`."""
    return _take(xp, params, indices, 0)


@dispatchable
def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: TensorLike | None = None,
    batch_dims: int = 0,
) -> Tensor:
    """Take the slices of `params` at `indices` along `axis`.

    >>> sess.run(tf.gather([10, 20, 30], [2, 0]))
    array([30, 10], dtype=int32)

    Args:
        params: [*outer, n, *inner] tensor or variable of any dtype.
        indices: tensor of int32 or int64, of any shape: positions along `axis`.
        validate_indices: has no effect.
        name: the node's name.
        axis: int32 or int64 scalar, the dimension to take along, by default the first one after the batch dimensions.
        batch_dims: how many leading dimensions `params` and `indices` share.

    Returns:
        A tensor of the dtype of `params`, with the shape of `indices` (but for the batch) in the place of the dimension
        `axis`.

    Raises:
        ValueError: `params` has no dimension `axis`, or known shapes don't fit the batch dimensions.
        InvalidArgumentError: in a run, an index is not in [0, n).
    """
    if axis is None:
        axis = batch_dims
    sparse_read = getattr(params, "sparse_read", None)
    if sparse_read is not None and not batch_dims and isinstance(axis, int) and axis == 0:
        rows: Tensor = sparse_read(indices, name=name)
        return rows
    return gather_v2_node(params, indices, axis, batch_dims=batch_dims, name=name)


# GatherNd, ScatterNd and the tensor scatters.


def _gather_nd_shape(node: Operation) -> list[Dims]:
    params, indices = node.inputs[0].dims, node.inputs[1].dims
    if params is None or indices is None or indices[-1] is None:
        return [None]
    if indices[-1] > len(params):
        raise ValueError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {brackets(indices)} and params shape: "
            f"{brackets(params)}"
        )
    return [indices[:-1] + params[indices[-1] :]]


def _gather_nd_gradient(node: Operation, grad: Tensor) -> Gradients:
    params, indices = node.inputs
    if indices.dims is not None and len(indices.dims) == 2 and indices.dims[-1] == 1:
        return [slices_of(params, reshape(indices, [-1]), grad), None]
    return [scatter_nd_node(indices, grad, shape_internal(params, out_type=indices.dtype)), None]


def _positions(xp: ArrayModule, indices: Array, shape: tuple[int, ...], outer: str) -> tuple[Array, ...]:
    depth = indices.shape[-1]
    parts = [indices[..., i] for i in range(depth)]
    if xp is np:
        _check_nd(indices, shape[:depth], shape, outer)
        return tuple(parts)
    note_wrong((indices < 0) | (indices >= np.array(shape[:depth], np.int64)))
    return tuple(xp.where(part < 0, size, part) for part, size in zip(parts, shape, strict=False))


def _check_nd(indices: Array, limits: tuple[int | None, ...], shape: tuple[int | None, ...], outer: str) -> None:
    wrong = ((indices < 0) | (indices >= np.array(limits, np.int64))).any(-1)
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        where = f"indices[{','.join(map(str, place))}]" if place else "indices"
        found = ", ".join(str(each) for each in indices[place].tolist())
        raise InvalidArgumentError.of(f"{where} = [{found}] does not index into {outer} {brackets(shape)}")


def _check_positions(tensor: Tensor, value: Array, indices: Array, outer: str) -> None:
    dims = _shape_of(tensor, value)
    if indices is not None and dims is not None and None not in dims:
        _check_nd(indices, dims[: indices.shape[-1]], dims, outer)


def _check_gathered_nd(node: Operation, params: Array, indices: Array) -> None:
    _check_positions(node.inputs[0], params, indices, "param shape")


@op("GatherNd", "params: Tparams, indices: Tindices -> output: Tparams",
    ranks={"indices": AtLeast(1)},
    checks_traced=True, infer=_gather_nd_shape,
    gradient=_gather_nd_gradient, check=_check_gathered_nd, types={"Tindices": INDEX16})  # fmt: skip
def gather_nd_node(xp: ArrayModule, params: Array, indices: Array, *, bad_indices_policy: str = "") -> Result:
    """The slices of `params` at the index vectors along the last dimension of `indices`.

    `[*sizes, *inner], [*places, depth] -> [*places, *inner]`, depth being the number of `sizes`.
    """
    if 0 in params.shape and 0 not in indices.shape[:-1]:
        raise InvalidArgumentError.of(
            f"Requested more than 0 entries, but params is empty. Params shape: {brackets(params.shape)}"
        )
    index = _positions(xp, indices, tuple(params.shape), "param shape")
    if not index:
        return xp.broadcast_to(params, (*indices.shape[:-1], *params.shape))
    if xp is np:
        return np.asarray(params[index])
    return xp.asarray(params).at[index].get(mode="fill", fill_value=_nothing(params))


def check_updates(indices: Dims, updates: Dims, shape: Dims) -> None:
    if indices is None or updates is None or shape is None or indices[-1] is None:
        return
    try:
        merge_dims(updates, indices[:-1] + shape[indices[-1] :])
    except ValueError as error:
        raise ValueError(
            f"Dimensions [0,{len(indices) - 1}) of indices[shape={brackets(indices)}] and the rest of updates[shape="
            f"{brackets(updates)}] must match the slices of shape {brackets(shape)}"
        ) from error


def _scatter_nd_shape(node: Operation) -> list[Dims]:
    dims = constant_shape(node.inputs[2])
    check_updates(node.inputs[0].dims, node.inputs[1].dims, dims)
    return [dims]


def scattered(xp: ArrayModule, target: Array, indices: Array, updates: Array, how: str) -> Array:
    shape = tuple(target.shape)
    if 0 in shape:
        if 0 not in indices.shape and 0 not in updates.shape:
            raise InvalidArgumentError.of(
                f"Indices and updates specified for empty output: indices have shape {brackets(indices.shape)}, the output "
                f"{brackets(shape)}"
            )
        return target
    index = _positions(xp, indices, shape, "shape")
    if how == "add" and target.dtype == np.bool_:
        # A sum of truths is one.
        how = "max"
    if xp is not np:
        target = xp.asarray(target)
        updates = xp.broadcast_to(updates, (*indices.shape[:-1], *shape[len(index) :]))
        if not index:
            index = (slice(None),)
            target, updates = target[None], xp.reshape(updates, (-1, *shape))
            index = (np.zeros(updates.shape[0], np.int32),)
            return getattr(target.at[index], how)(updates)[0]
        return getattr(target.at[index], how)(updates, mode="drop")
    result = target.copy()
    if how == "set":
        result[index or ...] = updates if index else updates.reshape((-1, *shape))[-1]
    else:
        _UFUNCS[how].at(result, index or (), updates if index else updates.reshape((-1, *shape)).sum(0))
    return result


_UFUNCS: Final = {"add": np.add, "max": np.maximum, "min": np.minimum}


def _check_scattered_nd(node: Operation, indices: Array, updates: Array, shape: Array) -> None:
    dims = constant_shape(node.inputs[2]) if shape is None else tuple(int(size) for size in np.ravel(shape))
    # Of an empty output the kernel says it.
    if indices is not None and dims is not None and None not in dims and 0 not in dims:
        _check_nd(indices, dims[: indices.shape[-1]], dims, "shape")


def check_tensor_scattered(node: Operation, tensor: Array, indices: Array, updates: Array) -> None:
    dims = _shape_of(node.inputs[0], tensor)
    if dims is None or 0 not in dims:
        _check_positions(node.inputs[0], tensor, indices, "shape")


@op("ScatterNd", "indices: Tindices, updates: T, shape: Tindices -> output: T",
    ranks={"shape": 1, "indices": AtLeast(1), "updates": AtLeast(1)}, infer=_scatter_nd_shape,
    static=("shape",), check=_check_scattered_nd, checks_traced=True, types={"Tindices": INDEX16},
    gradient=lambda node, grad: [None, gather_nd_node(grad, node.inputs[0]), None])  # fmt: skip
def scatter_nd_node(xp: ArrayModule, indices: Array, updates: Array, shape: Array, *, bad_indices_policy: str = "") -> Result:
    """Zeros of `shape` with the updates added at the index vectors.

    `[*places, depth], [*places, *inner], [rank] -> [*shape]`, where `inner` is the shape after its first depth sizes.
    """
    sizes = tuple(int(size) for size in np.ravel(shape))
    if updates.dtype == object:
        return scattered(np, np.full(sizes, b"", object), indices, updates, "add")
    return scattered(xp, xp.zeros(sizes, updates.dtype), indices, updates, "add")


def scatter_nd(indices: TensorLike, updates: TensorLike, shape: DynamicShape, name: str | None = None) -> Tensor:
    """A tensor of `shape` with `updates` added at `indices`, and zeros elsewhere.

    Args:
        indices: [..., depth] tensor of int32 or int64: positions in the first `depth` dimensions of the result; what is said
            twice adds up.
        updates: [..., *rest] tensor of a numeric dtype.
        shape: [rank] list or tensor of the dtype of `indices`.
    """
    return scatter_nd_node(indices, updates, shape, name=name)
