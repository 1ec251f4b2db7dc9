"""A job whose tasks run on other hosts, each behind an ssh of its own."""

from __future__ import annotations

import os
import random
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from weft.cli.cluster_job import ClusterJob, LaunchedTask
from weft.cli.host_places import Host, placed
from weft.cli.remote_task import REACHED, news_in, signalled, told
from weft.credentials.cluster_token import VARIABLE, find_token, new_token
from weft.jobs.description import JobDescription, JobError
from weft.platform.process.launcher_link import TaskNews

# Below the ports that systems give to outgoing connections.
_PORT_BASES: Final = range(12_000, 30_000, 64)

# Nobody is there for a password; a host that is off, or cut off later, is told of.
_OPTIONS: Final = [
    each for option in ("BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=15") for each in ("-o", option)
]


# The shell there says at once that ssh got in; Python takes a second to begin.
_REACHED: Final = f"printf {shlex.quote(REACHED)}"


@dataclass(frozen=True)
class HostsJob(ClusterJob):
    """A program and the tasks that it runs as on other hosts.

    Args:
        targets: where ssh goes, by task.
        python: the interpreter there.
        folder: where tasks run there.
    """

    targets: Mapping[LaunchedTask, str] = field(default_factory=dict, hash=False)
    python: str = "python3"
    folder: str = "."

    @classmethod
    def on(cls, job: JobDescription, hosts: Sequence[Host], python: str, port_base: int | None = None) -> Self:
        """The tasks of a job on hosts.

        Args:
            job: the job.
            hosts: where, one after the other.
            python: the interpreter there.
            port_base: the first port on each host; any when None.

        Raises:
            JobError: the hosts take fewer tasks, or those that join later cannot know the token.
            OpError: the token of the environment cannot be used.
        """
        places = placed(hosts, job.task_count, random.choice(_PORT_BASES) if port_base is None else port_base)
        roles = [role for role, count in job.counts.items() for _ in range(count)]
        members = [address for role, (_, address) in zip(roles, places, strict=True) if role != "evaluator"]
        base = ClusterJob.of(job, members, _gpus([job.role(role).gpus for role in roles], [host for host, _ in places]))
        targets = {task: host.target for task, (host, _) in zip(base.tasks, places, strict=True)}
        found = find_token(os.environ)
        if base.later and found is None:
            told = "weft credentials token -o FILE, and WEFT_CLUSTER_TOKEN_FILE=FILE here and there"
            raise JobError(
                f"--start: who joins the job on these hosts later needs the cluster's token, so it must be known: {told}"
            )
        token = new_token() if found is None else found.decode()
        program = str(Path(base.program).resolve())
        common = base.tasks, program, base.arguments, base.flags, base.environments, token, base.later
        return cls(*common, targets, python, str(Path.cwd()))

    def command(self, task: LaunchedTask) -> list[str]:
        """The command that goes to the task's host; what runs there is said by `payload`."""
        # The shell of the other host reads the words once more.
        there = shlex.join([self.python, "-m", "weft.cli.remote_task"])
        return [
            "ssh",
            "-T",
            *_OPTIONS,
            "--",
            self.targets[task],
            f"{_REACHED} && cd {shlex.quote(self.folder)} && exec {there}",
        ]

    def host_of(self, task: LaunchedTask) -> str | None:
        """Where ssh goes."""
        return self.targets[task].rpartition("@")[2]

    def environment(self, task: LaunchedTask, inherited: Mapping[str, str]) -> dict[str, str]:
        """The environment of ssh: the launcher's."""
        return dict(inherited)

    def payload(self, task: LaunchedTask) -> bytes | None:
        """The program, its arguments and its environment, with the token."""
        environment = {**super().environment(task, {}), VARIABLE: self.token}
        return told(super().command(task), environment, self.folder)

    def signal_words(self, number: int) -> bytes | None:
        """The signal for the task there: one that ssh got would end the connection, and nobody heard the task's last words."""
        return signalled(number)

    def news(self, line: str) -> TaskNews | None:
        """What the process there has passed on."""
        return news_in(line)


def _gpus(asked: Sequence[int], hosts: Sequence[Host]) -> list[str]:
    """The devices of all tasks, one after the other: each host's are given to its tasks in turn, from 0 on."""
    given: Counter[str] = Counter()
    found = []
    for count, host in zip(asked, hosts, strict=True):
        found += [str(given[host.name] + each) for each in range(count)]
        given[host.name] += count
    return found
