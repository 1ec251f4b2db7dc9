"""The forms of MatrixExponential and of its derivative: TensorFlow has the op's name alone, and its own layer writes other ops.

A matrix is halved until a rational approximation (Higham 2005) holds, and the result is squared as often.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.joining import concat
from weft.ops.array.selection import select_v2_node
from weft.ops.array.shape_ops import expand_dims, shape
from weft.ops.array.transposing import matrix_transpose
from weft.ops.linalg.decompositions import matrix_solve
from weft.ops.linalg.matrix_functions import matrix_exponential
from weft.ops.linalg.matrix_parts import matrix_diag_part_node, matrix_set_diag_node
from weft.ops.math.casting import cast
from weft.ops.math.clip import clip_by_value
from weft.ops.math.comparison import greater
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.division import div, pow_node
from weft.ops.math.elementwise import add, conj_if_complex, mul, sub
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_max, reduce_sum
from weft.ops.math.unary import ceil, log
from weft.ops.tensorflow_forms.derivatives import derivative
from weft.ops.tensorflow_forms.form import form

_MOST_SQUARINGS: Final = 20
# The coefficients of the approximation's numerator, from the one of the unit matrix on, and up to which norm it holds.
_SINGLE: Final = ((17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0), 3.925724783138660)
_DOUBLE: Final = ((
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
), 5.371920351148152)  # fmt: skip


def _sum(parts: Sequence[Tensor]) -> Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    return total


def _approximation(matrix: Tensor, coefficients: Sequence[float]) -> Tensor:
    unit = matrix_set_diag_node(zeros_like(matrix), ones_like(matrix_diag_part_node(matrix)))
    square = matmul(matrix, matrix)
    powers = [unit, square]
    while 2 * len(powers) < len(coefficients):
        powers.append(matmul(powers[-1], square))
    numbers = [cast(each, matrix.dtype) for each in coefficients]
    odd = matmul(matrix, _sum([mul(each, number) for each, number in zip(powers, numbers[1::2], strict=True)]))
    even = _sum([mul(each, number) for each, number in zip(powers, numbers[::2], strict=True)])
    return matrix_solve(sub(even, odd), add(even, odd))


def _exponential(matrix: Tensor) -> Tensor:
    is_single = matrix.dtype.base_dtype in (dtypes.float32, dtypes.complex64)
    coefficients, bound = _SINGLE if is_single else _DOUBLE
    norm = reduce_max(reduce_sum(absolute(matrix), -2), -1)
    doublings = ceil(div(log(div(norm, cast(bound, norm.dtype))), cast(math.log(2), norm.dtype)))
    times = expand_dims(expand_dims(clip_by_value(doublings, 0.0, float(_MOST_SQUARINGS)), -1), -1)
    made = _approximation(div(matrix, cast(pow_node(cast(2.0, norm.dtype), times), matrix.dtype)), coefficients)
    for number in range(_MOST_SQUARINGS):
        made = select_v2_node(greater(times, cast(float(number), times.dtype)), matmul(made, made), made)
    return made


@form(matrix_exponential)
def _matrix_exponential(node: Operation, matrix: Tensor) -> Tensor:
    return _exponential(matrix)


@derivative(matrix_exponential)
def _matrix_exponential_gradient(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor]:
    # Of a matrix in blocks, with the matrix twice on the diagonal and a direction above, the exponential has the derivative
    # in that direction above.
    turned = conj_if_complex(matrix_transpose(inputs[0]))
    upper, lower = concat([turned, grads[0]], -1), concat([zeros_like(turned), turned], -1)
    size = shape(turned)[-1]
    return {0: _exponential(concat([upper, lower], -2))[..., :size, size:]}
