"""MultiWorkerMirroredStrategy: workers with a graph and sessions of their own, whose gradients XLA's collectives sum."""

from __future__ import annotations

import enum
import zlib

import numpy as np

from weft.errors import FailedPreconditionError
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.framework.nodes.operation import Tensor
from weft.framework.types.replica_values import Function, StrategyLike, Value
from weft.strategies.cluster_resolver import TFConfigClusterResolver
from weft.strategies.input.iterators import InputContext
from weft.strategies.mirrored import MirroredExtended
from weft.strategies.reduction.across_processes import AcrossProcesses
from weft.strategies.reduction.cross_device_ops import broadcast
from weft.strategies.reduction.process_group import GROUP, Place
from weft.strategies.reduction.reduce_op import ReduceOp
from weft.strategies.replicas.devices import checked_devices, gpus_here, local_devices
from weft.strategies.strategy import Strategy


class CollectiveCommunication(enum.Enum):
    """What carries collectives: XLA chooses, NCCL between GPUs and Gloo between CPUs, whatever is given."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class MultiWorkerMirroredStrategy(Strategy):
    """Workers that build a graph each, whose variables are kept the same: gradients are summed over all of them.

    TF_CONFIG tells the workers, and the place of this one. The first of them is the chief, or the task `chief` where there is
    one. Each runs sessions of its own, without a server: `tf.Session()`.

    Args:
        communication: any; XLA chooses.
    """

    def __init__(self, communication: CollectiveCommunication = CollectiveCommunication.AUTO) -> None:
        _check_communication(communication)
        extended = CollectiveExtended(self, gpus_here() if _is_alone() else 0)
        super().__init__(extended)
        resolver = TFConfigClusterResolver()
        if resolver.cluster_spec().jobs:
            extended.take_place(resolver.cluster_spec(), resolver.task_type, resolver.task_id)


class ContribCollectiveAllReduceStrategy(Strategy):
    """MultiWorkerMirroredStrategy as `tf.contrib.distribute` has it: it learns of its cluster by `configure`.

    Args:
        num_gpus_per_worker: how many GPUs each worker has a replica on.
        communication: any; XLA chooses.
    """

    def __init__(
        self, num_gpus_per_worker: int = 0, communication: CollectiveCommunication = CollectiveCommunication.AUTO
    ) -> None:
        _check_communication(communication)
        super().__init__(CollectiveExtended(self, num_gpus_per_worker, has_global_batches=False))


def _is_alone() -> bool:
    return not TFConfigClusterResolver().cluster_spec().jobs


def _check_communication(communication: CollectiveCommunication) -> None:
    if not isinstance(communication, CollectiveCommunication):
        raise ValueError(f"communication must be a CollectiveCommunication, got {communication!r}")


class CollectiveExtended(MirroredExtended):
    """What these strategies do."""

    def __init__(self, container_strategy: StrategyLike, num_gpus: int, has_global_batches: bool = True) -> None:
        self._ways = AcrossProcesses(num_gpus > 0)
        devices = checked_devices(local_devices(num_gpus))
        super().__init__(container_strategy, devices, self._ways, has_global_batches)
        self._place: Place | None = None
        self._is_chief = True

    def configure(self, session_config: Value, cluster_spec: Value, task_type: str | None, task_id: int | None) -> None:
        """Meet the other workers, and fit a session's ConfigProto."""
        if cluster_spec is not None and ClusterSpec(cluster_spec).jobs and self._place is None:
            self.take_place(ClusterSpec(cluster_spec), task_type, task_id)
        super().configure(session_config, None, None, None)

    def take_place(self, cluster: ClusterSpec, task_type: str | None, task_id: int | None) -> None:
        """Meet the other workers of a cluster; blocks until all are there.

        Raises:
            ValueError: this task is no worker of it, or it has parameter servers.
        """
        jobs = cluster.as_dict()
        if jobs.get("ps"):
            raise ValueError("MultiWorkerMirroredStrategy: the cluster has `ps` jobs, which no worker of it would use")
        if task_type == "evaluator":
            return
        tasks = [(job, each) for job in ("chief", "master", "worker") if job in jobs for each in cluster.task_indices(job)]
        if (task_type, task_id) not in tasks:
            raise ValueError(
                f"No `task_type` and `task_id` of a worker: {task_type!r}, {task_id!r}; the workers are {tasks}. Each "
                "process says "
                'which it is, in TF_CONFIG by such as "task": {"type": "worker", "index": 0}.'
            )
        first = tasks[0]
        index = next(place for place, task in enumerate(tasks) if task == (task_type, task_id))
        self._is_chief = index == 0
        if len(tasks) == 1:
            return
        place = Place(cluster.task_address(*first), len(tasks), index)
        GROUP.join(place, self._ways.uses_accelerators)
        self._place = self._ways.place = place

    # What the strategy is.

    @property
    def _count(self) -> int:
        return 1 if self._place is None else self._place.count

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas' gradients are brought together, those of all workers."""
        return len(self._devices) * self._count

    @property
    def first_id(self) -> int:
        """The number of this worker's first replica among all."""
        return 0 if self._place is None else self._place.index * len(self._devices)

    @property
    def input_context(self) -> InputContext:
        """This worker's place, as input functions get it."""
        return InputContext(self._count, 0 if self._place is None else self._place.index, self.num_replicas_in_sync)

    @property
    def experimental_between_graph(self) -> bool:
        """True: each worker builds a graph of its own."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        """Whether this worker saves checkpoints: the chief does."""
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:
        """Whether this worker writes summaries: the chief does."""
        return self._is_chief

    def check_agreement(self, what: str, value: str) -> None:
        """Check that all workers have one value of something; FailedPreconditionError where they do not."""
        if self._place is None:
            return
        own = zlib.crc32(value.encode())
        sums = np.zeros(self._place.count, np.int64)
        sums[self._place.index] = own
        (all_of_them,) = GROUP.summed([sums], self._ways.uses_accelerators)
        if any(int(each) != own for each in all_of_them):
            raise FailedPreconditionError.of(
                f"Training by several processes: {what} is {value!r} for worker {self._place.index}, and differs for others. "
                "All workers must see one model_dir: put it on storage that they share"
            )

    # Variables.

    def create_variable(self, next_creator: Function, **kwargs: Value) -> Value:
        """Make a copy on each device, whose initial value is the first worker's."""
        if self._place is None:
            return super().create_variable(next_creator, **kwargs)
        given = kwargs["initial_value"]

        def initial_value() -> Tensor:
            value = given() if callable(given) else given
            return self._ways.of_first(value, kwargs["dtype"], is_initial=True)

        return super().create_variable(next_creator, **{**kwargs, "initial_value": initial_value})

    def _broadcast_to(self, tensor: Value, destinations: Value) -> Value:
        if isinstance(tensor, int | float) or self._place is None:
            return super()._broadcast_to(tensor, destinations)
        return broadcast(self._ways.of_first(tensor, None), destinations)

    def _reduce_to(self, reduce_op: ReduceOp, value: Value, destinations: Value) -> Value:
        # Where a worker has one replica, a plain tensor is that one's: the others have theirs.
        if self._place is None or not isinstance(value, Tensor):
            return super()._reduce_to(reduce_op, value, destinations)
        return self._ways.reduce(reduce_op, value, destinations)

    def reduced_here(self, reduce_op: ReduceOp, value: Value, destinations: Value) -> Value:
        """The sum or mean of this worker's replicas alone: the chief saves by itself, and the others would not come."""
        return self._ways.local(reduce_op, value, destinations)
