"""The updates of FTRL-Proximal (McMahan et al., Ad Click Prediction, 2013)."""

from __future__ import annotations

from weft.framework.building.aliases import Array, ArrayModule
from weft.ops.training.update_rule import declare_rule


def _ftrl(
    xp: ArrayModule,
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    *,
    lr: Array,
    l1: Array,
    l2: Array,
    lr_power: Array,
    multiply_linear_by_lr: bool,
) -> tuple[Array, Array, Array]:
    """The variable is set anew from the linear sum, and is zero while that is within l1."""
    return _followed(xp, var, accum, linear, grad, grad, lr, l1, l2, lr_power, multiply_linear_by_lr)


def _ftrl_v2(
    xp: ArrayModule,
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    *,
    lr: Array,
    l1: Array,
    l2: Array,
    l2_shrinkage: Array,
    lr_power: Array,
    multiply_linear_by_lr: bool,
) -> tuple[Array, Array, Array]:
    """FTRL with an l2 penalty on the magnitude, added to the gradient of the linear sum."""
    pulled = grad + 2 * l2_shrinkage * var
    return _followed(xp, var, accum, linear, grad, pulled, lr, l1, l2, lr_power, multiply_linear_by_lr)


def _followed(
    xp: ArrayModule,
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    pulled: Array,
    lr: Array,
    l1: Array,
    l2: Array,
    lr_power: Array,
    multiply_linear_by_lr: bool,
) -> tuple[Array, Array, Array]:
    new_accum = accum + grad * grad
    new_root, root = _root(xp, new_accum, lr_power), _root(xp, accum, lr_power)
    if multiply_linear_by_lr:
        # The linear sum is kept multiplied by the learning rate, so that a rate of zero divides nothing.
        linear = linear + pulled * lr - (new_root - root) * var
        bound, scale = l1 * lr, new_root + 2 * l2 * lr
    else:
        linear = linear + pulled - (new_root - root) / lr * var
        bound, scale = l1, new_root / lr + 2 * l2
    new_var = xp.where(xp.abs(linear) > bound, (bound * xp.sign(linear) - linear) / scale, xp.zeros_like(linear))
    return new_var, new_accum, linear


def _root(xp: ArrayModule, accum: Array, lr_power: Array) -> Array:
    # A square root is more exact than the power of 0.5 that nearly all programs ask for.
    return xp.where(lr_power == -0.5, xp.sqrt(accum), xp.power(accum, -lr_power))


_STATES = ("var", "accum", "linear")

ftrl = declare_rule("Ftrl", _ftrl, _STATES, ("grad", "lr", "l1", "l2", "lr_power"), multiply_linear_by_lr=False)
ftrl_v2 = declare_rule(
    "FtrlV2", _ftrl_v2, _STATES, ("grad", "lr", "l1", "l2", "l2_shrinkage", "lr_power"), multiply_linear_by_lr=False
)
