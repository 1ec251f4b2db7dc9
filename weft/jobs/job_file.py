"""A job's description as a file in TOML.

program = "train.py"
arguments = ["--train_steps=1000"]

[roles.ps]
count = 2
memory = "8Gi"

[roles.worker]
count = 4
cpus = 8
gpus = 1

[environment]
OMP_NUM_THREADS = "8"

[restart]
policy = "on-failure"
limit = 3
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from weft.jobs.description import ROLES, JobDescription, JobError, Restart, Role
from weft.platform.hints.spelling import did_you_mean

# What TOML has; dates are no value of a job's.
_Value: TypeAlias = object
_Table: TypeAlias = Mapping[str, _Value]

_KEYS: Final[Mapping[str, tuple[type, ...]]] = {
    "program": (str,), "arguments": (list,), "roles": (dict,), "environment": (dict,), "restart": (dict,), "flags": (bool,),
}  # fmt: skip
_ROLE_KEYS: Final[Mapping[str, tuple[type, ...]]] = {
    "count": (int,), "cpus": (int, float), "memory": (str,), "gpus": (int,), "environment": (dict,),
    "start": (int,),
}  # fmt: skip
_RESTART_KEYS: Final[Mapping[str, tuple[type, ...]]] = {"policy": (str,), "limit": (int,)}
_TYPE_NAMES: Final = {
    str: "text",
    list: "a list",
    dict: "a table",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}
# What a key of another type than it has looks like.
_FORMS: Final[Mapping[str, str]] = {
    "arguments": 'arguments = ["--steps=10"]', "roles": "[roles.worker] with count = 2",
    "environment": '[environment] with NAME = "VALUE"',
    "restart": '[restart] with policy = "on-failure"', "count": "count = 2", "cpus": "cpus = 2", "gpus": "gpus = 1",
    "memory": 'memory = "8Gi"', "limit": "limit = 3", "start": "start = 1",
}  # fmt: skip
# What others call these keys.
_MEANT: Final[Mapping[str, str]] = {
    "args": "arguments", "argv": "arguments", "command": "program", "env": "environment", "main": "program", "mem": "memory",
    "num": "count", "replicas": "count", "restarts": "restart", "script": "program", "tasks": "count",
}  # fmt: skip
_EXAMPLE: Final = 'A job\'s file has lines such as program = "train.py", [roles.worker] and count = 2'


def read_job(path: str, *, is_here: bool = True) -> JobDescription:
    """Read a file.

    Args:
        path: the file's.
        is_here: whether the program is on this machine: then its path is taken from the file's folder.

    Raises:
        JobError: there is no such file, or something in it is wrong; one line that names file and key.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise JobError(f"the job's file {path!r} cannot be read: {error.strerror}") from None
    try:
        job = job_of(tomllib.loads(content.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise JobError(f"{path}: this is no TOML: {error}. {_EXAMPLE}") from None
    except RecursionError:
        raise JobError(f"{path}: this is no TOML that can be read: its brackets are nested too deep") from None
    except JobError as error:
        raise JobError(f"{path}: {error}") from None
    return replace(job, program=str(Path(path).parent / job.program)) if is_here else job


def job_of(table: _Table) -> JobDescription:
    """The description that a table says; JobError names the key that is wrong."""
    _check(table, _KEYS, "")
    if "program" not in table:
        raise JobError("'program' is missing: the Python file that each task runs")
    tables = _checked_table(table.get("roles", {"worker": {}}), "roles")
    roles = tuple(_role(name, _checked_table(each, f"roles.{name}")) for name, each in tables.items())
    restart = _checked_table(table.get("restart", {}), "restart")
    _check(restart, _RESTART_KEYS, "restart.")
    return JobDescription(
        program=str(table["program"]),
        roles=roles,
        arguments=_texts(table.get("arguments", []), "arguments"),
        environment=_variables(table.get("environment", {}), "environment"),
        restart=Restart(str(restart.get("policy", "on-failure" if restart else "never")), _whole(restart.get("limit", 3))),
        flags=bool(table.get("flags", True)),
    )


def _role(name: str, table: _Table) -> Role:
    # A role that is none is told of before what it has.
    Role(name)
    _check(table, _ROLE_KEYS, f"roles.{name}.")
    cpus, memory = table.get("cpus"), table.get("memory")
    return Role(
        name,
        count=_whole(table.get("count", 1)),
        cpus=float(cpus) if isinstance(cpus, int | float) else None,
        memory=memory if isinstance(memory, str) else None,
        gpus=_whole(table.get("gpus", 0)),
        environment=_variables(table.get("environment", {}), f"roles.{name}.environment"),
        start=_whole(table["start"]) if "start" in table else None,
    )


_TABLES: Final = frozenset(("job", "jobs", "tasks", "cluster"))


def _of_role(key: str) -> str:
    """Where a role's numbers stand, for who gives them a key of their own."""
    role = next((each for each in ROLES if each in key), "")
    if not role and key not in _TABLES:
        return ""
    return f" The tasks of a role are [roles.{role or 'worker'}] with count = 2."


def _check(table: _Table, known: Mapping[str, tuple[type, ...]], where: str) -> None:
    for key, value in table.items():
        if key not in known:
            meant = f" Did you mean {_MEANT[key]!r}?" if _MEANT.get(key) in known else _of_role(key) if known is _KEYS else ""
            raise JobError(f"there is no key '{where}{key}', only {', '.join(known)}.{meant or did_you_mean(key, known)}")
        # Python takes truth for a number.
        if type(value) not in known[key]:
            expected = _TYPE_NAMES[known[key][-1]]
            raise JobError(f"{where}{key}: expected {expected}, got {_shown(value)}{_form(key)}")


def _checked_table(value: _Value, where: str) -> _Table:
    if not isinstance(value, dict):
        form = f"; as in [{where}] with count = 2" if where.startswith("roles.") else _form(where)
        raise JobError(f"{where}: expected a table, got {_shown(value)}{form}")
    return value


def _form(key: str) -> str:
    return f"; as in {_FORMS[key]}" if key in _FORMS else ""


def _texts(value: _Value, where: str) -> tuple[str, ...]:
    found = tuple(value) if isinstance(value, list) else ()
    for each in found:
        if not isinstance(each, str):
            raise JobError(f"{where}: expected a list of texts, got {_shown(each)} in it")
    return found


def _variables(value: _Value, where: str) -> dict[str, str]:
    table = _checked_table(value, where)
    for name, each in table.items():
        if not isinstance(each, str):
            raise JobError(f"{where}.{name}: expected text, got {_shown(each)}; put it in quotes")
    return {name: str(each) for name, each in table.items()}


def _whole(value: _Value) -> int:
    return value if isinstance(value, int) else 0


def _shown(value: _Value) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
