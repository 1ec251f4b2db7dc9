"""Hyperparameters: the numbers that an optimizer is set by, kept as variables so that callbacks can change them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.printed import shown
from weft.networks.config import Config, Hyperparameter
from weft.networks.optimizers.schedules import LearningRateSchedule, serialize_schedule
from weft.networks.state.graph_state import track_variable
from weft.networks.state.sessions import batch_get_value, batch_set_value
from weft.ops.array.constant import constant
from weft.ops.array.identity import identity
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.math.casting import cast
from weft.ops.variables.variable import Variable

# Calling the class makes an object of the kind wanted, with more arguments than the class itself takes.
_new_variable: Final[Callable[..., VariableLike]] = Variable


class Hyperparameters:
    """The hyperparameters of one optimizer: each a number, a tensor, a schedule of the learning rate, or a function of nothing.

    Numbers become variables when the first of them is used.
    """

    def __init__(self) -> None:
        self._values: dict[str, Hyperparameter] = {}
        self.variables: dict[str, VariableLike] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def told(self) -> str:
        """What they were set to; of those that steps may have changed since, which variable has them."""
        return " ".join(f"{name}={shown(self.variables.get(name, value))}" for name, value in self._values.items())

    def set(self, name: str, value: Hyperparameter) -> None:
        """Give a hyperparameter a value."""
        variable = self.variables.get(name)
        if variable is not None and not callable(value):
            batch_set_value([(variable, np.asarray(value))])
        else:
            self._values[name] = value

    def get(self, name: str) -> Nest:
        """A hyperparameter: its variable, which is made now if need be, or the tensor or schedule that it was set to."""
        value = self._values[name]
        if isinstance(value, Tensor | LearningRateSchedule) or callable(value):
            return value
        self.make_variables()
        return self.variables[name]

    def make_variables(self) -> None:
        """Make the variables of all numbers, once."""
        if self.variables:
            return
        for name in sorted(self._values):
            value = self._values[name]
            if not isinstance(value, Tensor) and not callable(value):
                self.variables[name] = scalar_variable(name, float(value))

    def value(self, name: str, dtype: DType) -> Tensor:
        """A hyperparameter as a tensor."""
        given = self._values[name]
        found = given() if callable(given) and not isinstance(given, LearningRateSchedule) else self.get(name)
        return cast(identity(convert_to_tensor(found)), dtype)

    def decayed_rate(self, dtype: DType, iterations: VariableLike, decays: bool) -> Tensor:
        """The learning rate at a step, divided by one plus `decay` times the step if it decays."""
        rate = self._values["learning_rate"]
        step = cast(convert_to_tensor(iterations), dtype)
        current = cast(rate(step), dtype) if isinstance(rate, LearningRateSchedule) else self.value("learning_rate", dtype)
        return current / (1.0 + self.value("decay", dtype) * step) if decays else current

    def plain(self, *names: str) -> Config:
        """Hyperparameters as plain data: their values now, or the config of a schedule."""
        return {name: self._plain(name) for name in names}

    def _plain(self, name: str) -> Nest:
        value = self._values[name]
        if isinstance(value, LearningRateSchedule):
            return serialize_schedule(value)
        variable = self.variables.get(name)
        if variable is not None:
            return float(batch_get_value([variable])[0])
        return value() if callable(value) else value


def scalar_variable(name: str, value: float, kind: DType = dtypes.float32) -> VariableLike:
    """Make a variable of an optimizer that is one number."""
    with init_scope():
        made = _new_variable(lambda: constant(value, kind, name="initial_value"), name=name, trainable=False, use_resource=True)
    track_variable(made)
    return made
