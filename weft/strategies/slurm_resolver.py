"""SlurmClusterResolver: the cluster of a job step of Slurm's."""

from __future__ import annotations

import os
from collections.abc import Mapping

from weft.framework.devices.cluster_spec import ClusterSpec
from weft.jobs.description import JobError
from weft.jobs.slurm import SlurmStep, expand_counts
from weft.jobs.task_place import TaskPlace
from weft.platform.machine.installed_gpus import installed_gpus
from weft.proto.messages import ConfigProto
from weft.strategies.cluster_resolver import ClusterResolver


class SlurmClusterResolver(ClusterResolver):
    """The cluster of the step that srun has started this process in; jobs take tasks in the order in which they are given.

    Args:
        jobs: the number of tasks by job; together as many as the step has. Without it all tasks are workers.
        port_base: the first task on a node listens at this port, the next ones at the following.
        gpus_per_node: how many GPUs a node has; as many as this host when None.
        gpus_per_task: how many of them a task is given; its share of them when None.
        tasks_per_node: how many tasks run on each node, where Slurm does not tell: SLURM_STEP_TASKS_PER_NODE, or
            SLURM_NTASKS_PER_NODE.
        auto_set_gpu: whether to give this task its GPUs, by CUDA_VISIBLE_DEVICES.
        rpc_layer: the scheme of the servers' addresses.

    Raises:
        RuntimeError: Slurm has not started this process, it has started another number of tasks, or the tasks of a node want
            more GPUs than it has.
    """

    def __init__(
        self, jobs: Mapping[str, int] | None = None, port_base: int = 8888, gpus_per_node: int | None = 1,
        gpus_per_task: int | None = 1,
        tasks_per_node: int | None = None, auto_set_gpu: bool = True, rpc_layer: str = "grpc",
    ) -> None:  # fmt: skip
        gpus = len(installed_gpus()) if gpus_per_node is None else gpus_per_node
        self._place = self._resolved(jobs, port_base, gpus, gpus_per_task, tasks_per_node)
        self.task_type = self._place.role
        self.task_id = self._place.index
        self.rpc_layer = rpc_layer
        self.environment = ""
        if auto_set_gpu:
            first = self._slot * self._gpus_per_task
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(str(first + each) for each in range(self._gpus_per_task))

    def _resolved(
        self, jobs: Mapping[str, int] | None, port_base: int, gpus_per_node: int, gpus_per_task: int | None,
        tasks_per_node: int | None,
    ) -> TaskPlace:  # fmt: skip
        told = dict(os.environ)
        if tasks_per_node is None and not any(name in told for name in ("SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE")):
            if "SLURM_NTASKS_PER_NODE" not in told:
                raise RuntimeError("Neither `tasks_per_node` or SLURM_NTASKS_PER_NODE is set.")
            tasks_per_node = expand_counts(told["SLURM_NTASKS_PER_NODE"])[0]
        if tasks_per_node is not None:
            count = sum(jobs.values()) if jobs is not None else int(_assigned(told) or tasks_per_node)
            told["SLURM_STEP_TASKS_PER_NODE"] = _spread(count, tasks_per_node)
        try:
            step = SlurmStep.of(told)
            assigned = int(_assigned(told) or step.task_count)
            jobs = {"worker": assigned} if jobs is None else jobs
            if sum(jobs.values()) != assigned:
                raise RuntimeError(f"Requested {sum(jobs.values())} tasks but {assigned} were assigned.")
            most = max(step.tasks_per_node)
            self._gpus_per_task = gpus_per_node // most if gpus_per_task is None else gpus_per_task
            if most * self._gpus_per_task > gpus_per_node:
                asked = f"{most} x {self._gpus_per_task} of {gpus_per_node}"
                raise RuntimeError(f"Requested more GPUs per node then available: {asked}.")
            self._slot = step.nodes()[step.rank][1]
            return step.place({job: count for job, count in jobs.items() if count}, port_base)
        except JobError as error:
            raise RuntimeError(str(error)) from None

    def cluster_spec(self) -> ClusterSpec:
        """The cluster."""
        return ClusterSpec({job: list(tasks) for job, tasks in self._place.cluster.items()})

    def get_task_info(self) -> tuple[str, int]:
        """This process's job and its number in it."""
        return self._place.role, self._place.index

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: ConfigProto | None = None
    ) -> dict[str, int]:
        """The accelerators of a task, by kind."""
        return {"GPU": self._gpus_per_task}


def _assigned(told: Mapping[str, str]) -> str | None:
    return told.get("SLURM_STEP_NUM_TASKS") or told.get("SLURM_NTASKS")


def _spread(tasks: int, per_node: int) -> str:
    """The tasks of nodes that are filled one after the other."""
    full, rest = divmod(tasks, per_node)
    return ",".join(str(each) for each in [*[per_node] * full, *([rest] if rest else [])])
