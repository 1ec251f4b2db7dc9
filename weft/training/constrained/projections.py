"""The nearest allowed weights: nonnegative ones of a bounded sum, and stochastic matrices; and a matrix's own vector."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.nodes.operation import Tensor
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like
from weft.ops.array.shape_ops import expand_dims
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.linalg.norms import norm
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater, less, logical_and, maximum, minimum, not_equal
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_any, reduce_max, reduce_sum
from weft.ops.math.unary import exp, log
from weft.ops.variables.variable import Variable

_Moved = Callable[[Tensor | Variable, Tensor], Tensor]


def size_of(state: Tensor | Variable) -> int:
    """How many rows a state of a known shape has."""
    size = state.shape.as_list()[0]
    assert size is not None
    return size


def nearest_of_bounded_sum(weights: Tensor | Variable, bound: float) -> Tensor:
    """The nearest weights that are not negative and have a sum of `bound` at most: `[m] -> [m]`."""

    def moved(found: Tensor | Variable, positive: Tensor) -> Tensor:
        return minimum((bound - reduce_sum(found)) / maximum(reduce_sum(positive), 1.0), 0.0)

    return _settled(weights, size_of(weights), moved)


def nearest_stochastic(matrix: Tensor | Variable) -> Tensor:
    """The nearest matrix of which each column is a distribution: `[n, n] -> [n, n]`."""

    def moved(found: Tensor | Variable, positive: Tensor) -> Tensor:
        lacking = 1.0 - reduce_sum(found, axis=0, keepdims=True)
        return lacking / maximum(reduce_sum(positive, axis=0, keepdims=True), 1.0)

    return _settled(matrix, size_of(matrix), moved)


def _settled(weights: Tensor | Variable, most: int, moved: _Moved) -> Tensor:
    """Move what is above zero, and cut off what is below, until no more is cut off: after `most` times it is so."""

    def again(count: Tensor, found: Tensor | Variable, positive: Tensor, before: Tensor) -> tuple[Tensor, ...]:
        found = found + moved(found, positive) * positive
        now = cast(greater(found, 0.0), found.dtype)
        return count + 1, found * now, now, positive

    def goes_on(count: Tensor, found: Tensor | Variable, positive: Tensor, before: Tensor) -> Tensor:
        return logical_and(less(count, most), reduce_any(not_equal(positive, before)))

    everywhere = ones_like(weights)
    first = again(constant(0), weights, everywhere, everywhere)
    result: Tensor = while_loop(goes_on, again, first, name="euclidean_projection")[1]
    return result


def nearest_log_stochastic(logs: Tensor | Variable) -> Tensor:
    """The matrix of logarithms, nearest by divergence, of which each column is a distribution's: `[n, n] -> [n, n]`."""
    below = logs - reduce_max(logs, axis=0, keepdims=True)
    return below - log(reduce_sum(exp(below), axis=0, keepdims=True))


def maximal_eigenvector(matrix: Tensor | Variable, epsilon: float = 1e-6, most: int = 100) -> Tensor:
    """The eigenvector of the largest eigenvalue, of length 1, by the power method: `[n, n] -> [n]`."""

    def again(count: Tensor, vector: Tensor, before: Tensor) -> tuple[Tensor, ...]:
        longer = matmul(matrix, expand_dims(vector, 1))[:, 0]
        return count + 1, longer / norm(longer), vector

    def goes_on(count: Tensor, vector: Tensor, before: Tensor) -> Tensor:
        return logical_and(less(count, most), greater(norm(vector - before), epsilon))

    ones = ones_like(matrix[:, 0])
    even = ones / norm(ones)
    result: Tensor = while_loop(goes_on, again, again(constant(0), even, even), name="power_method")[1]
    return result
