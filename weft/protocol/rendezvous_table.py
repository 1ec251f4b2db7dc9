"""Which steps a task knows of, and the tensors that came before their step did.

Peers push without being asked, so a Push may overtake the RunGraph of its step, and may come after the step's end. What a step
makes of an event:

    state      push       start      finish     abort
    UNKNOWN    keep       run        -          remember
    EARLY      keep       run        -          remember
    RUNNING    deliver    refuse     remember   end, remember
    OVER       drop       refuse     -          -

A table has no lock and no clock: its owner serialises the calls and says what time it is. It executes every instruction that a
call returns, in order and without the lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Final, Generic, TypeAlias, TypeVar

from weft.errors import AbortedError, OpError, ResourceExhaustedError
from weft.protocol.limits import ServerLimits, exceeded
from weft.protocol.messages import Push

StepT = TypeVar("StepT")


@dataclass(frozen=True, slots=True)
class Deliver(Generic[StepT]):
    """Hand this push to its running step."""

    step: StepT
    push: Push


@dataclass(frozen=True, slots=True)
class End(Generic[StepT]):
    """End this step with this error: it was aborted, or cannot run here at all."""

    step: StepT
    error: OpError


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Tell the log that tensors came for a step which will not run: its master hears of it when it asks for the step."""

    step_id: int
    reason: str


Instruction: TypeAlias = Deliver[StepT] | End[StepT] | GiveUp
_Kind: TypeAlias = type[AbortedError] | type[ResourceExhaustedError]


class StepState(Enum):
    """What a task knows of a step."""

    UNKNOWN = "unknown"
    EARLY = "early"  # pushes came, no RunGraph yet: they are kept, within bounds
    RUNNING = "running"
    OVER = "over"  # done, failed, aborted or given up; a bounded number of such steps is remembered


@dataclass(slots=True)
class _Entry(Generic[StepT]):
    step_id: int
    state: StepState = StepState.UNKNOWN
    step: StepT | None = None  # while it runs
    since_s: float = 0.0  # when the first push came
    pushes: list[Push] | None = None
    size_bytes: int = 0
    reason: str = ""  # why it is over, and the error for whoever starts it then; "" of one that is done
    kind: _Kind = AbortedError


class RendezvousTable(Generic[StepT]):
    """One task's steps.

    Args:
        task: the task's name, for errors.
        limits: of what is kept for steps that have not started, `max_early_bytes`, and how long, `early_s`. A step that has not
            started by then never will: its master is gone.
        max_early_steps: for how many steps.
        max_remembered_steps: how many of the steps that are over are remembered.
    """

    def __init__(
        self,
        task: str,
        limits: ServerLimits | None = None,
        *,
        max_early_steps: int = 1024,
        max_remembered_steps: int = 4096,
    ) -> None:
        self._task: Final = task
        self._max_steps: Final = max_early_steps
        limits = limits or ServerLimits()
        self._max_bytes: Final = limits.max_early_bytes
        self._max_s: Final = limits.early_s
        self._max_remembered: Final = max_remembered_steps
        self._entries: dict[int, _Entry[StepT]] = {}
        self._early: dict[int, _Entry[StepT]] = {}  # oldest first
        self._early_bytes = 0
        self._over: deque[int] = deque()  # oldest first

    @property
    def running(self) -> list[StepT]:
        """The steps that run."""
        return [entry.step for entry in self._entries.values() if entry.step is not None]

    def find(self, step_id: int) -> StepT | None:
        """A step that runs, by its number."""
        entry = self._entries.get(step_id)
        return None if entry is None else entry.step

    def push(self, push: Push, now_s: float) -> Sequence[Instruction[StepT]]:
        """Take tensors of a step. They are delivered, or kept until it starts; those of a step that is over are dropped."""
        entry = self._entries.get(push.step_id) or self._add(push.step_id)
        return self._ON_PUSH[entry.state](self, entry, push, now_s)

    def start(self, step_id: int, step: StepT) -> Sequence[Instruction[StepT]]:
        """Let a step run: delivers what came early for it, or ends it if it cannot run here."""
        entry = self._entries.get(step_id) or self._add(step_id)
        return self._ON_START[entry.state](self, entry, step)

    def note_end(self, step_id: int, step: StepT) -> None:
        """Note that a step has ended, if it is the one that ran under this number."""
        entry = self._entries.get(step_id)
        if entry is not None and entry.step is step:
            self._end(entry, "")

    def abort(self, step_id: int, error: OpError) -> Sequence[Instruction[StepT]]:
        """End a step, started or not. The first reason given for a step is kept."""
        entry = self._entries.get(step_id) or self._add(step_id)
        step = entry.step
        if entry.state is not StepState.OVER:
            self._end(entry, error.message)
        return () if step is None else (End(step, error),)

    def _add(self, step_id: int) -> _Entry[StepT]:
        added = self._entries[step_id] = _Entry(step_id)
        return added

    # The rules for a push.

    def _keep(self, entry: _Entry[StepT], push: Push, now_s: float) -> Sequence[Instruction[StepT]]:
        expired = self.expire(now_s)
        size = sum(tensor.nbytes for tensor in push.tensors)
        overflow = self._overflow(entry, size)
        if overflow is not None:
            self._end(entry, overflow.message, type(overflow))
            return [*expired, GiveUp(entry.step_id, overflow.message)]
        if entry.state is StepState.UNKNOWN:
            entry.state, entry.since_s = StepState.EARLY, now_s
            self._early[entry.step_id] = entry
        entry.pushes = entry.pushes or []
        entry.pushes.append(push)
        entry.size_bytes += size
        self._early_bytes += size
        return expired

    def _deliver(self, entry: _Entry[StepT], push: Push, now_s: float) -> Sequence[Instruction[StepT]]:
        assert entry.step is not None
        return (Deliver(entry.step, push),)

    def _drop(self, entry: _Entry[StepT], push: Push, now_s: float) -> Sequence[Instruction[StepT]]:
        return ()

    # The rules for a start.

    def _run(self, entry: _Entry[StepT], step: StepT) -> Sequence[Instruction[StepT]]:
        pushes = self._forget_early(entry) if entry.state is StepState.EARLY else ()
        entry.state, entry.step = StepState.RUNNING, step
        return [Deliver(step, push) for push in pushes] if pushes else ()

    def _refuse(self, entry: _Entry[StepT], step: StepT) -> Sequence[Instruction[StepT]]:
        what = "is done already" if entry.state is StepState.OVER else "runs already"
        reason = entry.reason or f"step {entry.step_id} {what}"
        return (End(step, entry.kind.of(f"{self._task}: {reason}")),)

    def expire(self, now_s: float) -> list[Instruction[StepT]]:
        """Give up the steps that have waited too long for their start."""
        stale: list[Instruction[StepT]] = []
        while self._early and (oldest := next(iter(self._early.values()))).since_s < now_s - self._max_s:
            reason = f"step {oldest.step_id} got tensors but was not started within {self._max_s:g} s"
            self._end(oldest, reason)
            stale.append(GiveUp(oldest.step_id, reason))
        return stale

    def _overflow(self, entry: _Entry[StepT], size: int) -> ResourceExhaustedError | None:
        if entry.state is StepState.UNKNOWN and len(self._early) >= self._max_steps:
            return ResourceExhaustedError.of(
                f"tensors came for {self._max_steps} steps that have not started here, no more are kept"
            )
        if self._early_bytes + size > self._max_bytes:
            what = "too many bytes of tensors came for steps that have not started here"
            return exceeded(what, self._early_bytes + size, "max_early_bytes", self._max_bytes)
        return None

    def _forget_early(self, entry: _Entry[StepT]) -> Sequence[Push]:
        pushes, entry.pushes = entry.pushes or (), None
        self._early_bytes -= entry.size_bytes
        del self._early[entry.step_id]
        return pushes

    def _end(self, entry: _Entry[StepT], reason: str, kind: _Kind = AbortedError) -> None:
        if entry.state is StepState.EARLY:
            self._forget_early(entry)
        # The first line: with those about the node, the 4,096 that are remembered took 10 MB.
        entry.state, entry.step, entry.reason, entry.kind = StepState.OVER, None, reason.partition("\n")[0], kind
        self._over.append(entry.step_id)
        while len(self._over) > self._max_remembered:
            del self._entries[self._over.popleft()]

    _ON_PUSH: ClassVar[Mapping[StepState, Callable[..., Sequence[Instruction[Any]]]]] = {
        StepState.UNKNOWN: _keep,
        StepState.EARLY: _keep,
        StepState.RUNNING: _deliver,
        StepState.OVER: _drop,
    }
    _ON_START: ClassVar[Mapping[StepState, Callable[..., Sequence[Instruction[Any]]]]] = {
        StepState.UNKNOWN: _run,
        StepState.EARLY: _run,
        StepState.RUNNING: _refuse,
        StepState.OVER: _refuse,
    }
