"""Moving means, variances and means of exponentials, in variables."""

from __future__ import annotations

from collections.abc import Iterable

from weft.framework.building.aliases import TensorLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType, as_dtype
from weft.ops.array.filling import zeros
from weft.ops.array.identity import identity
from weft.ops.array.stacking import stack
from weft.ops.input_scope import input_scope
from weft.ops.math.reduce_functions import reduce_logsumexp
from weft.ops.math.unary import log, log1p
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.variable import Variable
from weft.ops.variables.variable_scope import variable_scope


def assign_moving_mean_variance(
    mean_var: Variable, variance_var: Variable, value: TensorLike, decay: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Update a moving mean and variance by a value, and give them.

    Args:
        mean_var, variance_var: the variables, of one floating type and shape.
        value: the value.
        decay: how much of the variables stays, from 0 to 1.
        name: the scope's name.

    Returns:
        the mean and the variance after the update.

    Raises:
        TypeError: the variables are of no floating type, or of two.
    """
    with input_scope(name, "assign_moving_mean_variance", [value, decay]):
        kind = _float_of(mean_var)
        if _float_of(variance_var) != kind:
            raise TypeError(f"dtypes differ: the mean is {kind.name}, the variance {variance_var.dtype.base_dtype.name}")
        kept = convert_to_tensor(decay, kind, name="decay")
        given = convert_to_tensor(value, kind, name="value")
        # The variance is about the mean from before the update.
        far = given - identity(mean_var.read_value())
        change = (1.0 - kept) * far
        mean = identity(mean_var.assign_add(change))
        with control_dependencies([mean]):
            variance = variance_var.assign(kept * (variance_var.read_value() + far * change))
        return mean, identity(variance)


def assign_log_moving_mean_exp(
    log_mean_exp_var: Variable, log_value: TensorLike, decay: TensorLike, name: str | None = None
) -> Tensor:
    """Update the logarithm of a moving mean of exponentials by a logarithm, and give it.

    Args:
        log_mean_exp_var: the variable, of a floating type.
        log_value: the logarithm of the value.
        decay: how much of the variable stays, from 0 to 1.
        name: the scope's name.

    Returns:
        the variable's value after the update.

    Raises:
        TypeError: the variable is of no floating type.
    """
    with input_scope(name, "assign_log_moving_mean_exp", [log_value, decay]):
        kind = _float_of(log_mean_exp_var)
        kept = convert_to_tensor(decay, kind, name="decay")
        given = convert_to_tensor(log_value, kind, name="log_value")
        old = log_mean_exp_var.read_value() + log(kept)
        new = given + log1p(-kept)
        return identity(log_mean_exp_var.assign(reduce_logsumexp(stack([old, new]), 0)))


def moving_mean_variance(
    value: TensorLike, decay: TensorLike, collections: Iterable[str] | None = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The moving mean and variance of a tensor, in variables of their own that begin with zeros.

    Args:
        value: floats of a known shape.
        decay: how much of the variables stays, from 0 to 1.
        collections: of the variables; that of the global ones when None.
        name: the scope's name.

    Returns:
        the mean and the variance after an update by the value.
    """
    with variable_scope(name, default_name="moving_mean_variance", values=[value, decay]):
        given = convert_to_tensor(value, name="value")
        kind = given.dtype.base_dtype
        made = [
            get_variable(
                key, initializer=zeros(given.shape, kind), trainable=False,
                collections=None if collections is None else list(collections),
            )
            for key in ("moving_variance", "moving_mean")
        ]  # fmt: skip
        return assign_moving_mean_variance(made[1], made[0], given, decay)


def _float_of(variable: Variable) -> DType:
    kind = as_dtype(variable.dtype).base_dtype
    if not kind.is_floating:
        raise TypeError(f"mean_var.base_dtype({kind.name}) does not have float type: {variable.name!r}")
    return kind
