"""Operators that hold their entries, or a vector that tells them: FullMatrix, LowerTriangular, Householder, Toeplitz."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.linear_operators.diagonal import both
from weft.models.linear_operators.matrices import adjoint_of, implied, product, same_batch
from weft.models.linear_operators.operator import LinearOperator
from weft.ops.array.filling import ones, zeros
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.tiling import broadcast_static_shape, reverse
from weft.ops.control_flow.ordering import no_op
from weft.ops.debugging.checks import assert_positive
from weft.ops.linalg.decompositions import matrix_triangular_solve
from weft.ops.linalg.matrix_bands import matrix_diag_part
from weft.ops.linalg.matrix_parts import eye, matrix_band_part
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.reduce_functions import reduce_prod, reduce_sum
from weft.ops.math.unary import log
from weft.ops.nn.norm import l2_normalize


class LinearOperatorFullMatrix(LinearOperator):
    """The matrices of a tensor, `[..., m, n]`, as they are.

    Args:
        matrix: `[..., m, n]` floats or complex numbers.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the caller knows of the matrices, which
            decides how they are solved; None where it is not known. Nothing checks what is promised but `assert_non_singular`
            and the like.
        name: the scope's name.

    Raises:
        ValueError: the matrix has less than two dimensions.
    """

    def __init__(
        self,
        matrix: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        self._matrix = convert_to_tensor(matrix, name="matrix")
        if self._matrix.shape.ndims is not None and self._matrix.shape.ndims < 2:
            raise ValueError(f"Argument matrix must have at least 2 dimensions.  Found: {self._matrix}")
        super().__init__(
            self._matrix.dtype, [self._matrix], is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Tensor:
        return shape_of(self._matrix)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return product(self._matrix, x, adjoint, adjoint_arg)

    def _to_dense(self) -> Tensor:
        return self._matrix


class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangles of the matrices `tril`, `[..., n, n]`; what is above the diagonal is not looked at.

    Args:
        tril: `[..., n, n]` floats or complex numbers.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the caller knows of the matrices, which
            decides how they are solved; None where it is not known. Nothing checks what is promised but `assert_non_singular`
            and the like.
        name: the scope's name.

    Raises:
        ValueError: there are less than two dimensions, or a hint says that it is not square.
    """

    def __init__(
        self,
        tril: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        implied(is_square, "Only square lower triangular operators supported at this time.")
        given = convert_to_tensor(tril, name="tril")
        if given.shape.ndims is not None and given.shape.ndims < 2:
            raise ValueError(f"Argument tril must have at least 2 dimensions.  Found: {given}")
        self._tril = matrix_band_part(given, -1, 0)
        self._diag = matrix_diag_part(given)
        super().__init__(given.dtype, [given], is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Tensor:
        return shape_of(self._tril)

    def _assert_non_singular(self) -> Operation:
        return assert_positive(absolute(self._diag), message="Singular operator:  Diagonal contained zero values.")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return product(self._tril, x, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        return reduce_sum(log(absolute(self._diag)), axis=[-1])

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        right = adjoint_of(rhs) if adjoint_arg else rhs
        matrix, right = same_batch(self._tril, right)
        return matrix_triangular_solve(matrix, right, lower=True, adjoint=adjoint)

    def _to_dense(self) -> Tensor:
        return self._tril

    def _diag_part(self) -> Tensor:
        return self._diag

    def product_with(self, right: LinearOperator) -> LinearOperator:
        """The product; lower triangular when the other is."""
        if isinstance(right, LinearOperatorLowerTriangular):
            return LinearOperatorLowerTriangular(
                product(self.to_dense(), right.to_dense()), is_non_singular=both(self, right, "is_non_singular")
            )
        return super().product_with(right)


class LinearOperatorHouseholder(LinearOperator):
    """The reflections `I - 2 v v^H` at the hyperplanes orthogonal to `reflection_axis`, `[..., n]`, of any length.

    Args:
        reflection_axis: `[..., n]` floats or complex numbers.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the caller knows of the matrices, which
            decides how they are solved; None where it is not known. Nothing checks what is promised but `assert_non_singular`
            and the like.
        name: the scope's name.

    Raises:
        ValueError: the axis is a scalar, or a hint says that the reflections are positive definite, or not self-adjoint or
            square.
    """

    def __init__(
        self,
        reflection_axis: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        self._axis = convert_to_tensor(reflection_axis, name="reflection_axis")
        if self._axis.shape.ndims == 0:
            raise ValueError(f"Argument reflection_axis must have at least 1 dimension.  Found: {self._axis}")
        implied(is_self_adjoint, "A Householder operator is always self adjoint.")
        if is_positive_definite:
            raise ValueError("A Householder operator is always non-positive definite.")
        implied(is_square, "A Householder operator is always square.")
        super().__init__(self._axis.dtype, [self._axis], is_non_singular, True, False, True, name)

    @property
    def reflection_axis(self) -> Tensor:
        """The vectors that are turned round."""
        return self._axis

    def _shape(self) -> TensorShape:
        return self._axis.shape.concatenate(self._axis.shape[-1:])

    def _shape_tensor(self) -> Tensor:
        sizes = shape_of(self._axis)
        return concat([sizes, sizes[-1:]], axis=0)

    def _assert_non_singular(self) -> Operation:
        return no_op("assert_non_singular")

    def _assert_self_adjoint(self) -> Operation:
        return no_op("assert_self_adjoint")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        right = adjoint_of(x) if adjoint_arg else x
        direction = expand_dims(l2_normalize(self._axis, axis=-1), -1)
        return right - 2 * product(direction, product(direction, right, adjoint=True))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Tensor:
        return -ones(self.batch_shape_tensor(), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _to_dense(self) -> Tensor:
        direction = expand_dims(l2_normalize(self._axis, axis=-1), -1)
        whole = eye(self.domain_dimension_tensor(), dtype=self.dtype)
        return whole - 2 * product(direction, direction, adjoint_arg=True)

    def _inverse_operator(self) -> LinearOperator:
        return self


class LinearOperatorToeplitz(LinearOperator):
    """Matrices that are constant along each diagonal, by their first column and first row, `[..., n]` each.

    It multiplies by the dense matrix, which a gather makes of `2n - 1` numbers.

    Args:
        col: `[..., n]` floats or complex numbers, the first column.
        row: `[..., n]` of the same dtype, the first row; its first element is not looked at.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the caller knows of the matrices, which
            decides how they are solved; None where it is not known. Nothing checks what is promised but `assert_non_singular`
            and the like.
        name: the scope's name.

    Raises:
        ValueError: one of them is a scalar, or a hint says that it is not square.
    """

    def __init__(
        self,
        col: TensorLike,
        row: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        self._col, self._row = convert_to_tensor(col, name="col"), convert_to_tensor(row, name="row")
        for label, tensor in (("col", self._col), ("row", self._row)):
            if tensor.shape.ndims == 0:
                raise ValueError(f"Argument {label} must have at least 1 dimension.  Found: {tensor}")
        implied(is_square, "Only square Toeplitz operators currently supported.")
        self._col.shape[-1:].assert_is_compatible_with(self._row.shape[-1:])
        super().__init__(
            self._row.dtype, [self._row, self._col], is_non_singular, is_self_adjoint, is_positive_definite, True, name
        )

    @property
    def col(self) -> Tensor:
        """The first column."""
        return self._col

    @property
    def row(self) -> Tensor:
        """The first row."""
        return self._row

    def _shape(self) -> TensorShape:
        both_shapes = broadcast_static_shape(self._col.shape, self._row.shape)
        return both_shapes.concatenate(both_shapes[-1:])

    def _shape_tensor(self) -> Tensor:
        sizes = shape_of(self._col + self._row)
        return concat([sizes, sizes[-1:]], axis=0)

    def _to_dense(self) -> Tensor:
        size = shape_of(self._col)[-1]
        # Numbers by the distance from the diagonal, from the last column's entry in the first row to the last of the column.
        above = reverse(self._row[..., 1:], axis=[-1])
        zero = zeros(concat([self.shape_tensor()[:-2], shape_of(self._col)[-1:]], axis=0), self.dtype)
        numbers = concat([above + zero[..., 1:], self._col + zero], axis=-1)
        places = expand_dims(range_of(size), 1) - expand_dims(range_of(size), 0) + size - 1
        return gather(numbers, places, axis=-1)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return product(self._to_dense(), x, adjoint, adjoint_arg)

    def _diag_part(self) -> Tensor:
        size = shape_of(self._col)[-1:]
        return self._col[..., :1] * ones(concat([self.shape_tensor()[:-2], size], axis=0), self.dtype)
