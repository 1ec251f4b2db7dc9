"""Slots: the variables that an optimizer keeps beside those that it trains."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from weft.framework.building.aliases import Array, Initializer, VariableLike
from weft.framework.context import replication
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType
from weft.networks.state.graph_state import track_variable
from weft.networks.state.sessions import batch_get_value, batch_set_value
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.variables.variable import Variable
from weft.strategies.replicas.variables import DistributedVariable

# Calling the class makes an object of the kind wanted, with more arguments than the class itself takes.
_new_variable: Final[Callable[..., VariableLike]] = Variable


class Slots:
    """The variables of one optimizer, in the order in which they were made: those beside a variable, and others.

    Attributes:
        variables: all of them.
    """

    def __init__(self) -> None:
        self._beside: dict[tuple[Any, str, str], VariableLike] = {}
        self.variables: list[VariableLike] = []

    def keep(self, variable: VariableLike) -> None:
        """Take a variable that belongs to no other, such as the count of steps."""
        self.variables.append(variable)

    def add(self, var: VariableLike, slot_name: str, value: float | Initializer = 0.0) -> VariableLike:
        """Make a variable beside another, of its shape and type, unless it is there; of a number, or as an initializer says."""
        key = (*_place(var), slot_name)
        if key not in self._beside:
            shape, kind = var.shape.as_list(), var.dtype.base_dtype
            with init_scope(), _beside(var):
                made = _new_variable(
                    lambda: _filled(value, shape, kind),
                    name=f"{key[1]}/{slot_name}", trainable=False, use_resource=True,
                )  # fmt: skip
            track_variable(made)
            self._beside[key] = made
            self.variables.append(made)
        return self._beside[key]

    def add_own(self, name: str, shape: list[int], kind: DType, value: float | Initializer) -> VariableLike:
        """Make a variable that stands beside no other."""
        with init_scope():
            made = _new_variable(lambda: _filled(value, shape, kind), name=name, trainable=False, use_resource=True)
        track_variable(made)
        self.variables.append(made)
        return made

    def get(self, var: VariableLike, slot_name: str) -> VariableLike:
        """The slot of a variable; KeyError when there is none."""
        return self._beside[(*_place(var), slot_name)]

    def names(self) -> list[str]:
        """The names of the slots that were made."""
        return list(dict.fromkeys(name for _, _, name in self._beside))

    def values(self) -> list[Array]:
        """The values of all variables."""
        return batch_get_value(self.variables)

    def set_values(self, values: Sequence[Array], owner: str) -> None:
        """Give all variables values; ValueError, which names the owner, when number or shapes differ."""
        if len(self.variables) != len(values):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {owner} with a  weight list of length {len(values)}, but "
                f"the optimizer was expecting {len(self.variables)} weights. Provided weights: {str(values)[:50]}..."
            )
        for variable, value in zip(self.variables, values, strict=True):
            if tuple(variable.shape.as_list()) != np.shape(value):
                raise ValueError(
                    f"Optimizer weight shape {tuple(variable.shape.as_list())} not compatible with provided weight shape "
                    f"{np.shape(value)}"
                )
        batch_set_value(list(zip(self.variables, values, strict=True)))


def _filled(value: float | Initializer, shape: list[int], kind: DType) -> Tensor:
    """The first value of a slot."""
    if callable(value):
        made: Tensor = value(shape, dtype=kind)  # type: ignore[assignment]  # as initializers give it
        return made
    return constant(value, kind, shape) if value else zeros(shape, kind)


def _place(var: VariableLike) -> tuple[Any, str]:
    """The graph and the name of a variable, the same for the whole of a variable with copies and for each of these."""
    whole = var if isinstance(var, DistributedVariable) else DistributedVariable.of(var)
    return (var.graph, var.op.name) if whole is None else (whole.primary.graph, whole.shared_name)


def _beside(var: VariableLike) -> contextlib.AbstractContextManager[object]:
    """Make variables where another is, with a copy on each of its devices."""
    mode = replication.current()
    if mode is not None and isinstance(var, DistributedVariable):
        return mode.strategy.extended.colocate_vars_with(var)
    return get_default_graph().colocate_with(var.op)
