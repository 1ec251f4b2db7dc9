"""Conjugate gradients: for linear equations and for linear least squares."""

from __future__ import annotations

from typing import NamedTuple

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.solvers.operators import Applied, dot, l2norm_squared
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros
from weft.ops.array.shape_ops import expand_dims, squeeze
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.linalg.norms import norm
from weft.ops.math.comparison import logical_and


class CGState(NamedTuple):
    """Where conjugate gradients have come to.

    Attributes:
        i: the number of steps, int32.
        x: `[n]`, the solution.
        r: `[n]`, what is left of the right side.
        p: `[n]`, the direction of the next step.
        gamma: `r` times what the preconditioner makes of it; its squared length without one.
    """

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


class CGLSState(NamedTuple):
    """Where conjugate gradients for least squares have come to.

    Attributes:
        i: the number of steps, int32.
        x: `[n]`, the solution.
        r: `[m]`, what is left of the right side.
        p: `[n]`, the direction of the next step.
        gamma: the squared length of the adjoint's product with `r`.
    """

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


def conjugate_gradient(
    operator: Applied, rhs: TensorLike, preconditioner: Applied | None = None, x: TensorLike | None = None,
    tol: float = 1e-4, max_iter: int = 20, name: str = "conjugate_gradient",
) -> CGState:  # fmt: skip
    """Solve `A x = rhs` for a matrix that is its own adjoint and positive definite.

    Args:
        operator: the matrix `[n, n]`, as `create_operator` makes it.
        rhs: `[n]`.
        preconditioner: about the matrix's inverse; the identity when None.
        x: `[n]`, where to begin; zeros when None.
        tol: the end comes where the rest is no longer than this part of the first one.
        max_iter: the greatest number of steps.
        name: the name scope.

    Returns:
        The last state.
    """

    def prepared(r: Tensor) -> Tensor:
        return r if preconditioner is None else preconditioner.apply(r)

    def step(i: Tensor, state: CGState) -> tuple[Tensor, CGState]:
        moved = operator.apply(state.p)
        alpha = state.gamma / dot(state.p, moved)
        r = state.r - alpha * moved
        q = prepared(r)
        gamma = dot(r, q)
        return i + 1, CGState(i + 1, state.x + alpha * state.p, r, q + gamma / state.gamma * state.p, gamma)

    with get_default_graph().name_scope(name):
        wanted = expand_dims(convert_to_tensor(rhs), -1)
        if x is None:
            start, rest = _zeros(operator, wanted), wanted
        else:
            start = expand_dims(convert_to_tensor(x), -1)
            rest = wanted - operator.apply(start)
        first = prepared(rest)
        limit = tol * norm(rest)
        zero = constant(0, dtypes.int32)
        begin = CGState(zero, start, rest, first, dot(rest, first))
        _, last = while_loop(lambda i, state: logical_and(i < max_iter, norm(state.r) > limit), step, [zero, begin])
        return CGState(*_columns(last))


def cgls(operator: Applied, rhs: TensorLike, tol: float = 1e-6, max_iter: int = 20, name: str = "cgls") -> CGLSState:
    """Make `A x - rhs` as short as can be, by conjugate gradients of the normal equations.

    Args:
        operator: the matrix `[m, n]`, as `create_operator` makes it.
        rhs: `[m]`.
        tol: the end comes where the rest of the normal equations is no longer than this part of the first one.
        max_iter: the greatest number of steps.
        name: the name scope.

    Returns:
        The last state.
    """

    def step(i: Tensor, state: CGLSState) -> tuple[Tensor, CGLSState]:
        moved = operator.apply(state.p)
        alpha = state.gamma / l2norm_squared(moved)
        r = state.r - alpha * moved
        s = operator.apply_adjoint(r)
        gamma = l2norm_squared(s)
        return i + 1, CGLSState(i + 1, state.x + alpha * state.p, r, s + gamma / state.gamma * state.p, gamma)

    with get_default_graph().name_scope(name):
        rest = expand_dims(convert_to_tensor(rhs), -1)
        first = operator.apply_adjoint(rest)
        gamma = l2norm_squared(first)
        limit = tol * tol * gamma
        zero = constant(0, dtypes.int32)
        begin = CGLSState(zero, _zeros(operator, rest), rest, first, gamma)
        _, last = while_loop(lambda i, state: logical_and(i < max_iter, state.gamma > limit), step, [zero, begin])
        return CGLSState(*_columns(last))


def _zeros(operator: Applied, like: Tensor) -> Tensor:
    return expand_dims(zeros(operator.shape[1:], like.dtype.base_dtype), -1)


def _columns(state: CGState | CGLSState) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    return state.i, squeeze(state.x), squeeze(state.r), squeeze(state.p), state.gamma
