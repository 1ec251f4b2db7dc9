"""LinearOperator: the base of all operators; a subclass says its shape and how it multiplies, and what it can do better."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.op_builder import graph_of
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dtypes import DType, as_dtype, int32
from weft.framework.types.printed import printed
from weft.framework.types.tensor_shape import TensorShape
from weft.models.linear_operators.matrices import adjoint_of, check_dimensions, epsilon, implied, real_of, same_batch
from weft.ops.array.constant import constant
from weft.ops.array.shape_ops import expand_dims, squeeze
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.debugging.checks import assert_greater, assert_less, assert_near
from weft.ops.linalg.decompositions import cholesky as dense_cholesky
from weft.ops.linalg.decompositions import cholesky_solve, matrix_determinant, matrix_solve, self_adjoint_eigvals, svd
from weft.ops.linalg.decompositions import log_matrix_determinant as slogdet
from weft.ops.linalg.matrix_bands import matrix_diag_part
from weft.ops.linalg.matrix_parts import eye
from weft.ops.math.elementwise import add
from weft.ops.math.reduce_functions import reduce_max, reduce_min, reduce_sum
from weft.ops.math.unary import exp, log


class LinearOperator:
    """A matrix `[..., m, n]` that is known by what it does to vectors.

    A subclass has `_shape`, `_shape_tensor` and `_matmul`; everything else follows from these by the dense matrix, and may be
    overridden: `_to_dense`, `_solve`, `_determinant`, `_log_abs_determinant`, `_diag_part`, `_trace`, `_add_to_tensor`.

    Args:
        dtype: the type of the entries.
        graph_parents: the tensors that it is made of.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: promises of the program; None for not known. They
            choose algorithms, and nothing checks them but the `assert_*` methods.
        name: of its name scopes; the class's by default.

    Raises:
        ValueError: the promises contradict each other.
    """

    __repr__ = printed("tf.linalg")

    def __init__(
        self,
        dtype: DTypeLike,
        graph_parents: Sequence[Tensor] | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        if is_positive_definite:
            is_non_singular = implied(is_non_singular, "A positive definite matrix is always non-singular.")
        if is_non_singular:
            is_square = implied(is_square, "A non-singular matrix is always square.")
        if is_self_adjoint:
            is_square = implied(is_square, "A self-adjoint matrix is always square.")
        self._dtype = as_dtype(dtype).base_dtype
        self._graph_parents = list(graph_parents or [])
        self._hints = (is_non_singular, is_self_adjoint, is_positive_definite)
        self._is_square = is_square
        self._name = name or type(self).__name__

    # What it is.

    @property
    def dtype(self) -> DType:
        """The type of the entries."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name of its scopes."""
        return self._name

    @property
    def graph_parents(self) -> list[Tensor]:
        """The tensors that it is made of."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        """Whether it has an inverse, as far as the program has said."""
        return self._hints[0]

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether it equals its conjugate transpose, as far as the program has said."""
        return self._hints[1]

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether `x^H A x` has a positive real part for each x but zero, as far as the program has said."""
        return self._hints[2]

    @property
    def is_square(self) -> bool | None:
        """Whether it is square, by its shape or as the program has said; ValueError when these contradict each other."""
        found = None
        if self.domain_dimension is not None and self.range_dimension is not None:
            found = self.domain_dimension == self.range_dimension
        if self._is_square is False and found:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return found if self._is_square is None else self._is_square

    def _shape(self) -> TensorShape:
        raise NotImplementedError("_shape is not implemented.")

    def _shape_tensor(self) -> Tensor:
        raise NotImplementedError("_shape_tensor is not implemented.")

    @property
    def shape(self) -> TensorShape:
        """The shape `[..., m, n]` as far as it is known while the graph is built."""
        return self._shape()

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape, a constant where it is known."""
        with self._name_scope(name):
            sizes = self.shape.as_list() if self.shape.is_fully_defined() else None
            if sizes is not None:
                return constant(np.array(sizes, np.int32), name="shape")
            return self._shape_tensor()

    @property
    def batch_shape(self) -> TensorShape:
        """The shape without the two dimensions of the matrices."""
        return TensorShape(self.shape.dims and self.shape.as_list()[:-2])

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape without the two dimensions of the matrices, as a tensor."""
        with self._name_scope(name):
            return self.shape_tensor()[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The number of dimensions."""
        return self.shape.ndims

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """The number of dimensions, as a tensor."""
        with self._name_scope(name):
            return shape_of(self.shape_tensor())[0] if self.tensor_rank is None else constant(self.tensor_rank, int32)

    @property
    def domain_dimension(self) -> int | None:
        """The number of columns."""
        return self.shape.as_list()[-1] if self.shape.ndims is not None else None

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """The number of columns, as a tensor."""
        with self._name_scope(name):
            return self.shape_tensor()[-1] if self.domain_dimension is None else constant(self.domain_dimension, int32)

    @property
    def range_dimension(self) -> int | None:
        """The number of rows."""
        return self.shape.as_list()[-2] if self.shape.ndims is not None else None

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """The number of rows, as a tensor."""
        with self._name_scope(name):
            return self.shape_tensor()[-2] if self.range_dimension is None else constant(self.range_dimension, int32)

    # Checks in the run.

    def assert_non_singular(self, name: str = "assert_non_singular") -> Operation:
        """An operation that fails when the matrix is singular to the precision of its type."""
        with self._name_scope(name):
            return self._assert_non_singular()

    def _assert_non_singular(self) -> Operation:
        values = svd(self.to_dense(), compute_uv=False)
        ratio = reduce_max(values, -1) / reduce_min(values, -1)
        limit = constant(0.1 / epsilon(self.dtype), values.dtype)
        return assert_less(ratio, limit, message="Singular matrix up to precision epsilon.")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Operation:
        """An operation that fails when the matrix is not positive definite."""
        with self._name_scope(name):
            return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Operation:
        dense = self.to_dense()
        values = self_adjoint_eigvals((dense + adjoint_of(dense)) / 2)
        return assert_greater(
            real_of(values), constant(0, real_of(values).dtype), message="Operator was not positive definite."
        )

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Operation:
        """An operation that fails when the matrix is not its own conjugate transpose."""
        with self._name_scope(name):
            return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Operation:
        dense = self.to_dense()
        return assert_near(dense, adjoint_of(dense), message="Matrix was not equal to its adjoint.")

    # What it does.

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        raise NotImplementedError("_matmul is not implemented.")

    def matmul(
        self, x: TensorLike | LinearOperator, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Tensor | LinearOperator:
        """`A x` for matrices `x`, `[..., n, r] -> [..., m, r]`; of another operator the product as an operator.

        Args:
            x: matrices, or an operator.
            adjoint: whether to multiply by `A^H`.
            adjoint_arg: whether to multiply with `x^H`.
            name: the name scope.
        """
        if isinstance(x, LinearOperator):
            left, right = self.adjoint() if adjoint else self, x.adjoint() if adjoint_arg else x
            check_dimensions(left.domain_dimension, right.range_dimension)
            with self._name_scope(name):
                return left.product_with(right)
        with self._name_scope(name):
            tensor = self._checked(x, "x")
            self._check_size(tensor, -2 if adjoint else -1, -1 if adjoint_arg else -2)
            return self._matmul(tensor, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def product_with(self, right: LinearOperator) -> LinearOperator:
        """The product with another operator on the right; where their structures allow it, simpler than a composition.

        Args:
            right: an operator with as many rows as this one has columns.
        """
        return _derived("composition")(self, right)

    def __matmul__(self, other: TensorLike | LinearOperator) -> Tensor | LinearOperator:
        return self.matmul(other)

    def matvec(self, x: TensorLike, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """`A x` for vectors `x`: `[..., n] -> [..., m]`.

        Args:
            x: `[..., n]`; `[..., m]` with `adjoint`.
            adjoint: whether to multiply by the conjugate transpose.
        """
        with self._name_scope(name):
            tensor = self._checked(x, "x")
            self._check_size(tensor, -2 if adjoint else -1, -1)
            return squeeze(self._matmul(expand_dims(tensor, -1), adjoint=adjoint), axis=-1)

    def determinant(self, name: str = "det") -> Tensor:
        """The determinants: `[...]`; NotImplementedError for an operator that is not square."""
        self._need_square("Determinant not implemented for an operator that is expected to not be square.")
        with self._name_scope(name):
            return self._determinant()

    def _determinant(self) -> Tensor:
        if self.can_use_cholesky():
            return exp(self.log_abs_determinant())
        return matrix_determinant(self.to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """The logarithms of the absolute determinants: `[...]`; NotImplementedError for an operator that is not square."""
        self._need_square("Determinant not implemented for an operator that is expected to not be square.")
        with self._name_scope(name):
            return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Tensor:
        if self.can_use_cholesky():
            return 2 * reduce_sum(log(matrix_diag_part(dense_cholesky(self.to_dense()))), axis=[-1])
        return slogdet(self.to_dense())[1]

    def solve(
        self, rhs: TensorLike | LinearOperator, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Tensor | LinearOperator:
        """The `x` with `A x = rhs`, `[..., m, r] -> [..., n, r]`; of another operator as an operator.

        Args:
            rhs: matrices, or an operator.
            adjoint: whether `A^H x = rhs` is solved.
            adjoint_arg: whether `rhs^H` is the right side.
            name: the name scope.

        Raises:
            NotImplementedError: the operator is singular, or not square.
        """
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        self._need_square("Exact solve not implemented for an operator that is expected to not be square.")
        if isinstance(rhs, LinearOperator):
            left, right = self.adjoint() if adjoint else self, rhs.adjoint() if adjoint_arg else rhs
            check_dimensions(left.domain_dimension, right.range_dimension)
            with self._name_scope(name):
                return left.inverse().product_with(right)
        with self._name_scope(name):
            tensor = self._checked(rhs, "rhs")
            self._check_size(tensor, -1 if adjoint else -2, -1 if adjoint_arg else -2)
            return self._solve(tensor, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        right = adjoint_of(rhs) if adjoint_arg else rhs
        if self.can_use_cholesky():
            factor, right = same_batch(dense_cholesky(self.to_dense()), right)
            return cholesky_solve(factor, right)
        matrix, right = same_batch(self.to_dense(), right)
        return matrix_solve(matrix, right, adjoint=adjoint)

    def solvevec(self, rhs: TensorLike, adjoint: bool = False, name: str = "solve") -> Tensor:
        """The `x` with `A x = rhs` for vectors: `[..., m] -> [..., n]`.

        Args:
            rhs: `[..., m]`; `[..., n]` with `adjoint`.
            adjoint: whether to solve with the conjugate transpose.
        """
        with self._name_scope(name):
            tensor = self._checked(rhs, "rhs")
            self._check_size(tensor, -1 if adjoint else -2, -1)
            solved = self.solve(expand_dims(tensor, -1), adjoint=adjoint)
            assert isinstance(solved, Tensor)
            return squeeze(solved, axis=-1)

    # Operators made of it.

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The conjugate transpose; itself if it is known to be self-adjoint."""
        if self.is_self_adjoint:
            return self
        with self._name_scope(name):
            return self._adjoint_operator()

    def _adjoint_operator(self) -> LinearOperator:
        return _derived("adjoint")(self)

    @property
    def H(self) -> LinearOperator:
        """The conjugate transpose."""
        return self.adjoint()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The inverse; ValueError for an operator that is singular or not square."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        with self._name_scope(name):
            return self._inverse_operator()

    def _inverse_operator(self) -> LinearOperator:
        return _derived("inverse")(self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The lower triangular `L` with `A = L L^H`; ValueError unless A is known to be positive definite and self-adjoint."""
        if not self.can_use_cholesky():
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        with self._name_scope(name):
            return self._cholesky_operator()

    def _cholesky_operator(self) -> LinearOperator:
        return _derived("cholesky")(self)

    def can_use_cholesky(self) -> bool:
        """Whether it is known to have a Cholesky decomposition."""
        return bool(self.is_self_adjoint and self.is_positive_definite)

    # Its entries.

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrices with all entries."""
        with self._name_scope(name):
            return self._to_dense()

    def _to_dense(self) -> Tensor:
        columns = self.domain_dimension
        size = self.domain_dimension_tensor() if columns is None else columns
        known = [each for each in self.batch_shape.as_list() if each is not None] if self.shape.ndims is not None else None
        batch = known if known is not None and len(known) == self.batch_shape.ndims else self.batch_shape_tensor()
        return self._matmul(eye(size, batch_shape=batch, dtype=self.dtype))

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The diagonals: `[..., min(m, n)]`."""
        with self._name_scope(name):
            return self._diag_part()

    def _diag_part(self) -> Tensor:
        return matrix_diag_part(self.to_dense())

    def trace(self, name: str = "trace") -> Tensor:
        """The sums of the diagonals: `[...]`."""
        with self._name_scope(name):
            return self._trace()

    def _trace(self) -> Tensor:
        return reduce_sum(self.diag_part(), axis=-1)

    def add_to_tensor(self, x: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """The sum of the matrices and those of a tensor, `[..., m, n]`.

        Args:
            x: `[..., m, n]`, of the operator's dtype.
        """
        with self._name_scope(name):
            return self._add_to_tensor(self._checked(x, "x"))

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return add(self.to_dense(), x)

    @contextlib.contextmanager
    def _name_scope(self, name: str) -> Iterator[str]:
        graph = graph_of(self._graph_parents)
        with graph.as_default(), graph.name_scope(self._name), graph.name_scope(name) as scope:
            yield scope

    def _checked(self, value: TensorLike, name: str) -> Tensor:
        tensor = convert_to_tensor(value, name=name)
        self._check_input_dtype(tensor)
        return tensor

    # Operators of programs' own call it by this name.
    def _check_input_dtype(self, arg: Tensor) -> None:
        if arg.dtype.base_dtype is not self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype!r}.  Found: {arg.dtype!r} in tensor {arg}")

    def _check_size(self, tensor: Tensor, own: int, other: int) -> None:
        if self.shape.ndims is not None and tensor.shape.ndims is not None:
            self.shape[own].assert_is_compatible_with(tensor.shape[other])

    def _need_square(self, message: str) -> None:
        if self.is_square is False:
            raise NotImplementedError(message)


# The operators that follow from any other one, by what they are; the module that has their classes fills it.
_DERIVED: Final[dict[str, Callable[..., LinearOperator]]] = {}


def _derived(kind: str) -> Callable[..., LinearOperator]:
    return _DERIVED[kind]


def derive(**makers: Callable[..., LinearOperator]) -> None:
    """Say how the adjoint, the inverse, the Cholesky factor and the composition of any operators are made."""
    _DERIVED.update(makers)
