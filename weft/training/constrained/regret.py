"""The two-player optimizers: a multiplier for each constraint, or a matrix that weighs objective and constraints."""

from __future__ import annotations

import math
from typing import ClassVar

from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones, zeros
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.contraction import tensordot
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import exp, log
from weft.ops.variables.variable import Variable
from weft.training.constrained.projections import (
    maximal_eigenvector,
    nearest_log_stochastic,
    nearest_of_bounded_sum,
    nearest_stochastic,
    size_of,
)
from weft.training.constrained.two_players import Payoff, TwoPlayerOptimizer
from weft.training.optimizers.optimizer import Optimizer


class AdditiveExternalRegretOptimizer(TwoPlayerOptimizer):
    """Adds to the objective each constraint times a multiplier that grows as long as the constraint is violated.

    The multipliers are Lagrange's; see Cotter, Jiang and Sridharan, "Two-Player Games for Efficient Non-Convex Constrained
    Optimization", 2018, algorithm 1. Without proxies it ends where the constraints hold; with proxies there may be no end.

    >>> optimizer = tf.contrib.constrained_optimization.AdditiveExternalRegretOptimizer(tf.train.AdamOptimizer(0.01))
    >>> step = optimizer.minimize(problem)

    Args:
        optimizer: changes the model's variables, and the multipliers if there is no other one.
        constraint_optimizer: changes the multipliers.
        maximum_multiplier_radius: what the multipliers sum up to at most; anything when None.

    Raises:
        ValueError: the radius is not above 0.
    """

    _STATE = "external_regret_optimizer_state"

    def __init__(
        self, optimizer: Optimizer, constraint_optimizer: Optimizer | None = None,
        maximum_multiplier_radius: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(optimizer, constraint_optimizer)
        if maximum_multiplier_radius is not None and maximum_multiplier_radius <= 0.0:
            raise ValueError(f"maximum_multiplier_radius must be strictly positive, found {maximum_multiplier_radius}")
        self._radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints: int) -> Tensor:
        return zeros([num_constraints], dtypes.float32)

    def _payoff(self, state: Variable, objective: Tensor, constraints: Tensor, proxies: Tensor) -> Payoff:
        loss = objective + tensordot(cast(state, proxies.dtype), proxies, 1)
        return Payoff(loss, cast(constraints, state.dtype))

    def _projected(self, state: Variable) -> Tensor:
        return nearest_of_bounded_sum(state, self._radius) if self._radius is not None else maximum(state, 0.0)


class _SwapRegretOptimizer(TwoPlayerOptimizer):
    """Weighs the objective and the constraints by the distribution that a matrix of the state leaves as it is."""

    _STATE: ClassVar[str] = "swap_regret_optimizer_state"

    def _matrix(self, state: Variable) -> Tensor | Variable:
        """The matrix, `[m + 1, m + 1]`, of which each column is a distribution."""
        return state

    def _payoff(self, state: Variable, objective: Tensor, constraints: Tensor, proxies: Tensor) -> Payoff:
        # The objective, which comes first, is never violated.
        violations = concat([zeros([1], constraints.dtype), constraints], 0)
        weighed = concat([expand_dims(objective, 0), proxies], 0)
        own = absolute(maximal_eigenvector(self._matrix(state)))
        distribution = own / reduce_sum(own)
        loss = tensordot(cast(distribution, weighed.dtype), weighed, 1)
        gradient = matmul(expand_dims(cast(violations, distribution.dtype), 1), expand_dims(distribution, 0))
        return Payoff(loss, gradient)


class AdditiveSwapRegretOptimizer(_SwapRegretOptimizer):
    """Weighs the objective and the constraints by a matrix that additions change.

    With proxies it ends where the constraints themselves hold; see Cotter, Jiang and Sridharan, 2018, algorithm 2, of which
    the additions are a variant.

    Args:
        optimizer: changes the model's variables, and the matrix if there is no other one.
        constraint_optimizer: changes the matrix.
    """

    def _initial_state(self, num_constraints: int) -> Tensor:
        # All weight is the objective's.
        return concat([ones([1, num_constraints + 1]), zeros([num_constraints, num_constraints + 1])], 0)

    def _projected(self, state: Variable) -> Tensor:
        return nearest_stochastic(state)


class MultiplicativeSwapRegretOptimizer(_SwapRegretOptimizer):
    """Weighs the objective and the constraints by a matrix that factors change: the state is its logarithm.

    See Cotter, Jiang and Sridharan, 2018, algorithm 2.

    Args:
        optimizer: changes the model's variables, and the matrix if there is no other one.
        constraint_optimizer: changes the matrix.
        minimum_multiplier_radius: no element of the matrix is below this through its number of rows; within (0, 1).
        initial_multiplier_radius: through the number of rows what elements of constraints begin with; the minimum when None.

    Raises:
        ValueError: a radius is out of its range.
    """

    def __init__(
        self, optimizer: Optimizer, constraint_optimizer: Optimizer | None = None,
        minimum_multiplier_radius: float = 1e-3, initial_multiplier_radius: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(optimizer, constraint_optimizer)
        least, first = minimum_multiplier_radius, initial_multiplier_radius
        if not 0.0 < least < 1.0:
            raise ValueError(f"minimum_multiplier_radius must be in the range (0,1), found {least}")
        if first is not None and not least <= first <= 1.0:
            raise ValueError(f"initial_multiplier_radius must be in the range [minimum_multiplier_radius,1], found {first}")
        self._least, self._first = least, least if first is None else first

    def _initial_state(self, num_constraints: int) -> Tensor:
        size = num_constraints + 1
        rest = math.log(1.0 - self._first * num_constraints / size)
        first = math.log(self._first / size)
        return concat(
            [constant(rest, dtypes.float32, [1, size]), constant(first, dtypes.float32, [num_constraints, size])], 0
        )  # fmt: skip

    def _matrix(self, state: Variable) -> Tensor | Variable:
        return exp(state)

    def _projected(self, state: Variable) -> Tensor:
        least = log(self._least / cast(size_of(state), dtypes.float32))
        return maximum(nearest_log_stochastic(state), least)
