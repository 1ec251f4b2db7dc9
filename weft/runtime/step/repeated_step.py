"""RepeatedStep: a partition that is run again and again as one step, on the thread of its stages; in rounds, where possible."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from weft.errors import InternalError, OpError
from weft.framework.building.aliases import Array
from weft.runtime.executor import Executor
from weft.runtime.stage import Stage
from weft.runtime.step.dataflow import Dataflow
from weft.runtime.step.rounds import Rounds, Run
from weft.runtime.step.step import Inbox, Step
from weft.runtime.ways.host_way import ContextOf

# Of steps that are run as one; meanwhile a recording that begins does not see them.
_REPEATED_S: Final = 0.05


class RepeatedStep(Step):
    """As Step, of a partition without feeds and messages; see there. Its values are those of the last run.

    Args:
        go_on: asked after each run, on the thread that ended it, whether there is to be another.
        rounds: how runs may be made side by side; None where they may not. The rest is Step's.
    """

    __slots__ = ("_ends_s", "_go_on", "_rounds")

    def __init__(
        self,
        executor: Executor,
        step_id: int,
        on_done: Callable[[Step], None],
        inbox: Inbox | None,
        go_on: Callable[[], bool],
        rounds: Rounds | None = None,
    ) -> None:
        super().__init__(executor, step_id, (), on_done, None, inbox)
        # Who takes an element would otherwise make the next ones.
        self._parks = False
        self._go_on = go_on
        self._rounds = rounds
        self._ends_s = self.began_s + _REPEATED_S

    def start(self) -> None:
        """Begin; in rounds on a thread of the pool, which may wait."""
        if self._rounds is None:
            super().start()
        else:
            self._executor.pool.submit(lambda rounds=self._rounds: self._run_in(rounds))  # type: ignore[misc]

    def _end(self) -> list[Stage]:
        if self.error is not None or self._rounds is not None or not self._goes_on():
            return super()._end()
        executor, last = self._executor, self.flow
        self.flow = flow = Dataflow(executor, ())
        ready = list(executor.sources)
        for stage in executor.naming:
            # Its resources were found by the first run. Who takes them away, a reset, ends the sessions too.
            for number in stage.outputs:
                flow.values[number] = last.values[number]
            ready += flow.note_run(stage)
        return [stage for stage in ready if stage not in executor.naming] or super()._end()

    def _run_in(self, rounds: Rounds) -> None:
        """Run once, and as often as is asked for."""
        executor = self._executor
        try:
            named: list[Array] = [None] * executor.value_count
            for stage in executor.naming:
                outputs = stage.run((), executor.session, self._context_of(stage), None)
                for number, value in zip(stage.outputs, outputs, strict=True):
                    named[number] = value
            run = Run(named, executor.session, self.step_id, self._context_of, self._go_on)
            is_asked = True
            while is_asked and self.error is None:
                error, is_asked = rounds.run(run)
                if error is not None:
                    raise error
                is_asked = is_asked or self._goes_on()
        except OpError as error:
            self.abort(error)
        except Exception as error:
            failure = InternalError.of(f"Steps of {executor.task} that are repeated: {type(error).__name__}: {error}")
            failure.__cause__ = error
            self.abort(failure)
        else:
            self._end()

    def _goes_on(self) -> bool:
        """Whether to run again now. A thread that waited long for its turn has all of it, so rounds look at no clock."""
        return time.monotonic() < self._ends_s and self._go_on()

    def _context_of(self, stage: Stage) -> ContextOf:
        return lambda op: self._context(op, stage, None, None)
