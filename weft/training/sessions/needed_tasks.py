"""Which tasks a replica's session needs, so that it neither waits for other replicas nor ends with them.

A session of a cluster opens when all of its tasks have answered. A replica of a between-graph model uses the parameter servers
and itself; a replica that has not started yet, or has ended already, is none of its business. Programs can say so with
`ConfigProto.device_filters`; few do.
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import config_pb2

from weft.distributed.server.in_process import local_servers
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.framework.devices.device_spec import DeviceSpec
from weft.framework.graphs.graph import Graph

_Task = tuple[str, int]


def filtered_config(master: str, graph: Graph, config: config_pb2.ConfigProto | None) -> Any:
    """The session's ConfigProto, with device filters for the tasks that the graph needs.

    It is left alone when it has filters or a cluster of its own, when the server is in another process, and when the graph does
    not say where all of its state is: that may be anywhere.
    """
    server = local_servers.find(master.removeprefix("grpc://")) if master.startswith("grpc://") else None
    if server is None:
        return config
    definition = server.server_def
    merged = config_pb2.ConfigProto()
    merged.CopyFrom(definition.default_session_config if config is None else config)
    if merged.device_filters or merged.cluster_def.job:
        return config
    cluster = ClusterSpec(definition.cluster)
    tasks = [(job, index) for job in sorted(cluster.jobs) for index in cluster.task_indices(job)]
    needed = needed_tasks(graph, tasks, (definition.job_name, definition.task_index))
    if needed is None or len(needed) == len(tasks):
        return config
    merged.device_filters.extend(f"/job:{job}/task:{index}" for job, index in tasks if (job, index) in needed)
    return merged


def needed_tasks(graph: Graph, tasks: list[_Task], own: _Task) -> set[_Task] | None:
    """The tasks of a cluster that a graph needs when it is run from one of them; None when that is not certain.

    Args:
        graph: what is run.
        tasks: all tasks, in the order in which they are chosen for what has no place.
        own: the one whose master runs it.
    """
    needed = {own, tasks[0]}
    for device, holds_state in _devices(graph):
        spec = DeviceSpec.from_string(device)
        if spec.job is None:
            if holds_state:
                return None
        elif spec.task is None:
            # The placer takes the first of the job, unless the node is colocated with one that names a task itself. A chief
            # that came back waited for ever for workers that had trained to the end and left.
            needed.update([task for task in tasks if task[0] == spec.job][:1])
        else:
            needed.add((str(spec.job), int(spec.task)))
    return needed & set(tasks)


def _devices(graph: Graph) -> set[tuple[str, bool]]:
    """The devices that operations ask for, and whether it is one that keeps state under a name that others may use."""
    return {(op.device, op.op_def.stateful and "shared_name" in op.op_def.attrs) for op in graph.get_operations()}
