"""SparseTensors reordered, reshaped and filled up: what changes positions and leaves values alone.

How many elements a result has depends on the data, so these run on the host.
"""

from __future__ import annotations

import math

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor, SparseTensorValue
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.constant_value import constant_dims, constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, dims_compatible
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.gather_scatter import gather
from weft.ops.array.identity import identity
from weft.ops.array.joining import filled_gradients
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where_node
from weft.ops.array.shape_ops import brackets, reshape, size
from weft.ops.declaration import not_differentiable, op, rank_of
from weft.ops.math.casting import cast


def as_sparse(value: SparseTensor | TensorLike) -> SparseTensor:
    """The SparseTensor that is asked for; TypeError for anything else."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError(
            f"Input must be a SparseTensor, got {value!r}. A tf.SparseTensor(indices, values, dense_shape) is wanted; a dense "
            "tensor becomes one by tf.contrib.layers.dense_to_sparse."
        )
    return value


def flat_positions(indices: Array, shape: Array) -> Array:
    """The row-major position of each index vector."""
    sizes = tuple(int(size) for size in shape)
    strides = np.array([int(np.prod(sizes[axis + 1 :], dtype=np.int64)) for axis in range(len(sizes))], np.int64)
    return indices @ strides if len(sizes) else np.zeros(len(indices), np.int64)


def check_inside(indices: Array, shape: Array) -> None:
    """Raise InvalidArgumentError where an index vector names no place of the shape."""
    wrong = ((indices < 0) | (indices >= np.asarray(shape))).any(1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidArgumentError.of(f"Sparse index tuple indices[{row}, :] = {indices[row].tolist()} is out of bounds")


def index_width(node: Operation) -> int | None:
    dims = node.inputs[0].dims
    return None if dims is None else dims[1]


def unknown_count(node: Operation) -> list[Dims]:
    columns = index_width(node)
    shapes: list[Dims] = [(None, columns), (None,), (columns,)]
    return shapes[: len(node.outputs)]


# Reorder, retain, transpose.


def _sparse_reorder_gradient(node: Operation, i: Tensor, grad: Tensor) -> Gradients:
    return [None, reordered_gradient(node.inputs[0], node.inputs[2], grad), None]


@op("SparseReorder", "input_indices: int64, input_values: T, input_shape: int64 -> output_indices: int64, "
    "output_values: T",
    ranks={"input_indices": 2, "input_values": 1, "input_shape": 1},
    infer=lambda node: [node.inputs[0].dims, node.inputs[1].dims],
    gradient=_sparse_reorder_gradient)  # fmt: skip
def sparse_reorder_node(ctx: OpContext, input_indices: Array, input_values: Array, input_shape: Array) -> tuple[Result, Result]:
    """The elements in row-major order: `[n, rank] int64, [n], [rank] int64 -> [n, rank] int64, [n]`."""
    if input_indices.shape[1] != len(input_shape):
        raise InvalidArgumentError.of(f"Index rank ({input_indices.shape[1]}) and shape rank ({len(input_shape)}) do not match")
    order = np.lexsort(input_indices.T[::-1]) if len(input_shape) else np.arange(len(input_indices))
    return input_indices[order], input_values[order]


@op("SparseReorderGrad", "indices: int64, shape: int64, grad: T -> output: T", gradient=None,
    infer=lambda node: [node.inputs[2].dims])  # fmt: skip
def reordered_gradient(ctx: OpContext, indices: Array, shape: Array, grad: Array) -> Result:
    """The gradients of the elements in the order in which they were.

    `[n, rank] int64, [rank] int64, [n] -> [n]`
    """
    if not indices.shape[1]:
        return grad
    result = np.empty_like(grad)
    result[np.lexsort(indices.T[::-1])] = grad
    return result


def sparse_reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The elements in row-major order.

    Args:
        sp_input: a SparseTensor of any dtype.
    """
    sparse = as_sparse(sp_input)
    indices, values = sparse_reorder_node(sparse.indices, sparse.values, sparse.dense_shape, name=name)
    return _with_dims(SparseTensor(indices, values, sparse.dense_shape), sparse)


def _with_dims(made: SparseTensor, source: SparseTensor) -> SparseTensor:
    made.set_shape(source.shape)
    return made


def sparse_retain(sp_input: SparseTensor, to_retain: TensorLike) -> SparseTensor:
    """The elements for which the vector `to_retain` is true.

    Args:
        sp_input: a SparseTensor of any dtype, with n elements.
        to_retain: [n] bool.

    Raises:
        ValueError: `to_retain` is known to have another length.
    """
    sparse = as_sparse(sp_input)
    kept = convert_to_tensor(to_retain)
    if not dims_compatible(kept.dims, sparse.values.dims):
        raise ValueError(f"Shapes {kept.shape} and {sparse.values.shape} are not compatible")
    rows = reshape(where_node(kept), [-1])
    parts = gather(sparse.indices, rows), gather(sparse.values, rows), identity(sparse.dense_shape)
    return _with_dims(SparseTensor(*parts), sparse)


def sparse_transpose(sp_input: SparseTensor, perm: object = None, name: str | None = None) -> SparseTensor:
    """Permute the dimensions; without `perm`, reverse them.

    Args:
        sp_input: a SparseTensor of any dtype.
        perm: [rank] list or tensor of int32.

    Returns:
        A SparseTensor of the same dtype.
    """
    sparse = as_sparse(sp_input)
    with get_default_graph().name_scope(name or "SparseTranspose"):
        if perm is None:
            count = sparse.dense_shape.dims[0] if sparse.dense_shape.dims else None
            if count is None:
                rank = size(sparse.dense_shape)
                perm = (rank - 1) - range_of(rank)
            else:
                perm = np.arange(count - 1, -1, -1, dtype=np.int32)
        order = convert_to_tensor(perm)
        indices = gather(sparse.indices, order, axis=1)
        return sparse_reorder(SparseTensor(indices, sparse.values, gather(sparse.dense_shape, order)))


# Reshape.


def _reshaped_shapes(node: Operation) -> list[Dims]:
    indices, shape = node.inputs[0].dims, node.inputs[2].dims
    count = None if shape is None else shape[0]
    return [(None if indices is None else indices[0], count), (count,)]


@op("SparseReshape", "input_indices: int64, input_shape: int64, new_shape: int64 -> output_indices: int64, "
    "output_shape: int64",
    ranks={"input_indices": 2, "input_shape": 1, "new_shape": 1}, infer=_reshaped_shapes, gradient=None)  # fmt: skip
def sparse_reshape_node(ctx: OpContext, input_indices: Array, input_shape: Array, new_shape: Array) -> tuple[Result, Result]:
    """The positions of the same elements in another shape, of which one size may be -1.

    `[n, rank] int64, [rank] int64, [new_rank] int64 -> [n, new_rank] int64, [new_rank] int64`
    """
    total = int(np.prod(input_shape, dtype=np.int64))
    sizes = [int(size) for size in new_shape]
    known = int(np.prod([size for size in sizes if size != -1], dtype=np.int64))
    if sizes.count(-1) > 1:
        raise InvalidArgumentError.of("only one output dimension may be -1")
    if sizes.count(-1):
        if known == 0 and total == 0:
            raise InvalidArgumentError.of(
                "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero"
            )
        if known == 0 or total % known:
            raise InvalidArgumentError.of(
                f"Input to reshape is a SparseTensor with {total} dense values, but the requested "
                f"shape requires a multiple of {known}. input_shape={brackets(input_shape)} "
                f"output_shape={brackets(new_shape)}"
            )
        sizes = [total // known if size == -1 else size for size in sizes]
    elif known != total:
        raise InvalidArgumentError.of(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has {known}. "
            f"input_shape={brackets(input_shape)} output_shape={brackets(new_shape)}"
        )
    flat = flat_positions(input_indices, input_shape)
    if not len(flat):
        return np.zeros((0, len(sizes)), np.int64), np.array(sizes, np.int64)
    # Places outside of the shape stay so, which TensorFlow does not look at here.
    places = np.empty((len(flat), len(sizes)), np.int64)
    for axis in range(len(sizes)):
        places[:, axis], flat = np.divmod(flat, int(np.prod(sizes[axis + 1 :], dtype=np.int64)))
    return places, np.array(sizes, np.int64)


def sparse_reshape(sp_input: SparseTensor, shape: Array, name: str | None = None) -> SparseTensor:
    """The same elements, in row-major order, in another shape; one size may be -1.

    Args:
        sp_input: a SparseTensor of any dtype.
        shape: [rank] list or tensor of int64.

    Raises:
        ValueError: the number of elements differs, or more than one size is -1.
    """
    sparse = as_sparse(sp_input)
    wanted = cast(convert_to_tensor(shape), dtypes.int64)
    sizes, whole = constant_value(wanted), sparse.shape.num_elements()
    if sizes is not None and np.count_nonzero(sizes == -1) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {sizes}")
    if sizes is not None and whole is not None:
        known = int(np.prod([size for size in sizes if size != -1], dtype=np.int64))
        # Which of no elements at all there are so many in the dimension that is -1, the run says that nobody can tell.
        if (-1 in sizes and (whole % known if known else whole)) or (-1 not in sizes and known != whole):
            shown = [None if size == -1 else int(size) for size in sizes]
            raise ValueError(f"Cannot reshape a tensor with {whole} elements to shape {shown} ({known} elements).")
    indices, dense_shape = sparse_reshape_node(sparse.indices, sparse.dense_shape, wanted, name=name)
    graph = get_default_graph()
    with graph.name_scope(f"{indices.op.name}/"):
        made = SparseTensor(indices, identity(sparse.values), dense_shape)
    if sizes is not None:
        # TensorFlow makes a constant of sizes given as numbers, one of which it finds out; later seeds go by the count.
        is_told = not any(isinstance(each, Tensor) for each in nest.flatten(shape))
        graph.node_count.total += is_told and whole is not None and -1 in sizes
    made.set_shape(_completed(constant_dims(wanted), whole))
    return made


def _completed(dims: Dims, whole: int | None) -> Dims:
    """The shape with the one size that is not known, where the others tell it of so many elements."""
    if dims is None or whole is None or dims.count(None) != 1:
        return dims
    known = math.prod(size for size in dims if size is not None)
    return tuple((whole // known if known else None) if size is None else size for size in dims)


# Empty rows and new shapes.


def _filled_shapes(node: Operation) -> list[Dims]:
    shape = constant_value(node.inputs[2])
    count = node.inputs[1].dims
    return [(None, index_width(node)), (None,), (None if shape is None else int(shape[0]),), count]


def _filled_gradient(node: Operation, *grads: Tensor | None) -> Gradients:
    values_grad = filled_gradients(node, grads)[1]
    values, default = sparse_fill_empty_rows_grad(node.outputs[3], values_grad)
    return [None, values, None, default]


@op("SparseFillEmptyRows", "indices: int64, values: T, dense_shape: int64, default_value: T -> output_indices: int64, "
    "output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    ranks={"indices": 2, "values": 1, "dense_shape": 1, "default_value": 0}, infer=_filled_shapes,
    gradient=_filled_gradient)  # fmt: skip
def sparse_fill_empty_rows_node(
    ctx: OpContext, indices: Array, values: Array, dense_shape: Array, default_value: Array
) -> tuple[Result, Result, Result, Result]:
    """The elements with the default in the first column of each row that had none.

    `[n, rank] int64, [n], [rank] int64, scalar -> [m, rank] int64, [m], [rows] bool, [n] int64`
    """
    rows = int(dense_shape[0])
    if len(indices) and (indices[:, 0].min() < 0 or indices[:, 0].max() >= rows):
        raise InvalidArgumentError.of(f"indices must lie in the {rows} rows, but are {indices[:, 0].tolist()}")
    empty = np.bincount(indices[:, 0], minlength=rows)[:rows] == 0
    added = np.zeros((int(empty.sum()), indices.shape[1]), np.int64)
    added[:, 0] = np.flatnonzero(empty)
    table = np.concatenate([indices, added])
    filled = np.concatenate([values, np.full(len(added), default_value, values.dtype)])
    order = np.argsort(table[:, 0], kind="stable")
    where_to = np.empty(len(table), np.int64)
    where_to[order] = np.arange(len(table))
    return table[order], filled[order], empty, where_to[: len(indices)]


@op("SparseFillEmptyRowsGrad", "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
    ranks={"reverse_index_map": 1, "grad_values": 1},
    infer=lambda node: [node.inputs[0].dims, ()], gradient=None)  # fmt: skip
def sparse_fill_empty_rows_grad(ctx: OpContext, reverse_index_map: Array, grad_values: Array) -> tuple[Result, Result]:
    """The gradients of the elements, and the sum of those of the filled rows.

    `[n] int64, [m] -> [n], scalar`
    """
    count = len(grad_values)
    wrong = (reverse_index_map < 0) | (reverse_index_map >= count)
    if wrong.any():
        found = reverse_index_map[int(np.argmax(wrong))]
        raise InvalidArgumentError.of(f"Elements in reverse index must be in [0, {count}) but got {found}")
    kept = grad_values[reverse_index_map]
    rest = np.ones(len(grad_values), bool)
    rest[reverse_index_map] = False
    return kept, grad_values[rest].sum(dtype=grad_values.dtype)


def sparse_fill_empty_rows(
    sp_input: SparseTensor, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Put `default_value` at column 0 of each row without elements; also gives which rows those were.

    Args:
        sp_input: a SparseTensor [rows, columns] of any dtype.
        default_value: scalar of its dtype.

    Returns:
        The SparseTensor, and [rows] bool: which rows were empty.
    """
    sparse = as_sparse(sp_input)
    with get_default_graph().name_scope(name or "SparseFillEmptyRows"):
        default = convert_to_tensor(default_value, sparse.values.dtype)
        indices, values, empty, _ = sparse_fill_empty_rows_node(sparse.indices, sparse.values, sparse.dense_shape, default)
        return SparseTensor(indices, values, sparse.dense_shape), empty


@op("SparseTightShape", "indices: int64, shape: int64 -> output: int64", infer=lambda node: [node.inputs[1].dims],
    gradient=not_differentiable)  # fmt: skip
def tight_shape(ctx: OpContext, indices: Array, shape: Array) -> Result:
    """The least shape that holds all positions: `[n, rank] int64, [rank] int64 -> [rank] int64`."""
    return indices.max(0) + 1 if len(indices) else np.zeros_like(shape)


@op("SparseCheckShape", "shape: int64, new_shape: int64 -> output: int64", infer=lambda node: [node.inputs[1].dims],
    gradient=None)  # fmt: skip
def checked_shape(ctx: OpContext, shape: Array, new_shape: Array) -> Result:
    """The new shape, which must be nowhere smaller than the old one.

    `[rank] int64, [rank] int64 -> [rank] int64`
    """
    if len(shape) != len(new_shape) or (new_shape < shape).any():
        raise InvalidArgumentError.of(f"Requested new_shape {brackets(new_shape)} must be at least the shape {brackets(shape)}")
    return new_shape


def sparse_reset_shape(sp_input: SparseTensor, new_shape: TensorLike | None = None) -> SparseTensor:
    """The same elements in a larger shape, or in the least one that holds them.

    Args:
        sp_input: a SparseTensor of any dtype.
        new_shape: [rank] int64, no size less than that of `sp_input`; None for the least.
    """
    sparse = as_sparse(sp_input)
    if new_shape is None:
        dense_shape = tight_shape(sparse.indices, sparse.dense_shape)
    else:
        wanted = convert_to_tensor(new_shape, dtypes.int64)
        sizes, old = constant_value(wanted), sparse.shape
        if rank_of(wanted) == 1 and sizes is not None and old.is_fully_defined():
            _check_larger(old, sizes)
        dense_shape = checked_shape(sparse.dense_shape, wanted)
    return SparseTensor(sparse.indices, sparse.values, dense_shape)


def _check_larger(old: TensorShape, sizes: Array) -> None:
    if old.ndims != len(sizes):
        raise ValueError(f"Shapes {old} and {tuple(sizes.tolist())} must have the same rank")
    if any(a > b for a, b in zip(old.as_list(), sizes.tolist(), strict=True)):
        raise ValueError(
            "Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
            f"({tuple(sizes.tolist())}), sp_input.shape ({old})."
        )
