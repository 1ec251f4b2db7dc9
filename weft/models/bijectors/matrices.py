"""Bijectors of triangular matrices: FillTriangular, TransformDiagonal, ScaleTriL, MatrixInverseTriL, CholeskyOuterProduct."""

from __future__ import annotations

import math

import numpy as np

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.bijectors.bijector import Bijector
from weft.models.bijectors.composed import Chain
from weft.models.bijectors.elementwise import AffineScalar, Softplus
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import rank, reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.tiling import reverse
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_equal, assert_none_equal
from weft.ops.input_scope import input_scope
from weft.ops.linalg.decompositions import cholesky, matrix_triangular_solve
from weft.ops.linalg.matrix_bands import matrix_diag_part, matrix_set_diag
from weft.ops.linalg.matrix_parts import matrix_band_part
from weft.ops.math.casting import cast
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import log, sqrt


def _size_of_square(length: int) -> int:
    """The size of the matrix whose triangle has so many elements; ValueError when there is none."""
    size = (math.isqrt(1 + 8 * length) - 1) // 2
    if size * (size + 1) // 2 != length:
        raise ValueError(f"Vector length is not a triangular number. It is {length}.")
    return size


def _known_last(x: Tensor, what: str) -> int:
    size: int | None = x.shape.with_rank_at_least(1).as_list()[-1]
    if size is None:
        raise ValueError(f"{what}: the last dimension must be known while the graph is built; the shape is {x.shape}")
    return size


def fill_triangular(x: TensorLike, upper: bool = False, name: str | None = None) -> Tensor:
    """A triangular matrix of the elements of a vector, which wind into it: `[..., n (n + 1) / 2] -> [..., n, n]`.

    Args:
        x: the vectors; their length must be known.
        upper: whether the upper triangle is filled; the lower one otherwise.
        name: the scope's name.

    Raises:
        ValueError: no triangle has so many elements.

    >>> print(sess.run(tf.contrib.distributions.fill_triangular([1, 2, 3, 4, 5, 6])))
    [[4 0 0]
     [6 5 0]
     [3 2 1]]
    """
    with input_scope(name, "fill_triangular", [x]):
        given = convert_to_tensor(x, name="x")
        size = _size_of_square(_known_last(given, "fill_triangular"))
        # As TensorFlow asks for it; the nodes of this function are TensorFlow's, by their names.
        known_rank = constant_value(rank(given))
        last = -1 if known_rank is None else int(known_rank) - 1
        halves = [given, reverse(given[..., size:], [last])] if upper else [given[..., size:], reverse(given, [last])]
        if given.dims is None or None in given.dims:
            sizes = concat([shape_of(given)[:-1], [size, size]], 0)
            square = reshape(concat(halves, -1), sizes)
        else:
            square = reshape(concat(halves, -1), (*given.dims[:-1], size, size))
        return matrix_band_part(square, 0, -1) if upper else matrix_band_part(square, -1, 0)


def fill_triangular_inverse(x: TensorLike, upper: bool = False, name: str | None = None) -> Tensor:
    """The vector that fills a triangular matrix: `[..., n, n] -> [..., n (n + 1) / 2]`; see `fill_triangular`.

    Args:
        x: the matrices.
        upper: whether they are upper triangular, rather than lower.
    """
    with input_scope(name, "fill_triangular_inverse", [x]):
        given = convert_to_tensor(x, name="x")
        size = _known_last(given, "fill_triangular_inverse")
        length = size * (size + 1) // 2
        order = np.arange(length)
        halves = [order, order[size:][::-1]] if upper else [order[size:], order[::-1]]
        square = np.concatenate(halves).reshape(size, size)
        rows, columns = np.triu_indices(size) if upper else np.tril_indices(size)
        places = np.empty(length, np.int32)
        places[square[rows, columns]] = rows * size + columns
        flat = reshape(given, concat([shape_of(given)[:-2], [size * size]], 0))
        return gather(flat, places, axis=-1)


class FillTriangular(Bijector):
    """Vectors as triangular matrices: `[..., n (n + 1) / 2] -> [..., n, n]`; see `fill_triangular`.

    Args:
        upper: whether the upper triangle is filled; the lower one otherwise.
        validate_args: kept.
        name: of its scopes.
    """

    def __init__(self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular") -> None:
        self._upper = upper
        super().__init__(
            validate_args=validate_args,
            forward_min_event_ndims=1,
            inverse_min_event_ndims=2,
            name=name,
        )

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return fill_triangular(x, self._upper)

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return fill_triangular_inverse(y, self._upper)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        *batch, length = input_shape.as_list()
        size = None if length is None else _size_of_square(length)
        return TensorShape([*batch, size, size])

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        *batch, rows, columns = output_shape.as_list()
        if rows is None or columns is None:
            return TensorShape([*batch, None])
        if rows != columns:
            raise ValueError(f"Matrix must be square. (saw [{rows}, {columns}])")
        return TensorShape([*batch, rows * (rows + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        length = cast(input_shape[-1:], "float32")
        size = cast((sqrt(1.0 + 8.0 * length) - 1.0) / 2.0, input_shape.dtype)
        return concat([input_shape[:-1], size, size], 0)

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        size = output_shape[-1:]
        return concat([output_shape[:-2], size * (size + 1) // 2], 0)


class TransformDiagonal(Bijector):
    """Another bijector on the diagonals of matrices; the other elements stay.

    Args:
        diag_bijector: the bijector.
        validate_args: kept.
        name: of its scopes.
    """

    def __init__(self, diag_bijector: Bijector, validate_args: bool = False, name: str = "transform_diagonal") -> None:
        self._diag_bijector = diag_bijector
        super().__init__(validate_args=validate_args, forward_min_event_ndims=2, name=name)

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return matrix_set_diag(x, self._diag_bijector.forward(matrix_diag_part(x)))

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return matrix_set_diag(y, self._diag_bijector.inverse(matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return self._diag_bijector.forward_log_det_jacobian(matrix_diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        stretched: Tensor = self._diag_bijector.inverse_log_det_jacobian(matrix_diag_part(y), event_ndims=1)
        return stretched


class ScaleTriL(Chain):
    """Vectors as lower triangular matrices with a positive diagonal.

    Args:
        diag_bijector: what makes the diagonal positive; Softplus when None.
        diag_shift: what is added to it then; nothing when None.
        validate_args: kept.
        name: of its scopes.
    """

    def __init__(
        self,
        diag_bijector: Bijector | None = None,
        diag_shift: TensorLike | None = 1e-5,
        validate_args: bool = False,
        name: str = "scale_tril",
    ) -> None:
        diagonal = Softplus(validate_args=validate_args) if diag_bijector is None else diag_bijector
        if diag_shift is not None:
            diagonal = Chain([AffineScalar(shift=diag_shift), diagonal])
        super().__init__([TransformDiagonal(diagonal), FillTriangular()], validate_args, name)


class MatrixInverseTriL(Bijector):
    """The inverses of lower triangular matrices `[..., n, n]`.

    Args:
        validate_args: whether runs check what is given.
    """

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=2, name=name)

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        x = self._checked(x)
        one = matrix_set_diag(zeros_like(x), zeros_like(x[..., 0]) + 1.0)
        return matrix_triangular_solve(x, one, lower=True)

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        x = self._checked(x)
        size = cast(shape_of(x)[-1], x.dtype.base_dtype)
        return -2.0 * size * reduce_sum(log(absolute(matrix_diag_part(x))), -1)

    def _checked(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        above = matrix_band_part(matrix_set_diag(x, zeros_like(x[..., 0])), 0, -1)
        diagonal = matrix_diag_part(x)
        checks = [
            assert_equal(shape_of(x)[-2], shape_of(x)[-1], message="Input must be a square matrix."),
            assert_equal(above, zeros_like(above), message="Input must be lower triangular."),
            assert_none_equal(diagonal, zeros_like(diagonal), message="Input must have all diagonal entries nonzero."),
        ]
        return with_dependencies(checks, x)


class CholeskyOuterProduct(Bijector):
    """`y = x x^T` for lower triangular matrices `x` with a positive diagonal; the inverse is Cholesky's decomposition.

    Args:
        validate_args: whether runs check what is given.
    """

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=2, name=name)

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        triangle = matrix_band_part(x, -1, 0)
        return matmul(triangle, triangle, adjoint_b=True)

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return cholesky(y)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        # Of the lower triangle of y by that of x: 2^n times the product of x_ii^(n - i), i counted from 0.
        size = _known_last(x, "CholeskyOuterProduct")
        powers = constant(np.arange(size, 0, -1), dtype=x.dtype.base_dtype)
        return reduce_sum(powers * log(matrix_diag_part(x)), -1) + size * math.log(2.0)
