"""Operators with entries on the diagonal alone: Diag, Identity, ScaledIdentity and Zeros."""

from __future__ import annotations

from weft.framework.building.aliases import DTypeLike, DynamicShape, SizeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.tensor_shape import TensorShape
from weft.models.linear_operators.matrices import adjoint_of, implied
from weft.models.linear_operators.operator import LinearOperator
from weft.models.linear_operators.sized import Sized
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones, zeros
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.control_flow.ordering import no_op
from weft.ops.debugging.checks import assert_greater, assert_near, assert_positive
from weft.ops.linalg.matrix_bands import matrix_diag, matrix_diag_part, matrix_set_diag
from weft.ops.math.casting import cast
from weft.ops.math.complex_numbers import absolute, conj, real
from weft.ops.math.reduce_functions import reduce_prod, reduce_sum
from weft.ops.math.unary import log, sqrt


class LinearOperatorDiag(LinearOperator):
    """A diagonal matrix with the entries `diag`, `[..., n]`.

    Args:
        diag: `[..., n]` floats or complex numbers.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the caller knows of the matrices, which
            decides how they are solved; None where it is not known. Nothing checks what is promised but `assert_non_singular`
            and the like.
        name: the scope's name.

    Raises:
        ValueError: the diagonal is a scalar, or a hint contradicts it: it is always square, and self-adjoint when real.
    """

    def __init__(
        self,
        diag: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        self._diag = convert_to_tensor(diag, name="diag")
        if self._diag.shape.ndims == 0:
            raise ValueError(f"Argument diag must have at least 1 dimension.  Found: {self._diag}")
        if not self._diag.dtype.is_complex:
            is_self_adjoint = implied(is_self_adjoint, "A real diagonal operator is always self adjoint.")
        is_square = implied(is_square, "Only square diagonal operators currently supported.")
        super().__init__(
            self._diag.dtype, [self._diag], is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )

    @property
    def diag(self) -> Tensor:
        """The diagonal."""
        return self._diag

    def _shape(self) -> TensorShape:
        return self._diag.shape.concatenate(self._diag.shape[-1:])

    def _shape_tensor(self) -> Tensor:
        sizes = shape_of(self._diag)
        return concat([sizes, sizes[-1:]], axis=0)

    def _assert_non_singular(self) -> Operation:
        size = absolute(self._diag)
        return assert_greater(size, constant(0, size.dtype), message="Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self) -> Operation:
        if self.dtype.is_complex:
            return assert_positive(real(self._diag), message="Diagonal operator had diagonal entries with non-positive real "
                                   "part, thus was not positive definite.")  # fmt: skip
        return assert_positive(self._diag, message="Real diagonal operator had non-positive diagonal entries, thus was not "
                               "positive definite.")  # fmt: skip

    def _assert_self_adjoint(self) -> Operation:
        return assert_near(self._diag, _conj(self._diag), message="This diagonal operator contained non-zero imaginary "
                           "values.  Thus it was not self-adjoint.")  # fmt: skip

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        diagonal = _conj(self._diag) if adjoint else self._diag
        return expand_dims(diagonal, -1) * (adjoint_of(x) if adjoint_arg else x)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        diagonal = _conj(self._diag) if adjoint else self._diag
        return (adjoint_of(rhs) if adjoint_arg else rhs) / expand_dims(diagonal, -1)

    def _determinant(self) -> Tensor:
        return reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        result = reduce_sum(log(absolute(self._diag)), axis=[-1])
        return cast(result, self.dtype) if self.dtype.is_complex else result

    def _to_dense(self) -> Tensor:
        return matrix_diag(self._diag)

    def _diag_part(self) -> Tensor:
        return self._diag

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return matrix_set_diag(x, matrix_diag_part(x) + self._diag)

    def _adjoint_operator(self) -> LinearOperator:
        return self._like(_conj(self._diag))

    def _inverse_operator(self) -> LinearOperator:
        return self._like(1.0 / self._diag)

    def _cholesky_operator(self) -> LinearOperator:
        return LinearOperatorDiag(sqrt(self._diag), is_square=True)

    def _like(self, diag: Tensor) -> LinearOperator:
        return LinearOperatorDiag(diag, self.is_non_singular, self.is_self_adjoint, self.is_positive_definite, True)

    def product_with(self, right: LinearOperator) -> LinearOperator:
        """The product; diagonal when the other is."""
        if isinstance(right, LinearOperatorIdentity):
            return self
        if isinstance(right, LinearOperatorDiag | LinearOperatorScaledIdentity):
            return LinearOperatorDiag(self._diag * right.diag_part(), is_non_singular=both(self, right, "is_non_singular"))
        return super().product_with(right)


def both(left: LinearOperator, right: LinearOperator, hint: str) -> bool | None:
    """True when both operators have a hint, False when both deny it, else None."""
    found = {getattr(left, hint), getattr(right, hint)}
    return found.pop() if len(found) == 1 else None


def _conj(tensor: Tensor) -> Tensor:
    return conj(tensor) if tensor.dtype.is_complex else tensor


class LinearOperatorIdentity(Sized):
    """The identity of size `num_rows`, once for each place of `batch_shape`.

    Args:
        num_rows: [] int or int tensor, the number of rows.
        batch_shape: a list or an int32 vector, the batch's shape; no batch when None.
        dtype: the elements' dtype; float32 when None.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the caller knows of the matrices, which
            decides how they are solved; None where it is not known. Nothing checks what is promised but `assert_non_singular`
            and the like.
        name: the scope's name.
        assert_proper_shapes: whether runs check that sizes are scalars and vectors that are not negative.

    Raises:
        ValueError: a hint is False, where an identity is all four.
    """

    def __init__(
        self,
        num_rows: SizeLike,
        batch_shape: DynamicShape = None,
        dtype: DTypeLike | None = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        for hint, what in ((is_self_adjoint, "self adjoint"), (is_square, "square"), (is_non_singular, "non-singular"),
                           (is_positive_definite, "positive-definite")):  # fmt: skip
            # TensorFlow asks an identity's promises for their truth, and those of other operators whether they are False.
            implied(None if hint is None else bool(hint), f"An identity operator is always {what}.")
        super().__init__(as_dtype(dtype or dtypes.float32), None, True, True, True, True, name)
        self._set_size(num_rows, None, batch_shape, assert_proper_shapes)

    def _assert_non_singular(self) -> Operation:
        return no_op("assert_non_singular")

    def _assert_positive_definite(self) -> Operation:
        return no_op("assert_positive_definite")

    def _assert_self_adjoint(self) -> Operation:
        return no_op("assert_self_adjoint")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._widened(self._right(x, adjoint, adjoint_arg))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Tensor:
        return ones(self._batch, self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self._batch, self.dtype)

    def _diag_part(self) -> Tensor:
        return ones(self._diagonal_shape(), self.dtype)

    def _trace(self) -> Tensor:
        return cast(self._rows, self.dtype) * ones(self._batch, self.dtype)

    def add_to_tensor(self, mat: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """The sum of the identity and matrices.

        Args:
            mat: `[..., n, n]`, of the operator's dtype.
        """
        with self._name_scope(name):
            matrix = self._checked(mat, "mat")
            return matrix_set_diag(matrix, matrix_diag_part(matrix) + 1)

    def _inverse_operator(self) -> LinearOperator:
        return self

    def _cholesky_operator(self) -> LinearOperator:
        return self

    def product_with(self, right: LinearOperator) -> LinearOperator:
        """The other operator."""
        return right


class LinearOperatorScaledIdentity(Sized):
    """The identity of size `num_rows` times each number of `multiplier`, `[...]`.

    Args:
        num_rows: [] int or int tensor, the number of rows.
        multiplier: `[...]` floats or complex numbers, the batch's shape.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the caller knows of the matrices, which
            decides how they are solved; None where it is not known. Nothing checks what is promised but `assert_non_singular`
            and the like.
        name: the scope's name.
        assert_proper_shapes: whether runs check that sizes are scalars and vectors that are not negative.

    Raises:
        ValueError: a hint contradicts it: it is always square, and self-adjoint when real.
    """

    def __init__(
        self,
        num_rows: SizeLike,
        multiplier: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        self._multiplier = convert_to_tensor(multiplier, name="multiplier")
        if not self._multiplier.dtype.is_complex:
            is_self_adjoint = implied(is_self_adjoint, "A real diagonal operator is always self adjoint.")
        implied(is_square, "A ScaledIdentity operator is always square.")
        super().__init__(
            self._multiplier.dtype, [self._multiplier], is_non_singular, is_self_adjoint, is_positive_definite, True, name
        )
        self._set_size(num_rows, None, shape_of(self._multiplier), assert_proper_shapes)

    @property
    def multiplier(self) -> Tensor:
        """The factors."""
        return self._multiplier

    @property
    def num_rows(self) -> Tensor:
        """The size of the matrices."""
        return self._rows

    def _shape(self) -> TensorShape:
        return self._multiplier.shape.concatenate(super()._shape()[-2:])

    def _assert_non_singular(self) -> Operation:
        return assert_positive(absolute(self._multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self) -> Operation:
        return assert_positive(real(self._multiplier), message="LinearOperator was not positive definite.")

    def _assert_self_adjoint(self) -> Operation:
        return assert_near(self._multiplier, _conj(self._multiplier), message="LinearOperator was not self-adjoint")

    def _factor(self, adjoint: bool) -> Tensor:
        factor = _conj(self._multiplier) if adjoint else self._multiplier
        return expand_dims(expand_dims(factor, -1), -1)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._right(x, adjoint, adjoint_arg) * self._factor(adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._right(rhs, adjoint, adjoint_arg) / self._factor(adjoint)

    def _determinant(self) -> Tensor:
        return self._multiplier ** cast(self._rows, self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        size = log(absolute(self._multiplier))
        return cast(self._rows, size.dtype) * size

    def _diag_part(self) -> Tensor:
        return expand_dims(self._multiplier, -1) * ones(self._diagonal_shape(), self.dtype)

    def _trace(self) -> Tensor:
        return cast(self._rows, self.dtype) * self._multiplier

    def add_to_tensor(self, mat: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """The sum of the scaled identity and matrices.

        Args:
            mat: `[..., n, n]`, of the operator's dtype.
        """
        with self._name_scope(name):
            matrix = self._checked(mat, "mat")
            return matrix_set_diag(matrix, matrix_diag_part(matrix) + expand_dims(self._multiplier, -1))

    def _like(self, multiplier: Tensor) -> LinearOperator:
        return LinearOperatorScaledIdentity(
            self._rows, multiplier, self.is_non_singular, self.is_self_adjoint, self.is_positive_definite
        )

    def _adjoint_operator(self) -> LinearOperator:
        return self._like(_conj(self._multiplier))

    def _inverse_operator(self) -> LinearOperator:
        return self._like(1.0 / self._multiplier)

    def _cholesky_operator(self) -> LinearOperator:
        return LinearOperatorScaledIdentity(self._rows, sqrt(self._multiplier))

    def product_with(self, right: LinearOperator) -> LinearOperator:
        """The product; diagonal when the other is."""
        if isinstance(right, LinearOperatorScaledIdentity):
            return LinearOperatorScaledIdentity(
                self._rows, self._multiplier * right.multiplier, both(self, right, "is_non_singular")
            )
        if isinstance(right, LinearOperatorIdentity):
            return self
        if isinstance(right, LinearOperatorDiag):
            return LinearOperatorDiag(
                right.diag * expand_dims(self._multiplier, -1), is_non_singular=both(self, right, "is_non_singular")
            )
        return super().product_with(right)
