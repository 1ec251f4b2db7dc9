"""The updates of the Adagrad family, which divide by the root of a sum of squared gradients, and of Adadelta."""

from __future__ import annotations

from weft.framework.building.aliases import Array, ArrayModule
from weft.ops.training.apply_descent import shrunk
from weft.ops.training.update_rule import declare_rule


def _adagrad(xp: ArrayModule, var: Array, accum: Array, grad: Array, *, lr: Array, update_slots: bool) -> tuple[Array, Array]:
    """`accum += grad^2; var -= lr * grad / sqrt(accum)`."""
    if update_slots:
        accum = accum + grad * grad
    return var - grad * lr / xp.sqrt(accum), accum


def _adagrad_v2(
    xp: ArrayModule, var: Array, accum: Array, grad: Array, *, lr: Array, epsilon: Array, update_slots: bool
) -> tuple[Array, Array]:
    """Adagrad with `epsilon` added to the root."""
    if update_slots:
        accum = accum + grad * grad
    return var - grad * lr / (xp.sqrt(accum) + epsilon), accum


def _proximal_adagrad(
    xp: ArrayModule, var: Array, accum: Array, grad: Array, *, lr: Array, l1: Array, l2: Array
) -> tuple[Array, Array]:
    """Adagrad, then the proximal step of the l1 and l2 penalties with the same adapted rate."""
    accum = accum + grad * grad
    rate = lr / xp.sqrt(accum)
    return shrunk(xp, var - grad * rate, rate, l1, l2), accum


def _adagrad_da(
    xp: ArrayModule,
    var: Array,
    gradient_accumulator: Array,
    gradient_squared_accumulator: Array,
    grad: Array,
    *,
    lr: Array,
    l1: Array,
    l2: Array,
    global_step: Array,
) -> tuple[Array, Array, Array]:
    """Dual averaging: the variable is set anew from the sums of the gradients and of their squares."""
    total = gradient_accumulator + grad
    squares = gradient_squared_accumulator + grad * grad
    step = global_step.astype(var.dtype)
    beyond = xp.sign(total) * xp.maximum(xp.abs(total) - l1 * step, xp.zeros_like(total))
    return -lr * xp.where(l1 > 0, beyond, total) / (l2 * step * lr + xp.sqrt(squares)), total, squares


def _adadelta(
    xp: ArrayModule, var: Array, accum: Array, accum_update: Array, grad: Array, *, lr: Array, rho: Array, epsilon: Array
) -> tuple[Array, Array, Array]:
    """The step is the gradient times the ratio of the roots of the averages of squared steps and gradients."""
    accum = accum * rho + grad * grad * (1 - rho)
    update = xp.sqrt(accum_update + epsilon) / xp.sqrt(accum + epsilon) * grad
    return var - update * lr, accum, accum_update * rho + update * update * (1 - rho)


adagrad = declare_rule("Adagrad", _adagrad, ("var", "accum"), ("lr", "grad"), update_slots=True)
adagrad_v2 = declare_rule("AdagradV2", _adagrad_v2, ("var", "accum"), ("lr", "epsilon", "grad"), update_slots=True)
proximal_adagrad = declare_rule("ProximalAdagrad", _proximal_adagrad, ("var", "accum"), ("lr", "l1", "l2", "grad"))
adagrad_da = declare_rule(
    "AdagradDA",
    _adagrad_da,
    ("var", "gradient_accumulator", "gradient_squared_accumulator"),
    ("grad", "lr", "l1", "l2", "global_step"),
)
adadelta = declare_rule("Adadelta", _adadelta, ("var", "accum", "accum_update"), ("lr", "rho", "epsilon", "grad"))
