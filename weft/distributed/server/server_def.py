"""From what a program passes to Server to a ServerDef, and what that says of the task."""

from __future__ import annotations

from tensorboard.compat.proto import cluster_pb2

from weft.errors import NotFoundError
from weft.framework.devices.cluster_spec import ClusterLike, ClusterSpec
from weft.platform.hints.spelling import did_you_mean
from weft.platform.hosts.host_port import split_address
from weft.proto.messages import ConfigProto
from weft.proto.tensorflow_server_pb2 import ServerDef
from weft.runtime.xla.device import PARAMETER_SERVER


class OwnTask:
    """A task as its ServerDef names it: who it is in its cluster, where it listens, and how many are beside it."""

    def __init__(self, definition: ServerDef) -> None:
        self.definition = definition
        self.cluster = ClusterSpec(definition.cluster)
        self.job: str = definition.job_name
        self.index: int = definition.task_index
        self.name = f"/job:{self.job}/replica:0/task:{self.index}"
        self.address = self.cluster.task_address(self.job, self.index)
        # All are read: a job waits for ever for a task whose address is none.
        self._hosts = {
            (job, index): split_address(self.cluster.task_address(job, index), f"/job:{job}/task:{index}")[0]
            for job in self.cluster.jobs
            for index in self.cluster.task_indices(job)
        }
        self.host = self._hosts[self.job, self.index]

    @property
    def is_alone(self) -> bool:
        """Whether the cluster has no other task."""
        return len(self._hosts) == 1

    @property
    def told_of_address(self) -> str:
        """What to say of its address, where the cluster gives that to other tasks as well; else empty."""
        others = [
            f"/job:{job}/task:{index}"
            for job, index in self._hosts
            if (job, index) != (self.job, self.index) and self.cluster.task_address(job, index) == self.address
        ]
        if not others or split_address(self.address)[1] == 0:
            return ""
        return (
            f"The cluster gives the address {self.address} of /job:{self.job}/task:{self.index} to {' and '.join(others)} as "
            "well: each task needs one of its own, on one host another port."
        )

    @property
    def tasks_on_host(self) -> int:
        """How many tasks of the cluster compute on this task's host; parameter servers do little but update."""
        return sum(host == self.host for (job, _), host in self._hosts.items() if job != PARAMETER_SERVER)


def as_server_def(
    server_or_cluster_def: ServerDef | ClusterLike,
    job_name: str | None,
    task_index: int | None,
    protocol: str | None,
    config: ConfigProto | None,
) -> ServerDef:
    """Make the ServerDef of a task.

    Raises:
        TypeError: the first argument is no ServerDef and no cluster.
        NotFoundError: the protocol is not gRPC's.
        ValueError: the task is not named and not the only one, or it is not in the cluster.
    """
    if task_index is not None and not hasattr(task_index, "__index__"):
        raise TypeError(f"task_index must be an int, got {task_index!r} of type {type(task_index).__name__!r}")
    if isinstance(server_or_cluster_def, ServerDef):
        definition = ServerDef()
        definition.CopyFrom(server_or_cluster_def)
    else:
        definition = ServerDef(cluster=_cluster_of(server_or_cluster_def))
    if job_name is not None:
        definition.job_name = job_name
    if task_index is not None:
        definition.task_index = task_index
    if protocol is not None:
        definition.protocol = protocol
    if config is not None:
        definition.default_session_config.MergeFrom(config)
    cluster = ClusterSpec(definition.cluster)
    _fill_in(definition, cluster, task_index is not None or isinstance(server_or_cluster_def, ServerDef))
    _check(definition, cluster)
    return definition


def _cluster_of(value: ClusterLike) -> cluster_pb2.ClusterDef:
    if isinstance(value, cluster_pb2.ClusterDef):
        return value
    try:
        return ClusterSpec(value).as_cluster_def()
    except TypeError as error:
        raise TypeError(
            f"Could not convert server_or_cluster_def to a tf.train.ServerDef or tf.train.ClusterSpec: {error}"
        ) from error


def _fill_in(definition: ServerDef, cluster: ClusterSpec, has_index: bool) -> None:
    if not definition.job_name:
        if len(cluster.jobs) != 1:
            raise ValueError(f"Must specify an explicit `job_name`; the cluster has the jobs {sorted(cluster.jobs)}")
        definition.job_name = cluster.jobs[0]
    if not has_index and definition.job_name in cluster.jobs:
        indices = cluster.task_indices(definition.job_name)
        if len(indices) != 1:
            raise ValueError(f"Must specify an explicit `task_index`; job {definition.job_name!r} has the tasks {indices}")
        definition.task_index = indices[0]
    if not definition.protocol:
        definition.protocol = "grpc"


def _check(definition: ServerDef, cluster: ClusterSpec) -> None:
    if definition.protocol != "grpc":
        raise NotFoundError.of(
            f"Server protocol {definition.protocol!r} is not available here; weft speaks "
            f"'grpc'.{did_you_mean(definition.protocol, ['grpc'])}"
        )
    if definition.job_name not in cluster.jobs:
        raise ValueError(
            f"Job {definition.job_name!r} is not in the cluster, which has the jobs {sorted(cluster.jobs)}."
            f"{did_you_mean(definition.job_name, cluster.jobs)}"
        )
    # ClusterSpec names the job and the index in its own ValueError.
    cluster.task_address(definition.job_name, definition.task_index)
