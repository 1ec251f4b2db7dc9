"""Matrices as functions of vectors, and products and norms of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.math.complex_numbers import conj
from weft.ops.math.norms import l2_loss
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import sqrt


class Applied(Protocol):
    """A matrix as a function: `apply` gives its product with a column, `apply_adjoint` that of its adjoint."""

    @property
    def shape(self) -> Tensor | list[int]:
        """Rows and columns."""
        ...

    @property
    def dtype(self) -> DType:
        """The type of what it takes and gives."""
        ...

    def apply(self, v: Tensor, /) -> Tensor:
        """The product with `[columns, 1]`."""
        ...

    def apply_adjoint(self, v: Tensor, /) -> Tensor:
        """The adjoint's product with `[rows, 1]`."""
        ...


class LinearOperator(NamedTuple):
    """A matrix as a function.

    Attributes:
        shape: rows and columns, a list or a tensor.
        dtype: the type of what it takes and gives.
        apply: gives its product with `[columns, 1]`.
        apply_adjoint: gives its adjoint's product with `[rows, 1]`.
    """

    shape: Tensor | list[int]
    dtype: DType
    apply: Callable[[Tensor], Tensor]
    apply_adjoint: Callable[[Tensor], Tensor]


def create_operator(matrix: Tensor) -> LinearOperator:
    """A matrix as a function.

    Args:
        matrix: `[m, n]` tensor.
    """
    return LinearOperator(
        _shape(matrix), matrix.dtype, lambda v: matmul(matrix, v), lambda v: matmul(matrix, v, adjoint_a=True)
    )


def identity_operator(matrix: Tensor) -> LinearOperator:
    """The identity of a matrix's shape and dtype, as a function.

    Args:
        matrix: `[n, n]` tensor.
    """
    return LinearOperator(_shape(matrix), matrix.dtype, lambda v: v, lambda v: v)


def _shape(matrix: Tensor) -> Tensor | list[int]:
    sizes = matrix.shape
    return [int(each) for each in sizes] if sizes.is_fully_defined() else shape_of(matrix)


def dot(x: TensorLike, y: TensorLike) -> Tensor:
    """The sum of the products of elements, of which the first are conjugated.

    Args:
        x, y: tensors of one shape.
    """
    return reduce_sum(conj(convert_to_tensor(x)) * y)


def l2norm_squared(v: TensorLike) -> Tensor:
    """The sum of squares.

    Args:
        v: tensor of a floating dtype, any shape.
    """
    tensor = convert_to_tensor(v)
    return constant(2, tensor.dtype.base_dtype) * l2_loss(tensor)


def l2norm(v: TensorLike) -> Tensor:
    """The length of a vector.

    Args:
        v: tensor of a floating dtype, any shape.
    """
    return sqrt(l2norm_squared(v))


def l2normalize(v: TensorLike) -> tuple[Tensor, Tensor]:
    """A vector of length 1 in the same direction, and the length.

    Args:
        v: tensor of a floating dtype, any shape.
    """
    tensor = convert_to_tensor(v)
    length = l2norm(tensor)
    return tensor / length, length
