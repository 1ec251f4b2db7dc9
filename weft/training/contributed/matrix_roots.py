"""Roots of symmetric positive semidefinite matrices by iterations of matrix products alone."""

from __future__ import annotations

from typing import cast as typed

from weft.framework.nodes.operation import Tensor
from weft.ops.array.identity import identity as copy_of
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.linalg.matrix_parts import eye
from weft.ops.linalg.norms import norm
from weft.ops.math.comparison import greater, less, logical_and
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.division import power
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_max
from weft.ops.math.unary import sqrt


def square_root(matrix: Tensor, size: int, iter_count: int = 100, ridge_epsilon: float = 1e-4) -> Tensor:
    """The square root by coupled Newton iterations (Higham, 1997), until they get no nearer.

    Args:
        matrix: [size, size], symmetric and positive semidefinite.
        size: its number of rows.
        iter_count: the most iterations.
        ridge_epsilon: added to the diagonal.

    Returns:
        [size, size].
    """
    one = eye(size, dtype=matrix.dtype)
    damped = matrix + ridge_epsilon * one
    scale = norm(damped)

    def goes_on(count: Tensor, _y: Tensor, _last: Tensor, _z: Tensor, error: Tensor, last_error: Tensor) -> Tensor:
        return logical_and(less(count, iter_count), less(error, last_error))

    def step(count: Tensor, y: Tensor, _last: Tensor, z: Tensor, error: Tensor, _last_error: Tensor) -> tuple[Tensor, ...]:
        factor = 0.5 * (3.0 * one - matmul(z, y))
        nearer = matmul(y, factor)
        root = nearer * sqrt(scale)
        return count + 1, nearer, y, matmul(factor, z), norm(damped - matmul(root, root)) / scale, error

    first = damped / scale
    # The last iterate but one: the one behind it is what got no nearer.
    last = while_loop(goes_on, step, [copy_of(0), first, first, one, scale, scale + 1.0])[2]
    return typed("Tensor", last * sqrt(scale))


def inverse_root(
    matrix: Tensor, size: int, exponent: float, iter_count: int = 100, epsilon: float = 1e-6, ridge_epsilon: float = 1e-6
) -> Tensor:
    """The power of a negative unit fraction, by the Schur-Newton iteration (Guo and Higham, 2006).

    Args:
        matrix: [size, size], symmetric and positive semidefinite.
        size: its number of rows.
        exponent: -1/p for a whole p.
        iter_count: the most iterations.
        epsilon: the distance from the identity at which iterations end.
        ridge_epsilon: added to the diagonal.

    Returns:
        [size, size].

    Raises:
        ValueError: -1 / exponent is not a positive whole number.
    """
    inverse = round(-1.0 / exponent)
    if inverse < 1 or abs(-1.0 / exponent - inverse) > 1e-6:
        raise ValueError(
            f"Iterations find roots: the exponent must be -1/p for a positive whole p, got {exponent}; "
            "take use_iterative_root=False"
        )
    if size == 1:
        return power(matrix + ridge_epsilon, exponent)
    one = eye(size, dtype=matrix.dtype)
    damped = matrix + ridge_epsilon * one
    start = (1 + inverse) / (2 * norm(damped))

    def goes_on(count: Tensor, rest: Tensor, _root: Tensor) -> Tensor:
        return logical_and(less(count, iter_count), greater(reduce_max(absolute(rest - one)), epsilon))

    def step(count: Tensor, rest: Tensor, root: Tensor) -> tuple[Tensor, ...]:
        factor = (1 - exponent) * one + exponent * rest
        return count + 1, matmul(_whole_power(factor, inverse), rest), matmul(root, factor)

    return typed("Tensor", while_loop(goes_on, step, [copy_of(0), damped * start, one * power(start, -exponent)])[2])


def _whole_power(matrix: Tensor, exponent: int) -> Tensor:
    if exponent == 1:
        return matrix
    half = _whole_power(matrix, exponent // 2)
    squared = matmul(half, half)
    return matmul(matrix, squared) if exponent % 2 else squared
