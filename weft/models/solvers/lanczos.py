"""Lanczos bidiagonalization of a matrix that is seen through its products with vectors."""

from __future__ import annotations

from typing import NamedTuple

from weft.framework.building.aliases import TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.solvers.operators import Applied, l2normalize
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, shape, squeeze
from weft.ops.array.transposing import matrix_transpose
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.math.products import matmul
from weft.ops.random.functions import random_uniform


class LanczosBidiagState(NamedTuple):
    """A bidiagonalization: `A v = u B`, where B has `alpha` on its diagonal and `beta` below.

    Attributes:
        u: `[m, k + 1]`, with columns of length 1 that stand at right angles.
        v: `[n, k]`, likewise.
        alpha: `[k]`.
        beta: `[k]`.
    """

    u: Tensor
    v: Tensor
    alpha: Tensor
    beta: Tensor


class _Columns(NamedTuple):
    """The columns and numbers that are there by now."""

    u: TensorArray
    v: TensorArray
    alpha: TensorArray
    beta: TensorArray


def lanczos_bidiag(
    operator: Applied, k: int | Tensor, orthogonalize: bool = True, starting_vector: TensorLike | None = None,
    name: str = "lanczos_bidiag",
) -> LanczosBidiagState:  # fmt: skip
    """The Lanczos bidiagonalization of a matrix.

    Args:
        operator: the matrix `[m, n]`, as `create_operator` makes it.
        k: the number of steps, an int or an int32 scalar.
        orthogonalize: whether each vector is put at right angles to all before it; rounding errors add up otherwise.
        starting_vector: `[m]`, the direction of the first column of `u`; random when None.
        name: the name scope.

    Returns:
        The bidiagonalization.
    """

    def upright(count: Tensor, basis: TensorArray, vector: Tensor) -> tuple[Tensor, Tensor]:
        if not orthogonalize:
            return l2normalize(vector)

        def without(j: Tensor, left: Tensor) -> tuple[Tensor, Tensor]:
            column = _column(basis, j)
            made = left - matmul(column, left, adjoint_a=True) * column
            made.set_shape(vector.shape)
            return j + 1, made

        _, left = while_loop(lambda j, _: j < count, without, [constant(0, dtypes.int32), vector])
        return l2normalize(left)

    def step(i: Tensor, made: _Columns) -> tuple[Tensor, _Columns]:
        u = _column(made.u, i)
        back = operator.apply_adjoint(u)
        rest = cond(i > 0, lambda: back - made.beta.read(i - 1) * _column(made.v, i - 1), lambda: back)
        rest.set_shape(back.shape)
        v, alpha = upright(i - 1, made.v, rest)
        new, beta = upright(i, made.u, operator.apply(v) - alpha * u)
        columns = made.u.write(i + 1, squeeze(new)), made.v.write(i, squeeze(v))
        return i + 1, _Columns(*columns, made.alpha.write(i, alpha), made.beta.write(i, beta))

    with get_default_graph().name_scope(name):
        if starting_vector is None:
            starting_vector = random_uniform(operator.shape[:1], -1, 1, dtype=operator.dtype)
        first, _ = l2normalize(starting_vector)
        arrays = [
            TensorArray(operator.dtype, k + 1 if each == "u" else k, tensor_array_name=each, clear_after_read=False)
            for each in _Columns._fields
        ]
        begin = _Columns(arrays[0].write(0, squeeze(first)), *arrays[1:])
        _, made = while_loop(lambda i, _: i < k, step, [constant(0, dtypes.int32), begin])
        u, v = (matrix_transpose(each.stack()) for each in (made.u, made.v))
        return LanczosBidiagState(u, v, made.alpha.stack(), made.beta.stack())


def bidiag_matmul(matrix: Tensor, alpha: Tensor, beta: Tensor, adjoint_b: bool = False, name: str = "bidiag_matmul") -> Tensor:
    """The product of a matrix with a bidiagonal one, `[k + 1, k]`.

    Args:
        matrix: `[m, k + 1]` tensor, or `[m, k]` where `adjoint_b`.
        alpha: `[k]`, the diagonal.
        beta: `[k]`, what stands below it.
        adjoint_b: whether to multiply by the transpose of all rows but the last.
        name: the name scope.

    Returns:
        `[m, k]` tensor.
    """
    with get_default_graph().name_scope(name):
        alpha = expand_dims(alpha, 0)
        if not adjoint_b:
            return matrix[:, :-1] * alpha + matrix[:, 1:] * expand_dims(beta, 0)
        below = expand_dims(beta[:-1], 0)
        nothing = expand_dims(zeros(shape(matrix)[:1], matrix.dtype), 1)
        return matrix * alpha + concat([nothing, matrix[:, :-1] * below], 1)


def _column(columns: TensorArray, place: Tensor) -> Tensor:
    return expand_dims(columns.read(place), -1)
