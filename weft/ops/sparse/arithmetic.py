"""Arithmetic on SparseTensors: products, sums, reductions, softmax."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.constant_value import constant_shape
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.framework.types.tensor_shape import as_dims
from weft.ops.array.gather_scatter import gather_nd_node
from weft.ops.array.shape_ops import INDEX, brackets
from weft.ops.declaration import not_differentiable, op
from weft.ops.input_scope import input_scope
from weft.ops.math.elementwise import NUMBERS, REAL
from weft.ops.size_checks import size_of
from weft.ops.sparse.layout import as_sparse, check_inside, flat_positions
from weft.ops.symbolic_gradient import vjp
from weft.ops.traced_checks import note_wrong

# Products.


def _product_shape(node: Operation) -> list[Dims]:
    shape, b = constant_shape(node.inputs[2]), node.inputs[3].dims
    rows = None if shape is None else shape[1 if node.attrs["adjoint_a"] else 0]
    inner = None if shape is None else shape[0 if node.attrs["adjoint_a"] else 1]
    if b is None:
        return [(rows, None)]
    if len(b) != 2:
        raise ValueError(f"Shape must be rank 2 but is rank {len(b)}")
    b_inner, columns = (b[1], b[0]) if node.attrs["adjoint_b"] else b
    if inner is not None and b_inner is not None and inner != b_inner:
        raise ValueError(f"Dimensions must be equal, but are {inner} and {b_inner}")
    return [(rows, columns)]


def _product_gradient(node: Operation, grad: Tensor) -> Gradients:
    gradients = vjp(node, grad)
    return [None, gradients[1], None, gradients[3]]


def _check_product(indices: Array, shape: Array) -> None:
    for axis, letter in ((0, "m"), (1, "k")):
        wrong = (indices[:, axis] < 0) | (indices[:, axis] >= shape[axis])
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InvalidArgumentError.of(
                f"{letter} ({indices[row, axis]}) from index[{row},{axis}] out of bounds (>={shape[axis]})"
            )


@op("SparseTensorDenseMatMul", "a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T",
    ranks={"a_indices": 2, "a_values": 1, "a_shape": 1},
    infer=_product_shape, gradient=_product_gradient, static=("a_shape",), types={"Tindices": INDEX},
    defaults={"Tindices": dtypes.int64})  # fmt: skip
def sparse_tensor_dense_mat_mul(
    xp: ArrayModule,
    a_indices: Array,
    a_values: Array,
    a_shape: Array,
    b: Array,
    *,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Result:
    """The sparse matrix times the dense one, after the adjoints that the attributes ask for.

    `[n, 2], [n], [2] int64, [inner, columns] -> [rows, columns]`
    """
    rows, columns = (1, 0) if adjoint_a else (0, 1)
    dense = xp.conj(b).T if adjoint_b else b
    count, inner = int(a_shape[rows]), int(a_shape[columns])
    if dense.shape[0] != inner:
        raise InvalidArgumentError.of(
            f"Cannot multiply A and B because inner dimension does not match: {inner} vs. {dense.shape[0]}"
        )
    if xp is np:
        _check_product(a_indices, a_shape)
    weights = (xp.conj(a_values) if adjoint_a else a_values)[:, None]
    parts = weights * dense[a_indices[:, columns]]
    zeros = xp.zeros((count, dense.shape[1]), b.dtype)
    if xp is np:
        np.add.at(zeros, a_indices[:, rows], parts)
        return zeros
    return zeros.at[a_indices[:, rows]].add(parts)


def sparse_tensor_dense_matmul(
    sp_a: SparseTensor, b: TensorLike, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """Multiply a sparse matrix by a dense one; either may be conjugated and transposed first.

    Args:
        sp_a: a SparseTensor [m, k] of a numeric dtype; [k, m] with `adjoint_a`.
        b: [k, n] tensor of the same dtype; [n, k] with `adjoint_b`.
        adjoint_a, adjoint_b: whether each is conjugated and transposed first.

    Returns:
        [m, n] tensor of the same dtype.
    """
    a = as_sparse(sp_a)
    with input_scope(name, "SparseTensorDenseMatMul", (a.indices, a.values, b)):
        return sparse_tensor_dense_mat_mul(a.indices, a.values, a.dense_shape, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


# Elementwise, with something dense that is broadcast to the sparse shape.


def _picked(xp: ArrayModule, sp_indices: Array, sp_values: Array, sp_shape: Array, dense: Array) -> Array:
    sizes = tuple(int(size) for size in sp_shape)
    if len(dense.shape) > len(sizes):
        raise InvalidArgumentError.of(
            f"SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
            f"{brackets(sizes)} vs. {brackets(dense.shape)}"
        )
    if sp_values.shape != sp_indices.shape[:1]:
        raise InvalidArgumentError.of(
            f"The first dimension of values and indices should match. ({sp_values.shape[0]} vs. {sp_indices.shape[0]})"
        )
    if xp is np and np.any((sp_indices < 0) | (sp_indices >= np.asarray(sizes))):
        raise InvalidArgumentError.of(
            f"Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape {brackets(sizes)}"
        )
    wide = xp.broadcast_to(dense, sizes)
    return wide[tuple(sp_indices[:, axis] for axis in range(len(sizes)))]


def values_shape(node: Operation) -> list[Dims]:
    return [(size_of(node.inputs[0], 0),)]


@op("SparseDenseCwiseMul", "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T",
    ranks={"sp_indices": 2},
    infer=values_shape,
    gradient=vjp, static=("sp_shape",), types={"T": NUMBERS})  # fmt: skip
def sparse_dense_mul(xp: ArrayModule, sp_indices: Array, sp_values: Array, sp_shape: Array, dense: Array) -> Result:
    """The sparse values times the dense ones at their positions.

    `[n, rank] int64, [n], [rank] int64, [...] -> [n]`
    """
    return sp_values * _picked(xp, sp_indices, sp_values, sp_shape, dense)


def _check_divided(node: Operation, sp_indices: Array, sp_values: Array, sp_shape: Array, dense: Array) -> None:
    if dense is not None:
        _check_divisors(dense)


def _check_divisors(dense: Array) -> None:
    if dense.dtype.kind in "iu" and not np.all(dense):
        raise InvalidArgumentError.of("SparseDenseCwiseDiv cannot divide by zero, but input dense tensor contains zero")


@op("SparseDenseCwiseDiv", "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T",
    ranks={"sp_indices": 2},
    infer=values_shape,
    gradient=vjp, static=("sp_shape",), check=_check_divided, types={"T": NUMBERS})  # fmt: skip
def sparse_dense_div(xp: ArrayModule, sp_indices: Array, sp_values: Array, sp_shape: Array, dense: Array) -> Result:
    """The sparse values over the dense ones at their positions.

    `[n, rank] int64, [n], [rank] int64, [...] -> [n]`
    """
    divisor = _picked(xp, sp_indices, sp_values, sp_shape, dense)
    if xp is np:
        _check_divisors(dense)
    elif divisor.dtype.kind in "iu":
        note_wrong(dense == 0)
    return sp_values // divisor if np.dtype(sp_values.dtype).kind in "iu" else sp_values / divisor


@op("SparseDenseCwiseAdd", "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T",
    ranks={"sp_indices": 2},
    infer=values_shape,
    gradient=None, static=("sp_shape",), types={"T": NUMBERS})  # fmt: skip
def sparse_dense_add(xp: ArrayModule, sp_indices: Array, sp_values: Array, sp_shape: Array, dense: Array) -> Result:
    """The sparse values plus the dense ones at their positions.

    `[n, rank] int64, [n], [rank] int64, [...] -> [n]`
    """
    return sp_values + _picked(xp, sp_indices, sp_values, sp_shape, dense)


# Sums.


def _sum_shapes(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    columns = None if dims is None else dims[1]
    return [(None, columns), (None,), (columns,)]


@op("SparseAdd", "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64, "
    "thresh: Treal -> sum_indices: int64, sum_values: T, sum_shape: int64",
    ranks={"a_shape": 1}, infer=_sum_shapes,
    gradient=lambda node, i, grad, s: _added_gradient(node, grad), types={"T": NUMBERS, "Treal": REAL})  # fmt: skip
def sparse_add_node(
    ctx: OpContext,
    a_indices: Array,
    a_values: Array,
    a_shape: Array,
    b_indices: Array,
    b_values: Array,
    b_shape: Array,
    thresh: Array,
) -> tuple[Result, Result, Result]:
    """The sum; elements whose magnitude is below the threshold are left out.

    `[n, rank] int64, [n], [rank] int64, [m, rank] int64, [m], [rank] int64, scalar -> [k, rank] int64, [k],
    [rank] int64`
    """
    if not np.array_equal(a_shape, b_shape):
        raise InvalidArgumentError.of(f"operands' shapes do not match: got {brackets(a_shape)} and {brackets(b_shape)}")
    table = np.concatenate([a_indices, b_indices])
    unique, place = np.unique(flat_positions(table, a_shape), return_inverse=True)
    sums = np.zeros(len(unique), a_values.dtype)
    np.add.at(sums, place, np.concatenate([a_values, b_values]))
    kept = np.abs(sums) >= thresh
    where = np.stack(np.unravel_index(unique[kept], tuple(a_shape)), 1) if len(a_shape) else table[:0]
    return where.reshape(-1, table.shape[1]), sums[kept], a_shape


def _added_gradient(node: Operation, grad: Tensor) -> Gradients:
    a, b = sparse_add_grad(grad, node.inputs[0], node.inputs[3], node.outputs[0])
    return [None, a, None, None, b, None, None]


@op("SparseAddGrad", "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64 -> a_val_grad: T, "
    "b_val_grad: T",
    ranks={"a_indices": 2, "b_indices": 2}, gradient=not_differentiable, types={"T": NUMBERS},
    infer=lambda node: [None if t.dims is None else t.dims[:1] for t in node.inputs[1:3]])  # fmt: skip
def sparse_add_grad(ctx: OpContext, backprop_val_grad: Array, a_indices: Array, b_indices: Array, sum_indices: Array) -> Array:
    """For each element of both inputs the gradient of the sum at its position, zero where that was left out.

    `[k], [n, rank] int64, [m, rank] int64, [k, rank] int64 -> [n], [m]`
    """
    places = {tuple(row): number for number, row in enumerate(sum_indices.tolist())}
    padded = np.append(backprop_val_grad, np.zeros(1, backprop_val_grad.dtype))
    return tuple(
        padded[np.array([places.get(tuple(row), -1) for row in table.tolist()], np.int64)] for table in (a_indices, b_indices)
    )


def _check_side(dim: int, sparse: int, dense: int | None) -> None:
    if dense not in (None, sparse):
        raise InvalidArgumentError.of(
            f"Dimension {dim} does not equal (no broadcasting is supported): sparse side {sparse} vs dense side {dense}"
        )


def _check_dense_add(node: Operation, a_indices: Array, a_values: Array, a_shape: Array, b: Array) -> None:
    dims = node.inputs[3].dims if b is None else b.shape
    if a_shape is None or dims is None:
        return
    for dim, (sparse, dense) in enumerate(zip(a_shape.tolist(), dims, strict=False)):
        _check_side(dim, sparse, dense)
    if a_indices is not None:
        check_inside(a_indices, a_shape)


@op("SparseTensorDenseAdd", "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T",
    infer=lambda node: [node.inputs[3].dims], check=_check_dense_add, checks_traced=True,
    types={"T": NUMBERS, "Tindices": INDEX},
    gradient=lambda node, grad: [None, gather_nd_node(grad, node.inputs[0]), None, grad])  # fmt: skip
def sparse_tensor_dense_add(xp: ArrayModule, a_indices: Array, a_values: Array, a_shape: Array, b: Array) -> Result:
    """The dense tensor plus the sparse one: `[n, rank], [n], [rank], [...] -> [...]`."""
    if a_indices.shape[1:] != (len(b.shape),) or a_values.shape != a_indices.shape[:1]:
        raise InvalidArgumentError.of(
            f"Dimensions {brackets(a_indices.shape)} of indices, {brackets(a_values.shape)} of values and "
            f"{brackets(b.shape)} of the dense tensor are not compatible"
        )
    index = tuple(a_indices[:, axis] for axis in range(len(b.shape)))
    if xp is np:
        for dim, (sparse, dense) in enumerate(zip(a_shape.tolist(), b.shape, strict=True)):
            _check_side(dim, sparse, dense)
        check_inside(a_indices, a_shape)
        result = b.copy()
        np.add.at(result, index, a_values)
        return result
    note_wrong(xp.any(xp.asarray(a_shape) != np.asarray(b.shape)))
    note_wrong((a_indices < 0) | (a_indices >= a_shape))
    return b.at[index].add(a_values)


def sparse_add(
    a: TensorLike, b: TensorLike, threshold: TensorLike | None = None, thresh: TensorLike | None = None
) -> SparseTensor | Tensor:
    """The sum of two sparse tensors (sparse, without elements below the threshold) or of a sparse and a dense one.

    Args:
        a, b: SparseTensors or tensors of one numeric dtype and shape, one of them sparse at least.
        threshold, thresh: two names of the least size of an element that stays, a scalar; for two sparse tensors only.

    Raises:
        TypeError: neither is sparse.
        ValueError: the shapes differ.
    """
    if not any(hasattr(each, "dense_shape") for each in (a, b)):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if hasattr(a, "dense_shape") and hasattr(b, "dense_shape"):
        first, second = as_sparse(a), as_sparse(b)
        try:
            dims = merge_dims(as_dims(first.shape), as_dims(second.shape))
        except ValueError:
            raise ValueError(f"Shapes {first.shape} and {second.shape} are incompatible") from None
        limit = threshold if thresh is None else thresh
        least = convert_to_tensor(0 if limit is None else limit, first.dtype.real_dtype, name="thresh")
        result = sparse_add_node(
            first.indices, first.values, first.dense_shape, second.indices, second.values, second.dense_shape, least
        )
        made = SparseTensor(*result)
        made.set_shape(dims)
        return made
    sparse, dense = (as_sparse(a), b) if hasattr(a, "dense_shape") else (as_sparse(b), a)
    return sparse_tensor_dense_add(sparse.indices, sparse.values, sparse.dense_shape, dense)


def _check_operands(a_indices: Array, a_shape: Array, b_indices: Array, b_shape: Array) -> None:
    """Raise InvalidArgumentError unless two sparse tensors have one shape, and their elements lie in it."""
    if len(a_shape) != len(b_shape):
        raise InvalidArgumentError.of(f"Operands do not have the same ranks; got shapes: {a_shape} and {b_shape}")
    for dim, (one, other) in enumerate(zip(a_shape, b_shape, strict=True)):
        if one != other:
            raise InvalidArgumentError.of(f"Operands' shapes do not match: got {one} and {other} for dimension {dim}")
    for indices in (a_indices, b_indices):
        check_inside(indices, a_shape)


def _extreme(name: str, choose: np.ufunc) -> Callable[..., tuple[Tensor, Tensor]]:
    def kernel(
        ctx: OpContext, a_indices: Array, a_values: Array, a_shape: Array, b_indices: Array, b_values: Array, b_shape: Array
    ) -> tuple[Result, Result]:
        _check_operands(a_indices, a_shape, b_indices, b_shape)
        flat = [flat_positions(a_indices, a_shape), flat_positions(b_indices, b_shape)]
        unique = np.unique(np.concatenate(flat))
        sides = []
        for places, values in zip(flat, (a_values, b_values), strict=True):
            side = np.zeros(len(unique), a_values.dtype)
            side[np.searchsorted(unique, places)] = values
            sides.append(side)
        return np.stack(np.unravel_index(unique, tuple(a_shape)), 1), choose(*sides)

    kernel.__name__ = name
    kernel.__doc__ = (
        f"{name} of two sparse tensors, zero where one has no element: "
        "`[n, rank] int64, [n], [rank] int64, [m, rank] int64, [m], [rank] int64 -> [k, rank] int64, [k]`."
    )
    return op(
        name, "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64 -> "
        "output_indices: int64, output_values: T", infer=lambda node: _sum_shapes(node)[:2], gradient=None,
        ranks={"a_indices": 2, "a_values": 1, "a_shape": 1, "b_indices": 2, "b_values": 1, "b_shape": 1}, types={"T": NUMBERS},
    )(kernel)  # fmt: skip


_maximum_node = _extreme("SparseSparseMaximum", np.maximum)
_minimum_node = _extreme("SparseSparseMinimum", np.minimum)


def _extreme_of(
    node: Callable[..., tuple[Tensor, Tensor]], sp_a: SparseTensor, sp_b: SparseTensor, name: str | None
) -> SparseTensor:
    a, b = as_sparse(sp_a), as_sparse(sp_b)
    indices, values = node(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, name=name)
    return SparseTensor(indices, values, a.dense_shape)


def sparse_maximum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The greater of both at each position; where only one has an element, the other counts as zero.

    Args:
        sp_a, sp_b: SparseTensors of one real dtype and shape.
    """
    return _extreme_of(_maximum_node, sp_a, sp_b, name)


def sparse_minimum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """The lesser of both at each position; where only one has an element, the other counts as zero.

    Args: those of `tf.sparse.maximum`.
    """
    return _extreme_of(_minimum_node, sp_a, sp_b, name)
