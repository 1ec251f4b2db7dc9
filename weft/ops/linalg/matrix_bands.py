"""Bands of diagonals of matrices, packed as rows: taking them out, putting them in, and matrices made of them.

Packed diagonals of several lengths are as long as the longest. `align` tells where the others stand, first for those above the
main diagonal, then for those below: 'RIGHT_LEFT' (the default), 'LEFT_RIGHT', 'LEFT_LEFT' or 'RIGHT_RIGHT'.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import BuildMisfit
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import AtLeast, AtMost
from weft.framework.types.dims import Dims, brackets
from weft.ops.array.filling import zeros_like
from weft.ops.declaration import op
from weft.ops.dispatch import dispatchable
from weft.ops.linalg.matrix_parts import matrix_diag_node, matrix_diag_part_node, matrix_set_diag_node

_ALIGNMENTS: Final = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


class Band:
    """Where the elements of packed diagonals `lower` to `upper` of a `[rows, columns]` matrix lie.

    A matrix that is made of diagonals may have none of them, where they are empty: `is_made`. `lengths` are the diagonals',
    the highest first, `begins` where each begins in its packed row, and `longest` is how long the rows are.
    """

    def __init__(self, k: Array, rows: int, columns: int, align: str, is_made: bool = False) -> None:
        if align not in _ALIGNMENTS:
            raise ValueError(f"align must be one of {', '.join(_ALIGNMENTS)}; it is {align!r}")
        self.lower, self.upper = band_of(k)
        for number in (self.lower, self.upper):
            if not -rows < number < columns and number != 0 and not is_made:
                raise ValueError(f"diag_index is out of bound: a matrix of shape [{rows},{columns}] has no diagonal {number}")
        self.rows, self.columns = rows, columns
        numbers = np.arange(self.upper, self.lower - 1, -1)
        lengths = np.minimum(rows + np.minimum(numbers, 0), columns - np.maximum(numbers, 0))
        self.longest = int(lengths.max())
        is_right = np.where(numbers >= 0, align.startswith("RIGHT"), align.endswith("RIGHT"))
        self._numbers, self.lengths = numbers, lengths
        self.begins = np.where(is_right, self.longest - lengths, 0)

    def in_matrix(self) -> tuple[Array, Array, Array]:
        """For each place of the matrix whether it is in the band, and the row and column of the packed form that it is at."""
        i, j = np.indices((self.rows, self.columns))
        number = j - i
        inside = (number >= self.lower) & (number <= self.upper)
        row = np.where(inside, self.upper - number, 0)
        column = np.where(inside, j - np.maximum(number, 0) + self.begins[row], 0)
        return inside, row, column

    def in_packed(self) -> tuple[Array, Array, Array]:
        """For each place of the packed form whether it holds an element, and that element's row and column in the matrix."""
        at = np.arange(self.longest)[None, :] - self.begins[:, None]
        inside = (at >= 0) & (at < self.lengths[:, None])
        at = np.where(inside, at, 0)
        return inside, at - np.minimum(self._numbers, 0)[:, None], at + np.maximum(self._numbers, 0)[:, None]


def band_of(k: Array) -> tuple[int, int]:
    """The lowest and the highest diagonal that `k`, a number or a pair, names; ValueError when they are in the wrong order."""
    numbers = [int(number) for number in np.ravel(k)]
    lower, upper = numbers[0], numbers[-1]
    if lower > upper:
        raise ValueError(f"lower_diag_index is greater than upper_diag_index: {lower} > {upper}")
    return lower, upper


def sizes_of(longest: int, k: Array, rows: int, columns: int) -> tuple[int, int]:
    """The shape of the matrices that diagonals belong to, where a number is -1 the least one."""
    lower, upper = band_of(k)
    least_rows, least_columns = longest - min(upper, 0), longest + max(lower, 0)
    if rows == columns == -1:
        return max(least_rows, least_columns), max(least_rows, least_columns)
    rows, columns = least_rows if rows == -1 else rows, least_columns if columns == -1 else columns
    if rows < least_rows or columns < least_columns or (rows != least_rows and columns != least_columns):
        raise ValueError(
            "num_rows and num_cols are not consistent with lower_diag_index, upper_diag_index, and the length of the given "
            f"diagonals: {rows} rows and {columns} columns for diagonals of length {longest}, which need {least_rows} rows and "
            f"{least_columns} columns, one of them exactly"
        )
    return rows, columns


def _constants(node: Operation, *positions: int) -> list[Array] | None:
    values = [constant_value(node.inputs[position]) for position in positions]
    return None if any(value is None for value in values) else values


def _matrix_shape(node: Operation) -> list[Dims]:
    dims, known = node.inputs[0].dims, _constants(node, 1, 2, 3)
    if dims is None or known is None:
        return [None]
    k, rows, columns = known
    lower, upper = band_of(k)
    batch = dims[:-1] if lower == upper else dims[:-2]
    if lower < upper and (len(dims) < 2 or dims[-2] not in (None, upper - lower + 1)):
        raise ValueError(
            "The number of rows of `diagonal` doesn't match the number of diagonals implied from `d_lower` and `d_upper`: "
            f"d_lower = {lower}, d_upper = {upper}, diagonal has the shape {brackets(dims)}"
        )
    if dims[-1] is None:
        return [(*batch, *(None if int(size) == -1 else int(size) for size in (rows, columns)))]
    return [(*batch, *sizes_of(dims[-1], k, int(rows), int(columns)))]


def _align(node: Operation) -> str:
    # The second versions of these ops have no such attribute.
    return str(node.attrs.get("align", "LEFT_LEFT"))


def _matrix_gradient(node: Operation, grad: Tensor) -> Gradients:
    zero = zeros_like(node.inputs[4])
    return [matrix_diag_part_v3(grad, node.inputs[1], zero, align=_align(node)), None, None, None, None]


@op("MatrixDiagV3", "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
    ranks={"num_rows": 0, "num_cols": 0, "padding_value": 0, "diagonal": AtLeast(1), "k": AtMost(1)},
    infer=_matrix_shape, gradient=_matrix_gradient, static=("k", "num_rows", "num_cols"))  # fmt: skip
def matrix_diag_v3(
    xp: ArrayModule,
    diagonal: Array,
    k: Array,
    num_rows: Array,
    num_cols: Array,
    padding_value: Array,
    *,
    align: str = "RIGHT_LEFT",
) -> Result:
    """Matrices of packed diagonals, with the padding value elsewhere.

    `[..., diagonals, length], [2], scalar, scalar, scalar -> [..., m, n]`, or a scalar `k` and `[..., length]`.
    """
    lower, upper = band_of(k)
    packed = diagonal[..., None, :] if lower == upper else diagonal
    sizes = sizes_of(packed.shape[-1], k, int(num_rows), int(num_cols))
    band = Band(k, *sizes, align, is_made=True)
    if packed.shape[-1] == 0:
        if packed.shape[-2] != upper - lower + 1:
            raise InvalidArgumentError.of(f"diagonal has {packed.shape[-2]} diagonals, k names {upper - lower + 1}")
        return xp.broadcast_to(padding_value, (*packed.shape[:-2], *sizes))
    inside, row, column = band.in_matrix()
    return xp.where(inside, packed[..., row, column], padding_value)


def _packed_shape(node: Operation) -> list[Dims]:
    padding = node.inputs[2].dims
    if padding:
        # TensorFlow's kernel takes one number of any rank, if only a run tells that.
        text = f"Shape must be rank 0 but is rank {len(padding)} (padding_value)"
        raise BuildMisfit(text, "The padding is one number: tf.reshape(padding_value, []).")
    dims, known = node.inputs[0].dims, _constants(node, 1)
    if dims is None or known is None:
        return [None]
    lower, upper = band_of(known[0])
    rows, columns = dims[-2:]
    longest = None
    if rows is not None and columns is not None:
        longest = Band(known[0], rows, columns, _align(node)).longest
    return [(*dims[:-2], longest) if lower == upper else (*dims[:-2], upper - lower + 1, longest)]


def _padding(value: Array) -> Array:
    if math.prod(value.shape) != 1:
        raise InvalidArgumentError.of(f"padding_value must be a scalar, but has shape {brackets(value.shape)}")
    return value.reshape(())


def _packed_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [matrix_set_diag_v3(zeros_like(node.inputs[0]), grad, node.inputs[1], align=_align(node)), None, None]


@op("MatrixDiagPartV3", "input: T, k: int32, padding_value: T -> diagonal: T",
    ranks={"input": AtLeast(2), "k": AtMost(1)}, infer=_packed_shape,
    gradient=_packed_gradient, static=("k",))  # fmt: skip
def matrix_diag_part_v3(xp: ArrayModule, input: Array, k: Array, padding_value: Array, *, align: str = "RIGHT_LEFT") -> Result:
    """The diagonals of a band, packed.

    `[..., m, n], [2], scalar -> [..., diagonals, length]`, or `[..., length]` for one diagonal.
    """
    rows, columns = input.shape[-2:]
    band = Band(k, rows, columns, align)
    inside, row, column = band.in_packed()
    packed = xp.where(inside, input[..., row, column], _padding(padding_value))
    return packed[..., 0, :] if band.lower == band.upper else packed


def _set_shape(node: Operation) -> list[Dims]:
    dims, k = node.inputs[0].dims, constant_value(node.inputs[2])
    if k is not None and dims is not None and None not in dims[-2:]:
        rows, columns = dims[-2:]
        Band(k, rows or 0, columns or 0, _align(node))
    return [dims]


def _set_gradient(node: Operation, grad: Tensor) -> Gradients:
    diagonal, k = node.inputs[1:]
    align = _align(node)
    zero = np.zeros((), grad.dtype.as_numpy_dtype)
    return [
        matrix_set_diag_v3(grad, zeros_like(diagonal), k, align=align),
        matrix_diag_part_v3(grad, k, zero, align=align),
        None,
    ]


@op("MatrixSetDiagV3", "input: T, diagonal: T, k: int32 -> output: T",
    ranks={"input": AtLeast(2), "diagonal": AtLeast(1), "k": AtMost(1)},
    infer=_set_shape,
    gradient=_set_gradient, static=("k",))  # fmt: skip
def matrix_set_diag_v3(xp: ArrayModule, input: Array, diagonal: Array, k: Array, *, align: str = "RIGHT_LEFT") -> Result:
    """The matrices with other diagonals in a band.

    `[..., m, n], [..., diagonals, length], [2] -> [..., m, n]`, or `[..., length]` for one diagonal.
    """
    rows, columns = input.shape[-2:]
    band = Band(k, rows, columns, align)
    packed = diagonal[..., None, :] if band.lower == band.upper else diagonal
    wanted = (*input.shape[:-2], band.upper - band.lower + 1, band.longest)
    if packed.shape != wanted:
        raise InvalidArgumentError.of(f"must have packed diagonals of shape {wanted}, but they are {packed.shape}")
    inside, row, column = band.in_matrix()
    return xp.where(inside, packed[..., row, column], input)


# The functions of the API.


def _is_main(k: Array) -> bool:
    return not isinstance(k, Tensor) and not np.any(k)


def matrix_diag(
    diagonal: TensorLike,
    name: str = "diag",
    k: TensorLike = 0,
    num_rows: TensorLike = -1,
    num_cols: TensorLike = -1,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices made of diagonals.

    Args:
        diagonal: `[..., n]`, or `[..., diagonals, n]` when `k` names several, the highest first.
        name: the node's name.
        k: the number of the diagonal, 0 for the main one, positive above it; or a pair, the lowest and the highest.
        num_rows, num_cols: the size of the matrices; -1 for the least that the diagonals fit.
        padding_value: what stands outside the band.
        align: where diagonals that are shorter than the longest stand; see the module.

    Returns:
        [..., num_rows, num_cols] tensor of the dtype of `diagonal`.
    """
    if _is_main(k) and num_rows == num_cols == -1 and not isinstance(padding_value, Tensor) and not padding_value:
        return matrix_diag_node(diagonal, name=name)
    return matrix_diag_v3(diagonal, k, num_rows, num_cols, padding_value, align=align, name=name)


@dispatchable
def matrix_diag_part(
    input: TensorLike, name: str = "diag_part", k: TensorLike = 0, padding_value: TensorLike = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """The diagonals `k` of the matrices, `[..., n]`, or packed `[..., diagonals, n]`; arguments as of `matrix_diag`.

    Args:
        input: [..., m, n] tensor of any dtype.
        k: the number of the diagonal, 0 for the main one, positive above it; or a pair, the lowest and the highest.
        padding_value: what fills diagonals that are shorter than the longest.
        align: where those stand, such as 'RIGHT_LEFT': the upper ones at the right, the lower ones at the left.
    """
    if _is_main(k):
        return matrix_diag_part_node(input, name=name)
    return matrix_diag_part_v3(input, k, padding_value, align=align, name=name)


def matrix_set_diag(
    input: TensorLike, diagonal: TensorLike, name: str = "set_diag", k: TensorLike = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """The matrices with other diagonals `k`; arguments as of `matrix_diag`.

    Args:
        input: [..., m, n] tensor of any dtype.
        diagonal: [..., n], or [..., diagonals, n] when `k` names several, of the same dtype.
        k: the number of the diagonal, 0 for the main one, positive above it; or a pair, the lowest and the highest.
        align: where diagonals that are shorter than the longest stand, such as 'RIGHT_LEFT'.
    """
    if _is_main(k):
        return matrix_set_diag_node(input, diagonal, name=name)
    return matrix_set_diag_v3(input, diagonal, k, align=align, name=name)
