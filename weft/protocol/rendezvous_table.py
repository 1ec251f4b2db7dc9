"""Which steps a task knows of, and the tensors that came before their step did.

Peers push without being asked, so a Push may overtake the RunGraph of its step, and may come after the step's end. A
step is

    early      pushes came, no RunGraph yet: they are kept, within bounds
    running    pushes go straight to the step
    over       done, failed or aborted: pushes are dropped; a bounded number of such steps is remembered

The table has no lock and no clock: its owner serialises the calls and says what time it is.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from weft.protocol.messages import Push


@dataclass(frozen=True, slots=True)
class Deliver:
    """Hand this push to its running step."""

    push: Push


@dataclass(frozen=True, slots=True)
class Drop:
    """The step is over: forget this push."""

    step_id: int


@dataclass(frozen=True, slots=True)
class Fail:
    """The step cannot run here: report it to its master."""

    step_id: int
    reason: str


Instruction: TypeAlias = Deliver | Drop | Fail


@dataclass(slots=True)
class _Early:
    since_s: float
    pushes: list[Push] = field(default_factory=list)
    size_bytes: int = 0


class RendezvousTable:
    """One task's steps. `max_early_steps` and `max_early_bytes` bound what is kept for steps that have not started."""

    def __init__(
        self, *, max_early_steps: int = 1024, max_early_bytes: int = 4 << 30, max_remembered_steps: int = 4096
    ) -> None:
        self._max_steps: Final = max_early_steps
        self._max_bytes: Final = max_early_bytes
        self._max_remembered: Final = max_remembered_steps
        self._early: OrderedDict[int, _Early] = OrderedDict()  # oldest first
        self._running: set[int] = set()
        self._over: OrderedDict[int, str] = OrderedDict()  # why the step cannot start any more; oldest first
        self._early_bytes = 0

    @property
    def early_bytes(self) -> int:
        """The size of the tensors that are kept for steps to come."""
        return self._early_bytes

    @property
    def running(self) -> frozenset[int]:
        """The steps that run."""
        return frozenset(self._running)

    def push(self, push: Push, now_s: float) -> list[Instruction]:
        """Take tensors of a step; no instruction means that they are kept until it starts."""
        step_id = push.step_id
        if step_id in self._running:
            return [Deliver(push)]
        if step_id in self._over:
            return [Drop(step_id)]
        size = sum(tensor.nbytes for tensor in push.tensors)
        reason = self._overflow(step_id, size)
        if reason:
            self._end(step_id, reason)
            return [Fail(step_id, reason)]
        early = self._early.get(step_id)
        if early is None:
            early = self._early[step_id] = _Early(now_s)
        early.pushes.append(push)
        early.size_bytes += size
        self._early_bytes += size
        return []

    def start(self, step_id: int) -> list[Instruction]:
        """Let a step run; returns what came early for it, or Fail if it was over before it began."""
        if step_id in self._running:
            return [Fail(step_id, f"step {step_id} runs already")]
        if step_id in self._over:
            return [Fail(step_id, self._over[step_id])]
        self._running.add(step_id)
        return [Deliver(push) for push in self._take_early(step_id)]

    def finish(self, step_id: int) -> None:
        """End a step that ran; pushes that still come for it are dropped."""
        self._end(step_id, f"step {step_id} is done already")

    def abort(self, step_id: int, reason: str) -> bool:
        """End a step, started or not; return whether it ran. The first reason given for a step is kept."""
        ran = step_id in self._running
        self._end(step_id, reason)
        return ran

    def expire(self, before_s: float) -> list[Instruction]:
        """Give up the steps whose first push came before this time and which never started: their master is gone."""
        stale = [step_id for step_id, early in self._early.items() if early.since_s < before_s]
        for step_id in stale:
            self._end(step_id, f"step {step_id} got tensors but was never started")
        return [Drop(step_id) for step_id in stale]

    def _overflow(self, step_id: int, size: int) -> str:
        if step_id not in self._early and len(self._early) >= self._max_steps:
            return f"tensors came for {self._max_steps} steps that have not started here, no more are kept"
        if self._early_bytes + size > self._max_bytes:
            kept = f"{self._early_bytes} bytes are kept for steps that have not started here"
            return f"{kept}, {size} more would exceed the limit of {self._max_bytes}"
        return ""

    def _take_early(self, step_id: int) -> list[Push]:
        early = self._early.pop(step_id, None)
        if early is None:
            return []
        self._early_bytes -= early.size_bytes
        return early.pushes

    def _end(self, step_id: int, reason: str) -> None:
        self._running.discard(step_id)
        self._take_early(step_id)
        self._over.setdefault(step_id, reason)
        while len(self._over) > self._max_remembered:
            self._over.popitem(last=False)
