"""The policy of training sessions about lost tasks: errors worth another attempt, how long to wait, when to give up."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from weft.errors import AbortedError, FailedPreconditionError, OpError, UnavailableError, from_status
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph
from weft.platform.logs import tf_logging

# A task was restarted or cannot be reached: with a new session the same run may succeed.
RETRYABLE: Final = (AbortedError, UnavailableError)


_NO_VALUE: Final = re.compile(r"uninitialized value (\S+)")


class ValueLostError(AbortedError):
    """Raised when a variable of a model that was ready has no value any more: its task was restarted meanwhile."""


def value_lost(error: FailedPreconditionError, graph: Graph) -> ValueLostError | None:
    """The error to raise in place of one that tells of a shared variable without a value; None for any other."""
    found = _NO_VALUE.search(error.message or "")
    shared = {variable.op.name: variable for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)}
    variable = shared.get(found[1].rstrip(".")) if found else None
    if variable is None:
        return None
    where = f" on {variable.device}" if variable.device else ""
    return ValueLostError(
        error.node_def,
        error.op,
        f"Variable {variable.op.name!r}{where} had a value when the session began and has none now: its task was restarted",
    )


@dataclass(frozen=True)
class RetryPolicy:
    """How often a training session tries again after a lost task, and how long it waits before.

    The waits are `first_wait_s`, doubled each time up to `longest_wait_s`; a step that succeeds starts the count anew. The
    defaults go on for about an hour.

    Args:
        attempts: after so many failures the error is the program's; 1 tries nothing again.
        first_wait_s: seconds before the second attempt.
        longest_wait_s: the longest wait, in seconds.
        repeats_unknown_steps: whether a step is run again that may have been applied, with a warning. If not, the program gets
            its AbortedError or UnavailableError, with the words "the step may or may not have been applied"; the training
            session goes on with the next run.

    Raises:
        ValueError: there is no attempt, or a wait is negative.
    """

    attempts: int = 130
    first_wait_s: float = 0.1
    longest_wait_s: float = 30.0
    repeats_unknown_steps: bool = True

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"RetryPolicy: attempts must be at least 1, got {self.attempts}; 1 tries nothing again")
        if self.first_wait_s < 0 or self.longest_wait_s < 0:
            raise ValueError(f"RetryPolicy: waits must not be negative, got {self.first_wait_s} s and {self.longest_wait_s} s")


@dataclass
class _Attempt:
    clock: str
    what: str
    error: OpError
    times: int = 1

    def __str__(self) -> str:
        first_line = (self.error.message or "").partition("\n")[0]
        again = f" ({self.times} times)" if self.times > 1 else ""
        return f"{self.clock} {self.what}: {type(self.error).__name__}: {first_line}{again}"


@dataclass
class RetryBudget:
    """Counts the failures since the last success; used by one thread at a time."""

    policy: RetryPolicy = field(default_factory=RetryPolicy)
    sleep: Callable[[float], None] = time.sleep
    _attempts: list[_Attempt] = field(default_factory=list)
    _failures: int = 0

    def succeeded(self) -> None:
        """A run has succeeded: start counting anew."""
        if self._failures:
            self._failures = 0
            self._attempts.clear()

    def failed(self, what: str, error: OpError) -> None:
        """Note a failure and wait before the next attempt; blocks up to `longest_wait_s`.

        Args:
            what: what was tried.
            error: how it failed.

        Raises:
            OpError: there were too many failures: an error of the same class, whose message lists them.
        """
        self._note(what, error)
        if self._failures >= self.policy.attempts:
            told = "\n  ".join(map(str, self._attempts))
            message = f"{error.message}\nGave up after {self._failures} attempts without a step that succeeded:\n  {told}"
            raise from_status(error.error_code, message, error.node_def, error.op) from error
        wait_s = min(self.policy.first_wait_s * 2 ** (self._failures - 1), self.policy.longest_wait_s)
        tf_logging.info(
            "A task was lost while %s: a new session will be made in %.1f s (attempt %d of %d). This is usually another "
            "task's restart. Error: %s", what, wait_s, self._failures, self.policy.attempts, error.message,
        )  # fmt: skip
        self.sleep(wait_s)

    def _note(self, what: str, error: OpError) -> None:
        self._failures += 1
        last = self._attempts[-1] if self._attempts else None
        if last is not None and (last.what, type(last.error), last.error.message) == (what, type(error), error.message):
            last.times += 1
        else:
            self._attempts.append(_Attempt(time.strftime("%H:%M:%S"), what, error))
