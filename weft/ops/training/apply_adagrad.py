"""The updates of the Adagrad family, which divide by the root of a sum of squared gradients, and of Adadelta."""

from __future__ import annotations

from typing import Any

from weft.ops.training.apply_descent import shrunk
from weft.ops.training.update_rule import declare_rule


def _adagrad(xp: Any, var: Any, accum: Any, grad: Any, *, lr: Any, update_slots: bool) -> tuple[Any, Any]:
    """`accum += grad^2; var -= lr * grad / sqrt(accum)`."""
    if update_slots:
        accum = accum + grad * grad
    return var - grad * lr / xp.sqrt(accum), accum


def _adagrad_v2(xp: Any, var: Any, accum: Any, grad: Any, *, lr: Any, epsilon: Any, update_slots: bool) -> tuple[Any, Any]:
    """Adagrad with `epsilon` added to the root."""
    if update_slots:
        accum = accum + grad * grad
    return var - grad * lr / (xp.sqrt(accum) + epsilon), accum


def _proximal_adagrad(xp: Any, var: Any, accum: Any, grad: Any, *, lr: Any, l1: Any, l2: Any) -> tuple[Any, Any]:
    """Adagrad, then the proximal step of the l1 and l2 penalties with the same adapted rate."""
    accum = accum + grad * grad
    rate = lr / xp.sqrt(accum)
    return shrunk(xp, var - grad * rate, rate, l1, l2), accum


def _adagrad_da(
    xp: Any,
    var: Any,
    gradient_accumulator: Any,
    gradient_squared_accumulator: Any,
    grad: Any,
    *,
    lr: Any,
    l1: Any,
    l2: Any,
    global_step: Any,
) -> tuple[Any, Any, Any]:
    """Dual averaging: the variable is set anew from the sums of the gradients and of their squares."""
    total = gradient_accumulator + grad
    squares = gradient_squared_accumulator + grad * grad
    step = global_step.astype(var.dtype)
    beyond = xp.sign(total) * xp.maximum(xp.abs(total) - l1 * step, xp.zeros_like(total))
    return -lr * xp.where(l1 > 0, beyond, total) / (l2 * step * lr + xp.sqrt(squares)), total, squares


def _adadelta(
    xp: Any, var: Any, accum: Any, accum_update: Any, grad: Any, *, lr: Any, rho: Any, epsilon: Any
) -> tuple[Any, Any, Any]:
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
