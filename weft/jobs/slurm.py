"""A job step of Slurm: which task this process is, and where the others are, from the variables that srun sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from weft.jobs.description import MOST_TASKS, JobError
from weft.jobs.host_list import expand_hosts
from weft.jobs.task_place import TaskPlace

_REPEATED: Final = re.compile(r"(\d+)(?:\(x(\d+)\))?")
_LOWEST_PORT: Final = 12_000
_PORTS: Final = 20_000
# Jobs that share a node follow each other closely; so many tasks of a job on a node keep clear of the next job's.
_PORTS_OF_A_JOB: Final = 64
_LAST_PORT: Final = 65535
# A top-level domain that never resolves.
_NOWHERE: Final = "invalid"


def expand_counts(text: str) -> list[int]:
    """The numbers that a list of Slurm's with repetitions stands for: `2(x3),1` is [2, 2, 2, 1]; JobError for other text."""
    found: list[int] = []
    for part in text.split(","):
        match = _REPEATED.fullmatch(part)
        if match is None:
            raise JobError(f"expected tasks per node as Slurm tells them, such as '2(x3),1', got {text!r}")
        if len(found) + int(match[2] or 1) > MOST_TASKS:
            raise JobError(f"tasks per node: {text!r} stands for more than {MOST_TASKS:,} nodes")
        found.extend([int(match[1])] * int(match[2] or 1))
    return found


@dataclass(frozen=True)
class SlurmStep:
    """The tasks that one srun started.

    Args:
        hosts: the nodes' names.
        tasks_per_node: how many tasks each has.
        rank: which task this process is.
        job_id: the job's number.
        step_id: the step's.
        is_cyclic: whether tasks go round the nodes, one at a time, instead of filling one after the other.
        ports: the ports that Slurm has reserved for the step on each node; empty without.
    """

    hosts: tuple[str, ...]
    tasks_per_node: tuple[int, ...]
    rank: int
    job_id: int = 0
    step_id: int = 0
    is_cyclic: bool = False
    ports: tuple[int, ...] = ()

    @classmethod
    def of(cls, environment: Mapping[str, str], expand: Callable[[str], list[str]] = expand_hosts) -> SlurmStep:
        """The step that the variables tell.

        Raises:
            JobError: they tell none, or one whose tasks weft cannot place.
        """
        rank, counts, hosts = (_variable(environment, *names) for names in (_RANK, _COUNTS, _HOSTS))
        if not rank.isdecimal():
            raise JobError(f"{_RANK[0]} should be the number of this task, and is {rank!r}")
        distribution = environment.get("SLURM_DISTRIBUTION", "block").partition(":")[0]
        if distribution not in ("block", "cyclic"):
            raise JobError(f"srun --distribution={distribution}: weft can place tasks for 'block' and 'cyclic' only")
        reserved = environment.get("SLURM_STEP_RESV_PORTS", "")
        step = cls(
            tuple(expand(hosts)),
            tuple(expand_counts(counts)),
            int(rank),
            _number(environment.get("SLURM_JOB_ID", environment.get("SLURM_JOBID", ""))),
            _number(environment.get("SLURM_STEP_ID", environment.get("SLURM_STEPID", ""))),
            distribution == "cyclic",
            tuple(_reserved(reserved)) if reserved else (),
        )
        if len(step.hosts) != len(step.tasks_per_node):
            raise JobError(
                f"Slurm tells {len(step.hosts)} nodes ({hosts}) and the tasks of {len(step.tasks_per_node)} ({counts})"
            )
        return step

    @property
    def task_count(self) -> int:
        """How many tasks there are."""
        return sum(self.tasks_per_node)

    def nodes(self) -> list[tuple[int, int]]:
        """For each task, by rank, the number of its node and its own number there."""
        blocks = [(node, slot) for node, count in enumerate(self.tasks_per_node) for slot in range(count)]
        return sorted(blocks, key=lambda place: (place[1], place[0])) if self.is_cyclic else blocks

    def addresses(self, port_base: int | None = None) -> list[str]:
        """The address of each task, by rank: its node's name and a port that no other task of the node has.

        Args:
            port_base: the first port on each node. By default those that `srun --resv-ports` has reserved, or some that
                follow from the numbers of job and step, so that two jobs on one node do not meet.

        Raises:
            JobError: Slurm has reserved too few ports, or there are too few behind the first.
        """
        most = max(self.tasks_per_node)
        if port_base is None and self.ports:
            if len(self.ports) < most:
                few = f"Slurm has reserved {len(self.ports)} ports on each node"
                raise JobError(f"{few}, and {most} tasks are on one: srun --resv-ports={most}")
            ports: Sequence[int] = self.ports
        else:
            base = self._port_base() if port_base is None else port_base
            ports = range(base, base + most)
            if ports.stop > _LAST_PORT + 1:
                raise JobError(f"the {most} tasks of a node need ports from {base} on, and {_LAST_PORT} is the last")
        return [f"{self.hosts[node]}:{ports[slot]}" for node, slot in self.nodes()]

    def _port_base(self) -> int:
        places = _PORTS // _PORTS_OF_A_JOB
        return _LOWEST_PORT + (self.job_id + 101 * self.step_id) % places * _PORTS_OF_A_JOB

    def place(
        self, counts: Mapping[str, int], port_base: int | None = None, later: Mapping[str, int] | None = None
    ) -> TaskPlace:
        """This process's place, where the roles take ranks in their order.

        Args:
            counts: how many tasks each role has in the step; together as many as the step.
            port_base: the first port on each node.
            later: how many further tasks may join each role, under addresses that they announce.

        Raises:
            JobError: the step has another number of tasks, or the rank is none of them.
        """
        told = ", ".join(f"{count} {role}" for role, count in counts.items())
        if sum(counts.values()) != self.task_count:
            raise JobError(
                f"the job has {sum(counts.values())} tasks ({told}), and Slurm has started {self.task_count}: srun -n"
            )
        if self.rank >= self.task_count:
            raise JobError(f"this is task {self.rank} of Slurm's, and there are {self.task_count}")
        addresses = iter(self.addresses(port_base))
        all_roles = {role: [next(addresses) for _ in range(count)] for role, count in counts.items()}
        names = [(role, index) for role, count in counts.items() for index in range(count)]
        role, index = names[self.rank]
        for name, further in (later or {}).items():
            tasks = all_roles.setdefault(name, [])
            first = len(tasks)
            tasks.extend(f"{name}-{first + each}.{_NOWHERE}:{_LOWEST_PORT}" for each in range(further))
        # An evaluator has a rank, and is no member of the cluster.
        return TaskPlace({name: tasks for name, tasks in all_roles.items() if name != "evaluator"}, role, index)


_RANK: Final = ("SLURM_PROCID",)
_COUNTS: Final = ("SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE")
_HOSTS: Final = ("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST")


def is_slurm_task(environment: Mapping[str, str]) -> bool:
    """Whether srun has started this process, or one above it."""
    return _RANK[0] in environment and any(name in environment for name in _COUNTS)


def _variable(environment: Mapping[str, str], *names: str) -> str:
    for name in names:
        if environment.get(name):
            return environment[name]
    raise JobError(f"{names[0]} is not set: start the program by srun, in an allocation of Slurm's")


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _reserved(text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        if not low.isdecimal() or not (high or low).isdecimal() or not 0 < int(low) <= int(high or low) <= _LAST_PORT:
            raise JobError(f"SLURM_STEP_RESV_PORTS should be ports such as '12000-12003', and is {text!r}")
        found.extend(range(int(low), int(high or low) + 1))
    return found
