"""Products of matrices: MatMul, BatchMatMul and their gradients, which are products again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.node_errors import ShapeMisfit
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, broadcast_dims, merge_dims
from weft.ops.array.shape_ops import expand_dims, squeeze
from weft.ops.array.transposing import matrix_transpose
from weft.ops.declaration import op
from weft.ops.dispatch import dispatchable
from weft.ops.gradient_nodes import of_batch_product
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.complex_numbers import conj
from weft.ops.math.elementwise import COMPLEX, FLOATS, unbroadcast
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.imports.jax_modules import jnp, lax
from weft.platform.machine.product_threads import product_threads

_UNSIGNED = (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64)
_MATRICES = "A matrix is needed: tf.expand_dims makes one of a vector, tf.tensordot multiplies tensors of other ranks."
_INNER = "Inner dimensions differ: a's last has to be b's first; `transpose_a=True` or `transpose_b=True` exchanges them."
_FEWEST_COLUMNS = 128
_MATRIX_TYPES = (*FLOATS, dtypes.int32, dtypes.int64, *_UNSIGNED, *COMPLEX)


def _matrix(tensor: Tensor) -> tuple[int | None, int | None]:
    dims = tensor.dims
    if dims is None:
        return None, None
    if len(dims) != 2:
        raise ShapeMisfit(f"Shape must be rank 2 but is rank {len(dims)}", _MATRICES)
    return dims[0], dims[1]


def check_inner(left: int | None, right: int | None, remedy: str = _INNER) -> None:
    """Raise ValueError when the dimensions over which a product sums differ."""
    if left is not None and right is not None and left != right:
        raise ShapeMisfit(f"Dimensions must be equal, but are {left} and {right}", remedy)


def _product_shape(node: Operation) -> list[Dims]:
    rows, inner = _matrix(node.inputs[0])
    inner_of_b, columns = _matrix(node.inputs[1])
    if node.attrs["transpose_a"]:
        rows, inner = inner, rows
    if node.attrs["transpose_b"]:
        inner_of_b, columns = columns, inner_of_b
    check_inner(inner, inner_of_b)
    return [(rows, columns)]


def _fits(node: Operation) -> bool:
    """Whether no run can find that the matrices do not fit: the gradients that only others wait for, as that for what is fed.

    Without it a step of 784-100-10 takes 0.3 ms of CPU less on the host, of 1.7 (two loaded cores, November 2026).
    """
    left, right = (tensor.dims for tensor in node.inputs)
    if left is None or right is None:
        return False
    return left[0 if node.attrs["transpose_a"] else 1] is not None and right[1 if node.attrs["transpose_b"] else 0] is not None


def _product_gradients(
    multiply: Callable[[Tensor, Tensor, bool, bool], Tensor], x: Tensor, y: Tensor, grad: Tensor, flip_x: bool, flip_y: bool
) -> tuple[Tensor, Tensor]:
    """The gradients of a product as it is transposed; `multiply(left, right, flip_left, flip_right)` is such a one."""
    if not flip_x and not flip_y:
        return multiply(grad, y, False, True), multiply(x, grad, True, False)
    if not flip_x and flip_y:
        return multiply(grad, y, False, False), multiply(grad, x, True, False)
    if flip_x and not flip_y:
        return multiply(y, grad, False, True), multiply(x, grad, False, False)
    return multiply(y, grad, True, True), multiply(grad, x, True, True)


def _mat_mul_gradient(node: Operation, grad: Tensor) -> Gradients:
    def multiply(left: Tensor, right: Tensor, flip_left: bool, flip_right: bool) -> Tensor:
        return mat_mul(left, right, transpose_a=flip_left, transpose_b=flip_right)

    a, b = (conj(tensor) for tensor in node.inputs)
    return list(_product_gradients(multiply, a, b, grad, node.attrs["transpose_a"], node.attrs["transpose_b"]))


@op("MatMul", "a: T, b: T -> product: T", infer=_product_shape, gradient=_mat_mul_gradient, types={"T": _MATRIX_TYPES},
    droppable=_fits)  # fmt: skip
def mat_mul(
    xp: ArrayModule,
    a: Array,
    b: Array,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Result:
    """`[m, k] x [k, n] -> [m, n]`, after the transpositions asked for."""
    left, right = a.T if transpose_a else a, b.T if transpose_b else b
    _check_sizes(left, right, a, b)
    if xp is not np and transpose_a and _is_narrow(left, right):
        return lax.platform_dependent(left, right, cpu=_turned_product, default=xp.matmul)
    return _product(xp, left, right)


def _is_narrow(left: Array, right: Array) -> bool:
    if left.ndim != 2 or right.ndim != 2 or not jnp.issubdtype(left.dtype, np.floating):
        return False
    rows, columns = int(left.shape[0]), int(right.shape[1])
    return columns < min(_FEWEST_COLUMNS, rows)


def _turned_product(left: Array, right: Array) -> Array:
    """The product of a transposed matrix with a narrow one, as the gradient for the weights of a classifier's last layer.

    XLA gives such a product to Eigen, for which it is slow, and has a library of its own for the transposed result.
    Microseconds of CPU time for [k, m]^T x [k, n], x86_64 with AVX-512, December 2026:

        k, m, n          as it is   turned        k, m, n          as it is   turned
        128, 512, 10     197        31            128, 512, 96     295        257
        1024, 512, 10    1,471      128           128, 512, 128    337        341
        128, 512, 64     255        164           10000, 64, 16    779        292
    """
    # Else XLA makes the product as it was out of both.
    turned: Array = lax.optimization_barrier(jnp.matmul(right.T, left.T))  # type: ignore[no-untyped-call]
    return turned.T


def _product(xp: ArrayModule, left: Array, right: Array) -> Array:
    if xp is not np or left.ndim < 2 or right.ndim < 2:
        return xp.matmul(left, right)
    with product_threads.of(left.shape[-2], left.shape[-1], right.shape[-1]):
        return np.matmul(left, right)


def _check_sizes(left: Array, right: Array, a: Array, b: Array) -> None:
    if left.ndim > 1 and right.ndim > 1 and left.shape[-1] != right.shape[-2]:
        shapes = [f"[{','.join(map(str, x.shape))}]" for x in (a, b)]
        raise ValueError(f"Matrix size-incompatible: In[0]: {shapes[0]}, In[1]: {shapes[1]}")


def _batch_product_shape(node: Operation) -> list[Dims]:
    x, y = node.inputs[0].dims, node.inputs[1].dims
    for dims in (x, y):
        if dims is not None and len(dims) < 2:
            raise ValueError(f"Shape must be at least rank 2 but is rank {len(dims)}")
    if x is None or y is None:
        return [None]
    rows, inner = x[-2:][::-1] if node.attrs["adj_x"] else x[-2:]
    inner_of_y, columns = y[-2:][::-1] if node.attrs["adj_y"] else y[-2:]
    check_inner(inner, inner_of_y)
    batch = broadcast_dims(x[:-2], y[:-2])
    return [None if batch is None else (*batch, rows, columns)]


def _equal_batches_shape(node: Operation) -> list[Dims]:
    x, y = node.inputs[0].dims, node.inputs[1].dims
    if x is not None and y is not None:
        merge_dims(x[:-2], y[:-2])
    return _batch_product_shape(node)


def _batch_gradient(node: Operation, grad: Tensor) -> Gradients:
    def multiply(left: Tensor, right: Tensor, flip_left: bool, flip_right: bool) -> Tensor:
        return batch_mat_mul(left, right, adj_x=flip_left, adj_y=flip_right)

    x, y = node.inputs
    of_x, of_y = _product_gradients(multiply, x, y, grad, node.attrs["adj_x"], node.attrs["adj_y"])
    return [unbroadcast(of_x, x), unbroadcast(of_y, y, name="Reshape_1")]


def _adjoint(xp: ArrayModule, x: Array) -> Array:
    return xp.conj(xp.swapaxes(x, -1, -2))


def _batch_product(xp: ArrayModule, x: Array, y: Array, adj_x: bool, adj_y: bool) -> Array:
    left, right = _adjoint(xp, x) if adj_x else x, _adjoint(xp, y) if adj_y else y
    if left.shape[-1] != right.shape[-2]:
        shapes = " ".join(f"[{','.join(map(str, each.shape))}]" for each in (x, y))
        flips = f"{int(adj_x)} {int(adj_y)}"
        raise ValueError(f"In[0] mismatch In[1] shape: {left.shape[-1]} vs. {right.shape[-2]}: {shapes} {flips}")
    return _product(xp, left, right)


@op("BatchMatMulV2", "x: T, y: T -> output: T", infer=_batch_product_shape, gradient=_batch_gradient,
    gradient_nodes=of_batch_product, types={"T": (*FLOATS, dtypes.int16, *_MATRIX_TYPES[4:])})  # fmt: skip
def batch_mat_mul(xp: ArrayModule, x: Array, y: Array, *, adj_x: bool = False, adj_y: bool = False) -> Result:
    """`[..., m, k] x [..., k, n] -> [..., m, n]`, after taking adjoints; the leading dimensions are broadcast."""
    return _batch_product(xp, x, y, adj_x, adj_y)


@op("BatchMatMul", "x: T, y: T -> output: T", infer=_equal_batches_shape, gradient=_batch_gradient,
    types={"T": (*FLOATS, dtypes.int32, dtypes.int64, *COMPLEX)})  # fmt: skip
def batch_mat_mul_v1(xp: ArrayModule, x: Array, y: Array, *, adj_x: bool = False, adj_y: bool = False) -> Result:
    """`[..., m, k] x [..., k, n] -> [..., m, n]`, after taking adjoints; the older form."""
    return _batch_product(xp, x, y, adj_x, adj_y)


@dispatchable
def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of matrices, or of batches of them whose leading dimensions are broadcast.

    `a_is_sparse` and `b_is_sparse` are hints that most elements are zero; with one of them, one matrix may be float32 and
    the other bfloat16.

    Args:
        a: [..., m, k] tensor of a numeric dtype; [..., k, m] where it is transposed.
        b: [..., k, n] tensor of the dtype of `a`; [..., n, k] where it is transposed.
        transpose_a, transpose_b: whether the last two dimensions change places first.
        adjoint_a, adjoint_b: whether they change places and complex numbers are conjugated first.
        a_is_sparse, b_is_sparse: whether most elements are zero.
        name: the node's name.

    Returns:
        [..., m, n] tensor of the same dtype; float32 of a float32 and a bfloat16.

    Raises:
        ValueError: a transposition and an adjoint are asked for at once, or shapes don't fit.

    >>> sess.run(tf.matmul([[1, 2]], [[3], [4]]))
    array([[11]], dtype=int32)
    """
    if a_is_sparse or b_is_sparse:
        check_arguments(matmul, a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse)
        if {getattr(a, "dtype", None), getattr(b, "dtype", None)} == {dtypes.float32, dtypes.bfloat16}:
            return sparse_matmul(a, b, transpose_a or adjoint_a, transpose_b or adjoint_b, name=name)
    for letter, transpose, adjoint in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
        if transpose and adjoint:
            raise ValueError(f"Only one of transpose_{letter} and adjoint_{letter} can be True.")
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        with input_scope(name, "MatMul", (a, b)) as scope:
            a = convert_to_tensor(a, name="a")
            b = convert_to_tensor(b, dtype_hint=a.dtype.base_dtype, name="b")
            name = scope
    ranks = [None if tensor.dims is None else len(tensor.dims) for tensor in (a, b)]
    if all(rank is None or rank > 2 for rank in ranks) or max(rank or 0 for rank in ranks) > 2:
        a, adjoint_a = _as_adjoint(a, transpose_a, adjoint_a)
        b, adjoint_b = _as_adjoint(b, transpose_b, adjoint_b)
        return batch_mat_mul(a, b, adj_x=adjoint_a, adj_y=adjoint_b, name=name or "MatMul")
    a, transpose_a = _as_transpose(a, transpose_a, adjoint_a)
    b, transpose_b = _as_transpose(b, transpose_b, adjoint_b)
    return mat_mul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=name)


def sparse_matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices of which most elements may be zero, float32 or bfloat16; the hints change nothing.

    Args:
        a: [m, k] tensor of float32 or bfloat16; [k, m] where it is transposed.
        b: [k, n] tensor of float32 or bfloat16; [n, k] where it is transposed.
        transpose_a, transpose_b: whether the two dimensions change places first.
        a_is_sparse, b_is_sparse: whether most elements are zero; they change nothing.

    Returns:
        [m, n] float32 tensor.

    Raises:
        TypeError: a matrix is of another dtype.
    """
    left, right = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
    kinds = {left.dtype.base_dtype, right.dtype.base_dtype}
    if not kinds <= {dtypes.float32, dtypes.bfloat16}:
        raise TypeError(f"sparse_matmul takes float32 and bfloat16, a is {left.dtype!r} and b {right.dtype!r}")
    return matmul(
        cast(left, dtypes.float32), cast(right, dtypes.float32), transpose_a, transpose_b, name=name or "SparseMatMul"
    )


def _as_adjoint(tensor: Tensor, transpose: bool, adjoint: bool) -> tuple[Tensor, bool]:
    # The batch product takes adjoints only: a mere transpose is the adjoint of the conjugate.
    return (conj(tensor), True) if transpose else (tensor, adjoint)


def _as_transpose(tensor: Tensor, transpose: bool, adjoint: bool) -> tuple[Tensor, bool]:
    return (conj(tensor), True) if adjoint else (tensor, transpose)


def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of (batches of) matrices and vectors; arguments as those of `matmul`.

    Args:
        a: [..., m, k] tensor of a numeric dtype; [..., k, m] where it is transposed.
        b: [..., k] tensor of the dtype of `a`.
        transpose_a: whether the last two dimensions of `a` change places first.
        adjoint_a: whether they change places and complex numbers are conjugated first.
        a_is_sparse, b_is_sparse: whether most elements are zero; they change nothing.

    Returns:
        [..., m] tensor of the same dtype.
    """
    with input_scope(name, "MatVec", (a, b)):
        column = expand_dims(b, axis=-1)
        return squeeze(matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a), axis=-1)


@dispatchable
def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The conjugate transposes of the matrices.

    Args:
        matrix: [..., m, n] tensor of a numeric dtype; the result is [..., n, m].
    """
    with input_scope(name, "adjoint", (matrix,)):
        return matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)
