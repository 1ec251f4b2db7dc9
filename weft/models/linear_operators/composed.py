"""Operators made of several others: Composition, BlockDiag, Kronecker; and what follows from any operator."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence

from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.linear_operators.dense import LinearOperatorLowerTriangular
from weft.models.linear_operators.diagonal import LinearOperatorIdentity
from weft.models.linear_operators.matrices import adjoint_of, dense_of, implied, product, same_batch
from weft.models.linear_operators.operator import LinearOperator, derive
from weft.models.linear_operators.wrapped import LinearOperatorAdjoint, LinearOperatorInversion
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import broadcast_dynamic_shape, broadcast_static_shape
from weft.ops.linalg.decompositions import cholesky as dense_cholesky
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import add_n, mul


class _Several(LinearOperator):
    """An operator made of a list of others, all of one type."""

    _operators: list[LinearOperator]

    def _set_operators(self, operators: Sequence[LinearOperator]) -> None:
        if not operators:
            raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
        self._operators = list(operators)
        kinds = {each.dtype for each in operators}
        if len(kinds) > 1:
            listed = ", ".join(f"({each.name}, {each.dtype!r})" for each in operators)
            raise TypeError(f"Expected all operators to have the same dtype.  Found {listed}")

    def _all(self, hint: str) -> bool:
        return all(getattr(each, hint) for each in self._operators)

    @property
    def operators(self) -> list[LinearOperator]:
        """The operators that it is made of."""
        return self._operators

    def _parents(self) -> list[Tensor]:
        return [parent for each in self._operators for parent in each.graph_parents]

    def _batch(self) -> TensorShape:
        return functools.reduce(broadcast_static_shape, [each.batch_shape for each in self._operators])

    def _batch_tensor(self) -> Tensor:
        return functools.reduce(broadcast_dynamic_shape, [each.batch_shape_tensor() for each in self._operators])

    def _inner_hints(
        self, non_singular: bool | None, self_adjoint: bool | None, positive: bool | None, what: str
    ) -> tuple[bool | None, bool | None, bool | None]:
        """The hints that follow when all operators have them."""
        if self._all("is_non_singular"):
            non_singular = implied(non_singular, f"The {what} of non-singular operators is always non-singular.")
        if self._all("is_self_adjoint"):
            self_adjoint = implied(self_adjoint, f"The {what} of self-adjoint operators is always self-adjoint.")
        if self._all("is_positive_definite"):
            positive = implied(positive, f"The {what} of positive definite operators is always positive definite.")
        return non_singular, self_adjoint, positive


class LinearOperatorComposition(_Several):
    """The product of operators, the last of which is applied first.

    Args:
        operators: LinearOperators of one dtype, one at least.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the caller knows of the matrices, which
            decides how they are solved; None where it is not known. Nothing checks what is promised but `assert_non_singular`
            and the like.
        name: the scope's name.

    Raises:
        ValueError: there is no operator, their sizes are known not to fit, or a hint contradicts the operators'.
        TypeError: their dtypes differ.
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._set_operators(operators)
        if self._all("is_non_singular"):
            message = "The composition of non-singular operators is always non-singular."
            is_non_singular = implied(is_non_singular, message)
        name = name or "_o_".join(each.name for each in operators)
        super().__init__(
            operators[0].dtype, self._parents(), is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )
        for left, right in itertools.pairwise(operators):
            if None not in (left.domain_dimension, right.range_dimension) and left.domain_dimension != right.range_dimension:
                raise ValueError(f"Dimensions {left.domain_dimension} and {right.range_dimension} are not compatible")

    def _shape(self) -> TensorShape:
        return self._batch().concatenate([self._operators[0].range_dimension, self._operators[-1].domain_dimension])

    def _shape_tensor(self) -> Tensor:
        sizes = [self._operators[0].range_dimension_tensor(), self._operators[-1].domain_dimension_tensor()]
        return concat([self._batch_tensor(), stack(sizes)], axis=0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        first, *rest = self._operators if adjoint else list(reversed(self._operators))
        result = dense_of(first.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg))
        for each in rest:
            result = dense_of(each.matmul(result, adjoint=adjoint))
        return result

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        first, *rest = list(reversed(self._operators)) if adjoint else self._operators
        result = dense_of(first.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg))
        for each in rest:
            result = dense_of(each.solve(result, adjoint=adjoint))
        return result

    def _determinant(self) -> Tensor:
        return functools.reduce(mul, [each.determinant() for each in self._operators])

    def _log_abs_determinant(self) -> Tensor:
        return add_n([each.log_abs_determinant() for each in self._operators])


class LinearOperatorBlockDiag(_Several):
    """Operators as the blocks along the diagonal of a larger one, zeros elsewhere.

    Args:
        operators: LinearOperators of one dtype, one at least.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the caller knows of the matrices, which
            decides how they are solved; None where it is not known. Nothing checks what is promised but `assert_non_singular`
            and the like.
        name: the scope's name.

    Raises:
        ValueError: an operator is not square, there is none, or a hint contradicts the operators'.
        TypeError: their dtypes differ.
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        self._set_operators(operators)
        hints = self._inner_hints(is_non_singular, is_self_adjoint, is_positive_definite, "direct sum")
        if not (is_square and all(each.is_square for each in operators)):
            raise ValueError("Can only represent a block diagonal of square matrices.")
        super().__init__(
            operators[0].dtype, self._parents(), *hints, True, name or "_ds_".join(each.name for each in operators)
        )

    def _shape(self) -> TensorShape:
        sizes = [each.domain_dimension for each in self._operators]
        known = [size for size in sizes if size is not None]
        total = sum(known) if len(known) == len(sizes) else None
        return self._batch().concatenate([total, total])

    def _shape_tensor(self) -> Tensor:
        total = add_n([each.domain_dimension_tensor() for each in self._operators])
        return concat([self._batch_tensor(), stack([total, total])], axis=0)

    def _by_blocks(self, x: Tensor, apply: Callable[[LinearOperator, Tensor], Tensor], adjoint_arg: bool) -> Tensor:
        whole = adjoint_of(x) if adjoint_arg else x
        parts, begin = [], 0 * self._operators[0].domain_dimension_tensor()
        for each in self._operators:
            end = begin + each.domain_dimension_tensor()
            piece = whole[..., begin:end, :]
            piece.set_shape(whole.shape[:-2].concatenate([each.domain_dimension]).concatenate(whole.shape[-1:]))
            parts.append(apply(each, piece))
            begin = end
        return concat(same_batch(*parts), axis=-2)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._by_blocks(x, lambda block, part: dense_of(block.matmul(part, adjoint=adjoint)), adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._by_blocks(rhs, lambda block, part: dense_of(block.solve(part, adjoint=adjoint)), adjoint_arg)

    def _determinant(self) -> Tensor:
        return functools.reduce(mul, [each.determinant() for each in self._operators])

    def _log_abs_determinant(self) -> Tensor:
        return functools.reduce(lambda a, b: a + b, [each.log_abs_determinant() for each in self._operators])

    def _trace(self) -> Tensor:
        return functools.reduce(lambda a, b: a + b, [each.trace() for each in self._operators])

    def _diag_part(self) -> Tensor:
        parts = same_batch(*(expand_dims(each.diag_part(), -1) for each in self._operators))
        return concat(parts, axis=-2)[..., 0]

    def _adjoint_operator(self) -> LinearOperator:
        return self._like([each.adjoint() for each in self._operators])

    def _inverse_operator(self) -> LinearOperator:
        return self._like([each.inverse() for each in self._operators])

    def _cholesky_operator(self) -> LinearOperator:
        return LinearOperatorBlockDiag([each.cholesky() for each in self._operators], is_non_singular=True)

    def _like(self, operators: Sequence[LinearOperator]) -> LinearOperator:
        return LinearOperatorBlockDiag(operators, self.is_non_singular, self.is_self_adjoint, self.is_positive_definite)


class LinearOperatorKronecker(_Several):
    """The Kronecker product of operators; it multiplies by the dense matrix, and solves by those of its factors.

    Args:
        operators: LinearOperators of one dtype, one at least.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the caller knows of the matrices, which
            decides how they are solved; None where it is not known. Nothing checks what is promised but `assert_non_singular`
            and the like.
        name: the scope's name.

    Raises:
        ValueError: there is no operator, their sizes are known not to fit, or a hint contradicts the operators'.
        TypeError: their dtypes differ.
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._set_operators(operators)
        hints = self._inner_hints(is_non_singular, is_self_adjoint, is_positive_definite, "Kronecker product")
        name = name or "_x_".join(each.name for each in operators)
        super().__init__(operators[0].dtype, self._parents(), *hints, is_square, name)

    def _shape(self) -> TensorShape:
        sizes = [
            TensorShape([getattr(each, side) for each in self._operators]).num_elements()
            for side in ("range_dimension", "domain_dimension")
        ]
        return self._batch().concatenate(sizes)

    def _shape_tensor(self) -> Tensor:
        rows = functools.reduce(mul, [each.range_dimension_tensor() for each in self._operators])
        columns = functools.reduce(mul, [each.domain_dimension_tensor() for each in self._operators])
        return concat([self._batch_tensor(), stack([rows, columns])], axis=0)

    def _to_dense(self) -> Tensor:
        return functools.reduce(_kronecker, [each.to_dense() for each in self._operators])

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return product(self._to_dense(), x, adjoint, adjoint_arg)

    def _powers(self) -> list[Tensor]:
        size = self.domain_dimension_tensor()
        return [cast(size // each.domain_dimension_tensor(), self.dtype) for each in self._operators]

    def _determinant(self) -> Tensor:
        parts = [each.determinant() ** power for each, power in zip(self._operators, self._powers(), strict=True)]
        return functools.reduce(mul, parts)

    def _log_abs_determinant(self) -> Tensor:
        parts = [each.log_abs_determinant() * power for each, power in zip(self._operators, self._powers(), strict=True)]
        return functools.reduce(lambda a, b: a + b, parts)

    def _trace(self) -> Tensor:
        return functools.reduce(mul, [each.trace() for each in self._operators])

    def _diag_part(self) -> Tensor:
        columns = [expand_dims(each.diag_part(), -1) for each in self._operators]
        return functools.reduce(_kronecker, columns)[..., 0]

    def _like(self, operators: Sequence[LinearOperator]) -> LinearOperator:
        return LinearOperatorKronecker(
            operators, self.is_non_singular, self.is_self_adjoint, self.is_positive_definite, self.is_square
        )

    def _adjoint_operator(self) -> LinearOperator:
        return self._like([each.adjoint() for each in self._operators])

    def _inverse_operator(self) -> LinearOperator:
        return self._like([each.inverse() for each in self._operators])

    def _cholesky_operator(self) -> LinearOperator:
        return LinearOperatorKronecker([each.cholesky() for each in self._operators], is_square=True)


def _kronecker(a: Tensor, b: Tensor) -> Tensor:
    spread = expand_dims(expand_dims(a, -1), -3) * expand_dims(expand_dims(b, -2), -4)
    sizes = shape_of(spread)
    result = reshape(spread, concat([sizes[:-4], stack([sizes[-4] * sizes[-3], sizes[-2] * sizes[-1]])], axis=0))
    return result


def _cholesky_of(operator: LinearOperator) -> LinearOperator:
    return LinearOperatorLowerTriangular(dense_cholesky(operator.to_dense()), is_non_singular=True, is_square=True)


def _composition_of(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    if isinstance(right, LinearOperatorIdentity):
        return left
    return LinearOperatorComposition([left, right], is_non_singular=_non_singular(left, right))


def _non_singular(left: LinearOperator, right: LinearOperator) -> bool | None:
    if left.is_non_singular and right.is_non_singular:
        return True
    square = left.is_square and right.is_square
    return False if square and False in (left.is_non_singular, right.is_non_singular) else None


derive(adjoint=LinearOperatorAdjoint, inverse=LinearOperatorInversion, cholesky=_cholesky_of, composition=_composition_of)
