"""AggregatingVariable: a variable on a parameter device, whose updates by replicas become one before they reach it."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import TensorLike, VariableLike
from weft.framework.context import replication
from weft.framework.context.replication import Mode, Strategy
from weft.framework.types.replica_values import Value
from weft.ops.variables.options import VariableAggregation
from weft.ops.variables.resource_variable import ResourceVariable
from weft.strategies.replicas.variables import NO_AGGREGATION, merged_update


class AggregatingVariable(ResourceVariable):
    """A variable that several replicas of one worker share.

    Args:
        strategy: the strategy in whose scope it is made.
        variable: the variable that it wraps.
        aggregation: how values of replicas become one.
    """

    def __init__(self, strategy: Strategy, variable: ResourceVariable, aggregation: VariableAggregation) -> None:
        vars(self).update(vars(variable))
        self._wrapped = variable
        self._aggregation = aggregation
        self.distribute_strategy = strategy

    def get(self) -> ResourceVariable:
        """The variable that it wraps."""
        return self._wrapped

    def assign(
        self, value: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Replace the value; replicas' values become one by the variable's aggregation."""
        return self._updated(lambda wrapped, new: wrapped.assign(new, use_locking, name, read_value), value)

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Add to the value; replicas' values become one by the variable's aggregation."""
        return self._updated(lambda wrapped, new: wrapped.assign_add(new, use_locking, name, read_value), delta)

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> VariableLike:
        """Subtract from the value; replicas' values become one by the variable's aggregation."""
        return self._updated(lambda wrapped, new: wrapped.assign_sub(new, use_locking, name, read_value), delta)

    def _updated(self, change: Callable[[Value, Value], Value], value: TensorLike) -> Value:
        mode = replication.current()
        if mode is None:
            with replication.entered(Mode(self.distribute_strategy)):
                return self._updated(change, value)
        if mode.strategy is not self.distribute_strategy:
            raise RuntimeError(
                f"Mixing different tf.distribute.Strategy objects: {mode.strategy} is not {self.distribute_strategy}"
            )
        if mode.update_device is not None:
            return change(self._wrapped, value)
        if mode.replica is None:
            return mode.strategy.extended.update(self, change, args=(value,))
        if self._aggregation is VariableAggregation.NONE:
            raise ValueError(NO_AGGREGATION.format(kind="AggregatingVariable", name=self.name))
        return mode.replica.merge_call(merged_update(self, change, self._aggregation), args=(value,))
