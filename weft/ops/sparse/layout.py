"""SparseTensors cut, joined and reordered: what changes positions and leaves values alone.

How many elements a result has depends on the data, so these run on the host.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework import dtypes
from weft.framework.aliases import Array, AxisLike, Gradients, Result, TensorLike
from weft.framework.constant_value import constant_value
from weft.framework.dims import Dims, dims_compatible
from weft.framework.graph import get_default_graph
from weft.framework.op_context import OpContext
from weft.framework.operation import Operation, Tensor
from weft.framework.sparse_tensor import SparseTensor, SparseTensorValue
from weft.framework.tensor_conversion import convert_to_tensor
from weft.framework.tensor_shape import TensorShape, as_dims
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import filled_gradients
from weft.ops.array.selection import where_node
from weft.ops.array.shape_ops import brackets, reshape
from weft.ops.declaration import not_differentiable, op, rank_of
from weft.ops.math.casting import cast


def as_sparse(value: SparseTensor | TensorLike) -> SparseTensor:
    """The SparseTensor that is asked for; TypeError for anything else."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, got {value!r}")
    return value


def flat_positions(indices: Array, shape: Array) -> Array:
    """The row-major position of each index vector."""
    sizes = tuple(int(size) for size in shape)
    strides = np.array([int(np.prod(sizes[axis + 1 :], dtype=np.int64)) for axis in range(len(sizes))], np.int64)
    return indices @ strides if len(sizes) else np.zeros(len(indices), np.int64)


def _columns(node: Operation) -> int | None:
    dims = node.inputs[0].dims
    return None if dims is None else dims[1]


def _unknown_count(node: Operation) -> list[Dims]:
    columns = _columns(node)
    shapes: list[Dims] = [(None, columns), (None,), (columns,)]
    return shapes[: len(node.outputs)]


# Reorder, retain, transpose.


def _sparse_reorder_gradient(node: Operation, i: Tensor, grad: Tensor) -> Gradients:
    return [None, reordered_gradient(node.inputs[0], node.inputs[2], grad), None]


@op("SparseReorder", "input_indices: int64, input_values: T, input_shape: int64 -> output_indices: int64, "
    "output_values: T",
    infer=lambda node: [node.inputs[0].dims, node.inputs[1].dims],
    gradient=_sparse_reorder_gradient)  # fmt: skip
def sparse_reorder_node(ctx: OpContext, input_indices: Array, input_values: Array, input_shape: Array) -> tuple[Result, Result]:
    """The elements in row-major order: `[n, rank] int64, [n], [rank] int64 -> [n, rank] int64, [n]`."""
    order = np.lexsort(input_indices.T[::-1])
    return input_indices[order], input_values[order]


@op("SparseReorderGrad", "indices: int64, shape: int64, grad: T -> output: T", gradient=None,
    infer=lambda node: [node.inputs[2].dims])  # fmt: skip
def reordered_gradient(ctx: OpContext, indices: Array, shape: Array, grad: Array) -> Result:
    """The gradients of the elements in the order in which they were.

    `[n, rank] int64, [rank] int64, [n] -> [n]`
    """
    result = np.empty_like(grad)
    result[np.lexsort(indices.T[::-1])] = grad
    return result


def sparse_reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The elements in row-major order."""
    sparse = as_sparse(sp_input)
    indices, values = sparse_reorder_node(sparse.indices, sparse.values, sparse.dense_shape, name=name)
    return _with_dims(SparseTensor(indices, values, sparse.dense_shape), sparse)


def _with_dims(made: SparseTensor, source: SparseTensor) -> SparseTensor:
    made.set_shape(source.shape)
    return made


def sparse_retain(sp_input: SparseTensor, to_retain: TensorLike) -> SparseTensor:
    """The elements for which the vector `to_retain` is true."""
    sparse = as_sparse(sp_input)
    kept = convert_to_tensor(to_retain)
    if not dims_compatible(kept.dims, sparse.values.dims):
        raise ValueError(f"Shapes {kept.shape} and {sparse.values.shape} are not compatible")
    rows = reshape(where_node(kept), [-1])
    return _with_dims(SparseTensor(gather(sparse.indices, rows), gather(sparse.values, rows), sparse.dense_shape), sparse)


def sparse_transpose(sp_input: SparseTensor, perm: object = None, name: str | None = None) -> SparseTensor:
    """Permute the dimensions; without `perm`, reverse them."""
    sparse = as_sparse(sp_input)
    with get_default_graph().name_scope(name or "SparseTranspose"):
        if perm is None:
            count = sparse.dense_shape.dims[0] if sparse.dense_shape.dims else None
            if count is None:
                raise ValueError("sparse_transpose without perm: the rank must be known")
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
    "output_shape: int64", infer=_reshaped_shapes, gradient=None)  # fmt: skip
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
    return np.stack(np.unravel_index(flat, tuple(sizes)), 1), np.array(sizes, np.int64)


def sparse_reshape(sp_input: SparseTensor, shape: Array, name: str | None = None) -> SparseTensor:
    """The same elements, in row-major order, in another shape; one size may be -1."""
    sparse = as_sparse(sp_input)
    wanted = cast(convert_to_tensor(shape), dtypes.int64)
    sizes, whole = constant_value(wanted), sparse.shape.num_elements()
    if sizes is not None and whole is not None:
        known = int(np.prod([size for size in sizes if size != -1], dtype=np.int64))
        if (-1 in sizes and (known == 0 or whole % known)) or (-1 not in sizes and known != whole):
            shown = [None if size == -1 else int(size) for size in sizes]
            raise ValueError(f"Cannot reshape a tensor with {whole} elements to shape {shown} ({known} elements).")
    indices, dense_shape = sparse_reshape_node(sparse.indices, sparse.dense_shape, wanted, name=name)
    made = SparseTensor(indices, sparse.values, dense_shape)
    if sizes is not None:
        rest = None if whole is None else whole // max(known, 1)
        made.set_shape([rest if size == -1 else int(size) for size in sizes])
    return made


# Concat, split, slice.


def _concat_gradient(node: Operation, *grads: Tensor | None) -> list[Tensor | None]:
    count = node.attrs["N"]
    pieces = sparse_concat_grad(
        list(node.inputs[:count]), list(node.inputs[2 * count :]), grads[1], concat_dim=node.attrs["concat_dim"]
    )
    return [None] * count + list(pieces) + [None] * count


def _concatenated(indices: Sequence[Array], shapes: Sequence[Array], concat_dim: int) -> tuple[Array, Array, Array]:
    axis = concat_dim % len(shapes[0])
    start, moved = 0, []
    for table, shape in zip(indices, shapes, strict=True):
        table = table.copy()
        table[:, axis] += start
        start += int(shape[axis])
        moved.append(table)
    joined = np.concatenate(moved)
    whole = np.max(np.stack(shapes), 0)
    whole[axis] = start
    return joined, np.lexsort(joined.T[::-1]), whole


@op("SparseConcat", "indices: N*int64, values: N*T, shapes: N*int64 -> output_indices: int64, output_values: T, "
    "output_shape: int64", infer=_unknown_count, gradient=_concat_gradient)  # fmt: skip
def sparse_concat_node(
    ctx: OpContext, indices: Array, values: Array, shapes: Array, *, concat_dim: int
) -> tuple[Result, Result, Result]:
    """The sparse tensors one after the other along a dimension, in row-major order.

    `N*[n, rank] int64, N*[n], N*[rank] int64 -> [total, rank] int64, [total], [rank] int64`
    """
    axis = concat_dim % len(shapes[0])
    for number, shape in enumerate(shapes):
        for dim, (first, size) in enumerate(zip(shapes[0], shape, strict=True)):
            if dim != axis and first != size:
                raise InvalidArgumentError.of(
                    f"Input shapes must match: expected {first} for dimension {dim} but got {size} at position {number}"
                )
    joined, order, whole = _concatenated(indices, shapes, concat_dim)
    return joined[order], np.concatenate(values)[order], whole


@op("SparseConcatGrad", "indices: N*int64, shapes: N*int64, grad: T -> output: N*T", gradient=None,
    infer=lambda node: [(t.dims[0] if t.dims else None,) for t in node.inputs[: len(node.outputs)]])  # fmt: skip
def sparse_concat_grad(ctx: OpContext, indices: Array, shapes: Array, grad: Array, *, concat_dim: int) -> list[Result]:
    """The gradients of the elements of each input of SparseConcat.

    `N*[n, rank] int64, N*[rank] int64, [total] -> N*[n]`
    """
    _, order, _ = _concatenated(indices, shapes, concat_dim)
    flat = np.empty_like(grad)
    flat[order] = grad
    return np.split(flat, np.cumsum([len(table) for table in indices])[:-1])


def sparse_concat(
    axis: int,
    sp_inputs: Sequence[SparseTensor],
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: int | None = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Put sparse tensors one after the other along `axis`; `expand_nonconcat_dims` lets the other sizes differ."""
    axis = axis if concat_dim is None else concat_dim
    inputs = [as_sparse(each) for each in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    shapes = [each.dense_shape for each in inputs]
    if expand_nonconcat_dims or expand_nonconcat_dim:
        shapes = list(widened_shapes(shapes, axis=axis))
    result = sparse_concat_node(
        [each.indices for each in inputs], [each.values for each in inputs], shapes, concat_dim=axis, name=name
    )
    made = SparseTensor(*result)
    made.set_shape(_concatenated_dims([as_dims(each.shape) for each in inputs], axis))
    return made


def _concatenated_dims(shapes: Sequence[Dims], axis: int) -> Dims:
    """The shape of a concatenation, whose other sizes are the largest ones."""
    known = [dims for dims in shapes if dims is not None]
    if len(known) < len(shapes) or len({len(dims) for dims in known}) > 1 or not -len(known[0]) <= axis < len(known[0]):
        return None
    at = axis % len(known[0])
    sizes: list[list[int | None]] = [list(each) for each in zip(*known, strict=True)]
    whole = [[size for size in each if size is not None] for each in sizes]
    found: list[int | None] = []
    for place, (each, numbers) in enumerate(zip(sizes, whole, strict=True)):
        is_known = len(each) == len(numbers)
        found.append((sum(numbers) if place == at else max(numbers)) if is_known else None)
    return tuple(found)


@op("SparseWidenShapes", "shapes: N*int64 -> output: N*int64", infer=lambda node: [t.dims for t in node.inputs],
    gradient=None)  # fmt: skip
def widened_shapes(ctx: OpContext, shapes: Array, *, axis: int) -> list[Result]:
    """The shapes with every size but that of `axis` raised to the greatest.

    `N*[rank] int64 -> N*[rank] int64`
    """
    greatest = np.max(np.stack(shapes), 0)
    widened = []
    for shape in shapes:
        wide = greatest.copy()
        wide[axis] = shape[axis]
        widened.append(wide)
    return widened


def _split_shapes(node: Operation) -> list[Dims]:
    count, dims = node.attrs["num_split"], node.inputs[1].dims
    columns = None if dims is None else dims[1]
    return [(None, columns)] * count + [(None,)] * count + [(columns,)] * count


@op("SparseSplit", "split_dim: int64, indices: int64, values: T, shape: int64 -> output_indices: num_split*int64, "
    "output_values: num_split*T, output_shape: num_split*int64", infer=_split_shapes, gradient=None)  # fmt: skip
def sparse_split_node(
    ctx: OpContext, split_dim: Array, indices: Array, values: Array, shape: Array, *, num_split: int
) -> Array:
    """Parts along a dimension; the first ones are longer by one when the size does not divide.

    `scalar int64, [n, rank] int64, [n], [rank] int64 -> num_split*[m, rank] int64, num_split*[m],
    num_split*[rank] int64`
    """
    axis, size = int(split_dim), int(shape[int(split_dim)])
    if not 0 < num_split <= size:
        raise InvalidArgumentError.of(
            f"Input num_split should be between 1 and the splitting dimension size ({size}), got {num_split}"
        )
    each, longer = divmod(size, num_split)
    start, parts = 0, []
    for number in range(num_split):
        length = each + (number < longer)
        kept = (indices[:, axis] >= start) & (indices[:, axis] < start + length)
        table, part_shape = indices[kept], shape.copy()
        table[:, axis] -= start
        part_shape[axis] = length
        parts.append((table, values[kept], part_shape))
        start += length
    return [part[i] for i in range(3) for part in parts]


def sparse_split(
    keyword_required: object = None, sp_input: SparseTensor | None = None, num_split: int | None = None,
    axis: AxisLike | None = None, name: str | None = None, split_dim: TensorLike | None = None,
) -> list[SparseTensor]:  # fmt: skip
    """Split along `axis` into `num_split` parts; the first ones are longer when the size does not divide."""
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    at = split_dim if axis is None else axis
    if sp_input is None or num_split is None or at is None:
        raise ValueError("sp_input, num_split and axis are required")
    sparse = as_sparse(sp_input)
    indices, values, shapes = sparse_split_node(
        at, sparse.indices, sparse.values, sparse.dense_shape, num_split=num_split, name=name
    )
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)]


def _inside(indices: Array, start: Array, size: Array) -> Array:
    return ((indices >= start) & (indices < start + size)).all(1)


def _sparse_slice_gradient(node: Operation, i: Tensor, grad: Tensor, s: Tensor) -> Gradients:
    return [None, sparse_slice_grad(grad, node.inputs[0], node.inputs[3], node.outputs[0]), None, None, None]


@op("SparseSlice", "indices: int64, values: T, shape: int64, start: int64, size: int64 -> output_indices: int64, "
    "output_values: T, output_shape: int64", infer=_unknown_count, gradient=_sparse_slice_gradient)  # fmt: skip
def sparse_slice_node(
    ctx: OpContext, indices: Array, values: Array, shape: Array, start: Array, size: Array
) -> tuple[Result, Result, Result]:
    """The elements inside a block, their positions counted from its corner.

    `[n, rank] int64, [n], [rank] int64, [rank] int64, [rank] int64 -> [m, rank] int64, [m], [rank] int64`
    """
    kept = _inside(indices, start, size)
    return indices[kept] - start, values[kept], np.maximum(np.minimum(size, shape - start), 0)


@op("SparseSliceGrad", "backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64 -> "
    "val_grad: T", gradient=None,
    infer=lambda node: [None if node.inputs[1].dims is None else node.inputs[1].dims[:1]])  # fmt: skip
def sparse_slice_grad(
    ctx: OpContext, backprop_val_grad: Array, input_indices: Array, input_start: Array, output_indices: Array
) -> Result:
    """The gradients of the elements inside the block, zeros for the others.

    `[m], [n, rank] int64, [rank] int64, [m, rank] int64 -> [n]`
    """
    places = {tuple(row): number for number, row in enumerate((output_indices + input_start).tolist())}
    result = np.zeros(len(input_indices), backprop_val_grad.dtype)
    for number, row in enumerate(input_indices.tolist()):
        place = places.get(tuple(row))
        if place is not None:
            result[number] = backprop_val_grad[place]
    return result


def sparse_slice(sp_input: SparseTensor, start: TensorLike, size: TensorLike, name: str | None = None) -> SparseTensor:
    """The block of `size` that begins at `start`."""
    sparse = as_sparse(sp_input)
    with get_default_graph().name_scope(name or "SparseSlice"):
        return SparseTensor(*sparse_slice_node(sparse.indices, sparse.values, sparse.dense_shape, start, size))


# Empty rows and new shapes.


def _filled_shapes(node: Operation) -> list[Dims]:
    shape = constant_value(node.inputs[2])
    count = node.inputs[1].dims
    return [(None, _columns(node)), (None,), (None if shape is None else int(shape[0]),), count]


def _filled_gradient(node: Operation, *grads: Tensor | None) -> Gradients:
    values_grad = filled_gradients(node, grads)[1]
    values, default = sparse_fill_empty_rows_grad(node.outputs[3], values_grad)
    return [None, values, None, default]


@op("SparseFillEmptyRows", "indices: int64, values: T, dense_shape: int64, default_value: T -> output_indices: int64, "
    "output_values: T, empty_row_indicator: bool, reverse_index_map: int64", infer=_filled_shapes,
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
    default = default_value.item() if values.dtype == object else default_value
    filled = np.concatenate([values, np.full(len(added), default, values.dtype)])
    order = np.argsort(table[:, 0], kind="stable")
    where_to = np.empty(len(table), np.int64)
    where_to[order] = np.arange(len(table))
    return table[order], filled[order], empty, where_to[: len(indices)]


@op("SparseFillEmptyRowsGrad", "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
    infer=lambda node: [node.inputs[0].dims, ()], gradient=None)  # fmt: skip
def sparse_fill_empty_rows_grad(ctx: OpContext, reverse_index_map: Array, grad_values: Array) -> tuple[Result, Result]:
    """The gradients of the elements, and the sum of those of the filled rows.

    `[n] int64, [m] -> [n], scalar`
    """
    kept = grad_values[reverse_index_map]
    rest = np.ones(len(grad_values), bool)
    rest[reverse_index_map] = False
    return kept, grad_values[rest].sum(dtype=grad_values.dtype)


def sparse_fill_empty_rows(
    sp_input: SparseTensor, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Put `default_value` at column 0 of each row without elements; also gives which rows those were."""
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
    """The same elements in a larger shape, or in the least one that holds them."""
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
