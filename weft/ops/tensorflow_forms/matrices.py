"""Forms of matrices that initializers and decompositions make."""

from __future__ import annotations

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import fill, ones, ones_like, zeros, zeros_like
from weft.ops.array.selection import select_v2_node
from weft.ops.array.shape_ops import shape
from weft.ops.linalg.decompositions import eye_like, half_diagonal, qr_node
from weft.ops.linalg.matrix_parts import matrix_diag_part_node, matrix_set_diag_node
from weft.ops.math.casting import cast
from weft.ops.math.clip import clip_by_value
from weft.ops.math.comparison import less
from weft.ops.math.counting import bin_numbers
from weft.ops.math.elementwise import mul, real_div, sub
from weft.ops.math.unary import floor
from weft.ops.tensorflow_forms.form import form
from weft.ops.variables.matrix_initializers import identity_matrix, orthogonal_basis


@form(eye_like)
def _eye_like(node: Operation, x: Tensor) -> Tensor:
    return matrix_set_diag_node(zeros_like(x), ones_like(matrix_diag_part_node(x)))


@form(half_diagonal)
def _half_diagonal(node: Operation, x: Tensor) -> Tensor:
    diagonal = matrix_diag_part_node(x)
    return matrix_set_diag_node(ones_like(x), fill(shape(diagonal), cast(0.5, x.dtype)))


@form(identity_matrix)
def _identity_matrix(node: Operation) -> Tensor:
    rows, columns, dtype = node.attrs["rows"], node.attrs["columns"], node.attrs["dtype"]
    return matrix_set_diag_node(zeros([rows, columns], dtype), ones([min(rows, columns)], dtype))


@form(orthogonal_basis)
def _orthogonal_basis(node: Operation, matrix: Tensor) -> Tensor:
    single = cast(matrix, dtypes.float32) if matrix.dtype.size < 4 else matrix
    q, r = qr_node(single)
    diagonal = matrix_diag_part_node(r)
    signs = select_v2_node(less(diagonal, cast(0.0, q.dtype)), cast(-1.0, q.dtype), cast(1.0, q.dtype))
    return cast(mul(q, signs), matrix.dtype)


@form(bin_numbers)
def _bin_numbers(node: Operation, values: Tensor, value_range: Tensor, nbins: Tensor) -> Tensor:
    low, high = cast(value_range[0], dtypes.float64), cast(value_range[1], dtypes.float64)
    width = real_div(sub(high, low), cast(nbins, dtypes.float64))
    places = floor(real_div(sub(cast(values, dtypes.float64), low), width))
    return cast(clip_by_value(places, 0.0, cast(nbins - 1, dtypes.float64)), node.attrs["dtype"])
