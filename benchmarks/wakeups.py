"""What a step costs any machine, however fast: waits, system calls, messages and bytes, beside the least that its work needs.

The least is told in turns: values that go from one process to another at once, in one call that sends and one that receives,
for which the other process waits once. A thread that looks for a moment before it sleeps, and finds what it looks for, does
not wait.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.catalogue import matching
from benchmarks.contender import TITLES, Contender
from benchmarks.counting import FILE_VARIABLE, PERF, STRACE, TRACER_VARIABLE

TIME_LIMIT_S = 180.0


@dataclass(frozen=True)
class Counted:
    """Steps whose cost is counted.

    Args:
        turns: how often values have to go from one process to another, each step.
        why: what goes where, in these turns.
    """

    name: str
    program: str
    title: str
    turns: float
    why: str


_ASKED = "a request and its answer"
COUNTED = (
    Counted("client_only", "sessions:client_only", "Client without a server, assign_add", 2, _ASKED),
    Counted("remote_assign", "remote_variables:remote_assign", "Variable elsewhere: assign_add", 2, _ASKED),
    Counted("remote_assign_fetch", "remote_variables:remote_assign_fetch", "Variable elsewhere: and fetch", 2, _ASKED),
    Counted("there_and_back", "remote_variables:there_and_back", "A value there and back", 2, _ASKED),
    Counted("pull_100x1kb", "remote_variables:pull_100x1kb", "Pulling 100 variables of 1 KB", 2, _ASKED),
    Counted("null_steps_1", "sessions:null_steps_1", "Null steps, 1 client", 2, _ASKED),
    Counted("null_steps_8", "sessions:null_steps_8", "Null steps, 8 clients", 2, _ASKED),
    Counted(
        "async_training", "asynchronous_training:async_training", "Async training, 1 ps", 4, "request, weights, gradients, end"
    ),
    Counted(
        "embedding_training",
        "asynchronous_training:embedding_training",
        "Embedding training, 2 ps",
        8,
        "ids, rows, gradients, end; with two servers",
    ),
    Counted(
        "sync_training",
        "synchronous_training:sync_training",
        "SyncReplicas, 1 ps + 2 workers",
        5,
        "request, weights, gradients, token; and half of the chief's update, a request and its answer",
    ),
)


@dataclass(frozen=True)
class Counts:
    """What one step cost, of all processes together; None for what could not be counted."""

    waits: float
    cpu_s: float
    messages: float | None
    bytes: float | None
    calls: float | None = None
    """System calls but `looks`."""
    looks: float | None = None
    processes: dict[str, float] = field(default_factory=dict)
    """The waits of each."""


@dataclass
class Row:
    """What was counted of a program, by contender, in the order of the rounds."""

    counted: Counted
    found: dict[str, list[Counts]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


@dataclass
class Sitting:
    """A sitting about counts."""

    versions: dict[str, str]
    rows: list[Row]
    tracer: str | None
    machine: dict[str, Any] = field(default_factory=machine.describe)


def select(patterns: list[str]) -> list[Counted]:
    return matching(COUNTED, patterns, lambda counted: (counted.name,), "counted program")


def hold(contenders: list[Contender], programs: list[Counted], *, rounds: int, tell: Callable[[str], None]) -> Sitting:
    """Count the steps of all programs `rounds` times, the contenders in turn."""
    sitting = Sitting({each.name: each.version() for each in contenders}, [Row(each) for each in programs], _tracer())
    for _ in range(rounds):
        for row in sitting.rows:
            for contender in contenders:
                _count(row, contender, sitting.tracer)
                reason = row.reasons.get(contender.name)
                tell(f"  {row.counted.name:<20} {contender.title:<12} {reason or row.found[contender.name][-1].waits}")
    return sitting


def _tracer() -> str | None:
    """What can count the system calls of a process here."""
    for command in (
        (PERF, "stat", "-e", "raw_syscalls:sys_enter", "true"),
        (STRACE, "-f", "-c", "true"),
    ):
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except OSError:
            continue
        if done.returncode == 0:
            return command[0]
    return None


def _count(row: Row, contender: Contender, tracer: str | None) -> None:
    """Run the program once as it is and once traced."""
    with tempfile.TemporaryDirectory() as directory:
        plain, traced = Path(directory) / "plain.json", Path(directory) / "traced.json"
        environment = {FILE_VARIABLE: str(plain)}
        answer = contender.ask(row.counted.program, time_limit_s=TIME_LIMIT_S, environment=environment)
        if answer.message is not None and tracer is not None:
            environment = {FILE_VARIABLE: str(traced), TRACER_VARIABLE: tracer}
            answer = contender.ask(row.counted.program, time_limit_s=TIME_LIMIT_S, environment=environment)
        if answer.message is None:
            row.reasons[contender.name] = answer.reason or "it counted nothing"
            return
        found = [json.loads(each.read_text()) for each in (plain, traced) if each.exists()]
    row.found.setdefault(contender.name, []).append(counts_of(*found))


def counts_of(plain: dict[str, Any], traced: dict[str, Any] | None = None) -> Counts:
    """The costs of a step out of what two windows have counted."""
    steps, processes = plain["steps"], plain["processes"]
    messages = plain["messages"] / steps if plain["messages"] else None
    counts = Counts(
        sum(each["waits"] for each in processes.values()) / steps,
        sum(each["cpu_s"] for each in processes.values()) / steps,
        messages,
        None if messages is None else plain["bytes"] / steps,
        processes={name: each["waits"] / steps for name, each in processes.items()},
    )
    if traced is None:
        return counts
    looks = traced["looks"] / traced["steps"]
    return Counts(**{**asdict(counts), "calls": traced["calls"] / traced["steps"] - looks, "looks": looks})


_HEADINGS = ("each step, all processes", "waits", "least", "calls", "least", "looks", "messages", "bytes", "CPU, µs")


def in_words(sitting: Sitting) -> str:
    """A table with a line for each program and contender."""
    lines = [_HEADINGS]
    for row in sitting.rows:
        for name, found in row.found.items():
            lines.append(_cells(row, name, found, is_compared=len(sitting.versions) > 1))
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    text = [
        "  ".join([f"{line[0]:<{widths[0]}}", *(f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    ]
    text += [f"{row.counted.name} failed on {TITLES[name]}: {why}" for row in sitting.rows for name, why in row.reasons.items()]
    text += ["", "What has to go from one process to another:"]
    text += [f"  {row.counted.title}: {row.counted.turns:g} turns ({row.counted.why})" for row in sitting.rows]
    return "\n".join(text)


def _cells(row: Row, name: str, found: list[Counts], *, is_compared: bool) -> tuple[str, ...]:
    turns = row.counted.turns
    title = f"{row.counted.title}{f' ({TITLES[name]})' if is_compared else ''}"
    return (
        title,
        _figure(found, "waits"),
        f"{turns:g}",
        _figure(found, "calls"),
        f"{2 * turns:g}",
        _figure(found, "looks"),
        _figure(found, "messages"),
        _figure(found, "bytes", digits=0),
        _figure(found, "cpu_s", digits=0, factor=1e6),
    )


def _figure(found: list[Counts], name: str, digits: int = 2, factor: float = 1.0) -> str:
    values = [value for each in found if (value := getattr(each, name)) is not None]
    return f"{statistics.median(values) * factor:,.{digits}f}" if values else "-"


def as_json(sitting: Sitting) -> dict[str, Any]:
    """Return all that was counted, for `from_json` to read."""
    rows = {row.counted.name: {"found": {k: [asdict(c) for c in v] for k, v in row.found.items()}} for row in sitting.rows}
    return {"versions": sitting.versions, "machine": sitting.machine, "tracer": sitting.tracer, "programs": rows}


def from_json(document: dict[str, Any]) -> Sitting:
    """Return the sitting that `as_json` wrote; programs that no longer exist are left out."""
    rows = [
        Row(counted, {name: [Counts(**each) for each in found] for name, found in written["found"].items()})
        for counted in COUNTED
        if (written := document["programs"].get(counted.name))
    ]
    return Sitting(document["versions"], rows, document["tracer"], document["machine"])
