"""Forms of KernelGradient for decompositions of real matrices: into singular values, Q and R, L and U."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.array.filling import one_hot, ones_like
from weft.ops.array.shape_ops import expand_dims, shape
from weft.ops.array.transposing import matrix_transpose
from weft.ops.linalg.decompositions import matrix_triangular_solve_node, qr_node, svd_node
from weft.ops.linalg.lu import lu_node
from weft.ops.linalg.matrix_parts import (
    matrix_band_part,
    matrix_diag_node,
    matrix_diag_part_node,
    matrix_set_diag_node,
)
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


@derivative(qr_node)
def _orthogonal_and_triangular(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor] | None:
    """Of `x = q r`, as in S. Walter and L. Lehmann, Algorithmic Differentiation of Linear Algebra Functions, 2010."""
    (x,) = inputs
    rows, columns = (None, None) if x.dims is None else x.dims[-2:]
    if x.dtype.is_complex or x.dtype.size < 4 or (rows is not None and columns is not None and rows < columns):
        return None
    if node.attrs["f"].attrs["full_matrices"] and (rows is None or rows != columns):
        return None
    q, r = qr_node(x, full_matrices=False, name=None)
    product = sub(batch_mat_mul(r, grads[1], adj_y=True), batch_mat_mul(grads[0], q, adj_x=True))
    below = matrix_band_part(product, -1, 0)
    mirrored = matrix_set_diag_node(_symmetric(below), matrix_diag_part_node(product))
    turned = matrix_transpose(add(grads[0], batch_mat_mul(q, mirrored)))
    return {0: matrix_transpose(matrix_triangular_solve_node(r, turned, lower=False))}


@derivative(lu_node)
def _lower_and_upper(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor] | None:
    """Of `p x = l u`, as in F. de Hoog et al., Differentiation of Matrix Functionals Using Triangular Factorization, 2011."""
    (x,) = inputs
    rows, columns = (None, None) if x.dims is None else x.dims[-2:]
    if rows is None or rows != columns or x.dtype.is_complex or x.dtype.size < 4:
        return None
    both, order = lu_node(x, name=None)
    lower, upper = matrix_set_diag_node(both, ones_like(matrix_diag_part_node(both))), matrix_band_part(both, 0, -1)
    lower = matrix_band_part(lower, -1, 0)
    of_lower = batch_mat_mul(lower, _strictly_below(grads[0]), adj_x=True)
    of_upper = batch_mat_mul(matrix_band_part(grads[0], 0, -1), upper, adj_y=True)
    middle = add(_strictly_below(of_lower), matrix_band_part(of_upper, 0, -1))
    left = matrix_triangular_solve_node(lower, middle, lower=True, adjoint=True)
    moved = matrix_transpose(matrix_triangular_solve_node(upper, matrix_transpose(left), lower=False))
    return {0: batch_mat_mul(one_hot(order, shape(x)[-1], dtype=x.dtype), moved, adj_x=True)}


def _strictly_below(matrix: Tensor) -> Tensor:
    """The part of a matrix below its diagonal."""
    return sub(matrix_band_part(matrix, -1, 0), matrix_band_part(matrix, 0, 0))
