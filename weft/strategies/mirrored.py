"""MirroredStrategy: a replica on each of this process's devices, whose variables are kept the same."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.types.replica_values import Function, StrategyLike, Value
from weft.ops.array.identity import identity_node
from weft.ops.variables.options import VariableAggregation, VariableSynchronization
from weft.strategies.local import LocalReplicas
from weft.strategies.reduction.cross_device_ops import AllReduceCrossDeviceOps, CrossDeviceOps
from weft.strategies.replicas.devices import checked_devices, gpus_here, local_devices
from weft.strategies.replicas.values import select_device
from weft.strategies.replicas.variables import DistributedVariable, MirroredVariable, SyncOnReadVariable
from weft.strategies.strategy import Strategy


class MirroredStrategy(Strategy):
    """A replica on each of this process's devices, whose variables are kept the same: gradients are summed, updates repeated.

    Args:
        devices: the replicas' devices; all GPUs of this process when None, the CPU where it has none. Several CPU devices
            need a session with `ConfigProto(device_count={"CPU": n})`.
        cross_device_ops: how gradients are summed; AllReduceCrossDeviceOps when None.
    """

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: CrossDeviceOps | None = None) -> None:
        given = local_devices(gpus_here()) if devices is None else devices
        super().__init__(MirroredExtended(self, checked_devices(given), cross_device_ops or AllReduceCrossDeviceOps()))


class ContribMirroredStrategy(Strategy):
    """MirroredStrategy as `tf.contrib.distribute` has it: `num_gpus` says how many, and a dataset's batches are a replica's.

    Args:
        devices: the replicas' devices.
        num_gpus: how many GPUs, instead.
        num_gpus_per_worker: the same by another name.
        cross_device_ops: how gradients are summed.
        auto_shard_dataset: not used.
        cross_tower_ops: the former name of `cross_device_ops`.

    Raises:
        ValueError: more than one of the first three is given, or both of the last.
    """

    def __init__(
        self,
        devices: Sequence[str] | None = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: CrossDeviceOps | None = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: CrossDeviceOps | None = None,
    ) -> None:
        if cross_device_ops is not None and cross_tower_ops is not None:
            raise ValueError("cross_device_ops and cross_tower_ops are two names of one argument: give one of them")
        counts = [each for each in (num_gpus, num_gpus_per_worker) if each is not None]
        if (devices is not None and counts) or len(counts) > 1:
            raise ValueError("You can only specify one of `devices`, `num_gpus` and `num_gpus_per_worker`.")
        if devices is None:
            devices = local_devices(counts[0] if counts else gpus_here())
        ways = cross_device_ops or cross_tower_ops or AllReduceCrossDeviceOps()
        super().__init__(MirroredExtended(self, checked_devices(devices), ways, has_global_batches=False))


class MirroredExtended(LocalReplicas):
    """What MirroredStrategy does.

    Args:
        container_strategy: the strategy.
        devices: the replicas' devices, by full names.
        cross_device_ops: how their values are brought together.
        has_global_batches: whether a dataset's batch is divided among the replicas, rather than one's.
    """

    def __init__(
        self,
        container_strategy: StrategyLike,
        devices: Sequence[str],
        cross_device_ops: CrossDeviceOps,
        has_global_batches: bool = True,
    ) -> None:
        super().__init__(container_strategy, devices, cross_device_ops)
        self._has_global_batches = has_global_batches

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices of the variables."""
        return self._devices

    def non_slot_devices(self, var_list: Sequence[Value]) -> Value:
        """All of the devices."""
        return self._devices

    def _divided(self, dataset: Value) -> Value:
        return super()._divided(dataset) if self._has_global_batches else dataset

    # Variables.

    def create_variable(self, next_creator: Function, **kwargs: Value) -> Value:
        """Make a copy on each device, and the variable that they are together."""
        beside = kwargs.pop("colocate_with", None)
        devices = self._devices if beside is None else beside.devices
        aggregation = _aggregation(kwargs)
        synchronization = _synchronization(kwargs)
        trainable = kwargs["trainable"]
        if trainable is None:
            trainable = synchronization is not VariableSynchronization.ON_READ
        collections = [GraphKeys.GLOBAL_VARIABLES] if kwargs["collections"] is None else list(kwargs["collections"])
        kwargs.update(collections=[], caching_device=None, aggregation=VariableAggregation.NONE)
        copies = self._copies(devices, next_creator, kwargs)
        kind = SyncOnReadVariable if synchronization is VariableSynchronization.ON_READ else MirroredVariable
        made = kind(self.strategy, devices, copies, aggregation)
        _collect(made, collections, trainable)
        return made

    def _copies(self, devices: Sequence[str], next_creator: Function, kwargs: dict[str, Value]) -> list[Value]:
        graph, copies = get_default_graph(), list[Value]()
        for index, device in enumerate(devices):
            with graph.colocate_with(None, ignore_existing=True), graph.device(device):
                copies.append(next_creator(**{**kwargs, **self._of_copy(index, device, copies)}))
        return copies

    def _of_copy(self, index: int, device: str, copies: Sequence[Value]) -> dict[str, Value]:
        """The arguments of a copy that differ from the first one's."""
        if not index:
            return {}

        def initial_value() -> Value:
            with get_default_graph().device(device):
                return identity_node(copies[0].initial_value)

        # The slash makes it the name itself, in whatever name scope.
        return {"initial_value": initial_value, "name": f"{copies[0].op.name}/replica_{index}/"}

    # Updates.

    def _update(
        self,
        var: Value,
        fn: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        is_grouped: bool,
    ) -> Value:
        if not isinstance(var, DistributedVariable):
            var = self.value_container(var)
        if not isinstance(var, DistributedVariable):
            raise ValueError(
                f"extended.update: {var!r} was not made in the scope of {self.strategy}. Make the model under `with "
                "strategy.scope():`."
            )

        def call(device: str) -> Value:
            return fn(var.on(device), *select_device(device, list(args)), **select_device(device, kwargs))

        return self._update_on(var.devices, call, is_grouped)


def _collect(variable: DistributedVariable, collections: list[str], trainable: bool) -> None:
    """Put the variable into its collections, and its copies out of those that they went to by themselves."""
    graph = variable.primary.graph
    if trainable:
        collections.append(GraphKeys.TRAINABLE_VARIABLES)
        known = graph.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
        known[:] = [each for each in known if not any(each is copy for copy in variable.values)]
    graph.add_to_collections(list(dict.fromkeys(collections)), variable)


def _synchronization(kwargs: dict[str, Value]) -> VariableSynchronization:
    given = kwargs["synchronization"]
    if given is VariableSynchronization.NONE:
        raise ValueError(
            "`NONE` variable synchronization mode is not supported with `Mirrored` distribution strategy. Please change the "
            f"`synchronization` for variable: {kwargs['name']}"
        )
    if not isinstance(given, VariableSynchronization):
        raise ValueError(f"Invalid variable synchronization mode: {given} for variable: {kwargs['name']}")
    return given


def _aggregation(kwargs: dict[str, Value]) -> VariableAggregation:
    given = kwargs["aggregation"]
    if given is None:
        return VariableAggregation.NONE
    if not isinstance(given, VariableAggregation):
        raise ValueError(f"Invalid variable aggregation mode: {given} for variable: {kwargs['name']}")
    return given
