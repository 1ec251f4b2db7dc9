"""Quorum: how many gradients make a synchronous update while replicas are gone, from what the accumulators report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from weft.ops.data_flow.accumulator_state import AccumulatorReport
from weft.ops.data_flow.contributors import ReplicaReport, task_of

_NAMED: Final = 4


@dataclass(frozen=True)
class Count:
    """How many gradients an update needs, and how many tokens it releases."""

    required: int
    tokens: int


class Quorum:
    """Follows the replicas: one that is gone for some time is no longer waited for, until it gives a gradient again.

    A replica is a task; it is gone when all its sessions have left, as those of a dead process have at once. For so long it may
    just be making a new session. One that has said that it ends, at the end of its input, is gone at once. A replica that has
    never come is not gone: an update waits for it, unless a `minimum` says that replicas come later.

    Args:
        aggregate: how many gradients make an update when all replicas are there.
        total: how many replicas there are.
        timeout_s: how long a replica is waited for.
        minimum: how many replicas there must be for an update; beyond, those count that have come and have not gone, from
            their first gradient on. None has updates wait for all that are not gone.
    """

    def __init__(self, aggregate: int, total: int, timeout_s: float, minimum: int | None = None) -> None:
        self._aggregate = aggregate
        self._total = total
        self._timeout_s = timeout_s
        self._minimum = minimum
        self._come: set[str] = set()
        self._ended: set[str] = set()
        self._left_at: dict[str, float] = {}
        self._gone: set[str] = set()
        self.count = self._count(0)
        self.has_lost = False

    def look(self, reports: Sequence[AccumulatorReport], now: float) -> str | None:
        """Follow what is reported now; `count` in words when it has changed, with the replicas that it changed for.

        Args:
            reports: one for each task that has accumulators; see `AccumulatorState.report`.
            now: seconds of any one clock.

        Returns:
            The change; `has_lost` says whether it is the loss of a replica that has not come to the end of its input.
        """
        sessions = _by_task(reports)
        before, come_before = set(self._gone), set(self._come)
        for task, known in sessions.items():
            self._follow(task, known, now)
        here = sum(any(map(_is_open, known)) for task, known in sessions.items() if task not in self._gone)
        self.count = self._count(here)
        new = self._come - come_before if self._minimum is not None else set()
        if before == self._gone and not new:
            return None
        self.has_lost = bool(self._gone - before - self._ended)
        what = [f"{task} is gone" for task in sorted(self._gone - before)]
        what += [f"{task} is back" for task in sorted(before - self._gone)]
        what += [f"{task} has come" for task in sorted(new - self._gone - before)]
        return (
            f"{', '.join(what[:_NAMED])}{' ...' if len(what) > _NAMED else ''}: updates are made of {self.count.required} "
            f"gradients from now on ({self._aggregate} when all {self._total} replicas are there)"
        )

    def _follow(self, task: str, known: Sequence[ReplicaReport], now: float) -> None:
        gives = any(_is_open(each) and each["has_given"] for each in known)
        if gives:
            self._come.add(task)
            self._ended.discard(task)
        if task in self._gone:
            if gives:
                self._gone.discard(task)
        elif any(map(_is_open, known)):
            self._left_at.pop(task, None)
        elif now - self._left_at.setdefault(task, now) >= self._timeout_s or any(each["has_ended"] for each in known):
            self._gone.add(task)
            del self._left_at[task]
            if any(each["has_ended"] for each in known):
                self._ended.add(task)

    def _count(self, here: int) -> Count:
        if self._minimum is None:
            live = max(1, self._total - len(self._gone), min(here, self._total))
        else:
            # Those that have come to the end of their input do not come back for the sake of the minimum.
            live = min(self._total, max(1, self._minimum - len(self._ended), len(self._come - self._gone)))
        # Where an update is made of several gradients of each replica those that are left give more.
        required = min(self._aggregate, live) if self._aggregate <= self._total else self._aggregate
        return Count(required, max(live, required))


def _by_task(reports: Iterable[AccumulatorReport]) -> dict[str, list[ReplicaReport]]:
    """The sessions of each task; one that some task of the parameters can reach has not left: idle connections may be cut."""
    found: dict[str, dict[str, ReplicaReport]] = {}
    for report in reports:
        for each in report["replicas"]:
            known = found.setdefault(task_of(each), {}).setdefault(each["name"], each.copy())
            known["has_left"] = known["has_left"] and each["has_left"]
            known["has_ended"] = known["has_ended"] or each["has_ended"]
            known["has_given"] = known["has_given"] or each["has_given"]
    return {task: list(sessions.values()) for task, sessions in found.items()}


def _is_open(session: ReplicaReport) -> bool:
    return not (session["has_left"] or session["has_ended"])
