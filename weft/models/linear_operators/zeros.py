"""The operator of zeros, square or not."""

from __future__ import annotations

from weft.framework.building.aliases import DTypeLike, DynamicShape, SizeLike, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.models.linear_operators.sized import Sized
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack


class LinearOperatorZeros(Sized):
    """Matrices of zeros, `num_rows` by `num_columns`.

    Args:
        num_rows: [] int or int tensor, the number of rows.
        num_columns: the number of columns; that of the rows when None.
        batch_shape: a list or an int32 vector, the batch's shape; no batch when None.
        dtype: the elements' dtype; float32 when None.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what the caller knows of the matrices, which
            decides how they are solved; None where it is not known. Nothing checks what is promised but `assert_non_singular`
            and the like.
        name: the scope's name.
        assert_proper_shapes: whether runs check that sizes are scalars and vectors that are not negative.

    Raises:
        ValueError: a hint contradicts it: zeros are singular, not positive definite, and self-adjoint when square.
    """

    def __init__(
        self,
        num_rows: SizeLike,
        num_columns: SizeLike | None = None,
        batch_shape: DynamicShape = None,
        dtype: DTypeLike | None = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        square = num_columns is None or (isinstance(num_rows, int) and num_rows == num_columns)
        if square and not is_self_adjoint:
            raise ValueError("A zero operator is always self adjoint.")
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive-definite.")
        super().__init__(as_dtype(dtype or dtypes.float32), None, False, bool(is_self_adjoint) and square, False,
                         is_square if square else False, name)  # fmt: skip
        self._set_size(num_rows, num_columns, batch_shape, assert_proper_shapes)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        right = self._widened(self._right(x, adjoint, adjoint_arg))
        sizes = shape_of(right)
        rows = self._columns if adjoint else self._rows
        return zeros(concat([sizes[:-2], stack([rows]), sizes[-1:]], axis=0), self.dtype)

    def _determinant(self) -> Tensor:
        return zeros(self._batch, self.dtype)

    def _trace(self) -> Tensor:
        return zeros(self._batch, self.dtype)

    def add_to_tensor(self, mat: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """The matrices as they are, at least as many as the operator has.

        Args:
            mat: `[..., m, n]`, of the operator's dtype.
        """
        with self._name_scope(name):
            return self._widened(self._checked(mat, "mat"))
