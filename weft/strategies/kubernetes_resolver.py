"""KubernetesClusterResolver: the cluster that running pods with certain labels make."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from weft.framework.devices.cluster_spec import ClusterSpec
from weft.strategies.cluster_resolver import ClusterResolver

_LABELS: Final[Mapping[str, Sequence[str]]] = {"worker": ("job-name=tensorflow",)}


class _Status(Protocol):
    phase: str
    host_ip: str


class _Metadata(Protocol):
    name: str


class _Pod(Protocol):
    status: _Status
    metadata: _Metadata


class _Pods(Protocol):
    items: Sequence[_Pod]


class Client(Protocol):
    """What is asked of Kubernetes' client: its CoreV1Api has it."""

    def list_pod_for_all_namespaces(self, *, label_selector: str) -> _Pods:
        """The pods that have these labels."""


class KubernetesClusterResolver(ClusterResolver):
    """The cluster that running pods with certain labels make, as Kubernetes' API server tells them.

    A pod's address is that of its host: tasks listen in the host's network. Pods of `weft k8s manifest` have names of their own
    and need no resolver: `weft task` tells the program its cluster.

    Args:
        job_to_label_mapping: label selectors by job; `{"worker": ["job-name=tensorflow"]}` when None.
        tf_server_port: where all tasks listen.
        rpc_layer: the scheme of the servers' addresses.
        override_client: a `kubernetes.client.CoreV1Api`; one of the pod's own service account, or else of the user's
            configuration, when None.

    Raises:
        ImportError: Kubernetes' client is not installed: `pip install 'weft[k8s]'`.
    """

    def __init__(
        self, job_to_label_mapping: Mapping[str, Sequence[str]] | None = None, tf_server_port: int = 8470,
        rpc_layer: str = "grpc", override_client: Client | None = None,
    ) -> None:  # fmt: skip
        self._labels = _LABELS if job_to_label_mapping is None else job_to_label_mapping
        self._port = tf_server_port
        self.rpc_layer = rpc_layer
        self.environment = ""
        self._client = _client() if override_client is None else override_client

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target of sessions on a task; empty where none is named."""
        return super().master(task_type, task_id, rpc_layer)

    def cluster_spec(self) -> ClusterSpec:
        """The cluster of now, by a call of the API server for each selector, whose pods are tasks in the order of their names.

        Raises:
            RuntimeError: a pod does not run.
        """
        cluster: dict[str, list[str]] = {}
        for job, selectors in self._labels.items():
            tasks = cluster[job] = []
            for selector in selectors:
                found = self._client.list_pod_for_all_namespaces(label_selector=selector).items
                # As in TensorFlow: the server may tell them in another order to each task.
                pods = sorted(found, key=lambda pod: pod.metadata.name)
                for pod in pods:
                    if pod.status.phase != "Running":
                        raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
                tasks.extend(f"{pod.status.host_ip}:{self._port}" for pod in pods)
        return ClusterSpec(cluster)


def _client() -> Client:
    try:
        config = importlib.import_module("kubernetes.config")
        client = importlib.import_module("kubernetes.client")
    except ImportError:
        raise ImportError("KubernetesClusterResolver needs Kubernetes' client: pip install 'weft[k8s]'") from None
    try:
        config.load_incluster_config()
    except config.ConfigException:
        config.load_kube_config()
    made: Client = client.CoreV1Api()
    return made
