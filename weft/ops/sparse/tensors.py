"""SparseTensors made, fed and turned dense: sparse_to_dense, sparse_placeholder, indicators, masks, merging."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import (
    Array,
    ArrayModule,
    DTypeLike,
    DynamicShape,
    Gradients,
    Result,
    ShapeLike,
    TensorLike,
)
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.constant_value import constant_shape
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.tensor_shape import as_dims
from weft.ops.array.constant import constant
from weft.ops.array.filling import fill_node, zeros
from weft.ops.array.gather_scatter import gather, gather_nd_node
from weft.ops.array.joining import concat
from weft.ops.array.padding import slice_node
from weft.ops.array.placeholder import placeholder
from weft.ops.array.sets import list_diff
from weft.ops.array.shape_ops import INDEX, brackets, expand_dims, reshape, shape_internal
from weft.ops.declaration import op, rank_of
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import sub
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.sparse.layout import as_sparse, sparse_reorder
from weft.ops.traced_checks import note_wrong


def _table(indices: Array, rank: int) -> Array:
    return indices.reshape((-1, 1)) if indices.ndim <= 1 and rank == 1 else indices.reshape((-1, rank))


def check_order(indices: TensorLike, shape: tuple[int, ...]) -> None:
    """InvalidArgumentError unless the positions lie inside the shape, in row-major order, each once."""
    table = _table(indices, len(shape))
    outside = ((table < 0) | (table >= np.array(shape))).any(1)
    if outside.any():
        row = int(np.argmax(outside))
        raise InvalidArgumentError.of(
            f"indices[{row}] = {brackets(table[row])} is out of bounds: need 0 <= index < {brackets(shape)}"
        )
    flat = np.ravel_multi_index(tuple(table.T), shape) if len(table) and shape else np.zeros(len(table), np.int64)
    steps = np.diff(flat)
    if (steps <= 0).any():
        row = int(np.argmax(steps <= 0)) + 1
        what = "is repeated" if steps[row - 1] == 0 else (
            "is out of order. Many sparse ops require sorted indices.\n"
            "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n"
        )  # fmt: skip
        raise InvalidArgumentError.of(f"indices[{row}] = {brackets(table[row])} {what}")


def _dense_shape(node: Operation) -> list[Dims]:
    return [constant_shape(node.inputs[1])]


def _to_dense_gradient(node: Operation, grad: Tensor) -> Gradients:
    indices, _, values, _ = node.inputs
    if rank_of(indices) == 0:
        indices = reshape(indices, [1, 1])
    elif rank_of(indices) == 1:
        indices = expand_dims(indices, -1)
    taken = gather_nd_node(grad, indices)
    values_grad = reduce_sum(taken) if rank_of(values) == 0 else taken
    return [None, None, values_grad, sub(reduce_sum(grad), reduce_sum(taken))]


def _check_to_dense(
    node: Operation, sparse_indices: Array, output_shape: Array, sparse_values: Array, default_value: Array
) -> None:
    dims = constant_shape(node.inputs[1]) if output_shape is None else tuple(int(size) for size in np.ravel(output_shape))
    if sparse_indices is not None and dims is not None and None not in dims and node.attrs["validate_indices"]:
        check_order(sparse_indices, tuple(size for size in dims if size is not None))


@op("SparseToDense", "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T -> dense: T",
    ranks={"output_shape": 1, "default_value": 0}, checks_traced=True, check=_check_to_dense,
    infer=_dense_shape, gradient=_to_dense_gradient, static=("output_shape",), types={"Tindices": INDEX})  # fmt: skip
def sparse_to_dense_node(
    xp: ArrayModule,
    sparse_indices: Array,
    output_shape: Array,
    sparse_values: Array,
    default_value: Array,
    *,
    validate_indices: bool = True,
) -> Result:
    """The default value with the sparse values at their positions; one value may stand for all.

    `[n, rank], [rank], [n], scalar -> [*output_shape]`
    """
    shape = tuple(int(size) for size in np.ravel(output_shape))
    table = _table(sparse_indices, len(shape))
    if sparse_values.shape not in ((), (len(table),)):
        raise InvalidArgumentError.of(
            f"sparse_values has incorrect shape {brackets(sparse_values.shape)}, should be [] or [{len(table)}]"
        )
    if xp is np:
        if validate_indices:
            check_order(sparse_indices, shape)
        dense = np.full(shape, default_value, default_value.dtype)
        dense[tuple(table.T)] = sparse_values
        return dense
    if validate_indices:
        note_wrong((table < 0) | (table >= np.array(shape, np.int64)))
    positions = tuple(xp.where(table[:, axis] < 0, size, table[:, axis]) for axis, size in enumerate(shape))
    return xp.broadcast_to(default_value, shape).at[positions].set(sparse_values, mode="drop")


def sparse_to_dense(
    sparse_indices: TensorLike,
    output_shape: DynamicShape,
    sparse_values: TensorLike,
    default_value: TensorLike = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A dense tensor with `sparse_values` at `sparse_indices` and `default_value` elsewhere.

    Args:
        sparse_indices: positions, `[n, rank]`, `[n]` or a scalar.
        output_shape: the shape.
        sparse_values: `[n]`, or a scalar for all positions.
        default_value: a scalar.
        validate_indices: whether positions must be in row-major order and occur once.
        name: the node's name.

    Returns:
        A tensor of `output_shape` and the values' type.

    Raises:
        InvalidArgumentError: in a run, a position lies outside, or is out of order or repeated and `validate_indices` is true.

    >>> sess.run(tf.sparse_to_dense([0, 2], [4], [5, 7]))
    array([5, 0, 7, 0], dtype=int32)
    """
    return sparse_to_dense_node(
        sparse_indices, output_shape, sparse_values, default_value, validate_indices=validate_indices, name=name
    )


def sparse_tensor_to_dense(
    sp_input: SparseTensor, default_value: TensorLike | None = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """The dense form of a SparseTensor, with `default_value` (the type's zero) where it has no element.

    Args:
        sp_input: a SparseTensor of any dtype.
        default_value: scalar of its dtype.
        validate_indices: whether to check the order of its elements, and that none repeats.

    Returns:
        A tensor of the SparseTensor's dense shape and dtype.

    Raises:
        TypeError: `sp_input` is no SparseTensor.
        InvalidArgumentError: in a run, an element lies outside, or is out of order or repeated and `validate_indices` is true.
    """
    sparse = as_sparse(sp_input)
    default = zeros([], sparse.dtype) if default_value is None else default_value
    return sparse_to_dense(
        sparse.indices, sparse.dense_shape, sparse.values, default, validate_indices=validate_indices, name=name
    )


def sparse_placeholder(dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> SparseTensor:
    """A SparseTensor that is fed as a SparseTensorValue or a triple of arrays.

    Args:
        dtype: the type of the values.
        shape: what is known of the dense shape; when all of it is, a feed may leave it out.
        name: a prefix for the names of the three placeholders.
    """

    def named(part: str) -> str | None:
        return None if name is None else f"{name}/{part}"

    dims = None if shape is None or isinstance(shape, Tensor) else as_dims(shape)
    count = None if dims is None else len(dims)
    if shape is None:
        dense_shape = placeholder(dtypes.int64, [None], named("shape"))
    elif isinstance(shape, Tensor):
        count = None if shape.dims is None else shape.dims[0]
        dense_shape = cast(shape, dtypes.int64)
    else:
        assert dims is not None
        sizes = None if None in dims else np.array(dims, np.int64)
        part = named("shape")
        dense_shape = placeholder(dtypes.int64, [count], part) if sizes is None else constant(sizes, name=part or "Const")
    values = placeholder(dtype, [None], named("values"))
    indices = placeholder(dtypes.int64, [None, count], named("indices"))
    result = SparseTensor(indices, values, dense_shape)
    result.set_shape(dims)
    return result


def sparse_to_indicator(sp_input: SparseTensor, vocab_size: int, name: str | None = None) -> Tensor:
    """Booleans that are true at `[..., v]` for each value v of the last dimension's ids.

    Args:
        sp_input: a SparseTensor [..., n] of int32 or int64.
        vocab_size: the size of the last dimension of the result.

    Returns:
        [..., vocab_size] bool tensor.
    """
    sparse = as_sparse(sp_input)
    with get_default_graph().name_scope(name or "SparseToIndicator") as scope:
        trues = fill_node(shape_internal(sparse.values), True)
        ids = SparseTensor(sparse.indices, sparse.values, sparse.dense_shape)
        merged = sparse_merge(ids, ids.with_values(trues), vocab_size)
        return sparse_tensor_to_dense(merged, default_value=False, validate_indices=False, name=scope)


def sparse_merge(
    sp_ids: SparseTensor | Sequence[SparseTensor],
    sp_values: SparseTensor,
    vocab_size: TensorLike | Sequence[TensorLike],
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """A SparseTensor of the values whose last coordinate is replaced by the ids, which are below `vocab_size`.

    Args:
        sp_ids: a SparseTensor of int32 or int64, or a list of them.
        sp_values: a SparseTensor of the same positions, of any dtype.
        vocab_size: the size of the last dimension, an int64 scalar, or a list of them.
        already_sorted: whether the result is in row-major order as it is.

    Raises:
        ValueError: there are not as many sizes as there are ids.
        TypeError: a size is neither a whole number nor a tensor.
    """
    several: Any = sp_ids if isinstance(sp_ids, list | tuple) and not hasattr(sp_ids, "dense_shape") else None
    given: list[Any] = [sp_ids] if several is None else several
    ids = [as_sparse(each) for each in given]
    limits: Any = [vocab_size] if several is None else vocab_size
    for limit in limits:
        if not isinstance(limit, Tensor | Integral):
            raise TypeError(f"vocab_size has to be a Tensor or Python int. Found {limit!r} of {type(limit)}")
    values = as_sparse(sp_values)
    if len(ids) != len(limits):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    with get_default_graph().name_scope(name or "SparseMerge"):
        count = sub(shape_internal(values.indices), 1)
        rows = slice_node(values.indices, [0, 0], concat([[-1], slice_node(count, [1], [1])], 0))
        columns = [expand_dims(cast(each.values, dtypes.int64), 1) for each in ids]
        lead = slice_node(values.dense_shape, [0], slice_node(count, [1], [1]))
        tail = [reshape(cast(convert_to_tensor(limit), dtypes.int64), [1]) for limit in limits]
        merged = SparseTensor(concat([rows, *columns], 1), values.values, concat([lead, *tail], 0))
        return merged if already_sorted else sparse_reorder(merged)


def sparse_mask(a: IndexedSlices, mask_indices: TensorLike, name: str | None = None) -> IndexedSlices:
    """The slices of `a` without those at `mask_indices`.

    Args:
        a: IndexedSlices of any dtype.
        mask_indices: [n] tensor of the dtype of their indices.
    """
    with get_default_graph().name_scope(name or "sparse_mask") as scope:
        kept, positions = list_diff(a.indices, mask_indices)
        return IndexedSlices(gather(a.values, positions, name=scope), kept, a.dense_shape)
