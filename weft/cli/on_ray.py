"""`weft launch --on ray`: the tasks of a job as actors in a placement group of a Ray cluster.

An actor starts its task's program as a process of its node, hands its output and its end back, and ends it when the launcher or
the node is gone. A task that fails is started again by its actor, under its address. When an actor itself is lost, with its
node, addresses change, so all tasks are started again, on the nodes that are left.
"""

from __future__ import annotations

import importlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType, ModuleType
from typing import Final, Protocol

from weft.cli import supervision
from weft.cli.cluster_job import ClusterJob, LaunchedTask
from weft.cli.display import Display
from weft.cli.job_words import JobWords
from weft.cli.node_task import NodeNews, NodeTask
from weft.cli.progress import JobProgress
from weft.credentials.cluster_token import FILE_VARIABLE, VARIABLE, find_token, new_token
from weft.jobs.description import JobDescription, JobError, memory_bytes
from weft.platform.hosts.free_ports import free_ports
from weft.platform.waits.wait_notice import WaitNotice

_PLACED_S: Final = 300.0
_LOOK_S: Final = 0.5


class RayTask(NodeTask):
    """A task's process, as an actor of Ray's has it."""

    def address(self) -> str:
        """An address of this node where the task can listen."""
        return f"{importlib.import_module('ray.util').get_node_ip_address()}:{free_ports(1)[0]}"


class _Method(Protocol):
    """A method of an actor."""

    def remote(self, *arguments: object) -> object:
        """Begin a call; returns what stands for its result."""


class _Actor(Protocol):
    """A RayTask that Ray runs."""

    address: _Method
    start: _Method
    news: _Method
    signal: _Method


class _Group(Protocol):
    """A placement group."""

    def wait(self, timeout_seconds: float) -> bool:
        """Block until it is placed, or for so many seconds; whether it is."""


def ray_module() -> ModuleType:
    """Ray; JobError where it is not installed."""
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise JobError("--on ray needs Ray: pip install 'weft[ray]'") from None


class _StoppedBeforeError(Exception):
    """A signal has come before the tasks were started."""


class RayRunner:
    """Runs a job on a Ray cluster to which this process is connected; `run` is called once.

    Args:
        job: the job.
        display: shows what tasks write, and how they get on.
        grace_s: how long a task has to stop.
        placed: is told the address of a task, and the cluster's token, each time that tasks are about to be started.
    """

    def __init__(
        self, job: JobDescription, display: Display, grace_s: float, placed: Callable[[str, str], object] | None = None
    ) -> None:
        self._ray = ray_module()
        self._placed = placed
        self._token = _token(os.environ)
        self._job = job
        self._display = display
        self._grace_s = grace_s
        self._restarts = job.restart.times
        self._signal = 0

    def run(self) -> int:
        """Run the job; return the exit code that stands for its end.

        Raises:
            JobError: the cluster has no room for it.
        """
        with _signals(self._note_signal):
            while True:
                exit_code = self._run_once()
                if exit_code is not None:
                    return exit_code
                if not self._restarts:
                    self._display.note("a node was lost, and with it a task; the job's restarts are used up")
                    return 1
                self._restarts -= 1
                self._display.note("a node was lost, and with it a task: all tasks are started again")

    def _note_signal(self, number: int, _: FrameType | None) -> None:
        self._signal = number

    def _run_once(self) -> int | None:
        """Run all tasks to their end; None when an actor was lost."""
        bundles = [self._bundle(role) for role in self._roles()]
        group: _Group = self._ray.util.placement_group(bundles, strategy="SPREAD")
        try:
            self._wait_for_room(group, bundles)
            actors = self._actors(group)
            addresses = self._answers([actor.address.remote() for actor in actors])
            members = [each for each, role in zip(addresses, self._roles(), strict=True) if role != "evaluator"]
            job = ClusterJob.of(replace(self._job, program=str(Path(self._job.program).resolve())), members)
            if self._placed is not None and members:
                self._placed(members[0], self._token)
            return _Run(self, job, dict(zip(job.tasks, actors, strict=True))).run()
        except _StoppedBeforeError:
            return 128 + self.take_signal()
        except self._ray.exceptions.RayActorError:
            return None
        finally:
            self._ray.util.remove_placement_group(group)

    def _roles(self) -> list[str]:
        return [role for role, count in self._job.counts.items() for _ in range(count)]

    def _wait_for_room(self, group: _Group, bundles: Sequence[Mapping[str, float]]) -> None:
        notice = WaitNotice()
        while not group.wait(_LOOK_S):
            self._raise_if_signalled()
            if notice.waited_s >= _PLACED_S:
                raise JobError(f"the Ray cluster has had no room for {bundles} for {_PLACED_S:g} s; free are {self._free()}")
            if notice.is_due():
                told = f"the Ray cluster has no room for {bundles}, for {notice.waited_s:.0f} s; free are {self._free()}"
                self._display.note(f"{told}. Ask for less, or add nodes; ray status tells who has the rest")

    def _free(self) -> dict[str, float]:
        return {name: count for name, count in self._ray.available_resources().items() if name in ("CPU", "GPU", "memory")}

    def _answers(self, asked: Sequence[object]) -> list[str]:
        """What actors answer, which are started for it: that takes seconds."""
        while len(self._ray.wait(asked, num_returns=len(asked), timeout=_LOOK_S)[0]) < len(asked):
            self._raise_if_signalled()
        answers: list[str] = self._ray.get(asked)
        return answers

    def _raise_if_signalled(self) -> None:
        if self._signal:
            raise _StoppedBeforeError

    def _bundle(self, role: str) -> dict[str, float]:
        needed = self._job.role(role)
        bundle: dict[str, float] = {"CPU": 1.0 if needed.cpus is None else needed.cpus}
        if needed.gpus:
            bundle["GPU"] = needed.gpus
        if needed.memory is not None:
            bundle["memory"] = memory_bytes(needed.memory)
        return bundle

    def _actors(self, group: _Group) -> list[_Actor]:
        placed = importlib.import_module("ray.util.scheduling_strategies").PlacementGroupSchedulingStrategy
        # One call waits for news, while others send signals.
        kind = self._ray.remote(RayTask)
        made = []
        for index, role in enumerate(self._roles()):
            bundle = self._bundle(role)
            options = {"num_cpus": bundle["CPU"], "num_gpus": bundle.get("GPU", 0), "memory": bundle.get("memory")}
            where = placed(group, placement_group_bundle_index=index)
            made.append(kind.options(**options, scheduling_strategy=where, max_concurrency=4).remote())
        return made

    @property
    def ray(self) -> ModuleType:
        """The module."""
        return self._ray

    @property
    def display(self) -> Display:
        """Shows the job."""
        return self._display

    @property
    def grace_s(self) -> float:
        """How long a task has to stop."""
        return self._grace_s

    @property
    def restarts(self) -> int:
        """How often each task may still be started again."""
        return self._restarts

    @property
    def restarts_at_first(self) -> int:
        """How often that was when the job began."""
        return self._job.restart.times

    @property
    def token(self) -> str:
        """The cluster's."""
        return self._token

    def take_signal(self) -> int:
        """The signal that has come since the last time; 0 for none."""
        number, self._signal = self._signal, 0
        return number


class _Run:
    """One run of all tasks; the rules are those of a job on one machine."""

    def __init__(self, runner: RayRunner, job: ClusterJob, actors: Mapping[LaunchedTask, _Actor]) -> None:
        self._runner = runner
        self._ray = runner.ray
        self._job = job
        self._actors = actors
        self._words = JobWords(runner.display, runner.restarts_at_first)
        self._supervision = supervision.Supervision(job.tasks, None, runner.restarts)
        self._progress = JobProgress()
        self._has_lines: set[LaunchedTask] = set()
        self._waiting: dict[object, LaunchedTask] = {}
        self._kill_s: float | None = None

    def run(self) -> int:
        for task in self._job.tasks:
            self._start(task)
        while self._supervision.state is not supervision.JobState.DONE:
            if number := self._runner.take_signal():
                self._handle(supervision.Signalled(number))
            if self._kill_s is not None and time.monotonic() >= self._kill_s:
                self._kill_s = None
                self._handle(supervision.GraceOver())
            if text := self._progress.text(time.monotonic()):
                self._runner.display.progress(text)
            ready, _ = self._ray.wait([*self._waiting], num_returns=1, timeout=_LOOK_S)
            for each in ready:
                task = self._waiting.pop(each)
                self._take(task, self._ray.get(each))
        return self._supervision.exit_code

    def _start(self, task: LaunchedTask) -> None:
        own = self._job.environment(task, {})
        # Ray has chosen the devices of the actor, whose environment the process inherits.
        own.pop("CUDA_VISIBLE_DEVICES", None)
        environment = {**own, VARIABLE: self._runner.token}
        actor = self._actors[task]
        pid = self._ray.get(actor.start.remote(self._job.command(task), environment, str(Path.cwd())))
        self._waiting[actor.news.remote()] = task
        self._words.started(task, pid)

    def _take(self, task: LaunchedTask, news: NodeNews) -> None:
        for line in news.lines:
            self._runner.display.task_line(task.name, line)
            self._has_lines.add(task)
        for told in news.told:
            self._progress.take(told, time.monotonic())
            if told.serves:
                self._handle(supervision.TaskServes(task))
            if told.waits_for is not None:
                self._handle(supervision.TaskWaits(task, told.waits_for))
        if news.return_code is None:
            self._waiting[self._actors[task].news.remote()] = task
        else:
            self._handle(supervision.TaskEnded(task, news.return_code))

    def _handle(self, event: supervision.Event) -> None:
        for instruction in self._supervision.handle(event):
            self._execute(instruction)

    def _execute(self, instruction: supervision.Instruction) -> None:
        match instruction:
            case supervision.ReportEnd(task, return_code):
                self._words.ended(task, return_code)
            case supervision.ReportFailure(task, return_code):
                self._words.failed(task, return_code, task in self._has_lines)
            case supervision.ReportLate(task, servers):
                self._words.late(task, servers)
            case supervision.RestartTask(task, return_code, left):
                self._words.failed(task, return_code, task in self._has_lines, left)
                self._has_lines.discard(task)
                self._start(task)
            case supervision.StopTasks(tasks):
                self._words.stopping(tasks)
                self._send(tasks, signal.SIGTERM)
                self._kill_s = time.monotonic() + self._runner.grace_s
            case supervision.KillTasks(tasks):
                self._words.killing(tasks)
                self._send(tasks, signal.SIGKILL)

    def _send(self, tasks: Sequence[LaunchedTask], number: signal.Signals) -> None:
        self._ray.get([self._actors[task].signal.remote(int(number)) for task in tasks])


def _token(environment: Mapping[str, str]) -> str:
    """The cluster's token: that of the environment, which may be a file of this host, or a fresh one."""
    found = find_token({name: environment[name] for name in (VARIABLE, FILE_VARIABLE) if name in environment})
    return new_token() if found is None else found.decode()


@contextmanager
def _signals(note: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
