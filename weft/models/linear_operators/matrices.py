"""Dense matrices, batch by batch, and promises about them: what the operators have in common and is none itself."""

from __future__ import annotations

from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.tiling import broadcast_dynamic_shape, broadcast_to
from weft.ops.array.transposing import matrix_transpose
from weft.ops.math.complex_numbers import absolute, conj
from weft.ops.math.products import matmul as dense_matmul


def implied(hint: bool | None, message: str) -> bool:
    """True, for a promise that follows from what an operator is; ValueError when the program denies it."""
    if hint is False:
        raise ValueError(message)
    return True


def epsilon(dtype: DType) -> float:
    """The distance from 1 to the next number of a type."""
    return 2.0**-52 if dtype.real_dtype.size == 8 else 2.0**-23


def adjoint_of(matrix: Tensor) -> Tensor:
    """The conjugate transpose of matrices."""
    transposed = matrix_transpose(matrix)
    return conj(transposed) if matrix.dtype.is_complex else transposed


def real_of(values: Tensor) -> Tensor:
    """Eigenvalues as real numbers: the absolute values of complex ones."""
    return absolute(values) if values.dtype.is_complex else values


def check_dimensions(expected: int | None, found: int | None) -> None:
    """ValueError when a product's inner dimensions are known and differ."""
    if expected is not None and found is not None and expected != found:
        raise ValueError(f"Operators are incompatible. Expected `x` to have dimension {expected} but got {found}.")


def same_batch(*matrices: Tensor) -> list[Tensor]:
    """The matrices with the dimensions before the last two broadcast to one shape."""
    shapes = [None if each.dims is None else each.dims[:-2] for each in matrices]
    if all(shape == shapes[0] and shape is not None and None not in shape for shape in shapes):
        return list(matrices)
    batch = shape_of(matrices[0])[:-2]
    for each in matrices[1:]:
        batch = broadcast_dynamic_shape(batch, shape_of(each)[:-2])
    return [broadcast_to(each, concat([batch, shape_of(each)[-2:]], axis=0)) for each in matrices]


def product(left: Tensor, right: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
    """The product of dense matrices, batches broadcast."""
    return dense_matmul(left, right, adjoint_a=adjoint, adjoint_b=adjoint_arg)


def dense_of(result: object) -> Tensor:
    """What an operator makes of a Tensor, which is one."""
    assert isinstance(result, Tensor)
    return result
