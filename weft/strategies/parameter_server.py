"""ParameterServerStrategy and CentralStorageStrategy: replicas that share variables which are kept in one place each."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from weft.framework.devices.cluster_spec import ClusterSpec
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.types.replica_values import Function, StrategyLike, Value
from weft.ops.variables.options import VariableAggregation, VariableSynchronization
from weft.strategies.cluster_resolver import ClusterResolver, TFConfigClusterResolver
from weft.strategies.context import UpdateContext
from weft.strategies.input.iterators import InputContext
from weft.strategies.local import LocalReplicas
from weft.strategies.reduction.cross_device_ops import ReductionToOneDevice
from weft.strategies.replicas.aggregating import AggregatingVariable
from weft.strategies.replicas.devices import gpus_here, local_devices, resolved
from weft.strategies.replicas.values import local_results, select_device
from weft.strategies.strategy import Strategy
from weft.training.device_setter import replica_device_setter


class ParameterServerStrategy(Strategy):
    """Workers that train on their own and share variables on parameter servers; the replicas of one worker are in sync.

    Args:
        cluster_resolver: tells the cluster and this task's place in it; TF_CONFIG does when None. Without a cluster the
            variables are on this process's CPU, or on its one GPU.
    """

    def __init__(self, cluster_resolver: ClusterResolver | None = None) -> None:
        resolver = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        extended = ParameterServerExtended(self, gpus_here())
        if resolver.cluster_spec().jobs:
            extended.take_place(resolver.cluster_spec(), resolver.task_type, resolver.task_id)
        super().__init__(extended)


class ContribParameterServerStrategy(Strategy):
    """ParameterServerStrategy as `tf.contrib.distribute` has it: it learns of its cluster by `configure`.

    Args:
        num_gpus_per_worker: how many GPUs each worker has a replica on.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        super().__init__(ParameterServerExtended(self, num_gpus_per_worker))


class CentralStorageStrategy(Strategy):
    """Replicas on this process's devices that share variables on one of them.

    Args:
        compute_devices: the replicas' devices; all GPUs when None, the CPU where there is none.
        parameter_device: the variables' device; the CPU when None, or the only GPU.
    """

    def __init__(self, compute_devices: Sequence[str] | None = None, parameter_device: str | None = None) -> None:
        super().__init__(
            ParameterServerExtended(self, gpus_here(), compute_devices=compute_devices, parameter_device=parameter_device)
        )


class ParameterServerExtended(LocalReplicas):
    """What these strategies do.

    Args:
        container_strategy: the strategy.
        num_gpus: how many GPUs this worker has a replica on; none for its CPU.
        compute_devices: the replicas' devices instead.
        parameter_device: the variables' device, without a cluster.
    """

    def __init__(
        self, container_strategy: StrategyLike, num_gpus: int, compute_devices: Sequence[str] | None = None,
        parameter_device: str | None = None,
    ) -> None:  # fmt: skip
        devices = tuple(resolved(each) for each in compute_devices or local_devices(num_gpus))
        super().__init__(container_strategy, devices, ReductionToOneDevice())
        self._num_gpus = num_gpus
        only = devices[0] if len(devices) == 1 and parameter_device is None else "/device:CPU:0"
        self._variable_device: Value = resolved(parameter_device or only)
        self._parameter_devices: tuple[str, ...] = (self._variable_device,)
        self._cluster = ClusterSpec({})
        self._task: tuple[str, int] = ("", 0)

    def configure(self, session_config: Value, cluster_spec: Value, task_type: str | None, task_id: int | None) -> None:
        """Take this process's place in a cluster, and fit a session's ConfigProto."""
        if cluster_spec is not None and ClusterSpec(cluster_spec).jobs:
            self.take_place(ClusterSpec(cluster_spec), task_type, task_id)
        super().configure(session_config, None, None, None)

    def take_place(self, cluster: ClusterSpec, task_type: str | None, task_id: int | None) -> None:
        """Put variables on the cluster's parameter servers, and replicas on the devices of a task.

        Raises:
            ValueError: the cluster has no parameter servers, or the task is not told.
        """
        servers = len(cluster.as_dict().get("ps", ()))
        if task_type is None or task_id is None:
            raise ValueError("When `cluster_spec` is given, you must also specify `task_type` and `task_id`")
        if not servers:
            raise ValueError("The cluster spec must have `ps` jobs.")
        self._cluster, self._task = cluster, (task_type, task_id)
        worker = f"/job:{task_type}/task:{task_id}"
        self._devices = tuple(worker + each for each in local_devices(self._num_gpus))
        self._devices = tuple(resolved(each) for each in self._devices)
        self._default_device = worker
        self._variable_device = replica_device_setter(ps_tasks=servers, ps_device="/job:ps", worker_device=worker)
        self._parameter_devices = tuple(f"/job:ps/task:{index}" for index in range(servers))

    # What the strategy is.

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices of the variables."""
        return self._parameter_devices

    @property
    def experimental_between_graph(self) -> bool:
        """True: each worker builds a graph of its own."""
        return True

    @property
    def uses_servers(self) -> bool:
        """True: they find the parameter servers."""
        return True

    @property
    def _is_chief(self) -> bool:
        jobs = self._cluster.jobs
        if not jobs:
            return True
        first = next((each for each in ("chief", "master") if each in jobs), "worker")
        return self._task == (first, 0)

    @property
    def experimental_should_init(self) -> bool:
        """Whether this worker initializes the model."""
        return self._is_chief

    @property
    def should_checkpoint(self) -> bool:
        """Whether this worker saves checkpoints."""
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:
        """Whether this worker writes summaries."""
        return self._is_chief

    @property
    def input_context(self) -> InputContext:
        """This worker's place, as input functions get it."""
        jobs = self._cluster.as_dict()
        tasks = [(job, index) for job in ("chief", "master", "worker") for index in range(len(jobs.get(job, ())))]
        number = tasks.index(self._task) if self._task in tasks else 0
        return InputContext(max(len(tasks), 1), number, self.num_replicas_in_sync)

    # Variables.

    def create_variable(self, next_creator: Function, **kwargs: Value) -> Value:
        """Make the variable on a parameter device."""
        beside, graph = kwargs.pop("colocate_with", None), get_default_graph()
        aggregation = kwargs["aggregation"] or VariableAggregation.NONE
        if not isinstance(aggregation, VariableAggregation):
            raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {kwargs['name']}")
        with graph.colocate_with(None, ignore_existing=True):
            where = graph.device(self._variable_device) if beside is None else graph.colocate_with(beside)
            with where:
                if len(self._devices) == 1:
                    return next_creator(**kwargs)
                return self._aggregating(next_creator, aggregation, kwargs)

    def _aggregating(self, next_creator: Function, aggregation: VariableAggregation, kwargs: dict[str, Value]) -> Value:
        collections = kwargs["collections"]
        local = VariableSynchronization.ON_READ
        if kwargs["trainable"] is None:
            kwargs["trainable"] = kwargs["synchronization"] is not local
        made = next_creator(**kwargs)
        whole = AggregatingVariable(self.strategy, made, aggregation)
        # The collections that the variable has gone to by itself hold the whole in its place.
        for key in ["variables", "trainable_variables"] if collections is None else [*collections, "trainable_variables"]:
            known = made.graph.get_collection_ref(key)
            known[:] = [whole if each is made else each for each in known]
        return whole

    def _check_colocation(self, variable: Value) -> None:
        if not self.variable_created_in_scope(variable):
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope(), not: "
                f"{variable!r}"
            )

    # Updates.

    def _update(
        self,
        var: Value,
        fn: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        is_grouped: bool,
    ) -> Value:
        variable = var.get() if isinstance(var, AggregatingVariable) else var
        return self._once(variable, variable.device, fn, (variable, *args), kwargs, is_grouped)

    def _update_non_slot(
        self,
        colocate_with: Value,
        fn: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        is_grouped: bool,
    ) -> Value:
        return self._once(colocate_with, colocate_with.device, fn, args, kwargs, is_grouped)

    def _once(
        self,
        beside: Value,
        device: str,
        fn: Function,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        is_grouped: bool,
    ) -> Value:
        with get_default_graph().colocate_with(beside, ignore_existing=True), UpdateContext(device):
            result = fn(*select_device(device, list(args)), **select_device(device, kwargs))
        return result if is_grouped else nest.map_structure(local_results, result)

    def non_slot_devices(self, var_list: Sequence[Value]) -> Value:
        """The first of the variables by name."""
        return min(var_list, key=lambda each: each.name)

    # The session.

    def update_config_proto(self, config_proto: Value) -> Value:
        """A copy of a ConfigProto by which a worker talks to the parameter servers alone."""
        if not self._cluster.jobs:
            return super().update_config_proto(config_proto)
        config = copy.deepcopy(config_proto)
        job, index = self._task
        if job in ("chief", "master", "worker"):
            del config.device_filters[:]
            config.device_filters.extend([f"/job:{job}/task:{index}", "/job:ps"])
        return config
