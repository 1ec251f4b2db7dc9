"""TaskReport: what a task tells of itself while it runs: its load, what goes where, what it holds, and for whom it waits.

It travels as JSON. A reader ignores what it does not know, and what a server of another version does not tell is as empty.
Counts grow from the task's start on; who wants a rate compares two reports.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True)
class PeerReport:
    """What went between the task and another one, and what waits to go there."""

    task: str
    transport: str = ""
    """Empty when there is no connection now."""
    sent_messages: int = 0
    sent_bytes: int = 0
    received_messages: int = 0
    received_bytes: int = 0
    queued_bytes: int = 0


@dataclass(frozen=True)
class VariableReport:
    """A variable that the task keeps."""

    container: str
    name: str
    dtype: str
    shape: str
    size_bytes: int


@dataclass(frozen=True)
class QueueReport:
    """A queue that the task keeps; without a limit the capacity is negative."""

    container: str
    name: str
    kind: str
    size: int
    capacity: int


@dataclass(frozen=True)
class GraphReport:
    """A part of a plan that is registered with the task: its session, its ops, and how often it ran."""

    session: str
    devices: str
    nodes: int
    ops: str
    runs: int
    compiled_stages: int
    stages: int
    peers: str


@dataclass(frozen=True)
class WaitReport:
    """A step that waits now: for how long it has run, and for which tasks it waits."""

    step: str
    age_s: float
    tasks: list[str]
    where: str = ""


@dataclass(frozen=True)
class UpdateReport:
    """An update of replicas in step that waits for gradients, by one accumulator.

    `missing` has the tasks that have given gradients before and not this one, each with how late it is.
    """

    container: str
    name: str
    step: int
    count: int
    needed: int
    missing: dict[str, str] = field(default_factory=dict)
    waited_s: float = 0.0

    @property
    def missing_text(self) -> str:
        """Who is missing, in words."""
        told = [f"{short_name(task)} ({how})" for task, how in self.missing.items()]
        return ", ".join(told) or "replicas that have given none so far"


@dataclass(frozen=True)
class FailureReport:
    """A step that failed, by its first cause; the time is in seconds since the epoch."""

    time_s: float
    kind: str
    message: str
    node: str = ""


@dataclass(frozen=True)
class DeviceReport:
    """A device of the task, and the memory of an accelerator; 0 where it does not tell."""

    name: str
    used_bytes: int = 0
    limit_bytes: int = 0


@dataclass(frozen=True)
class TaskReport:
    """One task at one moment."""

    task: str
    state: str
    """`serving`, `draining` or `stopped`."""
    time_s: float
    """By the task's clock, in seconds since the epoch."""
    uptime_s: float
    process_id: int
    host: str
    version: str
    cluster: dict[str, str] = field(default_factory=dict)
    """The address of each task of the cluster."""
    cpu_s: float = 0.0
    resident_bytes: int = 0
    sessions: int = 0
    steps: int = 0
    """Steps that the task's master has run."""
    timed_steps: int = 0
    """Those of them whose time is in `step_s`: all but those of one short stage."""
    step_s: float = 0.0
    failed_steps: int = 0
    live_steps: int = 0
    parts: int = 0
    """Parts of steps that the task's worker has run, for whatever master."""
    live_parts: int = 0
    host_s: float = 0.0
    compiled_s: float = 0.0
    compile_s: float = 0.0
    codes: int = 0
    computing_s: float = 0.0
    """How long steps had something to run, by looks at them while somebody watches; so the next one."""
    waiting_s: dict[str, float] = field(default_factory=dict)
    updates: int = 0
    staleness: list[int] = field(default_factory=list)
    """Updates that found 0, 1, 2 or 3, 4 to 7, ... others made since their step began."""
    devices: list[DeviceReport] = field(default_factory=list)
    peers: list[PeerReport] = field(default_factory=list)
    variables: list[VariableReport] = field(default_factory=list)
    queues: list[QueueReport] = field(default_factory=list)
    graphs: list[GraphReport] = field(default_factory=list)
    waits: list[WaitReport] = field(default_factory=list)
    late_updates: list[UpdateReport] = field(default_factory=list)
    """Those that wait for gradients, the first to come first."""
    failures: list[FailureReport] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    @property
    def variable_bytes(self) -> int:
        """The size of all variables."""
        return sum(variable.size_bytes for variable in self.variables)

    def as_json(self) -> str:
        """The text that travels."""
        return json.dumps(dataclasses.asdict(self))

    @staticmethod
    def from_json(text: str) -> TaskReport:
        """What a text tells.

        Raises:
            ValueError: it is no report.
        """
        plain = json.loads(text)
        if not isinstance(plain, dict) or "task" not in plain:
            raise ValueError("no report of a task")
        for name, kind in _LISTS.items():
            plain[name] = [_made(kind, each) for each in plain.get(name, ())]
        found: TaskReport = _made(TaskReport, plain)
        return found


_LISTS: Final[Mapping[str, type]] = {
    "devices": DeviceReport,
    "peers": PeerReport,
    "variables": VariableReport,
    "queues": QueueReport,
    "graphs": GraphReport,
    "waits": WaitReport,
    "late_updates": UpdateReport,
    "failures": FailureReport,
}


def _made(kind: Any, plain: Mapping[str, Any]) -> Any:
    known = {each.name for each in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in plain.items() if name in known})


def short_name(task: str) -> str:
    """A task's name as people write it: `worker:0` for `/job:worker/replica:0/task:0`."""
    words = dict(part.partition(":")[::2] for part in task.strip("/").split("/") if ":" in part)
    return f"{words['job']}:{words['task']}" if "job" in words and "task" in words else task


def staleness_bounds(place: int) -> tuple[int, int]:
    """The least and the most of the staleness that a place in `staleness` counts."""
    return (0, 0) if place == 0 else (1 << (place - 1), (1 << place) - 1)
