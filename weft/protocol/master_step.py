"""MasterStep: one step over several tasks as its master sees it; the one place that says when a step ends, and with what.

What happens to a step (an event) and where it stands decide what is to be done (instructions) and where it stands next:

    event             PLANNED       RUNNING                              FAILED        DONE
    Started           -> RUNNING    illegal                              let go        illegal
    PartDone          illegal       the last of the parts: -> DONE       noted         illegal
    PartFailed        illegal       -> FAILED                            noted         illegal
    WorkerLost        illegal       -> FAILED                            noted         illegal
    Cancelled         -> FAILED     -> FAILED                            ignored       ignored
    DeadlinePassed    illegal       -> FAILED                            ignored       ignored

The first failure is the step's: the parts that are not over are aborted, and the caller is let go without waiting for them.
There is no lock and no clock here: the shell serialises the events, and executes each instruction, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Final, TypeAlias

from weft.errors import AbortedError, DeadlineExceededError, OpError, UnavailableError, from_status
from weft.protocol.outcome_table import UNKNOWN_FATE
from weft.protocol.protocol_error import LocalProtocolError


class StepState(Enum):
    """Where a step stands."""

    PLANNED = "planned"  # no task has been asked for its part
    RUNNING = "running"
    FAILED = "failed"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Started:
    """The caller waits for the step from now on."""


@dataclass(frozen=True, slots=True)
class PartDone:
    """A task's part is over: its fetches, perhaps still being computed, and its StepStats where the step is traced."""

    task: str
    fetches: Sequence[Any]
    stats: object = None


@dataclass(frozen=True, slots=True)
class PartFailed:
    """A task's part is over, or could not begin, with this error."""

    task: str
    error: OpError


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A task that was asked for its part cannot be reached any more; nobody knows how far it came."""

    task: str
    error: OpError


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The step is given up: by its client, by an interrupt, or because the session was closed."""

    error: OpError


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The step's time is up; `waits_on` says on whom and on what, `node` is the Operation that makes it, where it is known."""

    waits_on: str
    node: object = None


@dataclass(frozen=True, slots=True)
class AskPart:
    """Ask this task to run its part."""

    task: str


@dataclass(frozen=True, slots=True)
class AbortPart:
    """Tell this task to give its part up. It may have been asked, or not yet, or be done just now."""

    task: str
    error: OpError


@dataclass(frozen=True, slots=True)
class LetGo:
    """Let the caller go: `error` is the step's, or `fetches` and `stats` are complete."""


PartEvent: TypeAlias = PartDone | PartFailed | WorkerLost
"""What the workers tell, once for each part."""
Event: TypeAlias = Started | PartEvent | Cancelled | DeadlinePassed
Instruction: TypeAlias = AskPart | AbortPart | LetGo

_LOST: Final = (AbortedError, UnavailableError)
"""Errors after which a step is worth another attempt."""
_LET_GO: Final = LetGo()


class MasterStep:
    """The state of one step; `handle` takes events. The results are in `fetches` and `stats` by task, and in `error`."""

    __slots__ = ("_story", "_waiting", "error", "fetches", "state", "stats", "step_id")

    def __init__(self, step_id: int, tasks: Iterable[str]) -> None:
        self.step_id = step_id
        self.state = StepState.PLANNED
        self.error: OpError | None = None
        self.fetches: dict[str, Sequence[Any]] = {}
        self.stats: dict[str, object] = {}
        self._waiting = dict.fromkeys(tasks)
        self._story: list[Event] = []

    @property
    def waiting_for(self) -> list[str]:
        """The tasks whose parts are not over, in order of name."""
        return sorted(self._waiting)

    def handle(self, event: Event) -> Sequence[Instruction]:
        """Say what is to be done about an event.

        Raises:
            LocalProtocolError: no such event may come now; the step's story is in the message.
        """
        rule = self._RULES.get((self.state, type(event)))
        if rule is None:
            raise self._illegal(event)
        self._story.append(event)
        return rule(self, event)

    def _illegal(self, event: Event) -> LocalProtocolError:
        story = ", ".join(map(_told, self._story)) or "nothing"
        return LocalProtocolError(f"Step {self.step_id:x} is {self.state.value} and got {_told(event)} after {story}")

    def _start(self, event: Started) -> Sequence[Instruction]:
        if not self._waiting:
            self.state = StepState.DONE
            return (_LET_GO,)
        self.state = StepState.RUNNING
        return list(map(AskPart, self._waiting))

    def _note_fetches(self, event: PartDone) -> Sequence[Instruction]:
        if event.task not in self._waiting:
            raise self._illegal(event)
        del self._waiting[event.task]
        self.fetches[event.task] = event.fetches
        self.stats[event.task] = event.stats
        if self._waiting:
            return ()
        self.state = StepState.DONE
        return (_LET_GO,)

    def _lose_part(self, event: PartFailed | WorkerLost) -> Sequence[Instruction]:
        self._note_end(event)
        error = event.error
        if isinstance(error, _LOST) and (self.fetches or self._waiting) and UNKNOWN_FATE not in error.message:
            # Another task may have applied its part, or may do so before it is told.
            text = f"{error.message}. Other tasks had parts of this step: {UNKNOWN_FATE}, in part"
            error = from_status(error.error_code, text, error.node_def, error.op)
            error.__cause__ = event.error
        return self._fail(error)

    def _cancel(self, event: Cancelled) -> Sequence[Instruction]:
        return self._fail(event.error)

    def _cancel_unasked(self, event: Cancelled) -> Sequence[Instruction]:
        self._fail(event.error)
        return ()

    def _time_out(self, event: DeadlinePassed) -> Sequence[Instruction]:
        text = f"Timed out waiting for notification: step {self.step_id:x} on {event.waits_on}"
        return self._fail(DeadlineExceededError.of(text, event.node))

    def _fail(self, error: OpError) -> Sequence[Instruction]:
        self.state = StepState.FAILED
        self.error = error
        return [*(AbortPart(task, error) for task in self.waiting_for), _LET_GO]

    def _note_end(self, event: PartEvent) -> Sequence[Instruction]:
        if event.task not in self._waiting:
            raise self._illegal(event)
        del self._waiting[event.task]
        return ()

    def _let_go(self, event: Started) -> Sequence[Instruction]:
        return (_LET_GO,)

    def _ignore(self, event: Event) -> Sequence[Instruction]:
        return ()

    _RULES: ClassVar[Mapping[tuple[StepState, type[Event]], Callable[[MasterStep, Any], Sequence[Instruction]]]] = {
        (StepState.PLANNED, Started): _start,
        (StepState.PLANNED, Cancelled): _cancel_unasked,
        (StepState.RUNNING, PartDone): _note_fetches,
        (StepState.RUNNING, PartFailed): _lose_part,
        (StepState.RUNNING, WorkerLost): _lose_part,
        (StepState.RUNNING, Cancelled): _cancel,
        (StepState.RUNNING, DeadlinePassed): _time_out,
        (StepState.FAILED, Started): _let_go,
        (StepState.FAILED, PartDone): _note_end,
        (StepState.FAILED, PartFailed): _note_end,
        (StepState.FAILED, WorkerLost): _note_end,
        (StepState.FAILED, Cancelled): _ignore,
        (StepState.FAILED, DeadlinePassed): _ignore,
        (StepState.DONE, Cancelled): _ignore,
        (StepState.DONE, DeadlinePassed): _ignore,
    }


def _told(event: Event) -> str:
    """An event without the values in it, which may be large."""
    match event:
        case PartDone(task=task):
            return f"PartDone({task})"
        case PartFailed(task, error) | WorkerLost(task, error):
            return f"{type(event).__name__}({task}: {error.message})"
        case _:
            return str(event)
