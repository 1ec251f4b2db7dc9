"""DistributeConfig: the strategies of an Estimator's training and evaluation; and the server of a parameter server's task."""

from __future__ import annotations

from typing import NamedTuple

from weft.distributed.server.server import Server
from weft.framework.types.replica_values import Value
from weft.strategies.cluster_resolver import TFConfigClusterResolver


class DistributeConfig(NamedTuple):
    """The strategies of an Estimator, for `RunConfig(experimental_distribute=...)`.

    Args:
        train_distribute: the strategy that trains; none when None.
        eval_distribute: the strategy that evaluates; none when None.
        remote_cluster: the cluster that a standalone client would drive, which weft does not do.
    """

    train_distribute: Value = None
    eval_distribute: Value = None
    remote_cluster: Value = None


def run_standard_tensorflow_server(session_config: Value = None) -> Server:
    """Start the server of this process's task, as TF_CONFIG tells it; `join()` waits for its end.

    Args:
        session_config: the ConfigProto of the server; a default one when None.

    Returns:
        The Server, started. This does not wait for it.

    Raises:
        ValueError: TF_CONFIG tells no cluster or no task.
    """
    resolver = TFConfigClusterResolver()
    cluster = resolver.cluster_spec()
    if not cluster.jobs:
        raise ValueError("TF_CONFIG environment variable must be set and its `cluster` must not be empty")
    if resolver.task_type is None or resolver.task_id is None:
        raise ValueError("Couldn't find a valid `task` in TF_CONFIG: its type and index are wanted")
    return Server(
        cluster, job_name=resolver.task_type, task_index=resolver.task_id, config=session_config,
        protocol=resolver.rpc_layer or "grpc",
    )  # fmt: skip
