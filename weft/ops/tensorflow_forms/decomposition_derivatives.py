"""Forms of KernelGradient for singular values and vectors, of real matrices."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.filling import ones_like
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.transposing import matrix_transpose
from weft.ops.linalg.decompositions import svd_node
from weft.ops.linalg.matrix_parts import matrix_diag_node
from weft.ops.math.division import div_no_nan
from weft.ops.math.elementwise import add, mul, square, sub
from weft.ops.math.products import batch_mat_mul
from weft.ops.tensorflow_forms.derivatives import derivative


@derivative(svd_node)
def _singular_values(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor] | None:
    """Of `x = u diag(s) v^T`, as in J. Townsend, Differentiating the Singular Value Decomposition, 2016."""
    (x,), attrs = inputs, node.attrs["f"].attrs
    has_vectors = attrs["compute_uv"]
    if (has_vectors and attrs["full_matrices"]) or x.dtype.is_complex or x.dtype.size < 4:
        return None
    s, u, v = svd_node(x, compute_uv=True, full_matrices=False, name=None)
    middle: Tensor = matrix_diag_node(grads[0])
    if not has_vectors:
        return {0: _between(u, middle, v)}
    rows, columns = expand_dims(s, -1), expand_dims(s, -2)
    differences = sub(square(columns), square(rows))
    factors = div_no_nan(ones_like(differences), differences)
    of_u, of_v = (_symmetric(mul(factors, batch_mat_mul(*each, adj_x=True))) for each in ((u, grads[1]), (v, grads[2])))
    middle = add(middle, add(mul(of_u, columns), mul(rows, of_v)))
    inverse = div_no_nan(ones_like(columns), columns)
    left, right = (_outside(*each) for each in ((u, mul(grads[1], inverse)), (v, mul(grads[2], inverse))))
    apart = add(batch_mat_mul(left, v, adj_y=True), batch_mat_mul(u, right, adj_y=True))
    return {0: add(_between(u, middle, v), apart)}


def _between(u: Tensor, middle: Tensor, v: Tensor) -> Tensor:
    product: Tensor = batch_mat_mul(batch_mat_mul(u, middle), v, adj_y=True)
    return product


def _symmetric(matrix: Tensor) -> Tensor:
    return add(matrix, matrix_transpose(matrix))


def _outside(basis: Tensor, vectors: Tensor) -> Tensor:
    """The part of the vectors that lies outside of what the basis spans."""
    return sub(vectors, batch_mat_mul(basis, batch_mat_mul(basis, vectors, adj_x=True)))
