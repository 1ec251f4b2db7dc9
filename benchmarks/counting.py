"""Counts of what steps cost a machine, whatever its speed: waits, system calls, messages and bytes, by process.

A program counts inside of `window`, while all of its processes take steps; nothing happens unless the environment names a file
for the result. Linux tells of each thread how often it stopped to wait and how long it ran; messages are weft's own counts.
System calls are counted from outside, by `perf`, or by `strace` where that may not be used, in a run of its own: both slow the
steps down.

`catalogue.ORIGINAL_FAMILIES` import this, so it runs on Python 3.7 too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

FILE_VARIABLE = "BENCHMARK_COUNTS"
TRACER_VARIABLE = "BENCHMARK_TRACER"
PERF, STRACE = "perf", "strace"
# A thread makes these to look whether there is something, or to let another have the core; all others move or wake something.
LOOKS = ("sched_yield", "poll", "ppoll", "epoll_wait", "epoll_pwait")
_ATTACH_S = 0.5


def is_on() -> bool:
    return FILE_VARIABLE in os.environ


class Window:
    """What a program tells of its window: the steps of all its processes, and the messages and bytes that they moved."""

    def __init__(self) -> None:
        self.steps = 0
        self.messages = 0
        self.bytes = 0

    def note(self, steps: int, messages: int, moved_bytes: int) -> None:
        """Take note of what one process that takes steps has told."""
        self.steps += steps
        self.messages += messages
        self.bytes += moved_bytes


@contextmanager
def window() -> Iterator[Window]:
    """Count what all processes of this program do inside; the block takes note of the steps."""
    told = Window()
    if not is_on():
        yield told
        return
    tracer = os.environ.get(TRACER_VARIABLE)
    found: dict[str, Any] = {"processes": {}, "calls": None, "looks": None}
    if tracer:
        with _traced(tracer, list(processes())) as calls:
            yield told
        found["calls"] = sum(calls.values())
        found["looks"] = sum(count for name, count in calls.items() if name in LOOKS)
    else:
        before = {pid: _switches(pid) for pid in processes()}
        yield told
        for pid, name in processes().items():
            if pid in before:
                (waits_before, cpu_before_s), (waits, cpu_s) = before[pid], _switches(pid)
                found["processes"][name] = {"waits": waits - waits_before, "cpu_s": cpu_s - cpu_before_s}
    found.update(steps=told.steps, messages=told.messages, bytes=told.bytes)
    Path(os.environ[FILE_VARIABLE]).write_text(json.dumps(found))


def steps(call: Callable[[], object], *, count: int) -> None:
    """Count this many calls of this thread, which takes all the steps; nothing unless counts were asked for."""
    if is_on():
        traffic = Traffic()
        with window() as told:
            for _ in range(count):
                call()
            told.note(count, *traffic.moved())


class Traffic:
    """The messages and bytes of this process, both ways, from now on; nothing is known of TensorFlow's."""

    def __init__(self) -> None:
        module = sys.modules.get("weft.channel.connection") if is_on() else None
        # Also those that the collector of garbage has been told to leave alone, which no longer knows of them.
        owners = list(module.release_in_children.__globals__["_OWNERS"]) if module else []
        self._connections = [each for each in owners if type(each) is module.Connection]
        self._before = self._so_far()

    def moved(self) -> tuple[int, int]:
        """Messages and bytes since this was made, over the connections that there were."""
        messages, moved_bytes = self._so_far()
        return messages - self._before[0], moved_bytes - self._before[1]

    def _so_far(self) -> tuple[int, int]:
        counts = [each.traffic for each in self._connections]
        messages = sum(each.sent_messages + each.received_messages for each in counts)
        return messages, sum(each.sent_bytes + each.received_bytes for each in counts)


def processes() -> dict[int, str]:
    """The processes of this one's group by what they are: a task's job and number, or a role."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (path / "cmdline").read_bytes().decode().split("\0")
            if os.getpgid(int(path.name)) == os.getpgrp() and "-m" in command:
                found[int(path.name)] = _name(command[command.index("-m") + 1 :])
    counts: dict[str, int] = {}
    for pid, name in sorted(found.items()):
        counts[name] = counts.get(name, 0) + 1
        if not name[-1].isdigit() and list(found.values()).count(name) > 1:
            found[pid] = f"{name} {counts[name]}"
    return found


def _name(command: list[str]) -> str:
    if command[0] != "benchmarks.children":
        return "program"
    arguments = json.loads(command[2])
    role = arguments.get("job") or ("worker" if "index" in arguments else "client")
    return f"{role} {arguments['index']}" if "index" in arguments else str(role)


def _switches(pid: int) -> tuple[int, float]:
    """How often the living threads of a process have stopped to wait, and how many seconds they have run."""
    waits, ran_ns = 0, 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # a thread that ended just now
            status = (task / "status").read_text()
            waits += int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
            ran_ns += int((task / "schedstat").read_text().split()[0])
    return waits, ran_ns / 1e9


@contextmanager
def _traced(tracer: str, pids: list[int]) -> Iterator[dict[str, int]]:
    """Count the system calls of the processes while the block runs, by name; the dictionary is filled behind it."""
    found: dict[str, int] = {}
    into = Path(os.environ[FILE_VARIABLE] + ".calls")
    targets = ",".join(map(str, pids))
    if tracer == PERF:
        events = ["raw_syscalls:sys_enter", *(f"syscalls:sys_enter_{name}" for name in LOOKS)]
        command = ["perf", "stat", "-x", ";", "-o", str(into), "-e", ",".join(events), "-p", targets]
    else:
        command = ["strace", "-f", "-c", "-o", str(into), *(part for pid in pids for part in ("-p", str(pid)))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(_ATTACH_S)
    try:
        yield found
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
    found.update((calls_of_perf if tracer == PERF else calls_of_strace)(into.read_text()))


def calls_of_perf(printed: str) -> dict[str, int]:
    """Counts by name out of what `perf stat -x ;` wrote: of the looks, and of all others together."""
    fields = [line.split(";") for line in printed.splitlines() if line.count(";") > 2]
    counts = {each[2].rpartition("sys_enter")[2].lstrip("_"): int(each[0]) for each in fields if each[0].isdigit()}
    everything = counts.pop("", 0)
    return {**counts, "others": everything - sum(counts.values())}


def calls_of_strace(printed: str) -> dict[str, int]:
    """Counts by name out of the table that `strace -c` wrote."""
    fields = [line.split() for line in printed.splitlines()]
    return {each[-1]: int(each[3]) for each in fields if len(each) >= 5 and each[3].isdigit() and each[-1] != "total"}
