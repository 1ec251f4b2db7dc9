"""tf.sets: the last dimension of tensors, dense or sparse, as sets; all dimensions before it number the sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.composites.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.ops.declaration import op
from weft.ops.size_checks import check_equal, size_of
from weft.ops.sparse.tensors import check_order

_TYPES: Final = {
    "T": (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string)
}  # fmt: skip
_RESULTS: Final = "result_indices: int64, result_values: T, result_shape: int64"
_Groups = dict[tuple[int, ...], set[Array]]

_OPERATIONS: Final[dict[str, Callable[[set[Array], set[Array]], set[Array]]]] = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}


def _rank_of_group(*ranks: int | None) -> Dims:
    known = [rank for rank in ranks if rank is not None]
    for rank in known:
        if rank < 2:
            raise ValueError(f"Shape must be at least rank 2 but is rank {rank}")
        if rank != known[0]:
            raise ValueError(f"Ranks do not match: {rank} and {known[0]}")
    return (known[0],) if known else (None,)


def _shapes(rank: Dims) -> list[Dims]:
    assert rank is not None
    return [(None, rank[0]), (None,), rank]


def _dense_dense_shapes(node: Operation) -> list[Dims]:
    a, b = node.inputs[0].dims, node.inputs[1].dims
    rank = _rank_of_group(None if a is None else len(a), None if b is None else len(b))
    if a is not None and b is not None:
        merge_dims(a[:-1], b[:-1])
    return _shapes(rank)


def _rank_of_sparse(shape: Tensor) -> int | None:
    return None if shape.dims is None else shape.dims[0]


def _check_index_rank(indices: Tensor, values: Tensor, shape: Tensor) -> None:
    found, wanted = size_of(indices, 1), size_of(shape, 0)
    if None not in (found, wanted) and found != wanted:
        raise ValueError(f"Index rank ({found}) and shape rank ({wanted}) do not match.")
    check_equal(indices, 0, values, 0)


def _dense_sparse_shapes(node: Operation) -> list[Dims]:
    dense = node.inputs[0].dims
    _check_index_rank(*node.inputs[1:])
    return _shapes(_rank_of_group(None if dense is None else len(dense), _rank_of_sparse(node.inputs[3])))


def _sparse_sparse_shapes(node: Operation) -> list[Dims]:
    for sparse in (node.inputs[:3], node.inputs[3:]):
        _check_index_rank(*sparse)
    return _shapes(_rank_of_group(_rank_of_sparse(node.inputs[2]), _rank_of_sparse(node.inputs[5])))


def _dense_groups(values: Array) -> _Groups:
    if values.ndim < 2:
        raise InvalidArgumentError.of(f"Invalid rank {values.ndim}: sets are the rows of tensors of rank 2 or more")
    return {place: set(values[place].tolist()) for place in np.ndindex(*values.shape[:-1])}


def _sparse_groups(indices: Array, values: Array, shape: Array, validate: bool) -> _Groups:
    if validate:
        check_order(indices, tuple(int(size) for size in shape))
    groups: _Groups = {}
    for place, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        groups.setdefault(tuple(place), set()).add(value)
    return groups


def _combined(
    a: _Groups, b: _Groups, shape_a: Array, shape_b: Array, operation: str, dtype: Array
) -> tuple[Array, Array, Array]:
    lead_a, lead_b = tuple(int(size) for size in shape_a[:-1]), tuple(int(size) for size in shape_b[:-1])
    if lead_a != lead_b:
        raise InvalidArgumentError.of(f"Mismatched group shapes: {list(lead_a)} and {list(lead_b)}")
    combine = _OPERATIONS.get(operation.lower())
    if combine is None:
        raise InvalidArgumentError.of(f"Invalid set_operation {operation}: expected one of {', '.join(_OPERATIONS)}")
    nothing: set[Array] = set()
    rows = [(place, sorted(combine(a.get(place, nothing), b.get(place, nothing)))) for place in sorted({*a, *b})]
    indices = [(*place, number) for place, items in rows for number in range(len(items))]
    values = np.empty(len(indices), dtype)
    values[:] = [item for _, items in rows for item in items]
    longest = max((len(items) for _, items in rows), default=0)
    return np.array(indices, np.int64).reshape(-1, len(lead_a) + 1), values, np.array([*lead_a, longest], np.int64)


@op("DenseToDenseSetOperation", f"set1: T, set2: T -> {_RESULTS}", infer=_dense_dense_shapes, gradient=None, types=_TYPES)
def dense_to_dense_set_operation(
    ctx: OpContext, set1: Array, set2: Array, *, set_operation: str, validate_indices: bool = True
) -> tuple[Result, Result, Result]:
    """Each set of the first tensor combined with that of the second.

    `[*groups, n], [*groups, m] -> [k, rank] int64, [k], [rank] int64`
    """
    groups = _dense_groups(set1), _dense_groups(set2)
    return _combined(*groups, set1.shape, set2.shape, set_operation, set1.dtype)


@op("DenseToSparseSetOperation", f"set1: T, set2_indices: int64, set2_values: T, set2_shape: int64 -> {_RESULTS}",
    ranks={"set2_indices": 2, "set2_values": 1, "set2_shape": 1},
    infer=_dense_sparse_shapes, gradient=None, types=_TYPES)  # fmt: skip
def dense_to_sparse_set_operation(
    ctx: OpContext,
    set1: Array,
    set2_indices: Array,
    set2_values: Array,
    set2_shape: Array,
    *,
    set_operation: str,
    validate_indices: bool = True,
) -> tuple[Result, Result, Result]:
    """Each set of a tensor combined with that of a SparseTensor.

    `[*groups, n], [m, rank] int64, [m], [rank] int64 -> [k, rank] int64, [k], [rank] int64`
    """
    others = _sparse_groups(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(_dense_groups(set1), others, set1.shape, set2_shape, set_operation, set1.dtype)


@op("SparseToSparseSetOperation", "set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, "
    f"set2_values: T, set2_shape: int64 -> {_RESULTS}",
    ranks={"set1_indices": 2, "set1_values": 1, "set1_shape": 1, "set2_indices": 2, "set2_values": 1, "set2_shape": 1},
    infer=_sparse_sparse_shapes, gradient=None, types=_TYPES)  # fmt: skip
def sparse_to_sparse_set_operation(
    ctx: OpContext, set1_indices: Array, set1_values: Array, set1_shape: Array, set2_indices: Array,
    set2_values: Array, set2_shape: Array, *, set_operation: str, validate_indices: bool = True,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """Each set of a SparseTensor combined with that of another.

    `[n, rank] int64, [n], [rank] int64, [m, rank] int64, [m], [rank] int64 -> [k, rank] int64, [k], [rank]
    int64`
    """
    a = _sparse_groups(set1_indices, set1_values, set1_shape, validate_indices)
    b = _sparse_groups(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(a, b, set1_shape, set2_shape, set_operation, set1_values.dtype)


def _size_shape(node: Operation) -> list[Dims]:
    rank = _rank_of_sparse(node.inputs[2])
    return [None if rank is None else (None,) * (rank - 1)]


@op("SetSize", "set_indices: int64, set_values: T, set_shape: int64 -> size: int32", infer=_size_shape, gradient=None,
    types=_TYPES)  # fmt: skip
def set_size_node(
    ctx: OpContext, set_indices: Array, set_values: Array, set_shape: Array, *, validate_indices: bool = True
) -> Result:
    """The number of different elements of each set: `[n, rank] int64, [n], [rank] int64 -> [*groups] int32`."""
    sizes = np.zeros(tuple(int(size) for size in set_shape[:-1]), np.int32)
    for place, items in _sparse_groups(set_indices, set_values, set_shape, validate_indices).items():
        sizes[place] = len(items)
    return sizes


# The functions of the API.


def _converted(a: object, b: object) -> tuple[Any, Any, bool]:
    """Both as tensors, and whether they have changed places: a dense one comes before a sparse one."""
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    if a.dtype.base_dtype is not b.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        return b, a, True
    return a, b, False


def _set_operation(a: Any, b: Any, operation: str, validate_indices: bool) -> SparseTensor:
    keywords = {"set_operation": operation, "validate_indices": validate_indices}
    if isinstance(a, SparseTensor):
        parts = (a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape)
        made = sparse_to_sparse_set_operation(*parts, **keywords)
    elif isinstance(b, SparseTensor):
        made = dense_to_sparse_set_operation(a, b.indices, b.values, b.dense_shape, **keywords)
    else:
        made = dense_to_dense_set_operation(a, b, **keywords)
    return SparseTensor(*made)


def set_size(a: TensorLike, validate_indices: bool = True) -> Tensor:
    """The number of different elements of each set along the last dimension of a SparseTensor.

    Args:
        a: a SparseTensor of an integer or string dtype.
        validate_indices: whether to check the order of its elements.

    Returns:
        An int32 tensor of its shape without the last dimension.

    Raises:
        TypeError: `a` is no SparseTensor, or of a type that sets don't have.
    """
    sparse = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(sparse, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {sparse}.")
    return set_size_node(sparse.indices, sparse.values, sparse.dense_shape, validate_indices=validate_indices)


def set_intersection(a: object, b: object, validate_indices: bool = True) -> SparseTensor:
    """The elements that are in both sets, for each pair of sets along the last dimensions.

    Args:
        a, b: Tensors or SparseTensors of integers or strings, whose dimensions are equal but for the last.
        validate_indices: whether the positions in SparseTensors must be in row-major order and occur once.

    Returns:
        A SparseTensor, its last dimension as large as the largest set, each set in ascending order.
    """
    first, second, _ = _converted(a, b)
    return _set_operation(first, second, "intersection", validate_indices)


def set_difference(a: object, b: object, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The elements of `a` that are not in `b`, or with `aminusb` False the other way; as `set_intersection`.

    Args:
        a, b: tensors or SparseTensors of one integer or string dtype, whose shapes are equal but for the last dimension, the
            sets.
        aminusb: whether to take `b` from `a`, rather than `a` from `b`.
        validate_indices: whether to check the order of the elements of sparse ones.
    """
    first, second, changed = _converted(a, b)
    return _set_operation(first, second, "a-b" if aminusb != changed else "b-a", validate_indices)


def set_union(a: object, b: object, validate_indices: bool = True) -> SparseTensor:
    """The elements that are in either set; as `set_intersection`.

    Args:
        a, b: tensors or SparseTensors of one integer or string dtype, whose shapes are equal but for the last dimension, the
            sets.
        validate_indices: whether to check the order of the elements of sparse ones.
    """
    first, second, _ = _converted(a, b)
    return _set_operation(first, second, "union", validate_indices)
