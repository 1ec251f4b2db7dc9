"""The updates of plain, proximal and momentum gradient descent."""

from __future__ import annotations

from weft.framework.building.aliases import Array, ArrayModule
from weft.ops.training.update_rule import declare_rule


def _gradient_descent(xp: ArrayModule, var: Array, delta: Array, *, alpha: Array) -> tuple[Array]:
    """`var - alpha * delta`."""
    return (var - alpha * delta,)


def _momentum(
    xp: ArrayModule, var: Array, accum: Array, grad: Array, *, lr: Array, momentum: Array, use_nesterov: bool
) -> tuple[Array, Array]:
    """The accumulator decays by `momentum` and takes the gradient in; the variable follows it, or looks ahead."""
    accum = accum * momentum + grad
    if use_nesterov:
        return var - (grad * lr + accum * momentum * lr), accum
    return var - accum * lr, accum


def _keras_momentum(
    xp: ArrayModule, var: Array, accum: Array, grad: Array, *, lr: Array, momentum: Array, use_nesterov: bool
) -> tuple[Array, Array]:
    """Momentum with the learning rate inside the accumulator."""
    accum = accum * momentum - grad * lr
    return var + (accum * momentum - grad * lr if use_nesterov else accum), accum


def shrunk(xp: ArrayModule, value: Array, step: Array, l1: Array, l2: Array) -> Array:
    """The proximal step: towards zero by `step * l1`, then divided by `1 + step * l2`."""
    towards_zero = xp.sign(value) * xp.maximum(xp.abs(value) - step * l1, xp.zeros_like(value))
    return xp.where(l1 > 0, towards_zero, value) / (1 + l2 * step)


def _proximal_gradient_descent(
    xp: ArrayModule, var: Array, delta: Array, *, alpha: Array, l1: Array, l2: Array
) -> tuple[Array]:
    """Gradient descent, then the proximal step of the l1 and l2 penalties."""
    return (shrunk(xp, var - delta * alpha, alpha, l1, l2),)


gradient_descent = declare_rule(
    "GradientDescent", _gradient_descent, ("var",), ("alpha", "delta"), gradient="delta", has_sparse=False
)
momentum = declare_rule("Momentum", _momentum, ("var", "accum"), ("lr", "grad", "momentum"), use_nesterov=False)
keras_momentum = declare_rule(
    "KerasMomentum", _keras_momentum, ("var", "accum"), ("lr", "grad", "momentum"), has_ref=False, use_nesterov=False
)
proximal_gradient_descent = declare_rule(
    "ProximalGradientDescent", _proximal_gradient_descent, ("var",), ("alpha", "l1", "l2", "delta"), gradient="delta"
)
