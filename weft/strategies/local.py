"""What the strategies of one process share: replicas on local devices, reduced by cross-device operations."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

from weft.framework.graphs.graph import get_default_graph
from weft.framework.types.replica_values import Function, StrategyLike, Value
from weft.strategies.context import UpdateContext
from weft.strategies.extended import StrategyExtended
from weft.strategies.input.iterators import DistributedDataset, InputContext, ReplicaIterator, dataset_of, divided
from weft.strategies.reduction.cross_device_ops import CrossDeviceOps, broadcast
from weft.strategies.reduction.reduce_op import ReduceOp
from weft.strategies.replicas.devices import cpus_needed
from weft.strategies.replicas.threads import call_for_each_replica
from weft.strategies.replicas.values import DistributedValues, Mirrored, results_of_updates, select_device
from weft.strategies.replicas.variables import DistributedVariable


class LocalReplicas(StrategyExtended):
    """Replicas on devices of this process.

    Args:
        container_strategy: the strategy.
        devices: the replicas' devices, by full names.
        cross_device_ops: how their values are brought together.
    """

    def __init__(self, container_strategy: StrategyLike, devices: Sequence[str], cross_device_ops: CrossDeviceOps) -> None:
        super().__init__(container_strategy)
        self._devices = tuple(devices)
        self._cross_device_ops = cross_device_ops

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas' gradients are brought together."""
        return len(self._devices)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of the replicas."""
        return self._devices

    @property
    def input_context(self) -> InputContext:
        """This worker's place, as input functions get it."""
        return InputContext(num_replicas_in_sync=self.num_replicas_in_sync)

    @property
    def first_id(self) -> int:
        """The number of this process's first replica among all that are in sync."""
        return 0

    def _call_for_each_replica(self, fn: Function, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        return call_for_each_replica(self.strategy, self._devices, fn, args, kwargs, self.first_id)

    def _reduce_to(self, reduce_op: ReduceOp, value: Value, destinations: Value) -> Value:
        if isinstance(value, Mirrored) and reduce_op is ReduceOp.MEAN:
            return value
        if not isinstance(value, DistributedValues | DistributedVariable):
            return self._reduced_alike(reduce_op, value, destinations)
        return self._cross_device_ops.reduce(reduce_op, value, destinations)

    def _reduced_alike(self, reduce_op: ReduceOp, value: Value, destinations: Value) -> Value:
        """The reduction of what all replicas have in common."""
        if not hasattr(value, "dtype") and isinstance(value, int | float) and value == 0:
            return 0
        if reduce_op is ReduceOp.MEAN:
            return value
        if self.num_replicas_in_sync != 1:
            raise ValueError(f"A non-DistributedValues value {value} cannot be reduced with the given reduce op {reduce_op}.")
        return broadcast(value, destinations)

    def reduced_here(self, reduce_op: ReduceOp, value: Value, destinations: Value) -> Value:
        """The sum or mean of the values of this process's replicas."""
        return self._reduce_to(reduce_op, value, destinations)

    def _batch_reduce_to(self, reduce_op: ReduceOp, pairs: list[tuple[Value, Value]]) -> list[Value]:
        return self._cross_device_ops.batch_reduce(reduce_op, pairs)

    def _broadcast_to(self, tensor: Value, destinations: Value) -> Value:
        return tensor if isinstance(tensor, int | float) else self._cross_device_ops.broadcast(tensor, destinations)

    def _update_on(self, devices: Sequence[str], call: Callable[[str], Value], is_grouped: bool) -> Value:
        """Call a function for each device, on it, and bring the results together."""
        graph, updates = get_default_graph(), []
        for index, device in enumerate(devices):
            with (
                graph.colocate_with(None, ignore_existing=True), graph.device(device), UpdateContext(device),
                graph.name_scope(f"update_{index}"),
            ):  # fmt: skip
                updates.append(call(device))
        return results_of_updates(devices, updates, is_grouped)

    def _update_non_slot(
        self,
        colocate_with: Value,
        fn: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        is_grouped: bool,
    ) -> Value:
        def call(device: str) -> Value:
            return fn(*select_device(device, list(args)), **select_device(device, kwargs))

        return self._update_on(colocate_with, call, is_grouped)

    # Input.

    def make_dataset_iterator(self, dataset: Value) -> Value:
        """An iterator of a dataset, each of whose batches is divided among all replicas."""
        return ReplicaIterator(self._divided(dataset), self._devices)

    def make_input_fn_iterator(self, input_fn: Function) -> Value:
        """An iterator of the dataset that `input_fn(input_context)` gives, of which each replica takes whole batches."""
        with get_default_graph().device("/device:CPU:0"):
            dataset = dataset_of(input_fn, self.input_context)
        return ReplicaIterator(dataset, self._devices)

    def distribute_dataset(self, dataset: Value) -> Value:
        """The dataset, each of whose batches is divided among all replicas."""
        return DistributedDataset(self._divided(dataset), self._devices)

    def distribute_datasets_from_function(self, dataset_fn: Function) -> Value:
        """The dataset that `dataset_fn(input_context)` gives, of which each replica takes whole batches."""
        return DistributedDataset(dataset_of(dataset_fn, self.input_context), self._devices)

    def _divided(self, dataset: Value) -> Value:
        with get_default_graph().device("/device:CPU:0"):
            return divided(dataset, len(self._devices))

    # The session.

    def update_config_proto(self, config_proto: Value) -> Value:
        """A copy of a ConfigProto with as many logical CPU devices as the replicas name."""
        config = copy.deepcopy(config_proto)
        needed = cpus_needed(self._devices)
        if needed > max(config.device_count.get("CPU", 1), 1):
            config.device_count["CPU"] = needed
        return config
