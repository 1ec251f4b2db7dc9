"""Cluster resolvers: they tell a cluster's tasks, and the place of this process among them."""

from __future__ import annotations

import json
import os

from weft.framework.cluster_spec import ClusterSpec
from weft.framework.printed import printed
from weft.framework.replica_values import Value


class ClusterResolver:
    """Tells a cluster's tasks, and the place of this process among them; derive from it for another source.

    `task_type` is this process's job, `task_id` its number in it, `rpc_layer` the scheme of the servers' addresses.
    """

    task_type: str | None = None
    task_id: int | None = None
    rpc_layer: str | None = "grpc"

    __repr__ = printed("tf.contrib.cluster_resolver")

    def cluster_spec(self) -> ClusterSpec:
        """The cluster; one without jobs where there is none."""
        raise NotImplementedError(f"cluster_spec is not implemented for {type(self).__name__}.")

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target of sessions on a task, by default on this process's; empty without a cluster."""
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        if not self.cluster_spec().jobs or job is None or index is None:
            return ""
        layer = rpc_layer or self.rpc_layer
        address: str = self.cluster_spec().task_address(job, index)
        return f"{layer}://{address}" if layer else address


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
            raise TypeError("cluster_spec must be a ClusterSpec.")
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
            return self._master
        return super().master(task_type, task_id, rpc_layer)

    def num_accelerators(self, task_type: str | None = None, task_id: int | None = None) -> Value:
        """The accelerators that were given; none where nothing was."""
        return self._accelerators or {}


class TFConfigClusterResolver(ClusterResolver):
    """The cluster that the environment variable TF_CONFIG tells.

    Args:
        task_type, task_id: the place of this process, instead of TF_CONFIG's.
        rpc_layer: the scheme of the servers' addresses, instead of TF_CONFIG's.
        environment: not used.
    """

    def __init__(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:  # fmt: skip
        config = json.loads(os.environ.get("TF_CONFIG", "{}"))
        task = config.get("task", {})
        self._cluster_spec = ClusterSpec(config.get("cluster", {}))
        self.task_type = str(task["type"]) if task_type is None and "type" in task else task_type
        self.task_id = int(task["index"]) if task_id is None and "index" in task else task_id
        self.rpc_layer = rpc_layer or config.get("rpc_layer", "grpc")
        self.environment = environment or config.get("environment", "")

    def cluster_spec(self) -> ClusterSpec:
        """The cluster; one without jobs where TF_CONFIG tells none."""
        return self._cluster_spec


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

    def cluster_spec(self) -> ClusterSpec:
        """The jobs of all; KeyError where two tell one task at two addresses."""
        jobs: dict[str, dict[int, str]] = {}
        for each in self._resolvers:
            spec = each.cluster_spec()
            for job in spec.jobs:
                for index in spec.task_indices(job):
                    address = spec.task_address(job, index)
                    if jobs.setdefault(job, {}).setdefault(index, address) != address:
                        raise KeyError(f"Duplicate key detected when merging two ClusterSpecs: {job}, task {index}")
        return ClusterSpec(jobs)
