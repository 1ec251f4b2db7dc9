"""Hosts to which a launcher goes by ssh, and which of a job's tasks each gets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from weft.jobs.description import JobError

_LAST_PORT: Final = 65535
# More is a port.
_MOST_SLOTS: Final = 1000
# An address of IPv6 has colons of its own, and stands in brackets.
_HOST: Final = re.compile(r"(?:(?P<user>[\w.-]+)@)?(?P<host>\[[0-9a-fA-F:]+\]|[\w.-]+)(?::(?P<slots>\d+))?")


@dataclass(frozen=True)
class Host:
    """A host.

    Args:
        name: what it is called, by ssh and by the other tasks.
        slots: how many tasks it takes.
        user: as whom ssh goes there; None leaves it to ssh.
    """

    name: str
    slots: int = 1
    user: str | None = None

    @classmethod
    def of(cls, text: str) -> Self:
        """The host that `NAME`, `NAME:SLOTS` or `USER@NAME:SLOTS` stands for; JobError for other text."""
        found = _HOST.fullmatch(text)
        # A name that begins with a hyphen would be an option of ssh's.
        if found is None or found["host"].startswith("-") or found["slots"] == "0":
            raise JobError(f"--hosts: expected HOST or HOST:TASKS, such as b:4, got {text!r}")
        if int(found["slots"] or 1) > _MOST_SLOTS:
            told = f"at most {_MOST_SLOTS:,} tasks on a host, got {text!r}"
            raise JobError(f"--hosts: expected {told}; ports are said by --port-base")
        return cls(found["host"], int(found["slots"] or 1), found["user"])

    @property
    def target(self) -> str:
        """What ssh is told."""
        name = self.name.strip("[]")
        return name if self.user is None else f"{self.user}@{name}"


def hosts_of(text: str) -> list[Host]:
    """The hosts of a list such as `a,b:4,c`; JobError names what is none."""
    if Path(text).is_file():
        raise JobError(
            f"--hosts: expected names of hosts, and {text!r} is a file: --hosts $(paste -sd, {text}) gives its lines"
        )
    return [Host.of(each.strip()) for each in text.split(",")]


def placed(hosts: Sequence[Host], task_count: int, port_base: int) -> list[tuple[Host, str]]:
    """For each task its host, where hosts are filled one after the other, and its address.

    Raises:
        JobError: the hosts take fewer tasks, or there are more tasks on one than ports behind the first.
    """
    takes = sum(host.slots for host in hosts)
    if takes < task_count:
        raise JobError(f"--hosts: {task_count} tasks need a place each, and the hosts take {takes}; HOST:TASKS says how many")
    found: list[tuple[Host, str]] = []
    # A host that is named twice, or as two users', has each port once.
    taken: dict[str, int] = {}
    for host in hosts:
        for _ in range(min(host.slots, task_count - len(found))):
            port = port_base + taken.get(host.name, 0)
            taken[host.name] = port + 1 - port_base
            if port > _LAST_PORT:
                raise JobError(
                    f"--hosts: the tasks of {host.name} need ports from {port_base} on, and {_LAST_PORT} is the last"
                )
            found.append((host, f"{host.name}:{port}"))
    return found
