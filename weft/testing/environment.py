"""The questions of tests to the machine and to each other: GPUs, clusters, equal graphs."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import Any

from tensorboard.compat.proto import config_pb2, graph_pb2, node_def_pb2

from weft.client.device_lib import list_local_devices
from weft.distributed.server.server import Server
from weft.framework.graphs.graph import get_default_graph
from weft.platform.hosts.free_ports import free_ports


def gpu_device_name() -> str:
    """The name of a GPU of this process, '' when it has none. Starts the engine when there may be one."""
    return next((device.name for device in list_local_devices() if device.device_type == "GPU"), "")


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: object = None) -> bool:
    """Whether this process has a GPU; both arguments have no effect.

    Args:
        cuda_only, min_cuda_compute_capability: not used.
    """
    return bool(gpu_device_name())


def is_built_with_cuda() -> bool:
    """Whether XLA can use NVIDIA GPUs here, as far as that is known without one: True when there is one."""
    return is_gpu_available()


def device(use_gpu: bool) -> AbstractContextManager[None]:
    """A device scope of the first GPU where one is wanted and there, else of the CPU.

    Args:
        use_gpu: whether a GPU is wanted.
    """
    return get_default_graph().device("/device:GPU:0" if use_gpu and is_gpu_available() else "/device:CPU:0")


def use_gpu() -> AbstractContextManager[None]:
    """A device scope of the first GPU, of the CPU where there is none."""
    return device(use_gpu=True)


def force_gpu() -> AbstractContextManager[None]:
    """A device scope of the first GPU."""
    return get_default_graph().device("/device:GPU:0")


def force_cpu() -> AbstractContextManager[None]:
    """A device scope of the CPU."""
    return get_default_graph().device("/device:CPU:0")


def is_built_with_gpu_support() -> bool:
    """Whether XLA can use GPUs here, as far as that is known without one: True when there is one."""
    return is_gpu_available()


def is_built_with_rocm() -> bool:
    """Whether XLA uses AMD GPUs here: it does not, weft's GPUs are NVIDIA's."""
    return False


def create_local_cluster(
    num_workers: int, num_ps: int, protocol: str = "grpc", worker_config: object = None, ps_config: object = None
) -> tuple[list[Server], list[Server]]:
    """Start the servers of a cluster on free ports of this host, all in this process.

    Args:
        num_workers, num_ps: the numbers of servers.
        protocol: "grpc", or "grpc+tls" with the cluster's credentials.
        worker_config, ps_config: ConfigProtos of the servers.

    Returns:
        The servers of job `worker`, and those of job `ps`.
    """
    jobs = {"worker": num_workers, "ps": num_ps}
    cluster = {job: [f"localhost:{port}" for port in free_ports(count)] for job, count in jobs.items() if count}

    def started(job: str, config: config_pb2.ConfigProto | None) -> list[Server]:
        return [Server(cluster, job_name=job, task_index=i, protocol=protocol, config=config) for i in range(jobs[job])]

    return started("worker", worker_config), started("ps", ps_config)


def test_src_dir_path(relative_path: str) -> str:
    """The path of a file from the current directory, where test data is looked for.

    Args:
        relative_path: the path below it.
    """
    return os.path.join(os.getcwd(), relative_path)


test_src_dir_path.__test__ = False  # type: ignore[attr-defined]


def assert_equal_graph_def(
    actual: graph_pb2.GraphDef, expected: graph_pb2.GraphDef, checkpoint_v2: bool = False, hash_table_shared_name: bool = False
) -> None:
    """Raise AssertionError unless two GraphDefs have the same nodes, in whatever order; versions don't count.

    With `checkpoint_v2` the random parts of checkpoint prefixes, with `hash_table_shared_name` those of tables' names, may
    differ.

    Args:
        actual, expected: GraphDefs.
        checkpoint_v2, hash_table_shared_name: what may differ.
    """
    found, wanted = (
        {node.name: _plain(node, checkpoint_v2, hash_table_shared_name) for node in graph.node} for graph in (actual, expected)
    )
    missing, extra = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
    if missing or extra:
        raise AssertionError(f"The GraphDefs differ: nodes missing: {missing}, unexpected: {extra}")
    for name, node in wanted.items():
        if found[name] != node:
            raise AssertionError(f"The GraphDefs differ at node {name!r}:\n{found[name]}\nexpected:\n{node}")


def _plain(node: node_def_pb2.NodeDef, checkpoint_v2: bool, hash_table_shared_name: bool) -> Any:
    copy = type(node)()
    copy.CopyFrom(node)
    if checkpoint_v2 and copy.op == "Const" and any(b"_temp_" in text for text in copy.attr["value"].tensor.string_val):
        copy.attr["value"].tensor.ClearField("string_val")
    if hash_table_shared_name and "shared_name" in copy.attr:
        copy.attr["shared_name"].s = b""
    return copy
