"""The updates that keep running averages of gradients: Adam and its relatives, RMSProp, AddSign and PowerSign."""

from __future__ import annotations

from weft.framework.building.aliases import Array, ArrayModule
from weft.ops.training.update_rule import declare_rule


def _corrected(xp: ArrayModule, lr: Array, beta1_power: Array, beta2_power: Array) -> Array:
    """The learning rate with the correction for averages that started at zero."""
    return lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)


def _adam(
    xp: ArrayModule,
    var: Array,
    m: Array,
    v: Array,
    grad: Array,
    *,
    beta1_power: Array,
    beta2_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
    use_nesterov: bool,
) -> tuple[Array, Array, Array]:
    """Averages of the gradient and its square; the step is their ratio (Kingma and Ba, before section 2.1)."""
    rate = _corrected(xp, lr, beta1_power, beta2_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    direction = grad * (1 - beta1) + beta1 * m if use_nesterov else m
    return var - direction * rate / (xp.sqrt(v) + epsilon), m, v


def _adam_with_amsgrad(
    xp: ArrayModule,
    var: Array,
    m: Array,
    v: Array,
    vhat: Array,
    grad: Array,
    *,
    beta1_power: Array,
    beta2_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
) -> tuple[Array, Array, Array, Array]:
    """Adam that divides by the greatest average so far."""
    rate = _corrected(xp, lr, beta1_power, beta2_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    vhat = xp.maximum(vhat, v)
    return var - m * rate / (xp.sqrt(vhat) + epsilon), m, v, vhat


def _ada_max(
    xp: ArrayModule,
    var: Array,
    m: Array,
    v: Array,
    grad: Array,
    *,
    beta1_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
) -> tuple[Array, Array, Array]:
    """Adam with the infinity norm in place of the second average."""
    m = m + (grad - m) * (1 - beta1)
    before, now = beta2 * v, xp.abs(grad)
    # A gradient that is NaN leaves the greatest as it is, as in TensorFlow.
    v = xp.where(before < now, now, before)
    return var - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


def _rms_prop(
    xp: ArrayModule, var: Array, ms: Array, mom: Array, grad: Array, *, lr: Array, rho: Array, momentum: Array, epsilon: Array
) -> tuple[Array, Array, Array]:
    """Momentum on the gradient divided by the root of its average square."""
    ms = ms + (grad * grad - ms) * (1 - rho)
    mom = mom * momentum + grad * lr / xp.sqrt(ms + epsilon)
    return var - mom, ms, mom


def _centered_rms_prop(
    xp: ArrayModule,
    var: Array,
    mg: Array,
    ms: Array,
    mom: Array,
    grad: Array,
    *,
    lr: Array,
    rho: Array,
    momentum: Array,
    epsilon: Array,
) -> tuple[Array, Array, Array, Array]:
    """RMSProp that divides by the root of the estimated variance."""
    ms = ms + (grad * grad - ms) * (1 - rho)
    mg = mg + (grad - mg) * (1 - rho)
    mom = mom * momentum + grad * lr / xp.sqrt(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


def _add_sign(
    xp: ArrayModule, var: Array, m: Array, grad: Array, *, lr: Array, alpha: Array, sign_decay: Array, beta: Array
) -> tuple[Array, Array]:
    """A larger step where gradient and average agree in sign."""
    m = m * beta + grad * (1 - beta)
    return var - lr * (alpha + sign_decay * xp.sign(grad) * xp.sign(m)) * grad, m


def _power_sign(
    xp: ArrayModule, var: Array, m: Array, grad: Array, *, lr: Array, logbase: Array, sign_decay: Array, beta: Array
) -> tuple[Array, Array]:
    """A step scaled by a power whose sign is the agreement of gradient and average."""
    m = m * beta + grad * (1 - beta)
    return var - lr * xp.exp(logbase * sign_decay * xp.sign(grad) * xp.sign(m)) * grad, m


_ADAM = ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad")
_RMS = ("lr", "rho", "momentum", "epsilon", "grad")

adam = declare_rule("Adam", _adam, ("var", "m", "v"), _ADAM, has_sparse=False, use_nesterov=False)
adam_with_amsgrad = declare_rule(
    "AdamWithAmsgrad", _adam_with_amsgrad, ("var", "m", "v", "vhat"), _ADAM, has_ref=False, has_sparse=False
)
ada_max = declare_rule(
    "AdaMax", _ada_max, ("var", "m", "v"), ("beta1_power", "lr", "beta1", "beta2", "epsilon", "grad"), has_sparse=False
)
rms_prop = declare_rule("RMSProp", _rms_prop, ("var", "ms", "mom"), _RMS)
centered_rms_prop = declare_rule("CenteredRMSProp", _centered_rms_prop, ("var", "mg", "ms", "mom"), _RMS)
add_sign = declare_rule("AddSign", _add_sign, ("var", "m"), ("lr", "alpha", "sign_decay", "beta", "grad"), has_sparse=False)
power_sign = declare_rule(
    "PowerSign", _power_sign, ("var", "m"), ("lr", "logbase", "sign_decay", "beta", "grad"), has_sparse=False
)
