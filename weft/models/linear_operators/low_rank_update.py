"""LowRankUpdate: an operator and a term of low rank."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.linear_operators.diagonal import LinearOperatorDiag, LinearOperatorIdentity
from weft.models.linear_operators.matrices import dense_of, implied, product, same_batch
from weft.models.linear_operators.operator import LinearOperator
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.tiling import broadcast_dynamic_shape, broadcast_static_shape
from weft.ops.linalg.decompositions import log_matrix_determinant as slogdet
from weft.ops.linalg.decompositions import matrix_determinant, matrix_solve


class LinearOperatorLowRankUpdate(LinearOperator):
    """`L + U D V^H`: an operator `L` and a term of low rank, solved by the Woodbury identity.

    Args:
        base_operator: `L`, `[..., m, n]`.
        u: `[..., m, k]`.
        diag_update: the diagonal of `D`, `[..., k]`; ones if None.
        v: `[..., n, k]`; `u` if None.
        is_diag_update_positive: whether the diagonal of `D` is positive.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: promises.
        name: of the name scopes.

    Raises:
        ValueError: shapes are known not to fit each other, or a promise contradicts another.
    """

    def __init__(
        self,
        base_operator: LinearOperator,
        u: TensorLike,
        diag_update: TensorLike | None = None,
        v: TensorLike | None = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        if diag_update is None:
            message = "Default diagonal is the identity matrix.  However, user set 'is_diag_update_positive' to False."
            is_diag_update_positive = implied(is_diag_update_positive, message)
        self._base, self._u = base_operator, convert_to_tensor(u, name="u")
        self._v = self._u if v is None else convert_to_tensor(v, name="v")
        self._diag_update = None if diag_update is None else convert_to_tensor(diag_update, name="diag_update")
        self._is_diag_update_positive = is_diag_update_positive
        symmetric = v is None and not (base_operator.dtype.is_complex and diag_update is not None)
        if base_operator.is_self_adjoint and symmetric:
            message = (
                "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is self-adjoint, this must be a "
                "self-adjoint operator."
            )
            is_self_adjoint = implied(is_self_adjoint, message)
        if base_operator.is_positive_definite and v is None and is_diag_update_positive and base_operator.is_self_adjoint:
            message = "A = L + UDU^H, with L positive definite and D positive, must be positive definite."
            is_positive_definite = implied(is_positive_definite, message)
        self._check_shapes()
        parents = [*base_operator.graph_parents, self._u, self._v, *([] if self._diag_update is None else [self._diag_update])]
        super().__init__(base_operator.dtype, parents, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)
        rank = self._u.shape.as_list()[-1] if self._u.shape.ndims is not None else None
        self._diag_operator: LinearOperator = (
            LinearOperatorIdentity(shape_of(self._u)[-1] if rank is None else rank, dtype=self.dtype)
            if self._diag_update is None
            else LinearOperatorDiag(self._diag_update, is_positive_definite=is_diag_update_positive)
        )

    @property
    def base_operator(self) -> LinearOperator:
        """`L`."""
        return self._base

    @property
    def u(self) -> Tensor:
        """`U`."""
        return self._u

    @property
    def v(self) -> Tensor:
        """`V`."""
        return self._v

    @property
    def diag_update(self) -> Tensor | None:
        """The diagonal of `D`; None for ones."""
        return self._diag_update

    @property
    def diag_operator(self) -> LinearOperator:
        """`D`."""
        return self._diag_operator

    @property
    def is_diag_update_positive(self) -> bool | None:
        """Whether the diagonal of `D` is positive."""
        return self._is_diag_update_positive

    def _check_shapes(self) -> None:
        """Raise ValueError for shapes that are known not to fit each other."""
        _check_fit(self._base.shape[-2:-1], self._u.shape[-2:-1], "base_operator's range dimension", "u's rows")
        _check_fit(self._base.shape[-1:], self._v.shape[-2:-1], "base_operator's domain dimension", "v's rows")
        _check_fit(self._u.shape[-1:], self._v.shape[-1:], "u's columns", "v's columns")
        if self._diag_update is not None:
            _check_fit(self._u.shape[-1:], self._diag_update.shape[-1:], "u's columns", "diag_update's elements")
        self._shape()

    def _batches(self) -> list[tuple[Tensor, int]]:
        """The tensors of the term, each with how many of its last dimensions are no batch's."""
        factors = [(self._u, 2)] if self._v is self._u else [(self._u, 2), (self._v, 2)]
        return factors if self._diag_update is None else [*factors, (self._diag_update, 1)]

    def _shape(self) -> TensorShape:
        batch = self._base.batch_shape
        for tensor, own in self._batches():
            batch = broadcast_static_shape(batch, tensor.shape[:-own])
        return batch.concatenate(self._base.shape[-2:])

    def _shape_tensor(self) -> Tensor:
        batch = self._base.batch_shape_tensor()
        for tensor, own in self._batches():
            batch = broadcast_dynamic_shape(batch, shape_of(tensor)[:-own])
        return concat([batch, self._base.shape_tensor()[-2:]], axis=0)

    def _factors(self, adjoint: bool) -> tuple[Tensor, Tensor]:
        return (self._v, self._u) if adjoint else (self._u, self._v)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        left, right = self._factors(adjoint)
        inner = self._diag_operator.matmul(product(right, x, True, adjoint_arg), adjoint=adjoint)
        return dense_of(self._base.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)) + product(left, dense_of(inner))

    def _capacitance(self, adjoint: bool = False) -> Tensor:
        """`D^-1 + V^H L^-1 U`."""
        left, right = self._factors(adjoint)
        inner = product(right, dense_of(self._base.solve(left, adjoint=adjoint)), adjoint=True)
        return inner + self._diag_operator.inverse().to_dense()

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        left, right = self._factors(adjoint)
        first = dense_of(self._base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg))
        inner = matrix_solve(*same_batch(self._capacitance(adjoint), product(right, first, adjoint=True)))
        return first - dense_of(self._base.solve(product(left, inner), adjoint=adjoint))

    def _determinant(self) -> Tensor:
        return matrix_determinant(self._capacitance()) * self._diag_operator.determinant() * self._base.determinant()

    def _log_abs_determinant(self) -> Tensor:
        inner = slogdet(self._capacitance())[1]
        return inner + self._diag_operator.log_abs_determinant() + self._base.log_abs_determinant()


def _check_fit(one: TensorShape, other: TensorShape, name: str, other_name: str) -> None:
    if not one.is_compatible_with(other):
        raise ValueError(f"Dimensions {one} and {other} are not compatible: {name} and {other_name} have to be equal")
