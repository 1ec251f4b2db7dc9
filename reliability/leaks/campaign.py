"""The leak proof: so many cases of each kind, and the difference that they make to the tasks and to the client."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

from reliability.leaks import footprint
from reliability.leaks.exercises import EXERCISES, Client
from reliability.leaks.footprint import Footprint
from reliability.leaks.processes import Process, free_cluster, say, serve, wait_for_any

KILLED: str = "killed clients"
_WARM_UP = 0.2
_SETTLE_S = 10.0
_CLIENTS_AT_A_TIME = 4


@dataclass(frozen=True)
class Finding:
    """What was left after the cases of one kind, in one process."""

    what: str
    cases: int
    seconds: float
    process: str
    before: Footprint
    after: Footprint
    problems: list[str]


def run(timed_out: int, cancelled: int, sessions: int, clients: int) -> list[Finding]:
    """Run all kinds that have cases against one cluster of two tasks; blocks. For a process without threads.

    Args:
        timed_out, cancelled: the numbers of steps; one of five only warms up.
        sessions, clients: those of dropped sessions and of killed clients, likewise.
    """
    cluster = free_cluster()
    tasks = {"ps": serve(cluster, "ps"), "worker": serve(cluster, "worker")}
    target = f"grpc://{cluster['worker'][0]}"
    findings: list[Finding] = []
    try:
        for what, count in (("timed-out steps", timed_out), ("cancelled steps", cancelled), ("dropped sessions", sessions)):
            findings += _exercise(what, count, target, tasks) if count else []
        findings += _kill_clients(clients, target, tasks) if clients else []
    finally:
        for task in tasks.values():
            task.kill()
    return findings


def _exercise(what: str, count: int, target: str, tasks: dict[str, Process]) -> list[Finding]:
    warm_up = max(1, int(count * _WARM_UP))

    def client(pipe: Connection) -> None:
        mine, act = Client(target), EXERCISES[what]
        for first, last in ((0, warm_up), (warm_up, count)):
            for number in range(first, last):
                act(mine, number)
            mine.check()
            say(pipe)
            pipe.recv_bytes()
            say(pipe, **footprint.take().__dict__)
        pipe.recv_bytes()

    process = Process(client)
    began = time.monotonic()
    try:
        _hear_slowly(process)
        everyone = {**tasks, "client": process}
        before = {name: each.footprint() for name, each in everyone.items()}
        _hear_slowly(process)
        return _compare(what, count - warm_up, began, everyone, before)
    finally:
        process.kill()


def _hear_slowly(process: Process) -> None:
    """Wait for a client that works for minutes."""
    while not wait_for_any([process], 10.0):
        continue
    process.hear()


def _kill_clients(count: int, target: str, tasks: dict[str, Process]) -> list[Finding]:
    def client(pipe: Connection) -> None:
        mine = Client(target)
        say(pipe)
        mine.session.run(mine.stuck)

    began, warm_up = time.monotonic(), max(1, int(count * _WARM_UP))
    _start_and_kill(client, warm_up)
    before = _settled(tasks)
    _start_and_kill(client, count - warm_up)
    return _compare(KILLED, count - warm_up, began, tasks, before)


def _start_and_kill(client: object, count: int) -> None:
    running: list[Process] = []
    started = 0
    while started < count or running:
        while started < count and len(running) < _CLIENTS_AT_A_TIME:
            running.append(Process(client))  # type: ignore[arg-type]
            started += 1
        for each in wait_for_any(running, 60.0):
            each.hear()
            running.remove(each)
            each.kill()


def _settled(tasks: dict[str, Process]) -> dict[str, Footprint]:
    """What the tasks hold once that no longer falls."""
    found = {name: each.footprint() for name, each in tasks.items()}
    limit = time.monotonic() + _SETTLE_S
    while time.monotonic() < limit:
        time.sleep(1.0)
        again = {name: each.footprint() for name, each in tasks.items()}
        if all(again[name].threads >= found[name].threads and again[name].sockets >= found[name].sockets for name in found):
            return again
        found = again
    return found


def _compare(what: str, cases: int, began: float, processes: dict[str, Process], before: dict[str, Footprint]) -> list[Finding]:
    seconds = time.monotonic() - began
    # A client answers once.
    after = {name: each.footprint() for name, each in processes.items() if name == "client"}
    tasks = {name: each for name, each in processes.items() if name != "client"}
    limit = time.monotonic() + _SETTLE_S
    while True:
        after |= _settled(tasks)
        problems = {name: footprint.growth(before[name], after[name], cases) for name in after}
        if not any(problems[name] for name in tasks) or time.monotonic() > limit:
            break
    found = [Finding(what, cases, seconds, name, before[name], after[name], problems[name]) for name in after]
    print("\n".join(text(each) for each in found), file=sys.stderr, flush=True)
    return found


def text(finding: Finding) -> str:
    """One finding for a reader."""
    before, after = finding.before, finding.after
    held = ", ".join(
        f"{name} {old} to {new}"
        for name, old, new in (
            ("threads", before.threads, after.threads),
            ("descriptors", before.descriptors, after.descriptors),
            ("sockets", before.sockets, after.sockets),
            ("MiB", before.resident_bytes >> 20, after.resident_bytes >> 20),
        )
    )
    told = "; ".join(finding.problems) or "nothing stays"
    return f"{finding.cases} {finding.what}, {finding.seconds:.0f} s, {finding.process}: {held}: {told}"
