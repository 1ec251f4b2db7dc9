"""Rounds: several runs of a partition side by side, node by node, as far as nobody can tell them from one after the other.

That is what a queue runner's thread does: its enqueueing is run again and again, and each run takes an element or a record,
computes on it, and puts the result into a queue. Side by side the first node runs for all rounds, then the second, and so on.
Each has its code and its data in the processor's caches then, and what is done once for a stage is done once for all rounds.

It may be seen by nobody: elements are taken in the same order, each random node draws in the same order, and elements are put
in the same order. A round begins only if what it takes is there, so none waits while others could be put; where one fails,
those before it are finished. What one takes is held up by the others for a turn, which is as long as Python lets a thread
compute before another one gets the interpreter.

A picture of CIFAR-10's tutorial, distorted by 60 nodes, took 660 µs of CPU one by one and takes 350 so; a record of the
benchmarks' pipeline of queues 63 and 32 (two cores of a virtual machine beside other work, December 2026).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Parked
from weft.passes.awaited import may_block, may_wait, names_resource, only_looks
from weft.platform.machine.interpreter_turns import pieces_in_a_turn
from weft.runtime.executor import Executor
from weft.runtime.stage import Stage
from weft.runtime.state.session_state import SessionState
from weft.runtime.step.attempt import Attempt
from weft.runtime.ways.host_way import ContextOf


@dataclass(frozen=True)
class Run:
    """What runs in rounds.

    Args:
        named: the values of a step, those alone that the stages have made which only name resources.
        session: whose step it is.
        step_id: its number.
        context: gives what the nodes of a stage get.
        go_on: asked before each round but the first whether there is to be another.
    """

    named: Sequence[Array]
    session: SessionState
    step_id: int
    context: Callable[[Stage], ContextOf]
    go_on: Callable[[], bool]


class Rounds:
    """The stages of one partition that may be run so; shared by all steps that run it, from any thread.

    Threads take turns at it, a turn being many rounds: side by side they would only hand the interpreter to each other.

    Args:
        taking: the stage that takes an element or a record.
        computing: the stages behind it, each behind those that it waits for.
        putting: the last one, which may wait for room.
    """

    def __init__(self, taking: Stage, computing: Sequence[Stage], putting: Stage) -> None:
        self._taking = taking
        self._computing = computing
        self._putting = putting
        waits = any(may_wait(op) for stage in computing for op in stage.program.nodes)
        # Who reads files or sleeps does so beside other threads. Of what computes the wait for the interpreter does not count:
        # rounds by themselves contend for it, and would seem long for that.
        self._clock = time.perf_counter if waits else time.thread_time
        self._turn = threading.Lock()
        self._waiting = threading.Lock()  # of the thread that waits for an element, before the others do
        self._most = 1  # until one tells how long they take

    def run(self, run: Run) -> tuple[OpError | None, bool]:
        """Run the rounds for which all is there, or else one, which waits.

        Returns:
            The error of the round that failed, all before it being done; whether another was asked for and has not run.
        """
        rounds: list[list[Array]] = []
        error: OpError | None = None
        is_asked = True
        if self._most > 1:
            rounds, error, is_asked = self._take_turn(run, rounds)
        if not rounds and error is None:
            rounds, error, is_asked = self._wait(run)
        failure = _run_stage(self._putting, rounds, run)
        return (error, is_asked) if failure is None else (failure, False)

    def _take_turn(self, run: Run, begun: list[list[Array]]) -> tuple[list[list[Array]], OpError | None, bool]:
        """Begin rounds behind those that are begun as long as what they take is there; run all as far as nobody waits."""
        with self._turn:
            begin_s = self._clock()
            rounds, error, is_asked = self._take(run, begun)
            count = len(rounds)
            failure = self._compute(rounds, run)
            self._note(count, self._clock() - begin_s)
        return (rounds, error, is_asked) if failure is None else (rounds, failure, False)

    def _take(self, run: Run, rounds: list[list[Array]]) -> tuple[list[list[Array]], OpError | None, bool]:
        taking = self._taking
        inputs = _inputs(taking, run.named)
        attempt = Attempt(run.session, taking.device, run.step_id)
        while len(rounds) < self._most:
            if rounds and not run.go_on():
                break
            try:
                made = taking.run(inputs, run.session, attempt.context, None)
            except Parked:
                attempt.give_up()
                taking.times.take_back()
                return rounds, None, True
            except OpError as error:
                return rounds, error, False
            rounds.append(_with(taking, run.named, made))
        return rounds, None, False

    def _wait(self, run: Run) -> tuple[list[list[Array]], OpError | None, bool]:
        """Begin one round, which waits for what it takes, and behind it those for which all is there."""
        taking, begin_s = self._taking, time.thread_time()
        try:
            with self._waiting:
                made = taking.run(_inputs(taking, run.named), run.session, run.context(taking), None)
        except OpError as error:
            return [], error, False
        rounds, took_s = [_with(taking, run.named, made)], time.thread_time() - begin_s
        if self._most > 1:
            return self._take_turn(run, rounds)
        begin_s = self._clock()
        failure = self._compute(rounds, run)
        self._note(1, took_s + self._clock() - begin_s)
        return rounds, failure, False

    def _compute(self, rounds: list[list[Array]], run: Run) -> OpError | None:
        error: OpError | None = None
        for stage in self._computing:
            error = _run_stage(stage, rounds, run) or error
        return error

    def _note(self, count: int, took_s: float) -> None:
        """Note how long so many rounds took."""
        if not count:
            return
        most = pieces_in_a_turn(took_s / count)
        # One by itself takes longer than it would among others.
        if count > 1 or most == 1 or self._most == 1:
            self._most = most


def _run_stage(stage: Stage, rounds: list[list[Array]], run: Run) -> OpError | None:
    """Run a stage for some rounds; where one fails, it and those behind it are dropped, and its error is returned."""
    made, error = stage.run_rounds([_inputs(stage, values) for values in rounds], run.session, run.context(stage))
    del rounds[len(made) :]
    for values, outputs in zip(rounds, made, strict=True):
        for number, value in zip(stage.outputs, outputs, strict=True):
            values[number] = value
    return error


def rounds_of(executor: Executor) -> Rounds | None:
    """How a partition can be run so that is repeated without feeds; None where somebody could tell.

    One node takes, by itself and first, of what goes with the session: what a queue that others share gives, and an end of the
    session loses, must be no more than one element a thread. One node puts, and no other one changes what a later round of
    another node would see.
    """
    if executor.fetch_numbers or executor.recvs or executor.session.host_permits is not None or len(executor.devices) > 1:
        return None
    stages = executor.stages
    nodes = [op for stage in stages for op in stage.program.nodes]
    blocking = [op for op in nodes if op.op_def.is_host and may_block(op)]
    if len(blocking) != 2 or not all(op.op_def.may_leave or op.op_def.parks for op in blocking):
        return None
    taker, putter = blocking
    if not taker.outputs or putter.outputs or not set(taker.inputs).isdisjoint(putter.inputs) or any(map(_holds_apart, stages)):
        return None
    if any(tensor.op.attrs.get("shared_name") for tensor in taker.inputs):
        return None
    if not all(op in blocking or names_resource(op) or only_looks(op) for op in nodes):
        return None
    naming = {stage.number for stage in stages if all(map(names_resource, stage.program.nodes))}
    (taking,) = (stage for stage in stages if taker in stage.program.nodes)
    begins = len(naming.intersection(_waited_for(taking, stages))) == taking.wiring.pending
    before_taker = taking.program.nodes[: taking.program.nodes.index(taker)]
    if not begins or not all(names_resource(op) or not op.op_def.stateful for op in before_taker):
        return None
    behind = [stage for stage in stages if stage is not taking and stage.number not in naming]
    others = list(_in_order(sorted(behind, key=lambda stage: putter in stage.program.nodes)))
    if not others or putter not in others[-1].program.nodes:
        return None
    return Rounds(taking, others[:-1], others[-1])


def _holds_apart(stage: Stage) -> bool:
    """Whether runs of a stage are to be apart: they change variables, may be endless, or go elsewhere."""
    return bool(stage.program.written_slots) or stage.has_loops or bool(stage.sends)


def _waited_for(stage: Stage, stages: Sequence[Stage]) -> set[int]:
    return {each.number for each in stages if stage.number in each.wiring.then}


def _in_order(stages: Sequence[Stage]) -> Iterator[Stage]:
    """Stages each behind those of them that it waits for, else in their order."""
    left = {stage.number: stage for stage in stages}
    while left:
        waiting = {number for stage in left.values() for number in stage.wiring.then}
        stage = next(stage for number, stage in left.items() if number not in waiting)
        del left[stage.number]
        yield stage


def _inputs(stage: Stage, values: Sequence[Array]) -> list[Array]:
    return list(map(values.__getitem__, stage.inputs))


def _with(stage: Stage, values: Sequence[Array], outputs: Sequence[Array]) -> list[Array]:
    """The values with those of a stage, as a round's own."""
    own = list(values)
    for number, value in zip(stage.outputs, outputs, strict=True):
        own[number] = value
    return own
