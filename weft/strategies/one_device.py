"""OneDeviceStrategy: one replica, and a device for all of it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.types import dtypes
from weft.framework.types.replica_values import Function, StrategyLike, Value
from weft.ops.array.constant import constant
from weft.strategies.context import ReplicaContext, UpdateContext
from weft.strategies.local import LocalReplicas
from weft.strategies.reduction.cross_device_ops import ReductionToOneDevice
from weft.strategies.reduction.reduce_op import ReduceOp
from weft.strategies.replicas.devices import checked_devices
from weft.strategies.replicas.values import local_results
from weft.strategies.strategy import Strategy


class OneDeviceStrategy(Strategy):
    """One replica on one device; to try a program that is written for strategies.

    Args:
        device: the device.
    """

    def __init__(self, device: str) -> None:
        super().__init__(OneDeviceExtended(self, device))


class OneDeviceExtended(LocalReplicas):
    """What OneDeviceStrategy does."""

    def __init__(self, container_strategy: StrategyLike, device: str) -> None:
        super().__init__(container_strategy, checked_devices([device]), ReductionToOneDevice())

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The device."""
        return self._devices

    def create_variable(self, next_creator: Function, **kwargs: Value) -> Value:
        """Make the variable on the device."""
        beside, graph = kwargs.pop("colocate_with", None), get_default_graph()
        where = graph.device(self._devices[0]) if beside is None else graph.colocate_with(beside)
        with where:
            return next_creator(**kwargs)

    def _check_colocation(self, variable: Value) -> None:
        if not self.variable_created_in_scope(variable):
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope(), not: "
                f"{variable!r}"
            )

    def _call_for_each_replica(self, fn: Function, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        graph = get_default_graph()
        with graph.name_scope(None), graph.control_dependencies(None):
            number = constant(0, dtypes.int32)
        with graph.device(self._devices[0]), ReplicaContext(self.strategy, number):
            return fn(*args, **kwargs)

    def _reduce_to(self, reduce_op: ReduceOp, value: Value, destinations: Value) -> Value:
        return value

    def _batch_reduce_to(self, reduce_op: ReduceOp, pairs: list[tuple[Value, Value]]) -> list[Value]:
        return [value for value, _ in pairs]

    def _broadcast_to(self, tensor: Value, destinations: Value) -> Value:
        return tensor

    def _update(
        self,
        var: Value,
        fn: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        is_grouped: bool,
    ) -> Value:
        return self._update_non_slot(var, fn, (var, *args), kwargs, is_grouped)

    def _update_non_slot(
        self,
        colocate_with: Value,
        fn: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        is_grouped: bool,
    ) -> Value:
        where = (
            contextlib.nullcontext() if isinstance(colocate_with, tuple) else get_default_graph().colocate_with(colocate_with)
        )
        with where, UpdateContext(self._devices[0]):
            result = fn(*args, **kwargs)
        return result if is_grouped else nest.map_structure(local_results, result)

    def non_slot_devices(self, var_list: Sequence[Value]) -> Value:
        """The device."""
        return self._devices
