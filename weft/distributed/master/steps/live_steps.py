"""LiveSteps: the steps of a session that run now, their numbers, and the end of them all."""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from weft.distributed.master.steps.step_counts import StepCounts
from weft.distributed.master.steps.step_run import StepRun
from weft.errors import OpError
from weft.protocol.outcome_table import LANES


class LiveSteps:
    """Safe from any thread."""

    def __init__(self) -> None:
        self.error: OpError | None = None
        """Why no further step is taken; None while steps are."""
        self.counts = StepCounts()
        """Of the session's steps; those of a served session are counted with the others of its master."""
        self.watched: Callable[[], AbstractContextManager[None]] = nullcontext
        """Gives a block in which a step's thread waits for other tasks. A client elsewhere tells of its waits itself."""
        self._is_draining = False
        self._live: set[StepRun] = set()
        # A random start keeps the step numbers of all masters of a cluster apart; `outcome_table` says what they tell a task.
        self._first_ids = itertools.count(secrets.randbits(45) * LANES)
        self._last_ids: list[int] = []  # of lanes that no step is in

    def __len__(self) -> int:
        return len(self._live)

    @property
    def running(self) -> list[StepRun]:
        """The steps that run now."""
        return list(self._live)

    def next_id(self) -> int:
        """A number that no other step of the cluster has, until `note_end`."""
        try:
            return self._last_ids.pop() + LANES
        except IndexError:
            return next(self._first_ids)

    def note_start(self, step: StepRun) -> None:
        """A step is alive; it is cancelled at the end of them all, or now if that has come."""
        self._live.add(step)
        if self.error is not None:
            step.cancel(self.error)

    def note_end(self, step: StepRun) -> None:
        """A step is over, or will not be run; called once."""
        self._live.discard(step)
        if step.began_s:
            counts = self.counts
            counts.ended += 1
            counts.total_s += time.monotonic() - step.began_s
        self._last_ids.append(step.step_id)

    def note_failure(self, error: OpError) -> None:
        """A step has failed; `note_end` is called too."""
        self.counts.note_failure(error)

    def raise_if_ended(self) -> None:
        """Raise why no further step is taken."""
        if self.error is not None:
            raise self.error

    def drain(self, error: OpError) -> None:
        """Take no further step; those that run go on until `cancel_all`."""
        if self.error is None:
            self.error, self._is_draining = error, True

    def cancel_all(self, error: OpError) -> bool:
        """Take no further step, and cancel those that run; False, and nothing is done, if they were before."""
        if self.error is not None and not self._is_draining:
            return False
        self.error, self._is_draining = error, False
        for step in list(self._live):
            step.cancel(error)
        return True
