"""A host list of Slurm's, such as `n[1-3],m`, as the names that it stands for."""

from __future__ import annotations

import itertools
import re
import subprocess
from typing import Final

from weft.jobs.description import MOST_TASKS, JobError

# A name's part between commas that are not inside of brackets.
_PART: Final = re.compile(r"(?:[^\[\],\s]|\[[^\[\]]*\])+")
_BRACKETS: Final = re.compile(r"\[([^\[\]]*)\]")
_RANGE: Final = re.compile(r"(\d+)(?:-(\d+))?")
_SCONTROL_S: Final = 60.0


def expand_hosts(hosts: str) -> list[str]:
    """The names that a host list stands for, in its order.

    Slurm's own `scontrol` knows the whole syntax. In a container without it ranges in brackets are expanded here.

    Raises:
        JobError: the list is none.
    """
    if "[" not in hosts:
        return [each for each in hosts.split(",") if each]
    try:
        ran = subprocess.run(
            ["scontrol", "show", "hostnames", hosts], capture_output=True, text=True, check=True, timeout=_SCONTROL_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return expand_ranges(hosts)
    except subprocess.CalledProcessError as error:
        # It asks for its configuration first, which a container may lack.
        if "fetch_config" in error.stderr:
            return expand_ranges(hosts)
        told = "; ".join(error.stderr.split("\n")).strip("; ")
        raise JobError(f"scontrol does not expand the host list {hosts!r}: {told}") from None
    return ran.stdout.split()


def expand_ranges(hosts: str) -> list[str]:
    """The names of a host list with ranges in brackets, such as `rack[1-2]n[01-12,15]`; the last ranges change first.

    Raises:
        JobError: it is none.
    """
    parts = _PART.findall(hosts)
    if ",".join(parts) != hosts:
        raise JobError(f"expected a host list such as 'n[1-3,7],m', got {hosts!r}")
    found: list[str] = []
    for part in parts:
        # Texts and the insides of brackets, by turns.
        pieces = _BRACKETS.split(part)
        choices = [_numbers(piece, hosts) if at % 2 else [piece] for at, piece in enumerate(pieces)]
        names = ("".join(each) for each in itertools.product(*choices))
        found.extend(itertools.islice(names, MOST_TASKS + 1 - len(found)))
        _check_size(len(found), hosts)
    return found


def _numbers(text: str, hosts: str) -> list[str]:
    """What stands in brackets, `01-03,7`, one by one; with as many digits as the first of a range."""
    found: list[str] = []
    for each in text.split(","):
        match = _RANGE.fullmatch(each)
        if match is None or (match[2] is not None and int(match[2]) < int(match[1])):
            raise JobError(f"expected a host list such as 'n[1-3,7],m', got {hosts!r}: {each!r} is no range")
        last = int(match[2] or match[1])
        _check_size(len(found) + last - int(match[1]) + 1, hosts)
        found.extend(str(number).zfill(len(match[1])) for number in range(int(match[1]), last + 1))
    return found


def _check_size(count: int, hosts: str) -> None:
    if count > MOST_TASKS:
        raise JobError(f"the host list {hosts!r} stands for more than {MOST_TASKS:,} hosts")
