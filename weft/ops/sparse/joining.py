"""SparseTensors joined, split and cut. How many elements a result has depends on the data, so these run on the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.errors import InternalError, InvalidArgumentError
from weft.framework.building.aliases import Array, AxisLike, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.tensor_shape import as_dims
from weft.ops.declaration import op
from weft.ops.size_checks import size_of
from weft.ops.sparse.layout import as_sparse, index_width, unknown_count


def _concat_gradient(node: Operation, *grads: Tensor | None) -> list[Tensor | None]:
    count = node.attrs["N"]
    pieces = sparse_concat_grad(
        list(node.inputs[:count]), list(node.inputs[2 * count :]), grads[1], concat_dim=node.attrs["concat_dim"]
    )
    return [None] * count + list(pieces) + [None] * count


def _concatenated(indices: Sequence[Array], shapes: Sequence[Array], concat_dim: int) -> tuple[Array, Array, Array]:
    rank = len(shapes[0])
    if not -rank <= concat_dim < rank:
        raise InvalidArgumentError.of(f"Concat dimension must be in range [-{rank}, {rank}), got {concat_dim}")
    axis = concat_dim % rank
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


def _concat_shapes(node: Operation) -> list[Dims]:
    count = node.attrs["N"]
    tensors, columns = node.inputs[:count], index_width(node)
    for each in (*tensors[1:], *node.inputs[2 * count :]):
        width = size_of(each, -1)
        if None not in (columns, width) and columns != width:
            raise ValueError(f"Dimensions must be equal, but are {columns} and {width}")
        columns = width if columns is None else columns
    counts = [size_of(each, 0) for each in tensors]
    total = None if None in counts else sum(count for count in counts if count is not None)
    return [(total, columns), (total,), (columns,)]


@op("SparseConcat", "indices: N*int64, values: N*T, shapes: N*int64 -> output_indices: int64, output_values: T, "
    "output_shape: int64",
    ranks={"indices": 2, "values": 1, "shapes": 1},
    infer=_concat_shapes, gradient=_concat_gradient, limits={"N": 2})  # fmt: skip
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
    """Put sparse tensors one after the other along `axis`; `expand_nonconcat_dims` lets the other sizes differ.

    Args:
        axis: the dimension, an int.
        sp_inputs: a list of SparseTensors of one dtype and rank.
        expand_nonconcat_dim, expand_nonconcat_dims: two names of whether the other sizes may differ; the greatest counts.
        concat_dim: an older name of `axis`.

    Returns:
        A SparseTensor of the same dtype.
    """
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
    """Split along `axis` into `num_split` parts; the first ones are longer when the size does not divide.

    Args:
        keyword_required: must be left out: the arguments go by their names.
        sp_input: a SparseTensor of any dtype.
        num_split: how many parts, an int.
        axis: int scalar, the dimension.
        split_dim: an older name of `axis`.

    Returns:
        A list of `num_split` SparseTensors.

    Raises:
        ValueError: an argument was given by position, or one is missing.
    """
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
    "output_values: T, output_shape: int64", infer=unknown_count, gradient=_sparse_slice_gradient)  # fmt: skip
def sparse_slice_node(
    ctx: OpContext, indices: Array, values: Array, shape: Array, start: Array, size: Array
) -> tuple[Result, Result, Result]:
    """The elements inside a block, their positions counted from its corner.

    `[n, rank] int64, [n], [rank] int64, [rank] int64, [rank] int64 -> [m, rank] int64, [m], [rank] int64`
    """
    kept = _inside(indices, start, size)
    return indices[kept] - start, values[kept], np.maximum(np.minimum(size, shape - start), 0)


@op("SparseSliceGrad", "backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64 -> "
    "val_grad: T",
    ranks={"input_indices": 2}, gradient=None,
    infer=lambda node: [None if node.inputs[1].dims is None else node.inputs[1].dims[:1]])  # fmt: skip
def sparse_slice_grad(
    ctx: OpContext, backprop_val_grad: Array, input_indices: Array, input_start: Array, output_indices: Array
) -> Result:
    """The gradients of the elements inside the block, zeros for the others.

    `[m], [n, rank] int64, [rank] int64, [m, rank] int64 -> [n]`
    """
    if input_indices.shape[1:] != output_indices.shape[1:]:
        raise InvalidArgumentError.of(
            f"The input and output should have the same ndims: got: {input_indices.shape[1:]} and {output_indices.shape[1:]}"
        )
    places = {tuple(row): number for number, row in enumerate((output_indices + input_start).tolist())}
    result, used = np.zeros(len(input_indices), backprop_val_grad.dtype), 0
    for number, row in enumerate(input_indices.tolist()):
        place = places.get(tuple(row))
        if place is not None:
            used += 1
            result[number] = backprop_val_grad[place]
    if used != len(backprop_val_grad):
        raise InternalError.of(
            f"Elements of backprop_val_grad aren't all propagated. Num elements:{len(backprop_val_grad)}, used: {used}"
        )
    return result


def sparse_slice(sp_input: SparseTensor, start: TensorLike, size: TensorLike, name: str | None = None) -> SparseTensor:
    """The block of `size` that begins at `start`.

    Args:
        sp_input: a SparseTensor of any dtype.
        start, size: [rank] int64.
    """
    sparse = as_sparse(sp_input)
    begin, sizes = convert_to_tensor(start, dtypes.int64), convert_to_tensor(size, dtypes.int64)
    return SparseTensor(*sparse_slice_node(sparse.indices, sparse.values, sparse.dense_shape, begin, sizes, name=name))
