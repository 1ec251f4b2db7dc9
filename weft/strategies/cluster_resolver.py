"""Cluster resolvers: they tell a cluster's tasks, and the place of this process among them."""

from __future__ import annotations

from collections import Counter, defaultdict

from weft.client.session import Session
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.framework.devices.device_spec import DeviceSpec
from weft.framework.graphs.graph import Graph
from weft.framework.types.printed import printed
from weft.framework.types.replica_values import Value
from weft.jobs.tf_config import tf_config
from weft.proto.messages import ConfigProto


class ClusterResolver:
    """Tells a cluster's tasks, and the place of this process among them; derive from it for another source.

    `task_type` is this process's job, `task_id` its number in it, `rpc_layer` the scheme of the servers' addresses.
    """

    task_type: str | None = None
    task_id: int | None = None
    rpc_layer: str | None = "grpc"
    environment: str | None = ""

    __repr__ = printed("tf.contrib.cluster_resolver")

    def cluster_spec(self) -> ClusterSpec:
        """The cluster; one without jobs where there is none."""
        raise NotImplementedError(f"cluster_spec is not implemented for {type(self).__name__}.")

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target of sessions on a task, by default on this process's; empty without a cluster.

        Args:
            task_type: the task's job; this process's when None.
            task_id: its number in the job; this process's when None.
            rpc_layer: the scheme before the address, such as "grpc"; the resolver's own when None.
        """
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        if not self.cluster_spec().jobs or job is None or index is None:
            return ""
        return self._target(self.cluster_spec().task_address(job, index), rpc_layer)

    def _target(self, address: str, rpc_layer: str | None) -> str:
        layer = rpc_layer or self.rpc_layer
        return f"{layer}://{address}" if address and layer else address

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: ConfigProto | None = None
    ) -> Value:
        """The devices of a task, by default of this process's, as a dict of numbers by kind; asks the task's server.

        Args:
            task_type, task_id: the task.
            config_proto: the ConfigProto of the session that asks.

        Raises:
            NotFoundError: the resolver tells no scheme, such as grpc, by which the server is reached.
        """
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        with Session(self.master(task_type, task_id), graph=Graph(), config=config_proto) as session:
            specs = [(DeviceSpec.from_string(each.name), each.device_type) for each in session.list_devices()]
        kinds = [kind for spec, kind in specs if job in (None, spec.job) and index in (None, spec.task)]
        return defaultdict(int, Counter(kinds))


class SimpleClusterResolver(ClusterResolver):
    """A cluster that the program tells.

    Args:
        cluster_spec: the cluster.
        master: the target of sessions.
        task_type, task_id: the place of this process.
        environment: not used.
        num_accelerators: what `num_accelerators` returns; a dict of numbers by kind.
        rpc_layer: the scheme of the servers' addresses.

    Raises:
        TypeError: `cluster_spec` is none.
    """

    def __init__(
        self, cluster_spec: ClusterSpec, master: str = "", task_type: str | None = None, task_id: int | None = None,
        environment: str = "", num_accelerators: Value = None, rpc_layer: str | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError(
                f"cluster_spec must be a ClusterSpec. Got {cluster_spec!r}: "
                "tf.train.ClusterSpec({'worker': ['host:port', ...]}) makes one."
            )
        self._cluster_spec = cluster_spec
        self._master = master
        self.task_type = task_type
        self.task_id = task_id
        self.environment = environment
        self.rpc_layer = rpc_layer
        self._accelerators = num_accelerators

    def cluster_spec(self) -> ClusterSpec:
        """The cluster."""
        return self._cluster_spec

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target that was given, or that of a task."""
        if task_type is None and task_id is None:
            return self._target(self._master, rpc_layer)
        return super().master(task_type, task_id, rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: ConfigProto | None = None
    ) -> Value:
        """The accelerators that were given; none where nothing was."""
        return self._accelerators or {}


class TFConfigClusterResolver(ClusterResolver):
    """The cluster that the environment variable TF_CONFIG tells.

    Args:
        task_type, task_id: the place of this process, instead of TF_CONFIG's.
        rpc_layer: the scheme of the servers' addresses, instead of TF_CONFIG's; none where neither tells one.
        environment: what `environment` is, instead of TF_CONFIG's.

    Raises:
        ValueError: TF_CONFIG is no JSON. TypeError: it is no object in braces.
    """

    def __init__(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:  # fmt: skip
        config = tf_config()
        task = config.get("task") or {}
        self._cluster_spec = ClusterSpec(config.get("cluster") or {})
        self.task_type = str(task["type"]) if task_type is None and "type" in task else task_type
        self.task_id = int(task["index"]) if task_id is None and "index" in task else task_id
        self.rpc_layer = config.get("rpc_layer") if rpc_layer is None else rpc_layer
        self.environment = config.get("environment") if environment is None else environment
        self._session_master: str | None = config.get("session_master")

    def cluster_spec(self) -> ClusterSpec:
        """The cluster; one without jobs where TF_CONFIG tells none."""
        return self._cluster_spec

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target of sessions on a task, by default on this process's; empty where the cluster has one task or none.

        TF_CONFIG's `session_master` is that of all.

        Raises:
            ValueError: the cluster has no such task, or TF_CONFIG does not tell which this process is.
        """
        if self._session_master is not None:
            return self._session_master
        spec = self._cluster_spec
        if sum(map(spec.num_tasks, spec.jobs)) <= 1:
            return ""
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        if job is None or index is None:
            raise ValueError(
                f"No such job in cluster: {job!r}. TF_CONFIG has no 'task' with 'type' and 'index': which is this process?"
            )
        return self._target(spec.task_address(job, index), rpc_layer)


class UnionResolver(ClusterResolver):
    """Several resolvers' clusters as one, and the first one's place in it.

    Args:
        args: the resolvers.
        kwargs: `task_type`, `task_id` and `rpc_layer`, instead of the first one's.

    Raises:
        ValueError: there is none.
        TypeError: one is no resolver.
    """

    def __init__(self, *args: ClusterResolver, **kwargs: Value) -> None:
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        for each in args:
            if not isinstance(each, ClusterResolver):
                raise TypeError(f"All arguments must be a sub-class of `ClusterResolver.`, got {each!r}")
        self._resolvers = args
        self.task_type = kwargs.get("task_type", args[0].task_type)
        self.task_id = kwargs.get("task_id", args[0].task_id)
        self.rpc_layer = kwargs.get("rpc_layer", args[0].rpc_layer)
        self.environment = args[0].environment

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The first one's target, or that of a task of any."""
        if task_type is None and task_id is None:
            return self._resolvers[0].master()
        return super().master(task_type, task_id, rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: ConfigProto | None = None
    ) -> Value:
        """The first one's."""
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)

    def cluster_spec(self) -> ClusterSpec:
        """The jobs of all. Tasks of one job stand behind those of earlier resolvers; where one tells some by their numbers, all
        have theirs, and KeyError is raised for a number that two have.
        """
        told = [each.cluster_spec().as_dict() for each in self._resolvers]
        numbered = {job for jobs in told for job, tasks in jobs.items() if isinstance(tasks, dict)}
        merged: dict[str, dict[int, str]] = {}
        for jobs in told:
            for job, tasks in jobs.items():
                known = merged.setdefault(job, {})
                first = 0 if job in numbered else len(known)
                for index, address in tasks.items() if isinstance(tasks, dict) else enumerate(tasks, first):
                    if index in known:
                        raise KeyError(
                            f"Duplicate keys detected when merging two ClusterSpecs: {job}, task {index}, at {known[index]} "
                            f"and at {address}"
                        )
                    known[index] = address
        return ClusterSpec(merged)
