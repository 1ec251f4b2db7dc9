"""Rates: what a task did between two reports, by the second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.distributed.client.observation.task_report import TaskReport, short_name


@dataclass(frozen=True)
class PeerRates:
    """Bytes and messages a second between a task and another."""

    sent_bytes: float
    received_bytes: float
    sent_messages: float
    received_messages: float


@dataclass(frozen=True)
class Rates:
    """One task between two of its reports. Tasks are called as people do, such as `worker:0`."""

    time_s: float
    steps: float = 0.0
    step_s: float | None = None
    """The mean time of a step; None when none has ended, or none was timed."""
    parts: float = 0.0
    updates: float = 0.0
    cpus: float = 0.0
    failed: float = 0.0
    sent_bytes: float = 0.0
    received_bytes: float = 0.0
    computing: float = 0.0
    """How many steps had something to run, on average; and how many waited, by task."""
    waiting: Mapping[str, float] = field(default_factory=dict)
    peers: Mapping[str, PeerRates] = field(default_factory=dict)
    host: float = 0.0
    """Seconds a second in stages on the host; likewise compiled ones, and making code."""
    compiled: float = 0.0
    compile: float = 0.0

    @property
    def waiting_most(self) -> str:
        """For whom steps waited most, and how much of the time; empty when they did not."""
        if not self.waiting:
            return ""
        task = max(self.waiting, key=lambda each: self.waiting[each])
        share = self.waiting[task]
        return f"{task} {share:.0%}" if share >= 0.005 else ""


def rates_between(before: TaskReport, now: TaskReport) -> Rates:
    """What a task did from one report to the next; a task that was restarted meanwhile begins with nothing."""
    if before.process_id != now.process_id or now.uptime_s <= before.uptime_s:
        return Rates(now.time_s)
    seconds = now.uptime_s - before.uptime_s

    def rate(name: str) -> float:
        return max(float(getattr(now, name)) - float(getattr(before, name)), 0.0) / seconds

    timed = now.timed_steps - before.timed_steps
    waiting = {
        short_name(task): (total - before.waiting_s.get(task, 0.0)) / seconds
        for task, total in now.waiting_s.items()
        if total > before.waiting_s.get(task, 0.0)
    }
    peers = _peer_rates(before, now, seconds)
    return Rates(
        now.time_s, rate("steps"), (now.step_s - before.step_s) / timed if timed > 0 else None, rate("parts"), rate("updates"),
        rate("cpu_s"), rate("failed_steps"), sum(each.sent_bytes for each in peers.values()),
        sum(each.received_bytes for each in peers.values()), rate("computing_s"), waiting, peers, rate("host_s"),
        rate("compiled_s"), rate("compile_s"),
    )  # fmt: skip


def _peer_rates(before: TaskReport, now: TaskReport, seconds: float) -> dict[str, PeerRates]:
    known = {peer.task: peer for peer in before.peers}
    found = {}
    for peer in now.peers:
        old = known.get(peer.task)
        counts = (peer.sent_bytes, peer.received_bytes, peer.sent_messages, peer.received_messages)
        past = (0, 0, 0, 0) if old is None else (old.sent_bytes, old.received_bytes, old.sent_messages, old.received_messages)
        found[short_name(peer.task)] = PeerRates(*(max(a - b, 0) / seconds for a, b in zip(counts, past, strict=True)))
    return found
