"""Operators made of one other: Adjoint and Inversion."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.linear_operators.matrices import adjoint_of, dense_of
from weft.models.linear_operators.operator import LinearOperator
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape
from weft.ops.array.shape_ops import shape as shape_of

_HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


def _combined(
    operator: LinearOperator, given: Sequence[bool | None], what: str
) -> tuple[bool | None, bool | None, bool | None, bool | None]:
    """The hints of an operator, which the program may repeat but not contradict."""
    result = []
    for label, hint in zip(_HINTS, given, strict=True):
        own = getattr(operator, label)
        if hint is not None and own is not None and hint != own:
            name = label.removeprefix("is_").replace("_", "-")
            raise ValueError(f"An operator is {name} if and only if its {what} is {name}.")
        result.append(own if hint is None else hint)
    first, second, third, fourth = result
    return first, second, third, fourth


class LinearOperatorAdjoint(LinearOperator):
    """The conjugate transpose of an operator.

    Args:
        operator: a LinearOperator `[..., m, n]`.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the caller knows of the matrices, which
            decides how they are solved; None where it is not known. Nothing checks what is promised but `assert_non_singular`
            and the like.
        name: the scope's name.

    Raises:
        ValueError: a hint contradicts the operator's.
    """

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operator = operator
        given = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        hints = _combined(operator, given, "adjoint")
        super().__init__(operator.dtype, operator.graph_parents, *hints, name or f"{operator.name}_adjoint")

    @property
    def operator(self) -> LinearOperator:
        """The operator before."""
        return self._operator

    def _shape(self) -> TensorShape:
        return self._operator.batch_shape.concatenate([self._operator.domain_dimension, self._operator.range_dimension])

    def _shape_tensor(self) -> Tensor:
        sizes = self._operator.shape_tensor()
        return concat([sizes[:-2], sizes[-1:], sizes[-2:-1]], axis=0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return dense_of(self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return dense_of(self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg))

    def _determinant(self) -> Tensor:
        return _conj(self._operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self._operator.log_abs_determinant()

    def _trace(self) -> Tensor:
        return _conj(self._operator.trace())

    def _to_dense(self) -> Tensor:
        return adjoint_of(self._operator.to_dense())

    def _adjoint_operator(self) -> LinearOperator:
        return self._operator


def _conj(tensor: Tensor) -> Tensor:
    return adjoint_of(reshape(tensor, concat([shape_of(tensor), [1, 1]], axis=0)))[..., 0, 0]


class LinearOperatorInversion(LinearOperator):
    """The inverse of an operator, which multiplies by solving.

    Args:
        operator: a LinearOperator `[..., n, n]` that is not singular.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the caller knows of the matrices, which
            decides how they are solved; None where it is not known. Nothing checks what is promised but `assert_non_singular`
            and the like.
        name: the scope's name.

    Raises:
        ValueError: the operator is known to be singular, or a hint contradicts its own.
    """

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operator = operator
        if operator.is_non_singular is False:
            raise ValueError("operator must not be singular")
        given = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        hints = _combined(operator, given, "inverse")
        super().__init__(operator.dtype, operator.graph_parents, *hints, name or f"{operator.name}_inv")

    @property
    def operator(self) -> LinearOperator:
        """The operator before."""
        return self._operator

    def _shape(self) -> TensorShape:
        return self._operator.shape

    def _shape_tensor(self) -> Tensor:
        return self._operator.shape_tensor()

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return dense_of(self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return dense_of(self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg))

    def _determinant(self) -> Tensor:
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        return -1.0 * self._operator.log_abs_determinant()

    def _inverse_operator(self) -> LinearOperator:
        return self._operator
