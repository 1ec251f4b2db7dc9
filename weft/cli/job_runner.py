"""Runs a job: the I/O shell around the rules in `supervision`. One thread, on asyncio; all events pass one queue."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import dataclass

from weft.cli.cluster_job import ClusterJob, LaunchedTask
from weft.cli.display import Display
from weft.cli.doorway import Doorway
from weft.cli.guarded import discard_output
from weft.cli.job_words import JobWords
from weft.cli.process_group import ProcessGroup, send_signal, tell
from weft.cli.progress import JobProgress
from weft.cli.supervision import (
    Event,
    GraceOver,
    Instruction,
    JobState,
    KillTasks,
    ReportEnd,
    ReportFailure,
    ReportLate,
    RestartTask,
    Signalled,
    StopTasks,
    Supervision,
    TaskEnded,
    TaskServes,
    TaskWaits,
)
from weft.cli.task_output import TaskOutput
from weft.jobs.description import JobError
from weft.platform.process.launcher_link import TaskNews

# How long output may come after a task's end; longer only if a child of the task keeps the pipe open.
_DRAIN_S = 1.0
_PROGRESS_S = 0.5


@dataclass(frozen=True)
class _TaskReached:
    """Event: the way to a task's host is open."""

    task: LaunchedTask


class JobRunner:
    """Starts the tasks of one job and sees them to their end; `run` is called once.

    Args:
        job: the job.
        display: shows what tasks write, and how they get on.
        grace_s: how long a task has to stop.
        until: the task whose end is the job's.
        restarts: how often each task that fails is started again.
    """

    def __init__(
        self, job: ClusterJob, display: Display, grace_s: float, until: LaunchedTask | None = None, restarts: int = 0
    ) -> None:
        self._job = job
        self._display = display
        self._grace_s = grace_s
        self._words = JobWords(display, restarts)
        self._events: asyncio.Queue[Event | _TaskReached] = asyncio.Queue()
        self._supervision = Supervision(job.started, until, restarts)
        self._progress = JobProgress()
        self._processes: dict[LaunchedTask, asyncio.subprocess.Process] = {}
        self._outputs = {task: TaskOutput() for task in job.tasks}
        self._doorway = Doorway(job.host_of)
        self._readers: dict[LaunchedTask, asyncio.Task[None]] = {}
        self._listeners: list[asyncio.Task[None]] = []

    async def run(self) -> int:
        """Run the job; return the exit code that stands for its end.

        Raises:
            ExceptionGroup: of one JobError: a task's process cannot be started.
        """
        loop = asyncio.get_running_loop()
        signals = _signals_that_stop()
        for number in signals:
            loop.add_signal_handler(number, self._events.put_nowait, Signalled(number))
        try:
            async with ProcessGroup() as group, asyncio.TaskGroup() as background:

                async def start() -> None:
                    for task in self._doorway.turns():
                        await self._start(task, group, background)

                for task in self._job.started:
                    self._doorway.come(task)
                await start()
                self._listeners.append(background.create_task(self._show_progress()))
                self._words.may_join([task for task in self._job.tasks if task in self._job.later], self._job.started[0])
                while self._supervision.state is not JobState.DONE:
                    await self._handle(await self._events.get())
                    await start()
                for reader in (*self._readers.values(), *self._listeners):
                    reader.cancel()
        finally:
            for number in signals:
                loop.remove_signal_handler(number)
        return self._supervision.exit_code

    async def _handle(self, event: Event | _TaskReached) -> None:
        if isinstance(event, _TaskReached | TaskEnded):
            self._doorway.passed(event.task)
        if not isinstance(event, _TaskReached):
            for instruction in self._supervision.handle(event):
                await self._execute(instruction)

    async def _start(self, task: LaunchedTask, group: ProcessGroup, background: asyncio.TaskGroup) -> None:
        environment = self._job.environment(task, os.environ)
        try:
            process, output, news = await group.start(self._job.command(task), environment, self._job.payload(task))
        except OSError as error:
            raise JobError(f"{task.name} cannot be started: {error}") from None
        self._processes[task] = process
        self._readers[task] = background.create_task(self._show_output(task, output))
        background.create_task(self._report_end(task, process))
        self._listeners.append(background.create_task(self._listen(task, news)))
        self._words.started(task, process.pid)

    async def _show_output(self, task: LaunchedTask, output: asyncio.StreamReader) -> None:
        while data := await output.read(1 << 16):
            self._show_lines(task, self._outputs[task].feed(data))
        self._show_lines(task, self._outputs[task].end())

    async def _listen(self, task: LaunchedTask, news: asyncio.StreamReader) -> None:
        while line := await news.readline():
            told = TaskNews.decode(line)
            if told is not None:
                self._take(task, told)

    def _take(self, task: LaunchedTask, told: TaskNews) -> None:
        if told.serves:
            self._events.put_nowait(TaskServes(task))
        if told.waits_for is not None:
            self._events.put_nowait(TaskWaits(task, told.waits_for))
        self._progress.take(told, time.monotonic())

    async def _show_progress(self) -> None:
        while True:
            if text := self._progress.text(time.monotonic()):
                self._display.progress(text)
            await asyncio.sleep(_PROGRESS_S)

    def _show_lines(self, task: LaunchedTask, lines: list[str]) -> None:
        try:
            for line in lines:
                if told := self._job.news(line):
                    self._events.put_nowait(_TaskReached(task))
                    self._take(task, told)
                else:
                    self._display.task_line(task.name, line)
        except BrokenPipeError:
            discard_output()
            self._events.put_nowait(Signalled(signal.SIGPIPE))

    async def _report_end(self, task: LaunchedTask, process: asyncio.subprocess.Process) -> None:
        self._events.put_nowait(TaskEnded(task, await process.wait()))

    async def _execute(self, instruction: Instruction) -> None:
        match instruction:
            case ReportEnd(task, return_code):
                await self._drain(task)
                self._words.ended(task, return_code)
            case ReportFailure(task, return_code):
                await self._drain(task)
                self._words.failed(task, return_code, self._outputs[task].has_lines)
            case ReportLate(task, servers):
                self._words.late(task, servers)
            case RestartTask(task, return_code, left):
                await self._drain(task)
                self._words.failed(task, return_code, self._outputs[task].has_lines, left)
                self._outputs[task] = TaskOutput()
                self._doorway.come(task)
            case StopTasks(tasks):
                self._words.stopping(tasks)
                turned_back = self._doorway.turn_back(tasks)
                for task in tasks:
                    if task in turned_back:
                        self._events.put_nowait(TaskEnded(task, -signal.SIGTERM))
                    else:
                        self._ask_to_end(self._processes[task])
                asyncio.get_running_loop().call_later(self._grace_s, self._events.put_nowait, GraceOver())
            case KillTasks(tasks):
                self._words.killing(tasks)
                for task in tasks:
                    # One that never had its turn has no process, and has ended by the next event.
                    if task in self._processes:
                        send_signal(self._processes[task], signal.SIGKILL)

    def _ask_to_end(self, process: asyncio.subprocess.Process) -> None:
        words = self._job.signal_words(signal.SIGTERM)
        if words is None:
            send_signal(process, signal.SIGTERM)
        else:
            tell(process, words)

    async def _drain(self, task: LaunchedTask) -> None:
        """Wait until what the task wrote before its end has been shown."""
        if task in self._readers:
            await asyncio.wait([self._readers[task]], timeout=_DRAIN_S)


def _signals_that_stop() -> list[signal.Signals]:
    # nohup has SIGHUP ignored, so that a job goes on when its terminal closes.
    hang_up = [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
    return [signal.SIGINT, signal.SIGTERM, *hang_up]
