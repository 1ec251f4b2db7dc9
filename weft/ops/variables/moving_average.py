"""The update of a moving average: a variable that forgets exponentially what it has taken in."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.context import replication
from weft.framework.context.replication import Strategy
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.division import power
from weft.ops.variables.assign import assign, assign_add, assign_sub
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.scopes import get_variable_scope
from weft.ops.variables.variable_scope import variable_scope


def assign_moving_average(
    variable: VariableLike, value: TensorLike, decay: float | Tensor, zero_debias: bool = True, name: str | None = None
) -> VariableLike:
    """`variable = variable * decay + value * (1 - decay)`; the result is the variable after that.

    Args:
        variable: the average.
        value: what it takes in.
        decay: between 0 and 1.
        zero_debias: whether to correct for the zero that the average started from (Kingma and Ba, 2015); needs two more
            variables, `<variable>/biased` and `<variable>/local_step`.
        name: the name of the node.
    """
    with input_scope(name, "AssignMovingAvg", (variable, value, decay)) as scope:
        rate = cast(convert_to_tensor(1.0 - decay, name="decay"), variable.dtype.base_dtype)

        def move(average: VariableLike, new: TensorLike) -> VariableLike:
            if zero_debias:
                return _assign_debiased(average, new, rate, scope)
            return assign_sub(average, (average - new) * rate, name=scope)

        mode = replication.current()
        return move(variable, value) if mode is None else _moved_by_replicas(mode, variable, value, move)


def _moved_by_replicas(
    mode: replication.Mode, variable: VariableLike, value: TensorLike, move: Callable[[VariableLike, TensorLike], VariableLike]
) -> VariableLike:
    """The average that all replicas have together: it takes in the mean of their values."""

    def merge(strategy: Strategy, whole: VariableLike, values: TensorLike) -> VariableLike:
        return strategy.extended.update(whole, move, args=(strategy.extended.reduce_to("mean", values, whole),))

    if mode.replica is not None:
        return mode.replica.merge_call(merge, args=(variable, value))
    if mode.update_device is not None:
        return move(variable, value)
    return mode.strategy.extended.update(variable, move, args=(value,))


def _assign_debiased(variable: VariableLike, value: TensorLike, rate: Tensor, scope: str) -> VariableLike:
    dtype = variable.dtype.base_dtype
    with (
        variable_scope(variable.op.name, values=[variable.value(), value]),
        get_default_graph().colocate_with(variable),
    ):
        biased = get_variable(_free_name("biased"), variable.get_shape(), dtype, initializer=Zeros(), trainable=False)
        steps = get_variable(_free_name("local_step"), [], dtype, initializer=Zeros(), trainable=False)
    total = assign_sub(biased, (biased - value) * rate)
    count = assign_add(steps, 1)
    weight = power(1.0 - rate, count)
    return assign(variable, total / (1 - weight), name=scope)


def _free_name(name: str) -> str:
    """The name, with a suffix when this scope has a variable of that name that may not be shared."""
    scope = get_variable_scope()
    if scope.reuse:
        return name
    taken = {variable.op.name for variable in scope.global_variables()}
    candidate, number = name, 0
    while f"{scope.name}/{candidate}" in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
