"""SingleStep: the commonest step is one stage and no messages, and needs none of a step's bookkeeping.

So is one that only takes a queue's or an iterator's element, where that is there: it is tried first. To take a batch of two
numbers of a dataset takes 120 µs so instead of 190 to 300, to take one out of a queue 75 to 110 instead of 120 to 225 (two
loaded cores, December 2026).
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Parked
from weft.framework.nodes.operation import Operation
from weft.platform.waits.quick_lately import QuickLately
from weft.runtime.cancellation import Cancellation
from weft.runtime.executor import Executor
from weft.runtime.host_context import HostContext
from weft.runtime.step.attempt import Attempt


class SingleStep:
    """Runs a partition of one stage on the calling thread. Any number of threads may run it at a time.

    Args:
        executor: of the partition; its `single` is the stage.
        feed_places: for each feed of the partition, its place among the values that `run` takes.
        fetch_places: what `run` returns: places among the partition's fetches, or, where marked as fed, among `run`'s values.
    """

    __slots__ = ("_attempts", "_executor", "_fetches", "_inputs", "_is_plain", "may_wait", "stage")

    def __init__(self, executor: Executor, feed_places: Sequence[int], fetch_places: Sequence[tuple[bool, int]]) -> None:
        stage = executor.single
        assert stage is not None
        self._executor = executor
        self.stage = stage
        fed = dict(zip(executor.feed_numbers, feed_places, strict=True))
        made = {number: place for place, number in enumerate(stage.outputs)}
        self._inputs = [fed[number] for number in stage.inputs]
        self._fetches = [
            (False, place) if is_fed else _origin(executor.fetch_numbers[place], made, fed) for is_fed, place in fetch_places
        ]
        self._is_plain = self._fetches == [(True, place) for place in range(len(stage.outputs))]
        self.may_wait = stage.parks_at is not None
        """Whether the stage may have to wait for what it takes."""
        self._attempts = QuickLately()

    def run(self, feeds: Sequence[Array]) -> list[Array] | None:
        """Run the stage; returns the fetches, perhaps still being computed.

        None where it would have to wait, or lately had to: it has done nothing then.
        """
        executor, stage = self._executor, self.stage
        inputs = [feeds[place] for place in self._inputs]
        if self.may_wait:
            made = self._try(inputs)
            if made is None:
                return None
            outputs = made
        else:
            permit = executor.permit_for(stage)
            try:
                outputs = stage.run(inputs, executor.session, self._context, None)
            finally:
                if permit is not None:
                    permit.give_back()
        if self._is_plain:
            return list(outputs)
        return [outputs[place] if is_made else feeds[place] for is_made, place in self._fetches]

    def _try(self, inputs: Sequence[Array]) -> Sequence[Array] | None:
        attempts, session, stage = self._attempts, self._executor.session, self.stage
        if attempts.skips > 0:  # below, when threads that share it counted at once
            attempts.skips -= 1
            return None
        attempt = Attempt(session, stage.device, 0)
        try:
            outputs = stage.run(inputs, session, attempt.context, None)
        except Parked:
            attempt.give_up()
            stage.times.take_back()
            attempts.note(False)
            return None
        attempts.note(True)
        return outputs

    def _context(self, op: Operation) -> HostContext:
        return HostContext(op, self.stage.device, 0, self._executor.session, Cancellation())


def _origin(number: int, made: dict[int, int], fed: dict[int, int]) -> tuple[bool, int]:
    """Whether a value is made by the stage, and its place among the outputs, else among the feeds."""
    return (True, made[number]) if number in made else (False, fed[number])
