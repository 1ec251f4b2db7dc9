"""One chaos job: start its processes, let something happen to one of them, wait for the end, and judge the records."""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from reliability.chaos import history, programs, verdict
from reliability.chaos.programs import SERVERS, WORKERS, Job
from weft.platform.hosts.free_ports import free_ports

KINDS: Final = ("kill worker", "kill ps", "stop worker", "stop ps", "cut worker", "cut ps")
HANG_S: Final = 90.0
_RESTART_S: Final = 0.3


@dataclass
class Outcome:
    """How a job went."""

    number: int
    mode: str
    fault: str
    seconds: float = 0.0
    detected_s: float | None = None
    recovered_s: float | None = None
    operations: int = 0
    problems: list[str] = field(default_factory=list)


class _Processes:
    """The processes of a job by (job name, index)."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._pids: dict[tuple[str, int], int] = {}
        self._generation = 0
        self.statuses: dict[tuple[str, int], int] = {}

    def start(self, kind: str, index: int, generation: int = 0) -> None:
        """Fork a task."""
        if kind == "ps":
            self._pids[kind, index] = fork(lambda: programs.serve(self._job, kind, index))
        else:
            self._pids[kind, index] = fork(lambda: programs.work(self._job, index, generation))
        self.statuses.pop((kind, index), None)

    def send(self, kind: str, index: int, number: int) -> bool:
        """Send a signal; returns whether the process was still there."""
        if (kind, index) in self.statuses or self.poll(kind, index):
            return False
        os.kill(self._pids[kind, index], number)
        return True

    def poll(self, kind: str, index: int) -> bool:
        """Whether the process has ended."""
        if (kind, index) not in self.statuses:
            pid, status = os.waitpid(self._pids[kind, index], os.WNOHANG)
            if pid:
                self.statuses[kind, index] = os.waitstatus_to_exitcode(status)
        return (kind, index) in self.statuses

    def wait(self, kind: str, index: int) -> None:
        """Wait for a process that was killed."""
        while not self.poll(kind, index):
            time.sleep(0.005)

    def end(self) -> None:
        """Kill what is left."""
        for kind, index in self._pids:
            if not self.poll(kind, index):
                os.kill(self._pids[kind, index], signal.SIGKILL)
                self.wait(kind, index)


def fork(run: Callable[[], None]) -> int:
    """Run a function in a forked process of its own process group member; its pid."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        run()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def run(number: int, seed: int, steps: int, keep: Path | None = None) -> Outcome:
    """Run one job in this process, which has started no thread; all of it depends on `seed` and `number`."""
    source = random.Random(f"{seed}/{number}")
    is_sync, fault = bool(number % 2), KINDS[(number // 2) % len(KINDS)]
    outcome = Outcome(number, "sync" if is_sync else "async", fault)
    folder = Path(tempfile.mkdtemp(prefix=f"weft-chaos-{number}-"))
    job = Job(folder, _free_addresses(), is_sync, steps, source.randrange(1 << 30))
    processes = _Processes(job)
    began = time.monotonic()
    try:
        for index in range(SERVERS):
            processes.start("ps", index)
        for index in range(WORKERS):
            processes.start("worker", index)
        happening = _happen(processes, folder, fault, source, steps)
        _wait_for_workers(processes, outcome, began)
        if not outcome.problems:
            verdict.judge(job, outcome, happening)
    finally:
        processes.end()
        outcome.seconds = time.monotonic() - began
        if outcome.problems and keep is not None:
            shutil.copytree(folder, keep / f"job-{number}", dirs_exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
    return outcome


def _free_addresses() -> dict[str, list[str]]:
    found = [f"127.0.0.1:{port}" for port in free_ports(SERVERS + WORKERS)]
    return {"ps": found[:SERVERS], "worker": found[SERVERS:]}


def _happen(processes: _Processes, folder: Path, fault: str, source: random.Random, steps: int) -> verdict.Happening:
    """Wait for a random step, then do to a random task what the job is for."""
    kind = fault.rpartition(" ")[2]
    index = source.randrange(SERVERS if kind == "ps" else WORKERS)
    moment, pause_s = source.randint(1, int(steps * 0.6)), source.uniform(0.2, 3.5)
    limit = time.monotonic() + HANG_S
    while _steps_done(folder) < moment and time.monotonic() < limit:
        time.sleep(0.01)
    time.sleep(source.uniform(0, 0.02))
    at = time.monotonic()
    if fault.startswith("kill"):
        if processes.send(kind, index, signal.SIGKILL):
            processes.wait(kind, index)
            time.sleep(_RESTART_S)
            processes.start(kind, index, generation=1)
    elif fault.startswith("stop"):
        if processes.send(kind, index, signal.SIGSTOP):
            time.sleep(pause_s)
            processes.send(kind, index, signal.SIGCONT)
    else:
        for _ in range(source.choice((1, 1, 5))):
            processes.send(kind, index, signal.SIGUSR1)
            time.sleep(0.05)
    return verdict.Happening(fault, kind, index, at)


def _steps_done(folder: Path) -> int:
    operations, _ = history.read(folder.glob("train-*.jsonl"))
    return max((each.result for each in operations if each.status == history.OK), default=0)


def _wait_for_workers(processes: _Processes, outcome: Outcome, began: float) -> None:
    left = set(range(WORKERS))
    while left and time.monotonic() < began + HANG_S:
        time.sleep(0.02)
        left = {index for index in left if not processes.poll("worker", index)}
    if left:
        outcome.problems.append(f"hang: after {HANG_S:.0f} s workers {sorted(left)} are not over")
        for kind, count in (("worker", WORKERS), ("ps", SERVERS)):
            for index in range(count):
                processes.send(kind, index, signal.SIGUSR2)
        time.sleep(0.3)
    for index in range(WORKERS):
        status = processes.statuses.get(("worker", index), 0)
        if status:
            outcome.problems.append(f"worker {index} ended with status {status}")
    for index in range(SERVERS):
        if processes.poll("ps", index):
            outcome.problems.append(f"parameter server {index} ended with status {processes.statuses['ps', index]}")
